/* The result of a checked loop does not depend on the order of its elements. */
#include <math.h>
#include <string.h>

#include "check/pass.h"
#include "check/shadow.h"
#include "mesh/data.h"

/* Backwards, or in a shuffled order that reaches each element once: e -> a e + b modulo n, a coprime to n. */
enum order { BACKWARDS, SHUFFLED };

static long coprime_near(long n) {
  long a = (long)(0.6180339887 * (double)n) | 1;
  for (;; a += 2) {
    long x = a, y = n;
    while (y) {
      long rest = x % y;
      x = y;
      y = rest;
    }
    if (x == 1)
      return a;
  }
}

static int run_otherwise(struct pass *p, enum order order) {
  const long n = loop_end(p->loop);
  const long step = order == SHUFFLED && n > 0 ? coprime_near(n) % n : 0;
  for (long k = 0, e = n / 2; k < n; k++, e = (e + step) % n) {
    int code = pass_element(p, order == BACKWARDS ? n - 1 - k : e);
    if (code)
      return code;
  }
  return OP_OK;
}

static const char *const names[] = {[BACKWARDS] = "backwards", [SHUFFLED] = "in a shuffled order"};

/* Where two results of an argument differ most. */
struct difference {
  bool found;
  double size;
  long element; /* of a dat */
  int component;
  const unsigned char *a, *b;
};

static void compare_values(const struct loop_arg *arg, const unsigned char *a, const unsigned char *b,
                           long element, int component, struct difference *most) {
  const enum type_code type = arg->type;
  if (memcmp(a, b, type_info(type)->size) == 0)
    return;
  const double size = fabs(type_number(type, a) - type_number(type, b));
  /* 0 and -0 are both the smallest value. */
  if (size == 0 && type_info(type)->is_float && arg_is_extreme(arg))
    return;
  if (!most->found || size > most->size)
    *most = (struct difference){true, size, element, component, a, b};
}

/* The copy of an argument's dat, which its first argument that changes it has; NULL: nothing changes it. */
static const unsigned char *copy_of(const struct pass *p, const struct copies *forwards, int i) {
  const struct loop *loop = p->loop;
  for (int j = 0; loop->args[i].dat && j <= i; j++)
    if (forwards->dats[j] && loop->args[j].dat == loop->args[i].dat)
      return forwards->dats[j];
  return NULL;
}

static const unsigned char *value_in(const unsigned char *copy, const struct dat *dat, long e, int c) {
  return copy + ((const unsigned char *)dat_value(dat, e, c) -
                 (const unsigned char *)dat->replicas[SPACE_HOST].memory);
}

static void compare_dat(const struct pass *p, int i, const unsigned char *forwards, struct difference *most) {
  const struct loop_arg *arg = &p->loop->args[i];
  const struct dat *dat = arg->dat;
  for (long e = 0; e < dat->set->extents[EXTENT_OWNED]; e++)
    for (int c = 0; !meets_at(p, i, e) && c < dat->dim; c++)
      compare_values(arg, value_in(forwards, dat, e, c), dat_value(dat, e, c), e, c, most);
}

static struct difference find_difference(const struct pass *p, const struct copies *forwards, int i) {
  const struct loop_arg *arg = &p->loop->args[i];
  const unsigned char *copy = copy_of(p, forwards, i);
  struct difference most = {0};
  if (copy)
    compare_dat(p, i, copy, &most);
  for (int c = 0; arg_is_reduction(arg) && c < arg->dim; c++) {
    const size_t at = arg->offset + (size_t)c * type_info(arg->type)->size;
    compare_values(arg, forwards->slots + at, p->launch->slots + at, 0, c, &most);
  }
  return most;
}

static void add_values(const struct loop_arg *arg, const unsigned char *forwards, const unsigned char *now,
                       enum order order, struct text *out) {
  char x[64], y[64];
  type_print(arg->type, forwards, x, sizeof x);
  type_print(arg->type, now, y, sizeof y);
  text_addf(out, " is %s forwards and %s %s", x, y, names[order]);
}

/* ---- where elements meet ---- */

