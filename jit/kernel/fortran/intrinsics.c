/* Arguments and results of Fortran's own functions. */
#include "jit/kernel/fortran/intrinsics.h"

#include <string.h>

#include "base/text.h"

/* Names, each with a blank before and behind it; behind `=` the name or sign in C. */
static const struct intrinsic rows[] = {
    {" sqrt exp log log10 sin cos tan asin acos sinh cosh tanh asinh acosh atanh ", I_MATH, 1, 1, {0}},
    {" erf erfc gamma=tgamma log_gamma=lgamma aint=trunc anint=round ", I_MATH, 1, 1, {0}},
    {" dsqrt=sqrt dexp=exp dlog=log dsin=sin dcos=cos dtan=tan dtanh=tanh ", I_MATH, 1, 1, {F_REAL, 8}},
    {" datan=atan ", I_MATH, 1, 1, {F_REAL, 8}},
    {" atan ", I_MATH, 1, 2, {0}},
    {" atan2 hypot ", I_MATH, 2, 2, {0}},
    {" datan2=atan2 ", I_MATH, 2, 2, {F_REAL, 8}},
    {" nint=round floor ceiling=ceil ", I_ROUND, 1, 2, {F_INTEGER, 4}},
    {" abs ", I_ABS, 1, 1, {0}},
    {" dabs ", I_ABS, 1, 1, {F_REAL, 8}},
    {" iabs ", I_ABS, 1, 1, {F_INTEGER, 4}},
    {" min=< max=> ", I_EXTREMUM, 2, 64, {0}},
    {" dmin1=< dmax1=> ", I_EXTREMUM, 2, 64, {F_REAL, 8}},
    {" amin1=< amax1=> ", I_EXTREMUM, 2, 64, {F_REAL, 4}},
    {" min0=< max0=> ", I_EXTREMUM, 2, 64, {F_INTEGER, 4}},
    {" mod ", I_MOD, 2, 2, {0}},
    {" dmod ", I_MOD, 2, 2, {F_REAL, 8}},
    {" amod ", I_MOD, 2, 2, {F_REAL, 4}},
    {" modulo ", I_MODULO, 2, 2, {0}},
    {" sign ", I_SIGN, 2, 2, {0}},
    {" dsign ", I_SIGN, 2, 2, {F_REAL, 8}},
    {" isign ", I_SIGN, 2, 2, {F_INTEGER, 4}},
    {" dim ", I_DIM, 2, 2, {0}},
    {" merge ", I_MERGE, 3, 3, {0}},
    {" int ", I_CONVERT, 1, 2, {F_INTEGER, 4}},
    {" ifix idint ", I_CONVERT, 1, 1, {F_INTEGER, 4}},
    {" real ", I_CONVERT, 1, 2, {F_REAL, 4}},
    {" float sngl ", I_CONVERT, 1, 1, {F_REAL, 4}},
    {" dble ", I_CONVERT, 1, 1, {F_REAL, 8}},
    {" logical ", I_CONVERT, 1, 2, {F_LOGICAL, 4}},
    {" iand=& ior=| ieor=^ ", I_BITS, 2, 2, {0}},
    {" not=~ ", I_BITS, 1, 1, {0}},
    {" sum=+ product=* ", I_REDUCE, 1, 1, {0}},
    {" any=|| all=&& ", I_REDUCE, 1, 1, {F_LOGICAL, 4}},
    {" minval=< maxval=> ", I_EXTREME, 1, 1, {0}},
    {" count=+ ", I_COUNT, 1, 1, {F_INTEGER, 4}},
    {" dot_product ", I_DOT, 2, 2, {0}},
    {" norm2 ", I_NORM, 1, 1, {0}},
    {" matmul ", I_MATMUL, 2, 2, {0}},
    {" transpose ", I_TRANSPOSE, 1, 1, {0}},
    {" reshape ", I_RESHAPE, 2, 2, {0}},
    {" size ", I_SIZE, 1, 2, {F_INTEGER, 4}},
    {" lbound ubound ", I_BOUND, 2, 2, {F_INTEGER, 4}},
    {" kind ", I_KIND, 1, 1, {F_INTEGER, 4}},
    {" selected_real_kind ", I_SELECTED, 1, 2, {F_REAL, 0}},
    {" selected_int_kind ", I_SELECTED, 1, 1, {F_INTEGER, 0}},
    {" huge=MAX tiny=MIN epsilon=EPSILON ", I_LARGEST, 1, 1, {0}},
};
enum { ROWS = sizeof rows / sizeof *rows };

