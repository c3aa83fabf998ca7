#include "jit/front/kernel.h"

#include <stdarg.h>
#include <stdlib.h>

#include "jit/front/excerpt.h"
#include "jit/front/parameters.h"

static struct source kernel_source(const struct kernel *k) {
  return (struct source){.text = k->text,
                         .length = k->length,
                         .file = k->origin_file,
                         .line = k->origin_line,
                         .one_line = k->one_line,
                         .origins = &k->origins};
}

int kernel_error(const struct kernel *k, int line, int column, struct error *err, const char *format, ...) {
  const struct source source = kernel_source(k);
  struct text who = {0};
  va_list args;
  text_addf(&who, k->name ? "kernel %s" : "the prelude", k->name);
  va_start(args, format);
  source_error(&source, line, column, err, OP_ERR_KERNEL, text_str(&who), format, args);
  va_end(args);
  text_free(&who);
  return OP_ERR_KERNEL;
}

size_t kernel_skip_brackets(const struct tokens *t, size_t open) {
  int depth = 0;
  for (size_t i = open; i < t->count; i++) {
    if (t->items[i].directive != t->items[open].directive || t->items[i].kind != TOKEN_PUNCTUATOR)
      continue;
    char c = t->text[t->items[i].begin];
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (depth <= 0)
      return i + 1;
  }
  return t->count;
}

void kernel_free(struct kernel *k) {
  for (int i = 0; i < k->nfunctions; i++)
    free(k->functions[i].name);
  for (int i = 0; i < k->nparameters; i++) {
    free(k->parameters[i].name);
    free(k->parameters[i].spelling);
  }
  free(k->functions);
  free(k->parameters);
  tokens_free(&k->tokens);
  origins_free(&k->origins);
  fortran_free(&k->fortran);
  free(k->name);
  free(k->text);
  free(k->origin_file);
  *k = (struct kernel){0};
}

bool kernel_uses(const struct kernel *k, const char *identifier) {
  for (size_t i = 0; i < k->tokens.count; i++)
    if (k->tokens.items[i].kind == TOKEN_IDENTIFIER && token_is(&k->tokens, i, identifier))
      return true;
  return false;
}
