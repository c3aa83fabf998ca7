/* Blanks out what a kernel text may say and need not: headers, and prototypes of functions that every kernel
 * has. */
#include <string.h>

#include "jit/kernel/include.h"
#include "jit/kernel/parameters.h"
#include "jit/kernel/prelude.h"

static void blank(struct kernel *k, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++)
    if (k->text[i] != '\n')
      k->text[i] = ' ';
}

/* ---- headers ------------------------------------------------------------------------------------*/

static int blank_includes(struct kernel *k, bool *any, struct error *err) {
  for (size_t i = 0; i < k->tokens.count; i++) {
    const struct token *t = &k->tokens.items[i];
    struct include include;
    if (!include_read(&k->tokens, i, &include))
      continue;
    if (!include_is_known(include.name))
      return kernel_error(
          k, t->line, t->column, err,
          "the file \"%s\" cannot be included here: kernels have what %s declare without any #include, "
          "and no other header of the system",
          include.name, include_known);
    blank(k, t->begin, t->begin + strcspn(k->text + t->begin, "\n"));
    *any = true;
  }
  return OP_OK;
}

/* ---- prototypes --------------------------------------------------------------------------------*/

/* "double fabs(double);" behind the declaration before it; *end: behind its semicolon. */
static bool is_prototype(const struct tokens *t, size_t begin, size_t name, size_t *end) {
  if (name == begin || !token_is_identifier(t, name) || !token_is(t, name + 1, "("))
    return false;
  for (size_t i = begin; i < name; i++)
    if (!token_is_identifier(t, i) && !token_is(t, i, "*"))
      return false;
  *end = kernel_skip_brackets(t, name + 1) + 1;
  return token_is(t, *end - 1, ";");
}

static void blank_prototypes(struct kernel *k, bool *any) {
  const struct tokens *t = &k->tokens;
  size_t begin = 0, end;
  for (size_t i = 0; i < t->count; i++) {
    if (t->items[i].directive || token_is(t, i, ";"))
      begin = i + 1;
    else if (is_prototype(t, begin, i, &end) &&
             prelude_declares(t->text + t->items[i].begin, t->items[i].end - t->items[i].begin)) {
      blank(k, t->items[begin].begin, t->items[end - 1].end);
      *any = true;
      begin = end;
      i = end - 1;
    } else if (token_is(t, i, "(") || token_is(t, i, "["))
      i = kernel_skip_brackets(t, i) - 1;
    else if (token_is(t, i, "{")) {
      begin = kernel_skip_brackets(t, i);
      i = begin - 1;
    }
  }
}

int kernel_blank(struct kernel *k, struct error *err) {
  bool any = false;
  int code = blank_includes(k, &any, err);
  if (code)
    return code;
  blank_prototypes(k, &any);
  if (!any)
    return OP_OK;
  tokens_free(&k->tokens);
  return lex(&k->tokens, k->text, k->length, err);
}