const struct intrinsic *f_find_intrinsic(struct fortran *f, const char *name) {
  const size_t length = strlen(name);
  for (int i = 0; i < ROWS; i++)
    for (const char *at = rows[i].c; (at = strstr(at + 1, name)) != NULL;)
      if (at[-1] == ' ' && strchr(" =", at[length])) {
        const char *c = at[length] == '=' ? at + length + 1 : at;
        struct intrinsic *found = f_new(f, sizeof *found);
        *found = rows[i];
        found->c = f_copy(f, c, strcspn(c, " "));
        return found;
      }
  return NULL;
}

const char *f_nearest_intrinsic(struct fortran *f, const char *name) {
  struct text *names = f_text(f);
  for (int i = 0; i < ROWS; i++)
    for (const char *at = rows[i].c; at[1]; at = strchr(at + 1, ' '))
      names_note(names, f_copy(f, at + 1, strcspn(at + 1, " =")));
  return names_nearest(names, name);
}

/* ---- one class after the other ---- */

/* Takes the kind, which may be written as `kind=`; other arguments go by their order. */
static void take_kind(struct fortran *f, struct expr *e, const struct expr *kind) {
  e->type = e->intrinsic->to;
  if (kind)
    e->type.kind = (int)f_known_value(f, kind, "a kind");
  if (kind && e->type.kind != 4 && e->type.kind != 8)
    f_refuse(f, kind->at, "kernels have no kind %d here; use 4 or 8", e->type.kind);
}

static void need(struct fortran *f, const struct expr *e, const struct expr *a, bool good, const char *what) {
  if (!good)
    f_refuse(f, a->at, "%s takes %s, and this is %s", e->at->spelled, what, f_type_said(f, a->type));
}

static void need_real(struct fortran *f, struct expr *e) {
  for (struct expr *i = e->args; i; i = i->next)
    need(f, e, i, i->type.base == F_REAL, "real numbers; write real(x, 8)");
  if (e->intrinsic->to.base)
    for (struct expr *i = e->args; i; i = i->next)
      need(f, e, i, f_same_type(i->type, e->intrinsic->to),
           "arguments of the type in its name; use the name without it");
}

/* Numbers of one type, as the standard has it. */
static void need_one_type(struct fortran *f, struct expr *e) {
  for (struct expr *i = e->args; i; i = i->next) {
    need(f, e, i, f_is_number(i->type), "numbers");
    if (!f_same_type(i->type, e->args->type))
      f_refuse(f, i->at,
               "the arguments of %s are of one type and kind; this is %s, and the first %s: write %s",
               e->at->spelled, f_type_said(f, i->type), f_type_said(f, e->args->type),
               e->args->type.base == F_REAL && e->args->type.kind == 8 ? "1d0 for 1.0, or real(x, 8)"
                                                                       : "real(x, kind)");
  }
  if (e->intrinsic->to.base)
    need(f, e, e->args, f_same_type(e->args->type, e->intrinsic->to), "arguments of the type in its name");
}

static void need_array(struct fortran *f, const struct expr *e, const struct expr *arg, int rank) {
  if (arg->rank == 0 || (rank && arg->rank != rank))
    f_refuse(f, arg->at,
             rank == 2 ? "%s takes matrices"
             : rank    ? "%s takes vectors"
                       : "%s takes an array",
             e->at->spelled);
  else if (f_elements_of(arg) < 0 || f_elements_of(arg) > MOST_ELEMENTS)
    f_refuse(f, arg->at,
             "%s takes arrays of at most %d elements, of a shape that the text says; write a do loop",
             e->at->spelled, MOST_ELEMENTS);
}

static void set_known(struct expr *e, long long value) {
  e->known = true;
  e->value = value;
}

static void type_convert(struct fortran *f, struct expr *e) {
  const struct expr *a = e->args;
  const bool logical = e->intrinsic->to.base == F_LOGICAL;
  need(f, e, a, logical ? a->type.base == F_LOGICAL : f_is_number(a->type),
       logical ? "a logical value" : "a number");
  take_kind(f, e, a->next);
  f_take_shape(f, e, a);
  if (a->known && e->type.base == F_INTEGER)
    set_known(e, a->value);
}

