#include "jit/kernel/says.h"

#include <string.h>

#include "jit/kernel/lexer.h"

/* Functions stand in their form for double; the form for float has an f behind it. */
static const struct {
  int says;
  const char *words;
} rows[] = {
    {SAYS_ANY_ORDER, " OP_ANY_ORDER "},
    {SAYS_ROWS, " OP_ROW "},
    {SAYS_DOUBLES, " double "},
    /* op2jit_assert is left by the preprocessor in a text of OP_KERNEL_DEF. */
    {SAYS_SPEAKS, " assert op_assert op2jit_assert printf putchar puts "},
    {SAYS_SLOW,
     " acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp2 expm1 fmod hypot lgamma "
     "log log10 log1p log2 pow sin sinh sqrt tan tanh tgamma "},
};

static int look_up(const char *at, size_t length) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (word_is_among(at, length, rows[i].words))
      return rows[i].says;
  return 0;
}

int tokens_say(const struct tokens *t) {
  int says = SAYS_READ;
  for (size_t i = 0; i < t->count; i++) {
    const char *at = t->text + t->items[i].begin;
    const size_t length = t->items[i].end - t->items[i].begin;
    if (token_is(t, i, "/"))
      says |= SAYS_SLOW;
    if (t->items[i].kind != TOKEN_IDENTIFIER)
      continue;
    says |= look_up(at, length);
    if (at[length - 1] == 'f')
      says |= look_up(at, length - 1) & SAYS_SLOW;
  }
  return says;
}

int text_says(const char *text) {
  struct tokens tokens = {0};
  struct error ignored = {0};
  const int says = lex(&tokens, text, strlen(text), &ignored) ? 0 : tokens_say(&tokens);
  tokens_free(&tokens);
  error_free(&ignored);
  return says;
}
