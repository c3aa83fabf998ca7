"""test_sentences.py SENTENCES.PY: the check finds code that looks into a message, and lets the words of others pass.

Each test writes one file of a tiny product."""
import os
import subprocess
import sys
import tempfile
import unittest

SENTENCES = ""


class Sentences(unittest.TestCase):
    def check(self, code):
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "base"))
            with open(os.path.join(root, "base", "planted.c"), "w", encoding="utf-8") as file:
                file.write(code)
            done = subprocess.run([sys.executable, SENTENCES, root], capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout.splitlines()

    def found(self, code, line=1):
        status, lines = self.check(code)
        self.assertEqual((status, len(lines)), (1, 1), lines)
        self.assertTrue(lines[0].startswith(f"base/planted.c:{line}: "), lines)

    def passes(self, code):
        self.assertEqual(self.check(code), (0, ["1 files look into no message"]))

    def test_the_text_of_an_error(self):
        self.found('bool f(struct error *err) { return strstr(error_message(err), "memory") != NULL; }\n')
        self.found("bool f(const char *a) {\n  return strncmp(op_last_error()->message, a, 3) == 0;\n}\n", 2)

    def test_a_reason(self):
        self.found('bool f(const char *why) { return strcasestr(why, "load"); }\n')
        self.found('bool f(const char *why) { return why == no_memory; }\n')
        self.passes('bool f(const char *why) { return why != NULL; }\n')

    def test_a_sentence(self):
        self.found('bool f(const char *line) {\n  return strstr(\n      line, "runs as the program made it");\n}\n', 2)
        self.found('static const char mark[] = "runs as it is";\nbool f(const char *a) { return strstr(a, mark); }\n', 2)
        self.found('#define MARK "it is declared " "OP_INC"\nbool f(const char *a) { return !strcmp(a, MARK); }\n', 2)

    def test_a_sentence_in_cxx(self):
        self.found('bool f(llvm::StringRef text) { return text.contains("is not set"); }\n')
        self.passes('bool f(llvm::StringRef text) { return text.starts_with("frexp"); }\n')

    def test_words_and_marks(self):
        self.passes('bool f(const char *a) { return strstr(a, "rows") || !strcmp(a, "no") || strncmp(a, "OP2_", 4); }\n')
        self.passes('bool f(const char *text) { return strstr(text, "#pragma op2jit rolled"); }\n')

    def test_comments_and_messages_that_are_made(self):
        self.passes('/* strstr(error_message(err), "memory") */\n')
        self.passes('int f(struct error *err) { return error_set(err, 1, "it is too long: %s", error_message(err)); }\n')

    def test_the_words_of_others(self):
        self.passes('bool f(const char *log) {\n  /* not a message: the words of a driver */\n  return strstr(log, "no such file");\n}\n')
        self.passes('bool f(const char *log) { return strstr(log, "no such file"); /* not a message: a driver */ }\n')


if __name__ == "__main__":
    SENTENCES = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