static void type_matmul(struct fortran *f, struct expr *e) {
  const struct expr *a = e->args, *b = a->next;
  need_array(f, e, a, a->rank == 1 ? 1 : 2);
  need_array(f, e, b, b->rank == 1 ? 1 : 2);
  if (failed(f))
    return;
  if (a->rank + b->rank < 3)
    f_refuse(f, e->at, "matmul takes a matrix; of two vectors dot_product is the product");
  else if (a->extent[a->rank - 1] != b->extent[0])
    f_refuse(f, e->at, "the first matrix has %lld columns, and the second %lld rows", a->extent[a->rank - 1],
             b->extent[0]);
  if (a->rank == 2)
    e->extent[e->rank++] = a->extent[0];
  if (b->rank == 2)
    e->extent[e->rank++] = b->extent[1];
}

static void type_reshape(struct fortran *f, struct expr *e) {
  const struct expr *shape = e->args->next;
  need_array(f, e, e->args, 0);
  if (failed(f))
    return;
  if (shape->op != E_LIST) {
    f_refuse(f, shape->at, "the shape is an array of numbers that the text says, as [2, 2]");
    return;
  }
  for (const struct expr *i = shape->args; i && e->rank < RANKS; i = i->next)
    e->extent[e->rank++] = f_known_value(f, i, "an extent");
  if (f_elements_of(e) != f_elements_of(e->args))
    f_refuse(f, e->at, "the shape has %lld elements, and the array %lld", f_elements_of(e),
             f_elements_of(e->args));
}

static void type_products(struct fortran *f, struct expr *e) {
  const struct expr *a = e->args, *b = a->next;
  need(f, e, a, f_is_number(a->type), "numbers");
  need(f, e, b, f_is_number(b->type), "numbers");
  e->type = f_common_type(a->type, b->type);
  if (e->intrinsic->class == I_MATMUL) {
    type_matmul(f, e);
    return;
  }
  need_array(f, e, a, 1);
  need_array(f, e, b, 1);
  struct expr both = {.at = e->at};
  f_take_shape(f, &both, a);
  f_take_shape(f, &both, b);
}

static void type_reduction(struct fortran *f, struct expr *e) {
  const struct expr *a = e->args;
  const bool logical = e->intrinsic->to.base != F_NONE;
  need_array(f, e, a, 0);
  need(f, e, a, logical ? a->type.base == F_LOGICAL : f_is_number(a->type),
       logical ? "logical values" : "numbers");
  e->type = logical ? e->intrinsic->to : a->type;
  if (!failed(f) && e->intrinsic->class == I_EXTREME && f_elements_of(a) == 0)
    f_refuse(f, a->at, "this array has no elements");
}

static int selected_kind(struct fortran *f, const struct expr *e) {
  const struct expr *a = e->args, *b = a->next;
  const bool real = e->intrinsic->to.base == F_REAL;
  const long long digits = f_known_value(f, a, "the number of digits");
  const long long range = b ? f_known_value(f, b, "the range of exponents") : 0;
  if (real ? digits > 15 || range > 307 : digits < 5 || digits > 18)
    f_refuse(f, e->at, "kernels have no such kind; they have those of 4 and of 8 bytes");
  return real ? (digits <= 6 && range <= 37 ? 4 : 8) : digits <= 9 ? 4 : 8;
}

/* A bound that the run knows: the expression that declares it. */
static void take_bound(struct fortran *f, struct expr *e, const struct expr *bound) {
  struct expr *const next = e->next;
  /* An argument may get its type in a declaration behind the array's. */
  const struct f_type type = bound && bound->op == E_VARIABLE ? bound->symbol->type
                             : bound                          ? bound->type
                                                              : (struct f_type){F_NONE, 0};
  if (type.base != F_INTEGER || type.kind != 4) {
    f_refuse(f, e->at, "this bound is not known here; pass it as an argument");
    return;
  }
  *e = *bound;
  e->type = type;
  e->next = next;
  e->grouped = true;
}

