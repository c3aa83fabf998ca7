/* C text of the functions that Fortran has itself. Of arrays, which are small, all elements are written out. */
#include <string.h>

#include "jit/kernel/fortran/intrinsics.h"

static const char *suffix(struct f_type type) {
  return type.base == F_REAL && type.kind == 4 ? "f" : "";
}

/* One function of two values for each type. Returns its name. */
static const char *add_helper(struct fortran *f, const char *name, const char *body, struct f_type type) {
  const char *c = f_type_in_c(type);
  name = f_say(f, "f_%s_%c%d", name, type.base == F_REAL ? 'r' : 'i', type.kind);
  f_add_helper(f, f_say(f, "static inline %s %s(%s a, %s b) { %s }", c, name, c, c, body));
  return name;
}

/* ---- of several values, or of the elements of an array ---- */

static const char *said_number(struct fortran *f, const struct expr *a, long long number, enum level as) {
  struct place p[RANKS];
  f_places_of(a, number, p);
  return f->parts->said(f, a, p, as);
}

/* The beginning of a call of min or max. */
static const char *open_extreme(struct fortran *f, const struct expr *e) {
  const bool min = *e->intrinsic->c == '<';
  if (e->type.base == F_REAL)
    return f_say(f, "%s%s(", min ? "fmin" : "fmax", suffix(e->type));
  return f_say(f, "%s(",
               min ? add_helper(f, "min", "return b < a ? b : a;", e->type)
                   : add_helper(f, "max", "return b > a ? b : a;", e->type));
}

static const char *said_extreme(struct fortran *f, const struct expr *e, const struct place *p) {
  const struct expr *a = e->args;
  const bool array = e->intrinsic->class == I_EXTREME;
  const long long count = array ? f_elements_of(a) : f_count_args(a);
  const char *open = count > 1 ? open_extreme(f, e) : "";
  struct text *out = f_text(f);
  for (long long i = 1; i < count; i++)
    text_add(out, open);
  for (long long i = 0; i < count && !failed(f); i++, a = array ? a : a->next) {
    const char *said = array ? said_number(f, a, i, C_ALL) : f->parts->said(f, a, p, C_ALL);
    text_addf(out, "%s%s%s", i ? ", " : "", said, i ? ")" : "");
  }
  return text_str(out);
}

/* One product of a matmul or dot_product: number `k` of the row and column that the places name. */
static const char *said_product(struct fortran *f, const struct expr *e, const struct place *p, long long k) {
  const struct expr *a = e->args, *b = a->next;
  struct place left[2] = {{0}}, right[2] = {{0}};
  if (a->rank == 2)
    left[0] = p[0];
  if (b->rank == 2)
    right[1] = p[a->rank == 2 ? 1 : 0];
  left[a->rank - 1] = right[0] = (struct place){.known = true, .value = k};
  const char *said = f->parts->said(f, a, left, C_PRODUCT);
  return f_say(f, "%s * %s", said, f->parts->said(f, b, right, C_UNARY));
}

static const char *said_joined(struct fortran *f, const struct expr *e, const struct place *p) {
  const struct expr *a = e->args;
  const enum intrinsic_class class = e->intrinsic->class;
  const bool norm = class == I_NORM, products = class == I_DOT || class == I_MATMUL;
  const char *sign = norm || products ? "+" : e->intrinsic->c;
  const enum level level = *sign == '*' || norm ? C_UNARY : *sign == '+' ? C_PRODUCT : C_EQUAL;
  const long long count = products ? a->next->extent[0] : f_elements_of(a);
  struct text *out = f_text(f);
  text_addf(out, "%s%s(", norm ? "sqrt" : "", norm ? suffix(e->type) : "");
  for (long long k = 0; k < count && !failed(f); k++) {
    const char *said = products ? said_product(f, e, p, k) : said_number(f, a, k, level);
    text_add(out, k ? f_say(f, " %s ", sign) : "");
    text_add(out, norm ? f_say(f, "%s * %s", said, said) : said);
  }
  text_addf(out, "%s)", count ? "" : *sign == '*' || *sign == '&' ? "1" : "0");
  return text_str(out);
}

static const char *said_reshaped(struct fortran *f, const struct expr *e, const struct place *p,
                                 enum level as) {
  long long number = 0, stride = 1;
  for (int i = 0; i < e->rank; i++) {
    if (!p || !p[i].known) {
      f_refuse(f, e->at, "reshape makes arrays of at most %d elements; write a do loop", UNROLLED);
      return "";
    }
    number += p[i].value * stride;
    stride *= e->extent[i];
  }
  return said_number(f, e->args, number, as);
}

/* ---- element by element ---- */

static bool is_simple(const struct expr *e) {
  return e->known || ((e->op == E_VARIABLE || e->op == E_ELEMENT) && !f_mentions(e, NULL));
}

