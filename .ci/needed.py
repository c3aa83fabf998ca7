"""needed.py DIR SUITES LEFT_OUT: what of a build directory has to be built for the tests that run there, as ninja calls it, a target
on a line. A test runs if it is in one of SUITES and in none of LEFT_OUT, each a word with blanks between names. Programs that only
other tests need are left out; in the ordinary build nothing else is, so that it is known to compile."""
import json
import os
import sys


def main(folder, suites, left_out):
    def read(name):
        with open(os.path.join(folder, "meson-info", f"intro-{name}.json"), encoding="utf-8") as file:
            return json.load(file)

    def runs(test):
        names = {suite.rpartition(":")[2] for suite in test["suite"]}
        return names & set(suites.split()) and not names & set(left_out.split())

    tests = read("tests")
    needed = {target for test in tests if runs(test) for target in test["depends"]}
    ordinary = os.path.basename(os.path.abspath(folder)) == "build"
    of_tests = {target for test in tests for target in test["depends"]} if ordinary else None

    def wanted(target):
        if target["id"] in needed:
            return True
        spare = target["type"] == "executable" and (of_tests is None or target["id"] in of_tests and "/tests/" in target["defined_in"])
        return target["build_by_default"] and not spare

    files = {file for target in read("targets") if wanted(target) for file in target["filename"]}
    print("\n".join(sorted(os.path.relpath(file, folder) for file in files)))


main(*sys.argv[1:])
