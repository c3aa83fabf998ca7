"""Adds up what `meson test` ran in several build directories: a table by suite, the output of what failed,
the reasons of what was skipped, and a last line "N passed, N failed, N skipped". Status 0 only if none failed.

usage: report.py --logs FOLDER (DIRECTORY | broken:DIRECTORY | fuzz:TARGET:STATUS[:REASON])...
"""

import json
import os
import re
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
ORDER = ["unit", "negative", "property", "fuzz", "mpi", "cuda", "asan", "tsan", "arm", "plain", "long"]
TAIL = 40


class Row:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.seconds = 0.0


def read_log(directory):
    path = os.path.join(directory, "meson-logs", "testlog.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return [json.loads(line) for line in file if line.strip()]


def split_name(name):
    """'op2jit:unit+asan / text' is the test `text` of the suites unit and asan; the first one counts."""
    suites, separator, test = name.rpartition(" / ")
    if not separator:
        return "unit", name
    names = suites.rpartition(":")[2].split("+")
    known = [suite for suite in ORDER if suite in names]
    return (known or names)[0], test


def output_of(entry):
    return (entry.get("stdout") or "") + (entry.get("stderr") or "")


def skip_reasons(entry):
    """What a skipped test said: a line with 'skip' in it, or its last line."""
    lines = [line.strip() for line in output_of(entry).splitlines() if line.strip()]
    said = [line for line in lines if re.search(r"skip", line, re.IGNORECASE)]
    return (said or lines or ["it gave no reason"])[-1:]


def inner_skips(entry):
    """Cases that a cmocka program skipped although the program as a whole passed; the reason is the line before. Cmocka names
    each of them again at the end."""
    lines = output_of(entry).splitlines()
    found = []
    for number, line in enumerate(lines):
        match = re.match(r"\[\s*SKIPPED\s*\] (\S+)$", line)
        if match and not re.match(r"\d+$", match.group(1)) and match.group(1) not in [name for name, _ in found]:
            before = lines[number - 1].strip() if number else ""
            reason = before if before and not before.startswith("[") else "it gave no reason"
            found.append((match.group(1), reason))
    return found


def tail(text):
    lines = text.rstrip().splitlines()
    cut = ["..."] if len(lines) > TAIL else []
    return "\n".join("  | " + line for line in cut + lines[-TAIL:])


class Report:
    def __init__(self, logs):
        self.logs = logs
        self.rows = {}
        self.failures = []
        self.skips = []

    def row(self, directory, suite):
        return self.rows.setdefault((directory, suite), Row())

    def add_directory(self, directory):
        entries = read_log(directory)
        log = os.path.relpath(os.path.join(self.logs, f"test-{directory}.log"))
        if entries is None:
            text = ""
            if os.path.exists(log):
                with open(log, encoding="utf-8", errors="replace") as file:
                    text = file.read()
            if "No suitable tests" in text or "No tests defined" in text:
                return
            self.fail(directory, "none", "meson test", "meson did not run the tests", text, log)
            return
        for entry in entries:
            self.add_test(directory, entry)

    def add_test(self, directory, entry):
        suite, test = split_name(entry["name"])
        suite = {"build-tsan": "tsan"}.get(directory, suite)
        row = self.row(directory, suite)
        row.seconds += entry.get("duration") or 0.0
        if entry["result"] in PASSED:
            row.passed += 1
        elif entry["result"] == "SKIP":
            row.skipped += 1
            self.skips.append((directory, test, skip_reasons(entry)[0]))
            return
        else:
            log = os.path.join(directory, "meson-logs", "testlog.txt")
            what = f"{entry['result']}, status {entry.get('returncode')}"
            self.fail(directory, suite, test, what, output_of(entry), log)
        for case, reason in inner_skips(entry):
            row.skipped += 1
            self.skips.append((directory, f"{test}: {case}", reason))

    def fail(self, directory, suite, test, what, text, log):
        self.row(directory, suite).failed += 1
        self.failures.append((directory, suite, test, what, text, log))

    def add_broken(self, directory):
        log = os.path.relpath(os.path.join(self.logs, f"ninja-{directory}.log"))
        self.fail(directory, "none", "build", f"{directory} could not be built", "", log)

    def add_fuzz(self, target, status, reason):
        row = self.row("build-fuzz", "fuzz")
        row.seconds += 0 if status == "skip" else 10
        if status == "0":
            row.passed += 1
        elif status == "skip":
            row.skipped += 1
            self.skips.append(("build-fuzz", target, reason))
        else:
            log = os.path.relpath(os.path.join(self.logs, f"fuzz-{target}.log"))
            with open(log, encoding="utf-8", errors="replace") as file:
                self.fail("build-fuzz", "fuzz", target, "an input was found", file.read(), log)

    def print_table(self):
        def place(key):
            suite = key[1]
            return key[0], ORDER.index(suite) if suite in ORDER else len(ORDER), suite

        print(f"{'build':<12}{'suite':<12}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
        for key in sorted(self.rows, key=place):
            row = self.rows[key]
            print(f"{key[0]:<12}{key[1]:<12}{row.passed:>8}{row.failed:>8}{row.skipped:>9}{row.seconds:>9.1f}")

    def print_skips(self):
        if self.skips:
            print("\nskipped:")
        for directory, test, reason in self.skips:
            print(f"  {test} ({directory}): {reason}")

    def print_failures(self):
        for directory, suite, test, what, text, log in self.failures:
            print(f"\nFAILED {test} (suite {suite}, {directory}): {what}")
            if text.strip():
                print(tail(text))
            print(f"  the whole output is in {log}")
            if test not in ("build", "meson test") and directory != "build-fuzz":
                print(f"  again: ./dev test --in {directory} '{test}'")

    def finish(self):
        self.print_failures()
        if self.failures:
            print()
        self.print_table()
        self.print_skips()
        passed = sum(row.passed for row in self.rows.values())
        failed = sum(row.failed for row in self.rows.values())
        skipped = sum(row.skipped for row in self.rows.values())
        if passed + failed + skipped == 0:
            print("\nno test ran")
            failed = 1
        print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
        return 1 if failed else 0


def main(arguments):
    if len(arguments) < 2 or arguments[0] != "--logs":
        sys.exit(__doc__)
    report = Report(arguments[1])
    for word in arguments[2:]:
        kind, _, rest = word.partition(":")
        if kind == "broken":
            report.add_broken(rest)
        elif kind == "fuzz":
            target, _, status = rest.partition(":")
            status, _, reason = status.partition(":")
            report.add_fuzz(target, status, reason)
        else:
            report.add_directory(word)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
