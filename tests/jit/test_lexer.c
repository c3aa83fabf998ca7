/* The lexer: what is a token, where it is, and that no bytes hurt it. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "jit/kernel/lexer.h"

static struct tokens lexed(const char *text, size_t length) {
  struct tokens t;
  struct error err = {0};
  assert_int_equal(lex(&t, text, length, &err), OP_OK);
  return t;
}

/* All tokens, each with the first letter of its kind, separated by blanks. */
static void expect_tokens(const char *text, const char *expected) {
  struct tokens t = lexed(text, strlen(text));
  struct text got = {0};
  for (size_t i = 0; i < t.count; i++) {
    const struct token *token = &t.items[i];
    text_addf(&got, "%s%s%c:%.*s", i ? " " : "", token->directive ? "#" : "", "INSCPO"[token->kind],
              (int)(token->end - token->begin), text + token->begin);
  }
  assert_string_equal(text_str(&got), expected);
  text_free(&got);
  tokens_free(&t);
}

TEST(kinds) {
  expect_tokens("", "");
  expect_tokens("a_1 $x", "I:a_1 I:$x");
  expect_tokens("1e+5 0x1p-3f .5 1.5e3L 12u", "N:1e+5 N:0x1p-3f N:.5 N:1.5e3L N:12u");
  expect_tokens("x+++1", "I:x P:+ P:+ P:+ N:1");
  expect_tokens("\"a\\\"b\" 'c' '\\''", "S:\"a\\\"b\" C:'c' C:'\\''");
  expect_tokens("a /* b \n c */ d // e\nf", "I:a I:d I:f");
  expect_tokens("a // b \\\n c\nd", "I:a I:d");
  expect_tokens("\"/* no */\" /* \"no\" */ x", "S:\"/* no */\" I:x");
  expect_tokens("\x01 x", "O:\x01 I:x");
}

TEST(directives) {
  expect_tokens("#define A 1\nb", "#P:# #I:define #I:A #N:1 I:b");
  expect_tokens("  # if X /* c\n */ Y\nz", "#P:# #I:if #I:X #I:Y I:z");
  expect_tokens("#define A \\\n b\nc", "#P:# #I:define #I:A #I:b I:c");
  expect_tokens("a # b", "I:a P:# I:b");
}

TEST(positions) {
  const char *text = "a\n  bb /* \n */ c\n\"s\\\nt\" d";
  struct tokens t = lexed(text, strlen(text));
  static const int lines[] = {1, 2, 3, 4, 5}, columns[] = {1, 3, 5, 1, 4};
  assert_int_equal(t.count, 5);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(t.items[i].line, lines[i]);
    assert_int_equal(t.items[i].column, columns[i]);
  }
  assert_true(t.items[1].line_first);
  tokens_free(&t);
}

TEST(what_is_not_closed) {
  struct tokens t = lexed("a /* b", 6);
  assert_int_equal(t.comment_line, 1);
  assert_int_equal(t.comment_column, 3);
  assert_int_equal(t.count, 1);
  tokens_free(&t);
  t = lexed("\"abc\nd", 6);
  assert_int_equal(t.count, 2);
  tokens_free(&t);
  t = lexed("\"abc\\", 5);
  tokens_free(&t);
}

TEST(any_bytes) {
  static const char nul[] = "a\0b";
  struct tokens t = lexed(nul, 3);
  assert_int_equal(t.count, 3);
  assert_int_equal(t.items[1].kind, TOKEN_OTHER);
  tokens_free(&t);
  enum { LARGE = 1 << 20 };
  char *large = malloc(LARGE);
  assert_non_null(large);
  uint32_t seed = 12345;
  for (int round = 0; round < 4; round++) {
    for (size_t i = 0; i < LARGE; i++) {
      seed = seed * 1664525u + 1013904223u;
      large[i] = round == 0 ? '(' : round == 1 ? "\"'/*\\\n#a"[seed >> 29] : (char)(seed >> 24);
    }
    t = lexed(large, LARGE);
    size_t end = 0;
    for (size_t i = 0; i < t.count; i++) { /* tokens follow one another and are not empty */
      assert_true(t.items[i].begin >= end && t.items[i].end > t.items[i].begin);
      end = t.items[i].end;
    }
    assert_true(end <= LARGE);
    tokens_free(&t);
  }
  free(large);
}
