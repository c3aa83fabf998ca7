"""What no other tool checks: files over 800 lines (scripts and tests too), marks of unfinished work, and
commands in the README that do not exist. Lengths of functions are the business of house.py.

usage: lint.py FILE...
"""

import os
import re
import subprocess
import sys

FILE_LINES = 800
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")


def check_file(path, lines):
    found = []
    if len(lines) > FILE_LINES:
        found.append(f"{path}:1: {len(lines)} lines; {FILE_LINES} are the limit")
    for number, line in enumerate(lines, 1):
        if MARKS.search(line):
            found.append(f"{path}:{number}: a mark of unfinished work: finish it or open an issue")
    return found


def check_readme(root):
    """Every ./dev command and every file that the README names is there."""
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        text = file.read()
    known = subprocess.run([os.path.join(root, "dev"), "--help"], capture_output=True, text=True, check=True).stdout
    found = []
    for command in sorted(set(re.findall(r"\./dev ([a-z]+)", text))):
        if f"./dev {command}" not in known:
            found.append(f"README.md: there is no ./dev {command}")
    for target in sorted(set(re.findall(r"\]\(([^)#:]+)\)", text))):
        if not os.path.exists(os.path.join(root, target)):
            found.append(f"README.md: there is no {target}")
    return found


def main(paths):
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    errors = check_readme(root)
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
