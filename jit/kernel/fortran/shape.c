/* Shapes of arrays, and the effect of subscripts on them. */
#include <string.h>

#include "jit/kernel/fortran/intrinsics.h"

static long long extent_of(const struct bounds *b) {
  return b->low_known && b->high_known ? b->upper - b->lower + 1 : -1;
}

void f_shape_of_symbol(struct expr *e, const struct symbol *s) {
  e->rank = s->rank;
  for (int i = 0; i < s->rank; i++)
    e->extent[i] = s->assumed_size && i == s->rank - 1 ? -1 : extent_of(&s->bounds[i]);
}

long long f_count_of(const struct symbol *s) {
  struct expr shape = {.op = E_NOTHING};
  f_shape_of_symbol(&shape, s);
  return f_elements_of(&shape);
}

long long f_elements_of(const struct expr *e) {
  long long count = 1;
  for (int i = 0; i < e->rank; i++)
    if (e->extent[i] < 0 || __builtin_mul_overflow(count, e->extent[i], &count))
      return -1;
  return count;
}

bool f_same_shape(const struct expr *a, const struct expr *b) {
  bool same = a->rank == b->rank;
  for (int i = 0; same && i < a->rank; i++)
    same = a->extent[i] == b->extent[i];
  return same;
}

void f_take_shape(struct fortran *f, struct expr *e, const struct expr *part) {
  if (part->rank == 0 || failed(f))
    return;
  if (f_elements_of(part) < 0)
    f_refuse(f, part->at,
             "the extents of this array are not known here, so it can be used element by element only; "
             "write a do loop");
  if (e->rank == 0) {
    e->rank = part->rank;
    memcpy(e->extent, part->extent, sizeof e->extent);
    return;
  }
  if (e->rank != part->rank)
    f_refuse(f, e->at, "arrays of rank %d and %d meet here; they must have one shape", e->rank, part->rank);
  else if (!f_same_shape(e, part))
    f_refuse(f, e->at, "arrays of %lld and %lld elements meet here; they must have one shape",
             f_elements_of(e), f_elements_of(part));
}

/* A subscript that the text says must be one of the array's. */
static void check_bound(struct fortran *f, const struct symbol *s, int dimension,
                        const struct expr *subscript) {
  const struct bounds *b = &s->bounds[dimension];
  const bool open = s->assumed_size && dimension == s->rank - 1;
  if (!subscript->known || failed(f))
    return;
  const bool below = b->low_known && subscript->value < b->lower;
  const bool above = !open && b->high_known && subscript->value > b->upper;
  if (below || above)
    f_refuse(f, subscript->at, "index %lld of %s is %s the bound %lld%s", subscript->value, s->name,
             below ? "below" : "above", below ? b->lower : b->upper,
             below && b->lower == 1 ? "; arrays count from 1 unless they are declared otherwise" : "");
}

static void type_range(struct fortran *f, struct expr *e, int dimension, struct expr *range) {
  const struct symbol *s = e->symbol;
  const struct bounds *b = &s->bounds[dimension];
  struct expr *from = range->args, *to = from->next, *step = to->next;
  if (from->op == E_NOTHING && b->low_known)
    from->known = true, from->value = b->lower, from->type = (struct f_type){F_INTEGER, 4};
  if (to->op == E_NOTHING && b->high_known && !(s->assumed_size && dimension == s->rank - 1))
    to->known = true, to->value = b->upper, to->type = (struct f_type){F_INTEGER, 4};
  const bool known = from->known && to->known && step->known;
  if (!known || step->value == 0) {
    f_refuse(f, range->at, "the bounds of a section must be numbers that the text says; write a do loop");
    return;
  }
  long long count = (to->value - from->value + step->value) / step->value;
  count = count < 0 ? 0 : count;
  if (count > 0) {
    check_bound(f, s, dimension, from);
    struct expr last = *to;
    last.value = from->value + (count - 1) * step->value;
    check_bound(f, s, dimension, &last);
  }
  e->extent[e->rank++] = count;
}

void f_type_element(struct fortran *f, struct expr *e) {
  const struct symbol *s = e->symbol;
  const int count = f_count_args(e->args);
  int dimension = 0;
  if (failed(f))
    return;
  if (count != s->rank) {
    f_refuse(f, e->at, "%s has %d dimension%s, and this is %d subscript%s", s->name, s->rank,
             s->rank == 1 ? "" : "s", count, count == 1 ? "" : "s");
    return;
  }
  e->rank = 0;
  for (struct expr *i = e->args; i && !failed(f); i = i->next, dimension++) {
    if (i->keyword)
      f_refuse(f, i->at, "a subscript has no name");
    else if (i->op == E_RANGE)
      type_range(f, e, dimension, i);
    else if (i->type.base != F_INTEGER || i->rank > 1)
      f_refuse(f, i->at, "a subscript is a whole number, and this is %s", f_type_said(f, i->type));
    else if (i->rank == 1)
      e->extent[e->rank++] = f_elements_of(i);
    else
      check_bound(f, s, dimension, i);
  }
  if (e->rank == 0)
    e->known = false;
}

/* ---- nodes ---- */

struct expr *f_new_expr(struct fortran *f, enum expr_op op, const struct f_token *at) {
  struct expr *e = f_new(f, sizeof *e);
  e->op = op;
  e->at = at;
  return e;
}

struct expr *f_integer_expr(struct fortran *f, const struct f_token *at, long long value) {
  struct expr *e = f_new_expr(f, E_INTEGER, at);
  e->type = (struct f_type){F_INTEGER, 4};
  e->known = true;
  e->value = value;
  return e;
}

