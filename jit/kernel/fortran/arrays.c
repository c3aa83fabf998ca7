/* Assignments of values and of whole arrays, and `where`. */
#include <string.h>

#include "jit/kernel/fortran/intrinsics.h"

/* ---- does the right side need what the left one changes? ---- */

static bool same_sections(const struct expr *a, const struct expr *b) {
  if (a->op != b->op)
    return false;
  const struct expr *i = a->args, *k = b->args;
  for (; i && k; i = i->next, k = k->next) {
    const bool ranges = i->op == E_RANGE && k->op == E_RANGE;
    const struct expr *p = ranges ? i->args : i, *q = ranges ? k->args : k;
    for (int n = ranges ? 3 : 1; n > 0; n--, p = p->next, q = q->next)
      if (!p->known || !q->known || p->value != q->value)
        return false;
  }
  return !i && !k;
}

/* True: the right side uses elements that the left side changes. The same element on both sides does no harm. */
static bool needs(const struct expr *e, const struct expr *left, bool element) {
  if (e->symbol && e->symbol == left->symbol && (e->op == E_VARIABLE || e->op == E_ELEMENT) &&
      !(element && e->rank && same_sections(e, left)))
    return true;
  bool same_place = element;
  if (e->op == E_INTRINSIC)
    same_place &= e->intrinsic->class <= I_BITS;
  else if (e->op != E_UNARY && e->op != E_BINARY)
    same_place = false;
  for (const struct expr *i = e->args; i; i = i->next)
    if (needs(i, left, same_place))
      return true;
  return false;
}

/* ---- one element after the other ---- */

static void put_one(struct fortran *f, const struct expr *left, const struct expr *right,
                    const struct expr *mask, const struct place *p) {
  if (mask)
    text_addf(f->to, "if (%s) ", f_said(f, mask, p, C_ALL));
  const char *place = f_said_designator(f, left, p, false, C_ALL);
  text_addf(f->to, "%s = %s; ", place, f_said(f, right, p, C_COND));
}

static void put_each(struct fortran *f, const struct expr *left, const struct expr *right,
                     const struct expr *mask) {
  const long long count = f_elements_of(left);
  struct place p[RANKS];
  if (count <= UNROLLED) {
    for (long long i = 0; i < count && !failed(f); i++) {
      f_places_of(left, i, p);
      put_one(f, left, right, mask, p);
    }
    return;
  }
  for (int i = left->rank - 1; i >= 0; i--) {
    const char *name = f_say(f, "%c%d_", "ijklmno"[i], f -> labels);
    p[i] = (struct place){.name = name};
    text_addf(f->to, "for (int %s = 0; %s < %lld; %s++) { ", name, name, left->extent[i], name);
  }
  put_one(f, left, right, mask, p);
  for (int i = 0; i < left->rank; i++)
    text_add(f->to, "} ");
}

static void check_types(struct fortran *f, const struct expr *left, const struct expr *right) {
  const bool fits =
      left->type.base == right->type.base || (f_is_number(left->type) && f_is_number(right->type));
  struct expr shape = {.at = left->at};
  if (!fits || right->type.base == F_TEXT || right->type.base == F_NONE)
    f_refuse(f, right->at, "%s is %s, and gets %s", left->symbol->name, f_type_said(f, left->type),
             right->type.base ? f_type_said(f, right->type) : "no value");
  else if (left->rank == 0 && right->rank)
    f_refuse(f, right->at, "%s is one value, and gets an array of %lld", left->symbol->name,
             f_elements_of(right));
  else {
    f_take_shape(f, &shape, left);
    shape.at = right->at;
    f_take_shape(f, &shape, right);
  }
}

void f_assign(struct fortran *f, struct expr *left, struct expr *right, const struct expr *mask) {
  f_set_written(f, left, "assigned");
  if (!failed(f))
    check_types(f, left, right);
  for (const struct expr *i = left->rank ? left->args : NULL; i; i = i->next)
    if (f_mentions(i, left->symbol))
      f_refuse(f, i->at, "%s changes here, and chooses its own elements; copy the subscript into a variable",
               left->symbol->name);
  f_check_calls(f, left, false);
  f_check_calls(f, right, left->rank > 0);
  if (failed(f))
    return;
  if (left->rank == 0)
    put_one(f, left, right, mask, NULL);
  else if (!needs(right, left, true))
    put_each(f, left, right, mask);
  else {
    text_add(f->to, "{ "); /* the right side is computed first, into a local array */
    const struct expr *aside = f_new_local(f, right->at, right->type, left, f->to);
    put_each(f, aside, right, mask);
    put_each(f, left, aside, mask);
    text_add(f->to, "} ");
  }
}

