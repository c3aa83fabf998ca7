"""named.py DIR yes|no WORD...: the tests of a build directory whose names hold a word, one on a line. A word that is a whole name
means that test alone. Tests of the suite long are left out unless the second argument is yes or their whole name was given."""
import difflib
import json
import os
import sys


def main(folder, long, words):
    try:
        with open(os.path.join(folder, "meson-info", "intro-tests.json"), encoding="utf-8") as file:
            tests = {test["name"]: test["suite"] for test in json.load(file)}
    except OSError as why:
        sys.exit(f"dev: {folder} is no build directory: {why}")
    wanted, left_out = set(), set()
    for word in words:
        if word in tests:
            wanted.add(word)
            continue
        found = {name for name in tests if word.lower() in name.lower()}
        short = {name for name in found if long == "yes" or not any(s.endswith(":long") for s in tests[name])}
        if not found:
            near = difflib.get_close_matches(word, tests, 1)
            sys.exit(f"dev: no test in {folder} has '{word}' in its name; " +
                     (f"did you mean '{near[0]}'?" if near else f"'meson test -C {folder} --list' lists all {len(tests)}"))
        wanted |= short
        left_out |= found - short
    if not wanted:
        sys.exit(f"dev: only tests that take long have that in their names: add --long ({', '.join(sorted(left_out))})")
    print("\n".join(name for name in tests if name in wanted))


main(sys.argv[1], sys.argv[2], sys.argv[3:])
