/* Increments and extrema are looked at once more from other start values. */
#include <math.h>
#include <string.h>

#include "check/cell.h"
#include "check/watch.h"
#include "jit/trial.h"

/* ---- increments ---- Side 0 started from 0 and gave a; side 1 starts from s, which is as large as anything that
 * the element reads, so a kernel that only adds ends near s + a. Each component has an s of its own: one that is assigned
 * from another would end right. What is far from its sum is looked at once more from a start so large that no rounding
 * matters. */
struct increment {
  int arg, row, component;
  double from, to;
};

static bool is_watched_increment(const struct loop_arg *arg) {
  return arg->access == OP_INC && arg->type != TYPE_BOOL && !is_matrix(arg);
}

bool watch_has_increments(const struct cell *cell) {
  for (int i = 0; i < cell->loop->nargs; i++)
    if (is_watched_increment(&cell->loop->args[i]))
      return true;
  return false;
}

/* The largest value that side 1 holds before its run. */
double watch_largest_input(const struct cell *cell) {
  double largest = 1;
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    if (!type_info(arg->type)->is_float || is_undefined_before(arg) || arg->access == OP_INC)
      continue;
    for (int r = 0; r < cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++) {
        const double x =
            fabs(type_number(arg->type, cell_row(cell, 1, i, r) + (size_t)c * watch_value_size(arg)));
        largest = isfinite(x) && x > largest ? x : largest;
      }
  }
  return largest;
}

/* Components of increments are numbered through all arguments: so many are before those of argument i. */
static int increments_before(const struct cell *cell, int i) {
  int count = 0;
  for (int k = 0; k < i; k++)
    if (is_watched_increment(&cell->loop->args[k]))
      count += cell->args[k].rows * cell->loop->args[k].dim;
  return count;
}

/* Numbers that are near, or of rows of a few components, have starts that are far from each other. Whole numbers keep
 * their lowest bits, which may stand for themselves. */
static double start_of(enum type_code type, const unsigned char *increment, int number, double scale,
                       bool again) {
  enum { STARTS = 61, STRIDE = 37, PARTS = 64, WHOLE_STARTS = 16, WHOLE_STRIDE = 4 };
  const double step = fabs(type_number(type, increment)), more = number % STARTS * STRIDE % STARTS;
  if (!type_info(type)->is_float)
    return (again ? 3 : 1) + WHOLE_STRIDE * (number % WHOLE_STARTS);
  return (isfinite(step) && step > scale ? step : scale) * (again ? 1024 : 1) * (1 + more / (double)PARTS);
}

void watch_start_increments(struct cell *cell, double scale, bool again) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    int number = increments_before(cell, i);
    for (int r = 0; is_watched_increment(arg) && r < cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++) {
        const size_t at = (size_t)c * watch_value_size(arg);
        made_put(arg->type, start_of(arg->type, cell_row(cell, 0, i, r) + at, number++, scale, again),
                 cell_row(cell, 1, i, r) + at);
      }
  }
}

/* The argument's first component that is not where a sum from its start is. */
static bool find_not_added(const struct cell *cell, int i, double scale, bool again,
                           struct increment *found) {
  const struct loop_arg *arg = &cell->loop->args[i];
  int number = increments_before(cell, i);
  for (int r = 0; is_watched_increment(arg) && r < cell->args[i].rows; r++)
    for (int c = 0; c < arg->dim; c++) {
      const size_t at = (size_t)c * watch_value_size(arg);
      const unsigned char *step = cell_row(cell, 0, i, r) + at, *got = cell_row(cell, 1, i, r) + at;
      const double start = start_of(arg->type, step, number++, scale, again);
      if (made_is_added(arg->type, start, step, got))
        continue;
      *found = (struct increment){i, r, c, start, type_number(arg->type, got)};
      return true;
    }
  return false;
}

static int tell_increment(const struct look *look, const struct increment *found) {
  struct cell *cell = look->cell;
  const struct loop_arg *arg = &cell->loop->args[found->arg];
  const double step = type_number(arg->type, cell_row(cell, 0, found->arg, found->row) +
                                                 (size_t)found->component * watch_value_size(arg));
  struct text where = {0}, remedy = {0};
  bool known;
  int code = watch_tell_cause(look, found->arg, found->row, found->component, &known);
  watch_place(look, found->arg, found->row, found->component, &where);
  rules_say(rule_remedy(RULE_ADD, arg), arg->access, cell->desc.origins.fortran, &remedy);
  if (!known)
    code =
        watch_violation(cell->loop, RULE_ADD, found->arg, look->element, look->notes,
                        "%s is not only added to: from 0 it becomes %.10g, from %.10g it becomes %.10g; %s",
                        text_str(&where), step, found->from, found->to, text_str(&remedy));
  text_free(&where);
  text_free(&remedy);
  return code;
}

