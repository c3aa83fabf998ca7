"""test_house.py HOUSE.PY COMPILER...: the check of the rooms finds what is planted, and names file and symbol; figures are right.

Each test writes a tiny house of three rooms with its page, compiles it, and plants one thing that is against the rules."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HOUSE, COMPILER = "", []

PAGE = """# The rooms

| room | what it holds | what it may use |
|---|---|---|
| `runtime/roof/` | what runs | all |
| `runtime/floor/` | what it runs on | the rooms below |
| `base/` | words | nothing |

| table | who fills it | what for |
|---|---|---|
| `struct listed` | roof | a row of functions |
| `floor_each()` | roof | a function for each |

| limit | at most |
|---|---|
| folders of the product | 9 |
| lines of a file | 30 |
| lines of a function | 10 |
| files of a knot | 3 |

| stage | function | called by | what it does |
|---|---|---|---|
| work | `floor_work()` | `runtime/roof/` | works |
"""

FLOOR = """#ifndef FLOOR_H
#define FLOOR_H
typedef int floor_call(int value);
struct listed {
  const char *name;
  floor_call *call;
};
struct other {
  const char *name;
  int (*call)(int value);
};
struct holder {
  struct other inner;
};
int floor_each(floor_call *call);
int floor_all(int (*call)(int value));
int floor_work(const struct listed *row);
int floor_other(const struct other *row);
int floor_holder(const struct holder *row);
#endif
"""

# A house that keeps the rules: the roof hands down a row of a listed table, and a function to a listed one.
SOUND = {
    "docs/rooms.md": PAGE,
    "base/words.h": "int words(int value);\n",
    "base/words.c": '#include "base/words.h"\nint words(int value) {\n  return value + 1;\n}\n',
    "runtime/floor/floor.h": FLOOR,
    "runtime/floor/floor.c": """#include "floor/floor.h"
#include "base/words.h"
int floor_each(floor_call *call) {
  return call(words(1));
}
int floor_all(int (*call)(int value)) {
  return call(2);
}
int floor_work(const struct listed *row) {
  return row->call(3);
}
int floor_other(const struct other *row) {
  return row->call(4);
}
int floor_holder(const struct holder *row) {
  return row->inner.call(5);
}
""",
    "runtime/roof/roof.h": "int roof(int value);\n",
    "runtime/roof/roof.c": """#include "roof/roof.h"
