"""needed.py DIR SUITE...: what the tests of these suites need of a build directory, as ninja calls it, a target on a line."""
import json
import os
import sys


def main(folder, *suites):
    def read(name):
        with open(os.path.join(folder, "meson-info", f"intro-{name}.json"), encoding="utf-8") as file:
            return json.load(file)

    tests = [test for test in read("tests") if any(suite.rpartition(":")[2] in suites for suite in test["suite"])]
    needed = {target for test in tests for target in test["depends"]}
    files = {file for target in read("targets") if target["id"] in needed for file in target["filename"]}
    print("\n".join(sorted(os.path.relpath(file, folder) for file in files)))


main(*sys.argv[1:])