bool f_same_type(struct f_type a, struct f_type b) {
  return a.base == b.base && a.kind == b.kind;
}

struct f_type f_common_type(struct f_type a, struct f_type b) {
  if (a.base == b.base)
    return a.kind > b.kind ? a : b;
  return a.base == F_REAL ? a : b;
}

bool f_is_number(struct f_type t) {
  return t.base == F_INTEGER || t.base == F_REAL;
}

long long f_known_value(struct fortran *f, const struct expr *e, const char *what) {
  if (!failed(f) && (!e->known || e->type.base != F_INTEGER))
    f_refuse(f, e->at, "%s must be a number that the text says, as 4 or a parameter", what);
  return e->value;
}

int f_count_args(const struct expr *e) {
  int count = 0;
  for (; e; e = e->next)
    count++;
  return count;
}

void f_places_of(const struct expr *e, long long number, struct place *p) {
  for (int i = 0; i < e->rank; i++) {
    const long long extent = e->extent[i] > 0 ? e->extent[i] : 1;
    p[i] = (struct place){.known = true, .value = number % extent};
    number /= extent;
  }
}

void f_add_helper(struct fortran *f, const char *text) {
  if (!strstr(text_str(f->helpers), text))
    text_addf(f->helpers, "%s\n", text);
}

bool f_mentions(const struct expr *e, const struct symbol *s) {
  if (!e || e->known) /* the text says its value */
    return false;
  if (s ? e->symbol == s : e->op == E_CALL)
    return true;
  for (const struct expr *i = e->args; i; i = i->next)
    if (f_mentions(i, s))
      return true;
  return false;
}

static bool changes_arguments(const struct expr *call) {
  const struct f_unit *u = call->symbol->unit;
  for (int i = 0; i < u->ndummies; i++) {
    const struct symbol *s = u->dummies[i];
    if (!s->by_value && (s->written || s->intent == INTENT_OUT || s->intent == INTENT_INOUT))
      return true;
  }
  return false;
}

/* always: also the values of a constructor stand there several times. */
static void check_calls(struct fortran *f, const struct expr *e, bool many, bool always) {
  if (e->op == E_CALL && e->rank == 0 && many && changes_arguments(e))
    f_refuse(f, e->at,
             "%s changes its arguments, and stands in an operation on arrays; call it in an assignment of "
             "its own, to a variable of one value",
             e->symbol->name);
  if (e->op == E_INTRINSIC)
    always |= e->intrinsic->class == I_NORM || e->intrinsic->class == I_MATMUL;
  many = e->op == E_LIST || e->op == E_IMPLIED ? always : many || always || e->rank > 0;
  for (const struct expr *i = e->args; i && !failed(f); i = i->next)
    check_calls(f, i, many, always);
}

void f_check_calls(struct fortran *f, const struct expr *e, bool many) {
  if (!failed(f))
    check_calls(f, e, many, false);
}

/* The array with the symbol in its bounds, which keep their values from the beginning of the procedure; NULL:
 * none. */
static const struct symbol *has_extent(const struct f_unit *u, const struct symbol *s) {
  for (const struct symbol *a = u->symbols; a; a = a->next)
    for (int i = 0; i < a->rank && a->kind != S_PROCEDURE; i++)
      if (f_mentions(a->bounds[i].low, s) || f_mentions(a->bounds[i].high, s))
        return a;
  return NULL;
}

void f_set_written(struct fortran *f, const struct expr *left, const char *how) {
  struct symbol *s = left->symbol;
  const struct f_token *at = left->at;
  if (failed(f))
    return;
  if ((left->op != E_VARIABLE && left->op != E_ELEMENT) || !s)
    f_refuse(f, at, "only a variable can be %s", how);
  else if (s->kind == S_PARAMETER)
    f_refuse(f, at, "%s is a parameter and cannot be %s", s->name, how);
  else if (s->kind == S_MODULE)
    f_refuse(f, at,
             "%s is a variable of a module, a constant for kernels, and cannot be %s; pass it as an argument",
             s->name, how);
  else if (s->kind == S_INDEX)
    f_refuse(f, at, "%s is an index here and cannot be %s", s->name, how);
  else if (s->intent == INTENT_IN)
    f_refuse(f, at, "%s is intent(in) and cannot be %s; declare it intent(inout) or intent(out)", s->name,
             how);
  else if (s->kind == S_DUMMY && s->by_value && f->unit->kind == U_FUNCTION)
    f_refuse(f, at,
             "%s is an argument of function %s without an intent and cannot be %s; declare it intent(inout)",
             s->name, f->unit->name, how);
  const struct symbol *array = failed(f) ? NULL : has_extent(f->unit, s);
  if (array)
    f_refuse(f, at, "%s is in the bounds of %s and cannot be %s; use another variable", s->name, array->name,
             how);
  s->written = s->used = true;
}

struct expr *f_new_local(struct fortran *f, const struct f_token *at, struct f_type type,
                         const struct expr *like, struct text *out) {
  struct symbol *s = f_new(f, sizeof *s);
  struct expr *e = f_new_expr(f, E_VARIABLE, at);
  s->name = s->c_name = f_say(f, "t%d_", ++f->labels);
  s->kind = S_LOCAL;
  s->type = type;
  s->rank = like->rank;
  for (int i = 0; i < like->rank; i++)
    s->bounds[i] =
        (struct bounds){.lower = 1, .upper = like->extent[i], .low_known = true, .high_known = true};
  e->symbol = s;
  e->type = type;
  f_shape_of_symbol(e, s);
  text_addf(out, "%s %s[%lld]; ", f_type_in_c(type), s->c_name, f_elements_of(like));
  return e;
}
