/* Names of the program's structs in generated code, and constants of such types in its text. */
#include <string.h>

#include "jit/front/parameters.h"
#include "jit/generate/skeleton.h"

#define TEN(t)                                                                                               \
  "op2_T" t "0", "op2_T" t "1", "op2_T" t "2", "op2_T" t "3", "op2_T" t "4", "op2_T" t "5", "op2_T" t "6",   \
      "op2_T" t "7", "op2_T" t "8", "op2_T" t "9"
static const char *const names[] = {TEN(""), TEN("1"), TEN("2"), TEN("3"), TEN("4"), TEN("5"), TEN("6")};
_Static_assert(sizeof names / sizeof *names >= OP_MAX_ARGS, "each argument may be of another struct");

/* By first occurrence, so that the text is the same whatever else the program declares. */
const char *struct_word(const struct desc *d, enum type_code type) {
  enum type_code types[OP_MAX_ARGS];
  const int count = desc_structs(d, types);
  for (int i = 0; i < count; i++)
    if (types[i] == type)
      return names[i];
  return type_info(type)->name;
}

/* ---- constants of such a type ----------------------------------------------------------------------*/

/* Where the type is complete: behind the semicolon of `struct state {...};` or `typedef struct {...} state;`. The end of
 * the text if it is nowhere: then the compiler says so. */
static size_t end_of_type(const struct tokens *t, const char *name) {
  const char *blank = strrchr(name, ' '), *last = blank ? blank + 1 : name;
  for (size_t i = 0; i < t->count; i++) {
    if (t->items[i].directive)
      continue;
    const bool tagged = blank && (token_is(t, i, "struct") || token_is(t, i, "union")) &&
                        token_is(t, i + 1, last) && token_is(t, i + 2, "{");
    const bool defined = !blank && token_is(t, i, "typedef");
    size_t end = i;
    while (end < t->count && !token_is(t, end, ";"))
      end = token_is(t, end, "{") ? kernel_skip_brackets(t, end) : end + 1;
    if (end < t->count && (tagged || (defined && token_is(t, end - 1, last))))
      return t->items[end].end;
    if (token_is(t, i, "{") || token_is(t, i, "("))
      i = kernel_skip_brackets(t, i) - 1;
  }
  return t->length;
}

static void add_constant(const struct desc *d, int i, const char *word, bool places, struct text *out) {
  const struct desc_const *c = &d->consts[i];
  text_addf(out, " %s %s %s", word, type_info(c->type)->name, c->name);
  if (c->dim > 1)
    text_addf(out, "[%d]", c->dim);
  text_addf(out, places ? "; static void *const op2_c%d = (void *)&%s;" : ";", i, c->name);
}

int structs_text(const struct desc *d, const char *word, bool places, struct text *out, struct error *err) {
  struct tokens tokens = {0};
  text_add(out, d->text);
  for (int i = 0; i < d->nconsts; i++) {
    if (!type_is_struct(d->consts[i].type))
      continue;
    struct text longer = {0};
    if (lex(&tokens, text_str(out), out->length, err) != OP_OK)
      return err->code;
    const size_t at = end_of_type(&tokens, type_info(d->consts[i].type)->name);
    text_add_bytes(&longer, text_str(out), at);
    add_constant(d, i, word, places, &longer);
    text_add(&longer, text_str(out) + at);
    tokens_free(&tokens);
    text_free(out);
    *out = longer;
  }
  return text_ok(out) ? OP_OK : error_memory(err, "a kernel text", strlen(d->text));
}
