/* The result of a checked loop does not depend on the order of its elements. */
#include <math.h>
#include <string.h>

#include "check/pass.h"
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

static int run_otherwise(struct pass *p, enum order order, struct error *err) {
  const long n = loop_end(p->loop);
  const long step = order == SHUFFLED && n > 0 ? coprime_near(n) % n : 0;
  for (long k = 0, e = n / 2; k < n; k++, e = (e + step) % n) {
    int code = pass_element(p, order == BACKWARDS ? n - 1 - k : e, err);
    if (code)
      return code;
  }
  return OP_OK;
}

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
  /* Of 0 and -0 either is the smallest. */
  if (size == 0 && type_info(type)->is_float && arg_is_extreme(arg))
    return;
  if (!most->found || size > most->size)
    *most = (struct difference){true, size, element, component, a, b};
}

static void compare_dat(const struct loop_arg *arg, const unsigned char *forwards, struct difference *most) {
  const struct dat *dat = arg->dat;
  const unsigned char *now = dat->replicas[SPACE_HOST].memory;
  for (long e = 0; e < dat->set->extents[EXTENT_OWNED]; e++)
    for (int c = 0; c < dat->dim; c++) {
      const unsigned char *value = dat_value(dat, e, c);
      compare_values(arg, forwards + (value - now), value, e, c, most);
    }
}

static struct difference find_difference(const struct pass *p, const struct copies *forwards, int i) {
  const struct loop_arg *arg = &p->loop->args[i];
  struct difference most = {0};
  for (int j = 0; arg->dat && j <= i; j++) /* the first argument of a dat has the copy */
    if (forwards->dats[j] && p->loop->args[j].dat == arg->dat)
      compare_dat(arg, forwards->dats[j], &most);
  for (int c = 0; arg_is_reduction(arg) && c < arg->dim; c++) {
    const size_t at = arg->offset + (size_t)c * type_info(arg->type)->size;
    compare_values(arg, forwards->slots + at, p->launch->slots + at, 0, c, &most);
  }
  return most;
}

static int report_order(const struct pass *p, int i, const struct difference *d, enum order order,
                        struct error *err) {
  const struct loop_arg *arg = &p->loop->args[i];
  struct text what = {0};
  char x[64], y[64];
  if (!d->found)
    text_add(&what, "what the kernel adds depends on the order of the elements, although its sum does not");
  else {
    type_print(arg->type, d->a, x, sizeof x);
    type_print(arg->type, d->b, y, sizeof y);
    text_add(&what, "the result depends on the order of the elements: ");
    if (arg->dat)
      text_addf(&what, "dat \"%s\", element %d of set \"%s\", component %d,", arg->dat->name,
                user_number(arg->dat->set, d->element), arg->dat->set->name, d->component);
    else
      text_add(&what, "the global");
    text_addf(&what, " is %s forwards and %s %s", x, y,
              order == BACKWARDS ? "backwards" : "in a shuffled order");
  }
  error_set(err, OP_ERR_VIOLATION,
            "loop %s, argument %d: %s; a kernel must not keep anything from one element for the next",
            p->loop->name, i + 1, text_str(&what));
  text_free(&what);
  return OP_ERR_VIOLATION;
}

/* Sums differ by their rounding, rightly, if what was added is the same; all else not at all. */
static int compare(const struct pass *p, const struct copies *forwards, const uint64_t *added,
                   enum order order, struct error *err) {
  for (int i = 0; i < p->loop->nargs; i++) {
    const int access = p->loop->args[i].access;
    const bool adds = access == OP_INC;
    if (access == OP_READ || (adds && added[i] == p->added[i]))
      continue;
    const struct difference d = find_difference(p, forwards, i);
    if (adds || d.found)
      return report_order(p, i, &d, order, err);
  }
  return OP_OK;
}

int pass_order(struct pass *p, const struct copies *before, struct error *err) {
  struct copies forwards;
  uint64_t added[OP_MAX_ARGS];
  int code = copies_take(&forwards, p->launch, err);
  if (code)
    return code;
  memcpy(added, p->added, sizeof added);
  p->watched = false;
  for (enum order order = BACKWARDS; !code && order <= SHUFFLED; order++) {
    copies_restore(before, p->launch);
    memset(p->added, 0, sizeof p->added);
    code = run_otherwise(p, order, err);
    if (!code)
      code = compare(p, &forwards, added, order, err);
  }
  copies_free(&forwards);
  return code;
}
