/* C text as tokens: comments gone, strings and character constants as one token each, with line and column.
 * Any bytes of any length are accepted; what is not C becomes TOKEN_OTHER, and the compiler will say so. */
#ifndef OP2JIT_JIT_KERNEL_LEXER_H
#define OP2JIT_JIT_KERNEL_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

enum token_kind {
  TOKEN_IDENTIFIER,
  TOKEN_NUMBER,
  TOKEN_STRING,
  TOKEN_CHARACTER,
  TOKEN_PUNCTUATOR, /* one character each: `->` is two tokens; nothing here needs more */
  TOKEN_OTHER       /* a byte that C has no use for, NUL included */
};

struct token {
  enum token_kind kind;
  bool directive; /* is part of a preprocessor line, whose first token is '#' */
  bool line_first;
  size_t begin, end; /* bytes of the text */
  int line, column;  /* of the first byte, from 1 */
};

struct tokens {
  const char *text; /* the caller's, must stay */
  size_t length;
  struct token *items;
  size_t count;
  int comment_line, comment_column; /* of a comment that is not closed; 0: there is none */
};

/* Errors: OP_ERR_MEMORY only. */
int lex(struct tokens *out, const char *text, size_t length, struct error *err);
void tokens_free(struct tokens *t);

/* Beyond the end: false. */
static inline bool token_is(const struct tokens *t, size_t index, const char *spelling) {
  if (index >= t->count)
    return false;
  const struct token *token = &t->items[index];
  size_t length = strlen(spelling);
  return token->end - token->begin == length && memcmp(t->text + token->begin, spelling, length) == 0;
}
/* True: the token is one of the words up to NULL. */
static inline bool token_is_any(const struct tokens *t, size_t index, const char *const *words) {
  while (*words && !token_is(t, index, *words))
    words++;
  return *words;
}
/* True: the word is one of `words`, each of which has a blank before and behind it. */
static inline bool word_is_among(const char *word, size_t length, const char *words) {
  const char *at = words, *end = words + strlen(words);
  while (length && (at = memmem(at + 1, (size_t)(end - at) - 1, word, length)) != NULL)
    if (at[-1] == ' ' && at[length] == ' ')
      return true;
  return false;
}
static inline bool token_is_identifier(const struct tokens *t, size_t index) {
  return index < t->count && t->items[index].kind == TOKEN_IDENTIFIER;
}

#endif