/* Which are far from a sum, and once more from the large start, where no rounding matters. */
int watch_increments(struct look *look) {
  struct cell *cell = look->cell;
  struct increment found[OP_MAX_ARGS], confirmed;
  int nfound = 0, code = OP_OK;
  for (int i = 0; i < cell->loop->nargs; i++)
    nfound += find_not_added(cell, i, look->scale, false, &found[nfound]);
  for (int f = 0; !code && f < nfound; f++) {
    rows_load(cell, 1, look->element);
    watch_start_increments(cell, look->scale, true);
    cell_run(cell, 1, 1);
    if (!find_not_added(cell, found[f].arg, look->scale, true, &confirmed))
      continue;
    code = tell_increment(look, &found[f]);
    if (!code)
      watch_run_again(look);
  }
  return code;
}

/* ---- extrema once more ---- From a start that nothing can beat, a kernel that compares changes no extremum; one
 * that assigns does. Nothing else that it leaves may depend on the start, for that is what other elements left. */
bool watch_has_extrema(const struct cell *cell) {
  for (int i = 0; i < cell->loop->nargs; i++)
    if (watch_is_extremum(&cell->loop->args[i]) && cell->loop->args[i].present)
      return true;
  return false;
}

/* A value that no other beats. */
static void put_limit(const struct loop_arg *arg, unsigned char *out) {
  const struct type_info *info = type_info(arg->type);
  const bool largest = arg->access == OP_MAX;
  if (info->is_float) {
    made_put(arg->type, largest ? INFINITY : -INFINITY, out);
    return;
  }
  if (arg->type == TYPE_BOOL) {
    memset(out, largest, info->size);
    return;
  }
  /* The low bytes come first; the sign is in the last one. */
  memset(out, largest ? 0xFF : 0, info->size);
  if (info->is_signed)
    out[info->size - 1] = largest ? 0x7F : 0x80;
}

/* Returns the last extremum. */
static int start_at_limits(struct cell *cell) {
  int last = -1;
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    for (int r = 0; watch_is_extremum(arg) && r < cell->args[i].rows; r++) {
      for (int c = 0; c < arg->dim; c++)
        put_limit(arg, cell_row(cell, 1, i, r) + (size_t)c * watch_value_size(arg));
      last = i;
    }
  }
  return last;
}

/* The first component that has left its limit, -1: none. NaN is let through. */
static int first_below_limit(const struct loop_arg *arg, const unsigned char *row) {
  for (int c = 0; c < arg->dim; c++) {
    unsigned char limit[sizeof(long double)];
    const unsigned char *got = row + (size_t)c * watch_value_size(arg);
    put_limit(arg, limit);
    if (memcmp(got, limit, watch_value_size(arg)) != 0 && !isnan(type_number(arg->type, got)))
      return c;
  }
  return -1;
}

static int check_limits(struct look *look, int i, int extremum) {
  const struct cell *cell = look->cell;
  const struct loop_arg *arg = &cell->loop->args[i];
  int c = -1;
  for (int r = 0; watch_is_extremum(arg) && r < cell->args[i].rows; r++)
    if ((c = first_below_limit(arg, cell_row(cell, 1, i, r))) >= 0)
      return watch_tell(look, RULE_COMPARE, i, r, c, "the kernel assigns %s without comparing");
  for (int r = 0; !look->told[i] && access_assigns(arg->access) && r < cell->args[i].rows; r++)
    if ((c = watch_difference(arg, cell_row(cell, 0, i, r), cell_row(cell, 1, i, r))) >= 0)
      return watch_tell_dependence(look, i, r, c, extremum);
  return OP_OK;
}

int watch_limits(struct look *look) {
  struct cell *cell = look->cell;
  int code = OP_OK;
  rows_load(cell, 1, look->element);
  const int extremum = start_at_limits(cell);
  cell_run(cell, 1, 1);
  for (int i = 0; !code && i < cell->loop->nargs; i++)
    code = check_limits(look, i, extremum);
  return code;
}