/* The largest value of the component: sums may differ by the rounding of it. */
static double largest(const struct loop_arg *arg, const unsigned char *forwards, int component) {
  const struct dat *dat = arg->dat;
  double most = 0;
  for (long e = 0; type_info(arg->type)->is_float && e < dat->set->extents[EXTENT_OWNED]; e++) {
    const double x = fabs(type_number(arg->type, value_in(forwards, dat, e, component)));
    most = isfinite(x) && x > most ? x : most;
  }
  return most;
}

static bool is_same(enum type_code type, const unsigned char *a, const unsigned char *b, double size) {
  return type_same(type, a, b) ||
         (type_info(type)->is_float &&
          fabs(type_number(type, a) - type_number(type, b)) <= values_tolerance(type) * size);
}

static int compare_meetings(struct pass *p, int i, const unsigned char *forwards, enum order order,
                            bool *found) {
  const struct loop_arg *arg = &p->loop->args[i];
  const struct dat *dat = arg->dat;
  int code = OP_OK;
  for (int c = 0; !code && c < dat->dim; c++) {
    const double size = largest(arg, forwards, c);
    for (long e = 0; !code && e < dat->set->extents[EXTENT_OWNED]; e++) {
      const unsigned char *before = value_in(forwards, dat, e, c), *now = dat_value(dat, e, c);
      if (!meets_at(p, i, e) || is_same(arg->type, before, now, size))
        continue;
      struct text said = {0};
      *found = true;
      text_addf(&said, "component %d", c + p->loop->desc.origins.fortran);
      add_values(arg, before, now, order, &said);
      code = meets_tell(p, i, e, text_str(&said));
      text_free(&said);
    }
  }
  return code;
}

/* ---- anywhere else ---- */

static int report_order(struct pass *p, int i, const struct difference *d, enum order order) {
  const struct loop_arg *arg = &p->loop->args[i];
  struct text what = {0}, meeting = {0};
  text_addf(&what, "loop %s, argument %d: ", p->loop->name, i + 1);
  if (!d->found)
    text_add(&what, "what the kernel adds depends on the order of the elements, although its sum does not");
  else {
    text_add(&what, "the result depends on the order of the elements: ");
    if (arg->dat)
      text_addf(&what, "dat \"%s\", element %ld of set \"%s\", component %d,", arg->dat->name,
                set_said(arg->dat->set, d->element), arg->dat->set->name,
                d->component + p->loop->desc.origins.fortran);
    else
      text_add(&what, "the global");
    add_values(arg, d->a, d->b, order, &what);
  }
  if (meets_first(p, &meeting))
    text_addf(&what, "; %s: what one of them leaves there must not reach anything else", text_str(&meeting));
  else
    text_add(&what, "; a kernel must not keep anything from one element for the next");
  text_free(&meeting);
  return pass_note(p, RULE_ORDER, i, false, &what);
}

/* Sums differ by their rounding, rightly, if what was added is the same; all else not at all. */
static int compare(struct pass *p, const struct copies *forwards, const uint64_t *added, enum order order,
                   bool *found) {
  int code = OP_OK;
  for (int i = 0; !code && i < p->loop->nargs; i++)
    if (p->meets[i])
      code = compare_meetings(p, i, copy_of(p, forwards, i), order, found);
  for (int i = 0; !code && !*found && i < p->loop->nargs; i++) {
    const int access = p->loop->args[i].access;
    const bool adds = access == OP_INC;
    if (access == OP_READ || (adds && added[i] == p->added[i]))
      continue;
    const struct difference d = find_difference(p, forwards, i);
    if (!adds && !d.found)
      continue;
    *found = true;
    code = report_order(p, i, &d, order);
  }
  return code;
}

/* The second order runs only if the first one shows nothing. */
int pass_order(struct pass *p, const struct copies *before) {
  struct copies forwards;
  uint64_t added[OP_MAX_ARGS];
  bool found = false;
  int code = copies_take(&forwards, p->launch, p->notes.err);
  if (code)
    return code;
  memcpy(added, p->added, sizeof added);
  p->watched = false;
  for (enum order order = BACKWARDS; !code && !found && order <= SHUFFLED; order++) {
    copies_restore(before, p->launch);
    memset(p->added, 0, sizeof p->added);
    code = run_otherwise(p, order);
    if (!code)
      code = compare(p, &forwards, added, order, &found);
  }
  copies_free(&forwards);
  return code;
}