static void type_number(struct fortran *f, struct expr *e) {
  const struct expr *a = e->args, *b = a->next;
  const struct symbol *s = a->symbol;
  e->type = (struct f_type){F_INTEGER, 4};
  if (e->intrinsic->class == I_KIND)
    set_known(e, a->type.kind);
  else if (e->intrinsic->class == I_SELECTED) {
    set_known(e, selected_kind(f, e));
  } else if (e->intrinsic->class == I_SIZE && !b)
    set_known(e, f_elements_of(a));
  else {
    const long long dimension = f_known_value(f, b ? b : a, "the dimension");
    if (dimension < 1 || dimension > a->rank || !s) {
      f_refuse(f, e->at, "there is no dimension %lld", dimension);
      return;
    }
    const struct bounds *bounds = &s->bounds[dimension - 1];
    const bool low = *e->intrinsic->c == 'l', whole = a->op == E_VARIABLE;
    set_known(e, e->intrinsic->class == I_SIZE || (!low && !whole) ? a->extent[dimension - 1]
                 : low                                             ? (whole ? bounds->lower : 1)
                                                                   : bounds->upper);
    if (e->intrinsic->class == I_BOUND && whole && !(low ? bounds->low_known : bounds->high_known))
      take_bound(f, e, low ? bounds->low : bounds->high);
  }
  if (e->value < 0 && e->intrinsic->class == I_SIZE)
    f_refuse(f, e->at, "this extent is not known here; pass it as an argument");
}

static void type_elemental(struct fortran *f, struct expr *e) {
  const struct expr *a = e->args;
  switch (e->intrinsic->class) {
  case I_MATH: need_real(f, e); break;
  case I_ROUND: need(f, e, a, a->type.base == F_REAL, "a real number"); break;
  case I_MERGE:
    if (!f_same_type(a->type, a->next->type))
      f_refuse(f, a->next->at,
               "the first two arguments of merge are of one type and kind; this is %s, and the first %s",
               f_type_said(f, a->next->type), f_type_said(f, a->type));
    need(f, e, a->next->next, a->next->next->type.base == F_LOGICAL, "a logical value last");
    break;
  case I_BITS:
    need(f, e, a, a->type.base == F_INTEGER, "whole numbers");
    need_one_type(f, e);
    break;
  default: need_one_type(f, e);
  }
  e->type = a->type;
  if (e->intrinsic->class == I_ROUND)
    take_kind(f, e, a->next);
  for (const struct expr *i = a; i && (e->intrinsic->class != I_ROUND || i == a); i = i->next)
    f_take_shape(f, e, i);
  if (e->intrinsic->class == I_MATH && a->next)
    need_one_type(f, e);
}

static void check_keywords(struct fortran *f, const struct expr *e) {
  for (const struct expr *i = e->args; i; i = i->next) {
    const bool last = !i->next && i != e->args;
    if (i->op == E_RANGE || i->op == E_NOTHING || i->type.base == F_TEXT)
      f_refuse(f, i->at, "%s does not take this", e->at->spelled);
    if (i->keyword && !(last && (strcmp(i->keyword, "kind") == 0 || strcmp(i->keyword, "shape") == 0)))
      f_refuse(f, i->at, "%s= is not in the subset; give the arguments of %s in their order%s", i->keyword,
               e->at->spelled, e->intrinsic->class == I_REDUCE ? ", without dim and mask" : "");
  }
}

void f_type_intrinsic(struct fortran *f, struct expr *e) {
  const int count = f_count_args(e->args);
  const struct intrinsic *i = e->intrinsic;
  if (count < i->least || count > i->most)
    f_refuse(f, e->at, "%s takes %d argument%s here, and this is %d", e->at->spelled,
             count < i->least ? i->least : i->most, i->least == 1 && i->most == 1 ? "" : "s", count);
  check_keywords(f, e);
  if (failed(f))
    return;
  switch (i->class) {
  case I_CONVERT: type_convert(f, e); break;
  case I_DOT:
  case I_MATMUL: type_products(f, e); break;
  case I_REDUCE:
  case I_EXTREME:
  case I_NORM:
  case I_COUNT: type_reduction(f, e); break;
  case I_TRANSPOSE:
    need_array(f, e, e->args, 2);
    e->type = e->args->type;
    e->rank = 2;
    e->extent[0] = e->args->extent[1];
    e->extent[1] = e->args->extent[0];
    break;
  case I_RESHAPE:
    e->type = e->args->type;
    type_reshape(f, e);
    break;
  case I_SIZE:
  case I_BOUND:
  case I_KIND:
  case I_SELECTED: type_number(f, e); break;
  case I_LARGEST:
    e->type = e->args->type;
    need(f, e, e->args, e->type.base == F_REAL || strcmp(i->c, "MAX") == 0, "a real number");
    break;
  default: type_elemental(f, e);
  }
}
