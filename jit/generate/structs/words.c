/* What structs of the program are called in generated code, and their constants in its text. */
#include <string.h>

#include "jit/front/parameters.h"
#include "jit/generate/skeleton.h"

static const char *const names[OP_MAX_ARGS] = {
    "op2_T0",  "op2_T1",  "op2_T2",  "op2_T3",  "op2_T4",  "op2_T5",  "op2_T6",  "op2_T7",
    "op2_T8",  "op2_T9",  "op2_T10", "op2_T11", "op2_T12", "op2_T13", "op2_T14", "op2_T15",
    "op2_T16", "op2_T17", "op2_T18", "op2_T19", "op2_T20", "op2_T21", "op2_T22", "op2_T23",
    "op2_T24", "op2_T25", "op2_T26", "op2_T27", "op2_T28", "op2_T29", "op2_T30", "op2_T31",
    "op2_T32", "op2_T33", "op2_T34", "op2_T35", "op2_T36", "op2_T37", "op2_T38", "op2_T39",
    "op2_T40", "op2_T41", "op2_T42", "op2_T43", "op2_T44", "op2_T45", "op2_T46", "op2_T47",
    "op2_T48", "op2_T49", "op2_T50", "op2_T51", "op2_T52", "op2_T53", "op2_T54", "op2_T55",
    "op2_T56", "op2_T57", "op2_T58", "op2_T59", "op2_T60", "op2_T61", "op2_T62", "op2_T63"};

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
