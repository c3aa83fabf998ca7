/* Structs of the program in generated code. */
#include <stdlib.h>
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

/* "struct state" behind "op2_user::" is "struct op2_user::state". */
static void add_name(const char *name, const char *before, struct text *out) {
  const char *blank = strrchr(name, ' ');
  const size_t head = blank ? (size_t)(blank - name) + 1 : 0;
  text_add_bytes(out, name, head);
  text_addf(out, "%s%s", before, name + head);
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
           "long "
           "(*)[]: 1, long long (*)[]: 1, unsigned long long (*)[]: 1";
  case TYPE_SHORT: return "short *: 1, unsigned short *: 1, short (*)[]: 1, unsigned short (*)[]: 1";
  default: return NULL;
  }
}

static void put_member(struct generator *g, const char *type, const char *shown, const struct type_member *m,
                       bool kinds) {
  const char *kind = kinds ? kinds_of(m->type) : NULL;
  put(g,
      "_Static_assert(__builtin_offsetof(%s, %s) == %zu, \"" STRUCT_DIFFERS
      "member %s of %s begins at byte %zu of the "
      "struct in the program\");",
      type, m->name, m->offset, m->name, shown, m->offset);
  put(g,
      "_Static_assert(sizeof ((%s *)0)->%s == %zu, \"" STRUCT_DIFFERS
      "member %s of %s has %zu bytes in the program\");",
      type, m->name, m->size, m->name, shown, m->size);
  if (kind)
    put(g,
        "_Static_assert(_Generic(&((%s *)0)->%s, %s, default: 0), \"" STRUCT_DIFFERS
        "member %s of %s is of type %s in the "
        "program\");",
        type, m->name, kind, m->name, shown, type_info(m->type)->name);
}

void put_structs(struct generator *g, const char *before, bool kinds) {
  enum type_code types[OP_MAX_ARGS];
  const int count = desc_structs(g->d, types);
  for (int i = 0; i < count; i++) {
    const struct type_info *info = type_info(types[i]);
    struct text name = {0};
    add_name(info->name, before, &name);
    put(g, "typedef %s %s;", text_str(&name), names[i]);
    for (int m = 0; m < info->nmembers; m++)
      put_member(g, names[i], info->name, &info->members[m], kinds);
    put(g, "_Static_assert(sizeof(%s) == %zu, \"" STRUCT_DIFFERS "%s has %zu bytes in the program\");",
        names[i], info->size, info->name, info->size);
    g->out->failed |= name.failed;
    text_free(&name);
  }
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
