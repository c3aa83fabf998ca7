/* C text of the functions that Fortran has itself. Of arrays, which are small, all elements are written out. */
#include <string.h>

#include "jit/front/fortran/intrinsics.h"

/* The form with the arguments in the places of $0, $1 and $2, and what C calls the function in that of @. */
static void put_form(struct fortran *f, const struct expr *e, const struct place *p, const char *form,
                     enum level level, struct text *out) {
  for (const char *c = form; *c; c++)
    if (*c == '@')
      text_add(out, e->intrinsic->c);
    else if (*c == '$') {
      const struct expr *arg = e->args;
      for (int n = *++c - '0'; n > 0; n--)
        arg = arg->next;
      f->parts->element(f, arg, p, level, out);
    } else
      text_add_char(out, *c);
}

static const char *suffix(struct f_type type) {
  return type.base == F_REAL && type.kind == 4 ? "f" : "";
}

static void put_function(struct fortran *f, const char *name, const char *end, const struct expr *e,
                         const struct place *p, struct text *out) {
  text_addf(out, "%s%s(", name, end);
  for (const struct expr *i = e->args; i; i = i->next) {
    f->parts->element(f, i, p, C_ALL, out);
    text_add(out, i->next ? ", " : "");
  }
  text_add(out, ")");
}

/* A function of two values, one for each type. Returns its name. */
static const char *add_helper(struct fortran *f, const char *name, const char *body, struct f_type type) {
  const char *c = f_type_in_c(type);
  name = f_say(f, "f_%s_%c%d", name, type.base == F_REAL ? 'r' : 'i', type.kind);
  f_add_helper(f, f_say(f, "static inline %s %s(%s a, %s b) { %s }", c, name, c, c, body));
  return name;
}

static void put_helper(struct fortran *f, const char *name, const char *body, const struct expr *e,
                       const struct place *p, struct text *out) {
  put_function(f, add_helper(f, name, body, e->type), "", e, p, out);
}

/* What two of them make. */
static void open_extremum(struct fortran *f, const struct expr *e, struct text *out) {
  const bool min = *e->intrinsic->c == '<';
  if (e->type.base == F_REAL)
    text_addf(out, "%s%s(", min ? "fmin" : "fmax", suffix(e->type));
  else
    text_addf(out, "%s(",
              min ? add_helper(f, "min", "return b < a ? b : a;", e->type)
                  : add_helper(f, "max", "return b > a ? b : a;", e->type));
}

static bool is_simple(const struct expr *e) {
  return e->known || ((e->op == E_VARIABLE || e->op == E_ELEMENT) && !f_mentions(e, NULL));
}

static void put_extremum(struct fortran *f, const struct expr *e, const struct place *p, struct text *out) {
  const int count = f_count_args(e->args);
  const struct expr *i = e->args;
  /* Two whole numbers as they stand: what compares an argument with itself can be proved. */
  if (count == 2 && e->type.base == F_INTEGER && is_simple(i) && is_simple(i->next)) {
    put_form(f, e, p, "($1 @ $0 ? $1 : $0)", C_SUM, out);
    return;
  }
  for (int k = 1; k < count; k++)
    open_extremum(f, e, out);
  f->parts->element(f, i, p, C_ALL, out);
  for (i = i->next; i; i = i->next) {
    text_add(out, ", ");
    f->parts->element(f, i, p, C_ALL, out);
    text_add(out, ")");
  }
}

/* ---- of whole arrays ---- */

static void put_number(struct fortran *f, const struct expr *a, long long number, enum level level,
                       struct text *out) {
  struct place p[RANKS];
  f_places_of(a, number, p);
  f->parts->element(f, a, p, level, out);
}

static void put_joined(struct fortran *f, const struct expr *e, struct text *out) {
  const struct expr *a = e->args;
  const char *sign = e->intrinsic->c;
  const long long count = f_elements_of(a);
  text_add(out, "(");
  for (long long i = 0; i < count && !failed(f); i++) {
    if (i)
      text_addf(out, " %s ", sign);
    put_number(f, a, i, *sign == '*' ? C_UNARY : *sign == '+' ? C_PRODUCT : C_EQUAL, out);
  }
  if (count == 0)
    text_add(out, *sign == '*' || *sign == '&' ? "1" : "0");
  text_add(out, ")");
}

static void put_extreme(struct fortran *f, const struct expr *e, struct text *out) {
  const long long count = f_elements_of(e->args);
  for (long long i = 1; i < count; i++)
    open_extremum(f, e, out);
  for (long long i = 0; i < count && !failed(f); i++) {
    text_add(out, i ? ", " : "");
    put_number(f, e->args, i, C_ALL, out);
    text_add(out, i ? ")" : "");
  }
}

/* Of the rows and columns that the places name. */
static void put_products(struct fortran *f, const struct expr *e, const struct place *p, struct text *out) {
  const struct expr *a = e->args, *b = a->next;
  const long long count = b->extent[0];
  struct place left[2] = {{0}}, right[2] = {{0}};
  const int at = a->rank - 1; /* where a is counted through */
  if (a->rank == 2)
    left[0] = p[0];
  if (b->rank == 2)
    right[1] = p[a->rank == 2 ? 1 : 0];
  text_add(out, "(");
  for (long long k = 0; k < count && !failed(f); k++) {
    left[at] = right[0] = (struct place){.known = true, .value = k};
    text_add(out, k ? " + " : "");
    f->parts->element(f, a, left, C_PRODUCT, out);
    text_add(out, " * ");
    f->parts->element(f, b, right, C_UNARY, out);
  }
  text_add(out, count ? ")" : "0)");
}

