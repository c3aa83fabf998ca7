"""pages.py ROOT COMMAND: what the guide says can be done can be done. Each piece of C in a page stands in the program of
that page, which other tests run; each command of op2jit, each variable, each call and each file that a page names is
there; and the numbers of the answers are in order."""

import glob
import os
import re
import subprocess
import sys

PROGRAMS = {
    "tutorial.md": ["steps/step1.c", "steps/step2.c", "steps/step3.c", "steps/step4.c"],
    "howto.md": ["howto.c"],
    "coming.md": ["coming.c"],
    "solvers.md": ["../../samples/poisson/poisson.c"],
}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def missing_pieces(folder, page, text):
    programs = "".join(squeeze(read(folder, name)) for name in PROGRAMS.get(page, []))
    pieces = re.findall(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if page in PROGRAMS and not pieces:
        return [f"{page}: no pieces of C"]
    return [f"{page}: in no program: {piece}" for piece in pieces if squeeze(piece) not in programs]


def missing_links(folder, page, text):
    links = re.findall(r"\]\(([^)#:]+)#?[^)]*\)", text)
    return [f"{page}: there is no {link}" for link in links if not os.path.exists(os.path.join(folder, link))]


def missing_words(page, text, known):
    found = []
    for command in re.findall(r"op2jit ((?:cache|tune|mesh) \w+|report|check|new|info|warm|texts|why-not)\b", text):
        if not re.search(rf"^  {command}\b", known["commands"], re.MULTILINE):
            found.append(f"{page}: there is no op2jit {command}")
    for variable in re.findall(r"\bOP2_[A-Z0-9_]+\b", text):
        if f"| `{variable}` |" not in known["variables"]:
            found.append(f"{page}: there is no variable {variable}")
    for call in re.findall(r"\bop_[a-z0-9_]+\b|\bOP_[A-Z_]+\b", text):
        if not re.search(rf"\b{call}\b", known["header"]):
            found.append(f"{page}: there is no {call}")
    return found


def rows_of(text, heading):
    """The cells of a table's rows; links are their words."""
    table = text.split(heading, 1)[1].split("\n\n", 1)[0]
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", table)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in plain.splitlines() if row.startswith("| ")]


def missing_tests(root):
    """What waits: each line of the manual has its tests, which are there."""
    heading = "\n| | `auto` | `on` |\n|---|---|---|\n"
    said = rows_of(read(root, "docs", "manual.md"), heading)
    shown = rows_of(read(root, "docs", "decisions", "17-loops-can-be-queued.md"), heading)
    found = []
    if not said or [row[0] for row in said] != [row[0] for row in shown]:
        found.append("what waits: the lines of the manual and of their tests differ")
    for name, *cells in shown:
        tests = [re.findall(r"`([\w/]+\.\w+): (\w+)`", cell) for cell in cells]
        if len(tests) != 2 or not tests[0] or not (tests[1] or cells[1] == "the same"):
            found.append(f"what waits: no test of {name}")
        found += [f"what waits: there is no {word} in {path}" for path, word in sum(tests, [])
                  if not re.search(rf"\b{word}\b", read(root, "tests", path))]
    return found


def main(root, command):
    folder = os.path.join(root, "docs", "guide")
    known = {
        "commands": subprocess.run([command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout,
        "variables": read(root, "docs", "environment.md"),
        "header": "".join(read(path) for path in glob.glob(os.path.join(root, "include", "*.h"))),
    }
    wrong, pages = [], sorted(glob.glob(os.path.join(folder, "*.md"))) + [os.path.join(root, "docs", "solvers.md")]
    for path in pages:
        page, text = os.path.basename(path), read(path)
        wrong += missing_pieces(folder, page, text) + missing_links(os.path.dirname(path), page, text) + missing_words(page, text, known)
        if max(map(len, re.sub(r"^\|.*|^    .*|^```.*?^```", "", text, flags=re.M | re.S).split("\n"))) > 125:
            wrong.append(f"{page}: lines are too long")
    numbers = [int(number) for number in re.findall(r"^\*\*(\d+)\.", read(folder, "howto.md"), re.MULTILINE)]
    if numbers != list(range(1, 41)):
        wrong.append(f"howto.md: the answers are not 1 to 40: {numbers}")
    wrong += missing_tests(root)
    drawn = set(re.findall(r"drawings/(\w+)\.svg", read(folder, "concepts.md")))
    if drawn != {"sets", "maps", "colours", "owners", "tiles", "halos"}:
        wrong.append(f"concepts.md: drawings are {drawn}")
    print("\n".join(wrong) or f"{len(pages)} pages say what is there")
    return 1 if wrong or len(pages) < 6 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
