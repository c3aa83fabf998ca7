#include "jit/front/says.h"

#include <stdlib.h>
#include <string.h>

#include "jit/front/lexer.h"

struct word {
  const char *word;
  int says;
};

/* Sorted by strcmp. Functions stand in their form for double; the form for float has an f behind it. */
static const struct word words[] = {
    {"OP_ANY_ORDER", SAYS_ANY_ORDER},
    {"OP_ROW", SAYS_ROWS},
    {"acos", SAYS_SLOW},
    {"acosh", SAYS_SLOW},
    {"asin", SAYS_SLOW},
    {"asinh", SAYS_SLOW},
    {"assert", SAYS_SPEAKS},
    {"atan", SAYS_SLOW},
    {"atan2", SAYS_SLOW},
    {"atanh", SAYS_SLOW},
    {"cbrt", SAYS_SLOW},
    {"cos", SAYS_SLOW},
    {"cosh", SAYS_SLOW},
    {"double", SAYS_DOUBLES},
    {"erf", SAYS_SLOW},
    {"erfc", SAYS_SLOW},
    {"exp", SAYS_SLOW},
    {"exp2", SAYS_SLOW},
    {"expm1", SAYS_SLOW},
    {"fmod", SAYS_SLOW},
    {"hypot", SAYS_SLOW},
    {"lgamma", SAYS_SLOW},
    {"log", SAYS_SLOW},
    {"log10", SAYS_SLOW},
    {"log1p", SAYS_SLOW},
    {"log2", SAYS_SLOW},
    {"op2jit_assert", SAYS_SPEAKS}, /* of a text of OP_KERNEL_DEF, which is what the preprocessor left */
    {"op_assert", SAYS_SPEAKS},
    {"pow", SAYS_SLOW},
    {"printf", SAYS_SPEAKS},
    {"putchar", SAYS_SPEAKS},
    {"puts", SAYS_SPEAKS},
    {"sin", SAYS_SLOW},
    {"sinh", SAYS_SLOW},
    {"sqrt", SAYS_SLOW},
    {"tan", SAYS_SLOW},
    {"tanh", SAYS_SLOW},
    {"tgamma", SAYS_SLOW},
};

struct spelling {
  const char *at;
  size_t length;
};

static int compare(const void *key, const void *row) {
  const struct spelling *s = key;
  const char *word = ((const struct word *)row)->word;
  const int order = strncmp(s->at, word, s->length);
  return order ? order : -(word[s->length] != '\0');
}

static int look_up(const char *at, size_t length) {
  const struct spelling key = {at, length};
  const struct word *found = bsearch(&key, words, sizeof words / sizeof *words, sizeof *words, compare);
  return found ? found->says : 0;
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
