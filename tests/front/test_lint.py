"""test_lint.py LINT.PY: what the check of pages counts as a long sentence, and from how many on a page is refused."""
import importlib.util
import sys
import unittest

LINT = None
SHORT = "A loop runs here. "
LONG = "A loop of this page " + "runs and " * 9 + "ends here. "


class Sentences(unittest.TestCase):
    def longest(self, text):
        return [len(words) for words in LINT.long_sentences(text)]

    def test_length(self):
        self.assertEqual(self.longest(SHORT + LONG + SHORT), [25])
        self.assertEqual(self.longest("word " * 20 + "\n"), [])
        self.assertEqual(self.longest("word " * 20 + "3.5\n"), [21])

    def test_ends(self):
        for end in (". ", "! ", "? ", ":\n", "\n\n", "\n- ", "\n  2. "):
            self.assertEqual(self.longest("word " * 15 + "last" + end + "word " * 15), [], end)

    def test_code_and_tables(self):
        words = " ".join(["word"] * 30)
        self.assertEqual(self.longest(f"```c\n{words}\n```\n    {words}\n| {words} |\n"), [])
        self.assertEqual(self.longest(f"```c\nx\n```\n{words}\n```c\ny\n```\n"), [30])

    def test_a_page(self):
        self.assertEqual(LINT.check_sentences("a.md", LONG * 8), [])
        found = LINT.check_sentences("a.md", LONG * 9)
        self.assertEqual(len(found), 1)
        self.assertIn("a.md: 9 sentences of more than 20 words; 8 are the limit", found[0])


if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("lint", sys.argv.pop(1))
    LINT = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(LINT)
    unittest.main()
