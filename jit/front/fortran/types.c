/* Words of types, with their kinds. */
#include <string.h>

#include "jit/front/fortran/tree.h"

static const struct {
  const char *word;
  struct f_type type;
  const char *wrong;
} type_words[] = {
    {"integer", {F_INTEGER, 4}, NULL},
    {"real", {F_REAL, 4}, NULL},
    {"doubleprecision", {F_REAL, 8}, NULL},
    {"logical", {F_LOGICAL, 4}, NULL},
    {"character", {F_TEXT, 1}, "is text, which kernels do not have"},
    {"complex", {F_NONE, 0}, "is complex; use two real variables"},
    {"type", {F_NONE, 0}, "is of a derived type; use a variable for each component"},
    {"class", {F_NONE, 0}, "is of a derived type; use a variable for each component"},
    {"procedure", {F_NONE, 0}, "is a procedure pointer; call the procedure by its name"},
};
enum { TYPE_WORDS = sizeof type_words / sizeof *type_words };

static int type_word(const struct fortran *f, int at) {
  for (int i = 0; i < TYPE_WORDS; i++)
    if (f_is_word(f, at, type_words[i].word))
      return i;
  return f_is_two(f, at, "double", "precision") ? 2 : -1;
}

bool f_is_type_word(const struct fortran *f, int at) {
  return type_word(f, at) >= 0;
}

static void read_kind(struct fortran *f, struct f_type *type) {
  const struct f_token *at = now(f);
  long long kind = type->kind;
  if (f_take(f, "*"))
    kind = f_known_value(f, f_read_primary(f), "the kind of a type");
  else if (f_take(f, "(")) {
    if (f_is_word(f, f->at, "kind") && f_is_word(f, f->at + 1, "="))
      f->at += 2;
    kind = f_known_value(f, f_read_expression(f), "the kind of a type");
    f_expect(f, ")");
  }
  const bool good = type->base == F_LOGICAL ? kind == 1 || kind == 4 : kind == 4 || kind == 8;
  if (!good)
    f_refuse(f, at, "kernels have no kind %lld here; use %s", kind,
             type->base == F_LOGICAL ? "logical(4) or logical(1)" : "kind 4 or 8");
  type->kind = (int)kind;
}

bool f_read_type(struct fortran *f, struct f_type *type, const char **wrong, bool plain) {
  enum { DOUBLE_PRECISION = 2 };
  const int row = type_word(f, f->at);
  *type = (struct f_type){F_NONE, 0};
  *wrong = NULL;
  if (row < 0)
    return false;
  f->at += f_is_word(f, f->at, "double") ? 2 : 1;
  *type = type_words[row].type;
  *wrong = type_words[row].wrong;
  if (*wrong) {
    if (f_take(f, "*"))
      f->at++;
    f->at = f_is_word(f, f->at, "(") ? f_skip_brackets(f, f->at) : f->at;
  } else if (row != DOUBLE_PRECISION && !plain)
    read_kind(f, type);
  return true;
}
