/* Structs of the program in generated code. */
#include <string.h>

#include "jit/generate/skeleton.h"

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