/* The form in C of each class. $0, $1 and $2 stand for the arguments, * for all of them, @ for C's function, ~
 * and # for the end and the beginning of its name by type. A class without a form is a function with this body. */
static const struct form {
  const char *real, *whole, *name, *body;
  enum level level; /* that the arguments need */
  bool cast;
} forms[] = {
    [I_MATH] = {.real = "@~(*)", .whole = "@~(*)"},
    [I_ROUND] = {"", "@~($0)", .cast = true},
    [I_CONVERT] = {"$0", "$0", .level = C_UNARY, .cast = true},
    [I_ABS] = {.real = "fabs~(*)", .whole = "#abs(*)"},
    [I_MOD] = {"fmod~(*)", "($0 % $1)", .level = C_UNARY},
    [I_MODULO] = {.name = "modulo",
                  .body = "const int d = a % b != 0 && (a % b < 0) != (b < 0); return a % b + (d ? b : 0);"},
    [I_SIGN] = {"copysign~(*)", .name = "sign", .body = "return (a < 0) != (b < 0) ? -a : a;"},
    [I_DIM] = {.name = "dim", .body = "return a > b ? a - b : 0;"},
    [I_MERGE] = {"($2 ? $0 : $1)", "($2 ? $0 : $1)", .level = C_OR},
    [I_BITS] = {"", "($0 @ $1)", .level = C_UNARY},
};

static const char *said_form(struct fortran *f, const struct expr *e, const struct place *p, const char *form,
                             enum level as) {
  struct text *out = f_text(f);
  for (const char *c = form; *c; c++) {
    const struct expr *arg = e->args;
    if (*c == '$') {
      for (int n = *++c - '0'; n > 0; n--)
        arg = arg->next;
      text_add(out, f->parts->said(f, arg, p, as));
    } else if (c[0] == '*' && c[1] == ')')
      for (; arg; arg = arg->next)
        text_addf(out, "%s%s", f->parts->said(f, arg, p, C_ALL), arg->next ? ", " : "");
    else if (*c == '@')
      text_add(out, arg->next && strcmp(e->intrinsic->c, "atan") == 0 ? "atan2" : e->intrinsic->c);
    else if (*c == '~')
      text_add(out, suffix(arg->type));
    else if (*c == '#')
      text_add(out, e->type.kind == 8 ? "ll" : "");
    else
      text_add_char(out, *c);
  }
  return text_str(out);
}

static const char *modulo_body(struct fortran *f, struct f_type type) {
  const char *end = suffix(type);
  return f_say(
      f, "const %s r = fmod%s(a, b); return r == 0 ? copysign%s(0.%s, b) : (r < 0) != (b < 0) ? r + b : r;",
      f_type_in_c(type), end, end, end);
}

static const char *said_plain(struct fortran *f, const struct expr *e, const struct place *p, enum level as) {
  const struct form *form = &forms[e->intrinsic->class];
  const bool real = e->type.base == F_REAL;
  const char *has = real ? form->real : form->whole;
  if (!has) {
    const char *body = real && e->intrinsic->class == I_MODULO ? modulo_body(f, e->type) : form->body;
    has = f_say(f, "%s(*)", add_helper(f, form->name, body, e->type));
  } else if (e->intrinsic->class == I_BITS && !e->args->next)
    has = "(@$0)";
  const char *said = said_form(f, e, p, has, form->level);
  if (!form->cast)
    return said;
  return f_in_brackets(f, as > C_UNARY, f_say(f, "(%s)%s", f_type_in_c(e->type), said));
}

static const char *said_largest(struct fortran *f, const struct expr *e) {
  if (e->type.base == F_REAL)
    return f_say(f, "%s_%s", e->type.kind == 8 ? "DBL" : "FLT", e->intrinsic->c);
  return e->type.kind == 8 ? "9223372036854775807LL" : "2147483647";
}

const char *f_said_intrinsic(struct fortran *f, const struct expr *e, const struct place *p, enum level as) {
  const struct expr *a = e->args, *b = a->next;
  switch (e->intrinsic->class) {
  case I_REDUCE:
  case I_COUNT:
  case I_DOT:
  case I_MATMUL:
  case I_NORM: return said_joined(f, e, p);
  case I_EXTREMUM:
    /* Two whole numbers are compared in place, so that the prover understands a comparison of an argument with
     * itself. */
    if (!b->next && e->type.base == F_INTEGER && is_simple(a) && is_simple(b))
      return said_form(f, e, p, "($1 @ $0 ? $1 : $0)", C_SUM);
    return said_extreme(f, e, p);
  case I_EXTREME: return said_extreme(f, e, p);
  case I_TRANSPOSE: return f->parts->said(f, a, (const struct place[]){p[1], p[0]}, as);
  case I_RESHAPE: return said_reshaped(f, e, p, as);
  case I_LARGEST: return said_largest(f, e);
  default: return said_plain(f, e, p, as);
  }
}
