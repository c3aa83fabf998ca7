"""site.py FOLDER: every link inside of the site leads to a page and a heading that are there; all pages can be reached and
found; the pictures are there; and the page of calls has every call of the library with its words."""

import os
import re
import sys
from html.parser import HTMLParser


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.images = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if found.get("id"):
            self.ids.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag == "img" and found.get("src"):
            self.images.append(found["src"])


def main(folder):
    pages, wrong = {}, []
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".html"):
                with open(os.path.join(where, name), encoding="utf-8") as file:
                    pages[os.path.normpath(os.path.join(where, name))] = Page(file.read())
    reached = set()
    for path, page in pages.items():
        for link in page.links + page.images:
            target, _, place = link.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            file = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            reached.add(file)
            if not os.path.exists(file):
                wrong.append(f"{os.path.relpath(path, folder)}: {link} leads nowhere")
            elif place and file in pages and place not in pages[file].ids:
                wrong.append(f"{os.path.relpath(path, folder)}: {link}: there is no such heading")
    wrong += [f"{os.path.relpath(path, folder)} cannot be reached" for path in pages if path not in reached]
    drawings = [name for path, page in pages.items() for name in page.images if name.endswith(".svg") and os.sep + "compare" not in path]
    with open(os.path.join(folder, "guide", "api.html"), encoding="utf-8") as file:
        calls = file.read()
    for word in ("op2jit_init", "op2jit_decl_set", "op2jit_par_loop_array", "op_counters_t", "Errors: OP_ERR_RANGE unless"):
        if word not in re.sub(r"<[^>]+>", "", calls).replace("&lt;", "<") and word.replace("op2jit_", "op_") not in calls:
            wrong.append(f"the page of calls has no {word}")
    with open(os.path.join(folder, "searchindex.js"), encoding="utf-8") as file:
        index = file.read()
    for name in ("guide/concepts", "guide/howto", "guide/tutorial", "guide/coming", "guide/tuning", "compare", "cluster", "errors", "environment", "cache", "reports", "variants", "files", "adjoint"):
        if f'"{name}"' not in index:
            wrong.append(f"the search does not know {name}")
    if len(drawings) != 10 or len(pages) < 45:
        wrong.append(f"{len(drawings)} drawings on {len(pages)} pages")
    print("\n".join(wrong) or f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