#include "floor/floor.h"
static int twice(int value) {
  return 2 * value;
}
static const struct listed row = {"twice", twice};
int roof(int value) {
  return value + floor_work(&row) + floor_each(twice);
}
""",
}


def with_roof(code):
    """The sound house with more code behind that of the roof."""
    return {**SOUND, "runtime/roof/roof.c": SOUND["runtime/roof/roof.c"] + code}


class Rules(unittest.TestCase):
    def check(self, files, compiled=True):
        """The status and the lines of the check of a house."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            build = os.path.join(root, "build")
            os.mkdir(build)
            units = ["../" + path for path in files if path.endswith(".c")]
            if compiled:
                subprocess.run([*COMPILER, "-O2", "-fPIC", "-I..", "-I../runtime", "-c", *units], cwd=build, check=True)
            with open(os.path.join(build, "compile_commands.json"), "w", encoding="utf-8") as file:
                json.dump([{"file": unit, "output": os.path.basename(unit)[:-2] + ".o"} for unit in units], file)
            done = subprocess.run([sys.executable, HOUSE, "--check", root, build],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout.splitlines()

    def refused(self, files, *words):
        """One line, with these words."""
        status, lines = self.check(files)
        self.assertEqual((status, len(lines)), (1, 1), lines)
        for word in words:
            self.assertIn(word, lines[0])

    def test_a_sound_house_passes(self):
        status, lines = self.check(SOUND)
        self.assertEqual((status, lines), (0, ["6 files in 3 rooms keep the rules of docs/rooms.md"]))

    def test_an_include_upward(self):
        self.refused({**SOUND, "runtime/floor/floor.c": '#include "roof/roof.h"\n' + SOUND["runtime/floor/floor.c"]},
                     "runtime/floor/floor.c: includes runtime/roof/roof.h")

    def test_an_include_upward_of_a_header(self):
        self.refused({**SOUND, "base/words.h": '#include "floor/floor.h"\n' + SOUND["base/words.h"]},
                     "base/words.h: includes runtime/floor/floor.h")

    def test_a_call_upward(self):
        self.refused({**SOUND, "base/words.c": "int roof(int);\nint words(int value);\nint words(int value) {\n  return roof(value);\n}\n"},
                     "base/words.c: calls roof of runtime/roof/roof.c")

    def test_a_variable_of_a_room_above(self):
        files = with_roof("int roof_count;\n")
        files["base/words.c"] = "extern int roof_count;\nint words(int value) {\n  return value + roof_count;\n}\n"
        self.refused(files, "base/words.c: calls roof_count of runtime/roof/roof.c")

    def test_a_call_upward_from_a_folder_within_a_room(self):
        deep = "int roof(int);\nint deep(int value) {\n  return roof(value);\n}\n"
        self.refused({**SOUND, "runtime/floor/deep/deep.c": deep}, "runtime/floor/deep/deep.c: calls roof")

    def test_a_table_that_is_not_listed(self):
        self.refused(with_roof('static const struct other rows[] = {{"twice", twice}};\nint more(void) {\n  return floor_other(rows);\n}\n'
                               'const struct other *rows_of(void) {\n  return rows;\n}\n'),
                     "runtime/roof/roof.c", "twice", "struct other of runtime/floor/floor.h")

    def test_a_table_that_a_macro_writes(self):
        status, lines = self.check(with_roof(
            '#define ROW(n) {#n, n}\nconst struct other *rows_of(void) {\n  static const struct other rows[] = {ROW(twice)};\n'
            "  return rows;\n}\n"))
        self.assertEqual(status, 1)
        self.assertIn("hands twice down", lines[0])

    def test_a_member_set_while_the_program_runs(self):
        self.refused(with_roof("int more(struct other *row) {\n  row->call = twice;\n  return floor_other(row);\n}\n"),
                     "runtime/roof/roof.c: hands twice", "struct other")

    def test_a_struct_made_for_a_call(self):
        self.refused(with_roof('int more(void) {\n  return floor_other(&(struct other){"x", twice});\n}\n'),
                     "runtime/roof/roof.c: hands twice", "struct other")

    def test_a_struct_within_a_struct(self):
        status, lines = self.check(with_roof('int more(void) {\n  return floor_holder(&(struct holder){.inner = {.call = twice}});\n}\n'))
        self.assertEqual(status, 1)
        self.assertTrue(all("twice" in line for line in lines), lines)

    def test_a_member_of_a_member(self):
        self.refused(with_roof("int more(struct holder *rows) {\n  rows[1].inner.call = twice;\n  return floor_holder(rows);\n}\n"),
                     "runtime/roof/roof.c: hands twice", "struct other")

    def test_a_member_of_that_name_of_ones_own(self):
        own = "struct own {\n  int (*call)(int value);\n};\nvoid own(struct own *row);\nvoid own(struct own *row) {\n  row->call = twice;\n}\n"
        self.assertEqual(self.check(with_roof(own))[0], 0)

    def test_a_function_as_a_parameter(self):
        self.refused(with_roof("int more(void) {\n  return floor_all(twice);\n}\n"),
                     "runtime/roof/roof.c: hands a function", "floor_all() of runtime/floor/floor.c")

    def test_a_table_of_ones_own_room(self):
        own = "struct own {\n  int (*call)(int value);\n};\nstatic const struct own row = {0};\nint own(void) {\n  return row.call(1);\n}\n"
        self.assertEqual(self.check({**SOUND, "runtime/floor/own.c": own})[0], 0)

    def test_a_listed_table_that_is_not_there(self):
        self.refused({**SOUND, "docs/rooms.md": PAGE.replace("`struct listed`", "`struct gone` | a | b |\n| `struct listed`")},
                     "docs/rooms.md: names struct gone")

    def test_a_knot_of_four(self):
        ring = {f"runtime/roof/ring{i}/ring{i}.c": f"int ring{(i + 1) % 4}(int);\nint ring{i}(int value) {{\n  return ring{(i + 1) % 4}(value);\n}}\n"
                for i in range(4)}
        self.refused({**SOUND, **ring}, "a knot of 4 files", "runtime/roof/ring0/ring0 runtime/roof/ring1/ring1")
        del ring["runtime/roof/ring3/ring3.c"]
        ring["runtime/roof/ring2/ring2.c"] = "int ring0(int);\nint ring2(int value) {\n  return ring0(value);\n}\n"
        self.assertEqual(self.check({**SOUND, **ring})[0], 0)

    def test_too_long_and_too_many(self):
        self.refused({**SOUND, "base/long.h": "\n" * 31}, "base/long.h: 31 lines; 30 are the limit")
        self.refused({**SOUND, "base/long.c": "int length(void) {\n" + "\n" * 8 + "  return 1;\n}\n"},
                     "base/long.c: length has 11 lines; 10 are the limit")
        self.refused({**SOUND, **{f"base/{i}/{i}.h": "\n" for i in range(10)}}, "folders; 9 are the limit")

    def test_a_stage_that_somebody_else_calls(self):
        hall = "struct listed;\nint floor_work(const struct listed *row);\nint hall(void) {\n  return floor_work(0);\n}\n"
        self.refused({**SOUND, "runtime/floor/hall.c": hall},
                     "runtime/floor/hall.c: calls floor_work, a stage of the walk, which is the business of runtime/roof")

    def test_a_stage_that_nobody_calls(self):
        self.refused({**SOUND, "docs/rooms.md": PAGE.replace("`floor_work()`", "`floor_other()`")},
                     "docs/rooms.md: the stage floor_other is not called by runtime/roof")

    def test_a_folder_that_is_no_room(self):
        self.refused({**SOUND, "runtime/attic/old.h": "\n"}, "runtime/attic/old.h: its folder is no room")

    def test_nothing_is_believed_of_what_is_not_compiled(self):
        status, lines = self.check(SOUND, compiled=False)
        self.assertEqual((status, sum("is not compiled" in line for line in lines)), (1, 3), lines)
        self.assertIn("base/words.c: is not compiled", lines[0])


# Lines that look like a function and are none, and functions that do not look like one.
TRICKY = """/* int comment(void) { */
static const char *const text = "int in_text(void) {";
typedef int (*pointer)(int);
static const struct row rows[] = {{"a", 1}, {"b", 2}};
#define MACRO(x) \\
  int x(void) {  \\
  }
#ifdef ONE
static int either(int a) {
#else
static int either(int a, int b) {
#endif
  return a;
}
OP_KERNEL_DEF(add, void add(double *x) { *x += 1; })
__attribute__((noinline)) static struct row
long_head(int first,
          int (*second)(int)) {
  if (first) {
    return rows[0];
  }
  return rows[1];
}
namespace {
bool operator==(row a, row b) { return a.x == b.x; }
struct list {
  list() : first(nullptr), second(3) {
  }
  int size() const noexcept { return 1; }
};
}
"""


class Figures(unittest.TestCase):
    def test_functions_and_their_lengths(self):
        clean = house_text.without_comments(TRICKY)
        found = [(function.name, function.line, function.lines) for function in house_text.functions(clean)]
        self.assertEqual(found, [("either", 11, 4), ("long_head", 17, 7), ("==", 25, 1), ("list", 27, 2), ("size", 29, 1)])
        self.assertEqual(house_text.code_lines(clean), TRICKY.count("\n") - 1)

    def test_they_are_printed_for_several_folders(self):
        root = os.path.dirname(os.path.dirname(HOUSE))
        done = subprocess.run([sys.executable, HOUSE, root, root], capture_output=True, text=True, check=True).stdout
        for words in ["files / lines", "longest file", "functions: median / p95 / max lines", "knots", "runtime/loop"]:
            self.assertIn(words, done)


if __name__ == "__main__":
    HOUSE, COMPILER = os.path.abspath(sys.argv[1]), sys.argv[2:]
    sys.path.insert(0, os.path.dirname(HOUSE))
    import house_text
    unittest.main(argv=sys.argv[:1])
