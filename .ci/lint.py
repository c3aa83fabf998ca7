"""What no other tool checks: files over 800 lines, functions that do not fit a screen, marks of unfinished
work, and commands in the README that do not exist. Functions are reported, the rest is an error.

usage: lint.py FILE...
"""

import os
import re
import subprocess
import sys

FILE_LINES = 800
FUNCTION_LINES = 60
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")


def check_file(path, lines):
    found = []
    if len(lines) > FILE_LINES:
        found.append(f"{path}:1: {len(lines)} lines; {FILE_LINES} are the limit")
    for number, line in enumerate(lines, 1):
        if MARKS.search(line):
            found.append(f"{path}:{number}: a mark of unfinished work: finish it or open an issue")
    return found


def long_functions(path, lines):
    """In the layout that clang-format gives, a function ends with a brace in the first column."""
    start, found = None, []
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"[A-Za-z_].*\)\s*\{$", line):
            start = number
        elif line.startswith("}"):
            if start is not None and number - start > FUNCTION_LINES:
                found.append(f"{path}:{start}: note: a function of {number - start} lines")
            start = None
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
    errors, notes = check_readme(root), []
    for path in paths:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        errors += check_file(path, lines)
        if path.endswith((".c", ".cc")):
            notes += long_functions(path, lines)
    print("\n".join(notes + errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
