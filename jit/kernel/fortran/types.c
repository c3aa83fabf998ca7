/* Words of types with their kinds, and statements that kernels cannot have. */
#include <string.h>

#include "jit/kernel/fortran/tree.h"

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
  *type = row < 0 ? (struct f_type){F_NONE, 0} : type_words[row].type;
  if (wrong)
    *wrong = row < 0 ? NULL : type_words[row].wrong;
  if (row < 0)
    return false;
  f->at += f_is_word(f, f->at, "double") ? 2 : 1;
  if (type_words[row].wrong) {
    if (f_take(f, "*"))
      f->at++;
    f->at = f_is_word(f, f->at, "(") ? f_skip_brackets(f, f->at) : f->at;
  } else if (row != DOUBLE_PRECISION && !plain)
    read_kind(f, type);
  return true;
}

/* Statements that kernels cannot have, and why, or what to write instead. */
static const struct {
  const char *words, *remedy;
} refused[] = {
    {" common ",
     "; declare what the kernel reads as a constant of the library (op_decl_const), a variable of a module"},
    {" equivalence ", "; use one name for one thing"},
    {" namelist read ", ", for kernels read no file; pass what they need as arguments"},
    {" data ", "; write `parameter` with the values, or assign them"},
    {" entry ", "; write a procedure of its own"},
    {" format ", "; `print *, ...` needs none"},
    {" save ", ", for kernels keep nothing between elements; leave it out"},
    {" write ", ", for kernels write no file; `print *, ...` prints"},
    {" open close ", "; pass what the kernel needs as arguments"},
    {" allocate deallocate ", "; declare the array with constant bounds, as w(4)"},
    {" nullify ", "; pass the array itself"},
    {" stop error ",
     "; let the kernel set a flag, as an argument with OP_MAX, and look at it behind the loop"},
    {" associate ", "; use a variable"},
    {" block ", "; declare the variables at the top of the procedure"},
    {" forall ", "; write a do loop"},
    {" pause assign ", ""},
};

bool f_is_refused(struct fortran *f, bool refuse) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (f_is_any(f, f->at, refused[i].words)) {
      if (refuse)
        f_refuse(f, now(f), "`%s` is not in the subset%s", now(f)->spelled, refused[i].remedy);
      return true;
    }
  return false;
}
