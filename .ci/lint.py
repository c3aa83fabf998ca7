"""What no other tool checks: files over 800 lines (scripts and tests too), marks of unfinished work, lines of pages over
120 columns, long sentences of pages, and commands, files and sections that pages name and that are not there. Lengths of
functions are the business of house.py.

usage: lint.py FILE...
"""

import glob
import os
import re
import subprocess
import sys

FILE_LINES = 800
PAGE_COLUMNS = 120
SENTENCE_WORDS = 20
LONG_SENTENCES = 8  # of a page
CODE_AND_TABLES = re.compile(r"^[ \t]*```.*?^[ \t]*```$|^(?:\||    )[^\n]*", re.M | re.S)
SENTENCE_END = re.compile(r"[.!?:](?=\s)|\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)")
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")


def check_file(path, lines):
    found = []
    if len(lines) > FILE_LINES:
        found.append(f"{path}:1: {len(lines)} lines; {FILE_LINES} are the limit")
    for number, line in enumerate(lines, 1):
        if MARKS.search(line):
            found.append(f"{path}:{number}: a mark of unfinished work: finish it or open an issue")
    return found


def anchors(page):
    """What GitHub makes of the headings of a page."""
    headings = re.findall(r"(?m)^#+ (.*)$", page)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_page(root, name, known):
    """Every ./dev command, every file and every section that a page names is there."""
    with open(os.path.join(root, name), encoding="utf-8") as file:
        text = file.read()
    found = []
    for command in sorted(set(re.findall(r"\./dev ([a-z]+)", text))):
        if f"./dev {command}" not in known:
            found.append(f"{name}: there is no ./dev {command}")
    for target, section in sorted(set(re.findall(r"\]\(([^)#:]*)#?([^)]*)\)", text))):
        path = os.path.join(root, os.path.dirname(name), target) if target else os.path.join(root, name)
        if not os.path.exists(path):
            found.append(f"{name}: there is no {target}")
        elif section and path.endswith(".md"):
            with open(path, encoding="utf-8") as file:
                if section not in anchors(file.read()):
                    found.append(f"{name}: {target} has no section {section}")
    return found


def check_columns(name, text):
    """Of prose: tables and code have lines of their own."""
    found, code = [], False
    for number, line in enumerate(text.split("\n"), 1):
        code ^= line.lstrip().startswith("```")
        if len(line) > PAGE_COLUMNS and not code and not line.startswith(("|", "    ")):
            found.append(f"{name}:{number}: {len(line)} columns; {PAGE_COLUMNS} are the limit")
    return found


def long_sentences(text):
    """Sentences of prose end with . ! ? or :, with their paragraph, or before the next item of a list."""
    sentences = [sentence.split() for sentence in SENTENCE_END.split(CODE_AND_TABLES.sub("\n", text))]
    return sorted((words for words in sentences if len(words) > SENTENCE_WORDS), key=len, reverse=True)


def check_sentences(name, text):
    found = long_sentences(text)
    if len(found) <= LONG_SENTENCES:
        return []
    return [f"{name}: {len(found)} sentences of more than {SENTENCE_WORDS} words; {LONG_SENTENCES} are the limit. The longest "
            f"has {len(found[0])}: {' '.join(found[0][:SENTENCE_WORDS])} ..."]


def check_pages(root):
    known = subprocess.run([os.path.join(root, "dev"), "--help"], capture_output=True, text=True, check=True).stdout
    pages = sorted(name for name in os.listdir(root) if name.endswith(".md"))
    pages += sorted(f"docs/{name}" for name in os.listdir(os.path.join(root, "docs")) if name.endswith(".md"))
    found = [line for name in pages for line in check_page(root, name, known)]
    for pattern in ("*.md", "docs/**/*.md", "samples/**/*.md", "bench/**/*.md"):
        for name in sorted(glob.glob(pattern, root_dir=root, recursive=True)):
            with open(os.path.join(root, name), encoding="utf-8") as file:
                text = file.read()
            found += check_columns(name, text) + check_sentences(name, text)
    return found


def main(paths):
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    errors = check_pages(root)
    for path in paths:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        errors += check_file(path, lines)
    print("\n".join(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