static void put_norm(struct fortran *f, const struct expr *e, struct text *out) {
  const long long count = f_elements_of(e->args);
  text_addf(out, "sqrt%s(", suffix(e->type));
  for (long long i = 0; i < count && !failed(f); i++) {
    text_add(out, i ? " + " : "");
    put_number(f, e->args, i, C_UNARY, out);
    text_add(out, " * ");
    put_number(f, e->args, i, C_UNARY, out);
  }
  text_add(out, count ? ")" : "0)");
}

static void put_reshaped(struct fortran *f, const struct expr *e, const struct place *p, enum level level,
                         struct text *out) {
  long long number = 0, stride = 1;
  for (int i = 0; i < e->rank; i++) {
    if (!p || !p[i].known) {
      f_refuse(f, e->at, "reshape makes arrays of at most %d elements; write a do loop", UNROLLED);
      return;
    }
    number += p[i].value * stride;
    stride *= e->extent[i];
  }
  put_number(f, e->args, number, level, out);
}

/* ---- conversions ---- */

static void put_cast(struct fortran *f, const struct expr *e, const struct place *p, bool function,
                     enum level level, struct text *out) {
  text_addf(out, "%s(%s)", level > C_UNARY ? "(" : "", f_type_in_c(e->type));
  if (function)
    put_form(f, e, p, *suffix(e->args->type) ? "@f($0)" : "@($0)", C_ALL, out);
  else
    put_form(f, e, p, "$0", C_UNARY, out);
  text_add(out, level > C_UNARY ? ")" : "");
}

static void put_largest(const struct expr *e, struct text *out) {
  if (e->type.base == F_REAL)
    text_addf(out, "%s_%s", e->type.kind == 8 ? "DBL" : "FLT", e->intrinsic->c);
  else
    text_add(out, e->type.kind == 8 ? "9223372036854775807LL" : "2147483647");
}

static void put_plain(struct fortran *f, const struct expr *e, const struct place *p, enum level level,
                      struct text *out) {
  static const char modulo_whole[] =
      "const int d = a % b != 0 && (a % b < 0) != (b < 0); return a % b + (d ? b : 0);";
  static const char modulo_real[] = "const double r = fmod(a, b); return r == 0 ? copysign(0., b) : "
                                    "(r < 0) != (b < 0) ? r + b : r;";
  static const char modulo_short[] = "const float r = fmodf(a, b); return r == 0 ? copysignf(0.f, b) : "
                                     "(r < 0) != (b < 0) ? r + b : r;";
  const bool real = e->type.base == F_REAL;
  switch (e->intrinsic->class) {
  case I_ABS:
    put_function(f, real ? "fabs" : e->type.kind == 8 ? "llabs" : "abs", suffix(e->type), e, p, out);
    break;
  case I_MOD:
    if (real)
      put_function(f, "fmod", suffix(e->type), e, p, out);
    else
      put_form(f, e, p, "($0 % $1)", C_UNARY, out);
    break;
  case I_MODULO:
    put_helper(f, "modulo", !real ? modulo_whole : e->type.kind == 8 ? modulo_real : modulo_short, e, p, out);
    break;
  case I_SIGN:
    if (real)
      put_function(f, "copysign", suffix(e->type), e, p, out);
    else
      put_helper(f, "sign", "return (a < 0) != (b < 0) ? -a : a;", e, p, out);
    break;
  case I_DIM: put_helper(f, "dim", "return a > b ? a - b : 0;", e, p, out); break;
  case I_MERGE: put_form(f, e, p, "($2 ? $0 : $1)", C_OR, out); break;
  case I_CONVERT: put_cast(f, e, p, false, level, out); break;
  case I_ROUND: put_cast(f, e, p, true, level, out); break;
  case I_BITS: put_form(f, e, p, e->args->next ? "($0 @ $1)" : "(@$0)", C_UNARY, out); break;
  case I_EXTREMUM: put_extremum(f, e, p, out); break;
  case I_LARGEST: put_largest(e, out); break;
  default:
    put_function(f, e->args->next && !strcmp(e->intrinsic->c, "atan") ? "atan2" : e->intrinsic->c,
                 suffix(e->type), e, p, out);
  }
}

void f_put_intrinsic(struct fortran *f, const struct expr *e, const struct place *p, enum level level,
                     struct text *out) {
  switch (e->intrinsic->class) {
  case I_REDUCE:
  case I_COUNT: put_joined(f, e, out); break;
  case I_EXTREME: put_extreme(f, e, out); break;
  case I_DOT:
  case I_MATMUL: put_products(f, e, p, out); break;
  case I_NORM: put_norm(f, e, out); break;
  case I_TRANSPOSE: f->parts->element(f, e->args, (const struct place[]){p[1], p[0]}, level, out); break;
  case I_RESHAPE: put_reshaped(f, e, p, level, out); break;
  default: put_plain(f, e, p, level, out);
  }
}
