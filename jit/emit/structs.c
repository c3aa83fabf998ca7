/* Structs of the program in generated code. */
#include <string.h>

#include "jit/emit/skeleton.h"
#include "jit/kernel/parameters.h"

/* "struct state" behind "op2_user::" is "struct op2_user::state". A word of the dialect is another name in its text. */
static void add_name(const struct generator *g, const char *name, const char *before, struct text *out) {
  const char *blank = strrchr(name, ' ');
  const size_t head = blank ? (size_t)(blank - name) + 1 : 0;
  text_add_bytes(out, name, head);
  text_addf(out, "%s%s%s", before, word_before(g, name + head), name + head);
}

/* Types that hold a member of this type, for C's _Generic: also as rows of an array. Whole numbers of one size are
 * one another's, for an enum may be either. */
static const char *kinds_of(enum type_code type) {
  switch (type) {
  case TYPE_DOUBLE: return "double *: 1, double (*)[]: 1";
  case TYPE_FLOAT: return "float *: 1, float (*)[]: 1";
  case TYPE_BOOL: return "_Bool *: 1, _Bool (*)[]: 1";
  case TYPE_INT:
  case TYPE_UINT: return "int *: 1, unsigned *: 1, int (*)[]: 1, unsigned (*)[]: 1";
  case TYPE_LONGLONG:
  case TYPE_ULONGLONG:
    return "long *: 1, unsigned long *: 1, long long *: 1, unsigned long long *: 1, long (*)[]: 1, unsigned "
           "long (*)[]: 1, long long (*)[]: 1, unsigned long long (*)[]: 1";
  case TYPE_SHORT: return "short *: 1, unsigned short *: 1, short (*)[]: 1, unsigned short (*)[]: 1";
  default: return NULL;
  }
}

static void put_member(struct generator *g, const char *type, const char *shown, const struct type_member *m,
                       bool kinds) {
  const char *kind = kinds ? kinds_of(m->type) : NULL, *word = word_before(g, m->name);
  put(g,
      "_Static_assert(__builtin_offsetof(%s, %s%s) == %zu, \"" STRUCT_DIFFERS
      "member %s of %s begins at byte %zu of the struct in the program\");",
      type, word, m->name, m->offset, m->name, shown, m->offset);
  put(g,
      "_Static_assert(sizeof ((%s *)0)->%s%s == %zu, \"" STRUCT_DIFFERS
      "member %s of %s has %zu bytes in the program\");",
      type, word, m->name, m->size, m->name, shown, m->size);
  if (kind)
    put(g,
        "_Static_assert(_Generic(&((%s *)0)->%s, %s, default: 0), \"" STRUCT_DIFFERS
        "member %s of %s is of type %s in the program\");",
        type, m->name, kind, m->name, shown, type_info(m->type)->name);
}

void put_structs(struct generator *g, const char *before, bool kinds) {
  enum type_code types[OP_MAX_ARGS];
  const int count = desc_structs(g->d, types);
  for (int i = 0; i < count; i++) {
    const struct type_info *info = type_info(types[i]);
    struct text name = {0};
    add_name(g, info->name, before, &name);
    put(g, "typedef %s %s;", text_str(&name), struct_word(g->d, types[i]));
    for (int m = 0; m < info->nmembers; m++)
      put_member(g, struct_word(g->d, types[i]), info->name, &info->members[m], kinds);
    put(g, "_Static_assert(sizeof(%s) == %zu, \"" STRUCT_DIFFERS "%s has %zu bytes in the program\");",
        struct_word(g->d, types[i]), info->size, info->name, info->size);
    piece_free(g, &name);
  }
}

/* ---- names of the program's structs in generated code, and constants of such types in its text ---- */
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
