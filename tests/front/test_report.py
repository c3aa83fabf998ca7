"""The verdict of ./dev test: what .ci/report.py makes of the logs that meson writes."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

REPORT = sys.argv.pop(1)


def entry(name, result, stdout="", status=0):
    return {"name": name, "result": result, "duration": 0.5, "returncode": status, "stdout": stdout}


class Verdict(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, directory, entries):
        place = os.path.join(self.folder.name, directory, "meson-logs")
        os.makedirs(place)
        with open(os.path.join(place, "testlog.json"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in entries)

    def report(self, *words):
        command = [sys.executable, REPORT, "--logs", self.folder.name, *words]
        done = subprocess.run(command, cwd=self.folder.name, capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def expect(self, words, status, last):
        got, text = self.report(*words)
        self.assertEqual(text.splitlines()[-1], last)
        self.assertEqual(got, status)
        return text

    def test_all_passed(self):
        self.write("build", [entry("op2jit:unit / a", "OK"), entry("op2jit:property / b", "OK")])
        self.expect(["build"], 0, "2 passed, 0 failed, 0 skipped")

    def test_failed(self):
        bad = entry("op2jit:unit / a", "FAIL", "\n".join(f"line {i}" for i in range(100)), 1)
        self.write("build", [bad, entry("op2jit:unit / b", "TIMEOUT"), entry("op2jit:unit / c", "OK")])
        text = self.expect(["build"], 1, "1 passed, 2 failed, 0 skipped")
        self.assertIn("line 99", text)
        self.assertNotIn("line 5\n", text)
        self.assertIn("./dev test --in build 'a'", text)

    def test_skipped_with_its_reason(self):
        said = "[ RUN ] x\nskipped: there is no GPU here\n"
        self.write("build", [entry("op2jit:cuda / a", "SKIP", said, 77), entry("op2jit:unit / b", "OK")])
        text = self.expect(["build"], 0, "1 passed, 0 failed, 1 skipped")
        self.assertIn("there is no GPU here", text)

    def test_cases_skipped_inside(self):
        said = "[ RUN      ] x\nno valgrind here\n[  SKIPPED ] x\n[  SKIPPED ] 1 test(s)\n[  SKIPPED ] x"
        self.write("build", [entry("op2jit:unit / a", "OK", said)])
        text = self.expect(["build"], 0, "1 passed, 0 failed, 1 skipped")
        self.assertIn("a: x (build): no valgrind here", text)

    def test_broken_builds_and_missing_logs(self):
        self.expect(["broken:build-asan"], 1, "0 passed, 1 failed, 0 skipped")
        self.expect(["build-tsan"], 1, "0 passed, 1 failed, 0 skipped")

    def test_nothing_ran(self):
        self.expect([], 1, "0 passed, 1 failed, 0 skipped")

    def test_fuzz(self):
        with open(os.path.join(self.folder.name, "fuzz-b.log"), "w", encoding="utf-8") as file:
            file.write("crash-1234")
        words = ["fuzz:a:0", "fuzz:b:77", "fuzz:c:skip:there is no clang"]
        text = self.expect(words, 1, "1 passed, 1 failed, 1 skipped")
        self.assertIn("crash-1234", text)
        self.assertIn("there is no clang", text)


if __name__ == "__main__":
    unittest.main()