/* ---- where ---- */

static void put_mask_element(struct fortran *f, const struct construct *c, const struct expr *mask,
                             long long i, bool first) {
  const char *chosen = f_say(f, "%s[%lld]", c->value->symbol->c_name, i);
  const char *done = f_say(f, "%s[%lld]", c->done->symbol->c_name, i), *value = "";
  struct place p[RANKS];
  if (mask) {
    f_places_of(mask, i, p);
    value = f_said(f, mask, p, C_COND);
  }
  if (first)
    text_addf(f->to, "%s = %s; %s = %s; ", chosen, value, done, chosen);
  else if (mask)
    text_addf(f->to, "%s = !%s && (%s); if (%s) %s = 1; ", chosen, done, value, chosen, done);
  else
    text_addf(f->to, "%s = !%s; ", chosen, done);
}

static void put_mask(struct fortran *f, const struct construct *c, const struct expr *mask, bool first) {
  const long long count = f_elements_of(c->value);
  if (count > MOST_ELEMENTS)
    f_refuse(f, c->at, "`where` works on arrays of at most %d elements; write a do loop", MOST_ELEMENTS);
  if (mask && !f_same_shape(mask, c->value))
    f_refuse(f, mask->at, "this mask has another shape than that of `where`");
  for (long long i = 0; i < count && !failed(f); i++)
    put_mask_element(f, c, mask, i, first);
}

static void check_where(struct fortran *f, struct construct *c, const struct expr *mask) {
  static const struct f_type logical = {F_LOGICAL, 4};
  if (failed(f))
    return;
  if (f_elements_of(mask) < 0)
    f_refuse(f, mask->at, "the extents of this array are not known here; write a do loop");
  text_add(f->to, "{ ");
  c->value = f_new_local(f, mask->at, logical, mask, f->to);
  c->done = f_new_local(f, mask->at, logical, mask, f->to);
  put_mask(f, c, mask, true);
}

static void read_masked(struct fortran *f, const struct construct *c) {
  struct expr *left = f_read_primary(f);
  f_expect(f, "=");
  struct expr *right = f_read_expression(f);
  if (!failed(f) && !f_same_shape(left, c->value))
    f_refuse(f, left->at, "%s has another shape than the mask of `where`", left->at->spelled);
  if (!failed(f))
    f_assign(f, left, right, c->value);
}

/* The lines behind this one: only assignments stand under a mask. */
static void read_all_masked(struct fortran *f, const struct construct *c) {
  f->at++;
  while (!failed(f) && f->at < f->unit->end && f_is_assignment(f, f->at)) {
    f_mark(f, now(f), f->to);
    read_masked(f, c);
    f->at++;
  }
  f->at--;
}

bool f_read_where(struct fortran *f, const char *name) {
  struct construct *c = f_open_construct(f, IS_WHERE, name);
  f->at++;
  check_where(f, c, f_read_condition(f, true));
  if (!failed(f) && f_at_end(f))
    read_all_masked(f, c);
  else if (!failed(f)) {
    read_masked(f, c);
    text_add(f->to, "} ");
    f->constructs = c->outer;
  }
  return true;
}

void f_read_elsewhere(struct fortran *f) {
  struct construct *c = f->constructs;
  f_take_two(f, "else", "where");
  if (!c || c->kind != IS_WHERE || c->last) {
    f_refuse(f, now(f), "`elsewhere` belongs to a `where` before it");
    return;
  }
  const struct expr *mask = f_is_word(f, f->at, "(") ? f_read_condition(f, true) : NULL;
  c->last = !mask;
  put_mask(f, c, mask, false);
  if (f_at_end(f))
    read_all_masked(f, c);
}
