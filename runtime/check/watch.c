#include "check/watch.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "check/rows.h"
#include "check/watch_say.h"
#include "jit/prove.h"

/* ---- one row ---- */

static size_t value_size(const struct loop_arg *arg) {
  return type_info(arg->type)->size;
}

static int first_difference(const struct loop_arg *arg, const unsigned char *a, const unsigned char *b) {
  const size_t size = value_size(arg);
  size_t i = 0;
  while (i < arg->bytes && a[i] == b[i])
    i++;
  int c = (int)(i / size);
  while (type_is_struct(arg->type) && c < arg->dim &&
         type_same(arg->type, a + (size_t)c * size, b + (size_t)c * size))
    c++;
  return c >= arg->dim ? -1 : c;
}

/* The first component that holds nothing but the pattern; -1: none. */
static int first_poisoned(const struct loop_arg *arg, const unsigned char *row, int pattern) {
  const size_t size = value_size(arg);
  for (int c = 0; c < arg->dim; c++) {
    size_t b = 0;
    while (b < size && row[(size_t)c * size + b] == pattern)
      b++;
    if (b == size)
      return c;
  }
  return -1;
}

/* Values of double that went through float are this near. A kernel that assigns is found from a start that nothing
 * beats. */
static bool is_near(double x, double y) {
  return fabs(x - y) <= 1e-7 * fabs(x);
}

/* The first component of an extremum that went the wrong way; -1: none. What involves NaN is no mistake. */
static int first_worsened(const struct loop_arg *arg, const unsigned char *before,
                          const unsigned char *after) {
  const size_t size = value_size(arg);
  for (int c = 0; c < arg->dim; c++) {
    const unsigned char *x = before + (size_t)c * size, *y = after + (size_t)c * size;
    unsigned char best[sizeof(long double)];
    memcpy(best, x, size);
    type_combine(arg->type, arg->access, best, y);
    if (memcmp(best, y, size) != 0 && type_number(arg->type, x) != type_number(arg->type, y) &&
        !(arg->type == TYPE_DOUBLE && is_near(type_number(arg->type, x), type_number(arg->type, y))) &&
        !isnan(type_number(arg->type, x)) && !isnan(type_number(arg->type, y)))
      return c;
  }
  return -1;
}

static bool is_extremum(const struct loop_arg *arg) {
  return (arg->form == DESC_GBL || arg->form == DESC_DAT) && access_is_extremum(arg->access);
}

int watch_not_finite(const struct loop_arg *arg, const unsigned char *row) {
  for (int c = 0; c < arg->dim; c++) {
    uint64_t wide;
    uint32_t narrow;
    if (arg->type == TYPE_DOUBLE) {
      memcpy(&wide, row + (size_t)c * sizeof wide, sizeof wide);
      if ((wide >> 52 & 0x7ff) == 0x7ff)
        return c;
    } else if (arg->type == TYPE_FLOAT) {
      memcpy(&narrow, row + (size_t)c * sizeof narrow, sizeof narrow);
      if ((narrow >> 23 & 0xff) == 0xff)
        return c;
    }
  }
  return -1;
}

/* ---- after the first run ---- */

/* Is there anything that a closer look might call a violation? */
static bool is_suspicious(struct cell *cell, long element) {
  const struct loop *loop = cell->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    for (int r = 0; r < cell->args[i].rows; r++)
      if (arg->access == OP_READ ? !row_is_unchanged(cell, 0, i, r, element)
          : arg->access == OP_WRITE
              ? first_poisoned(arg, cell_row(cell, 0, i, r), row_poison(cell->loop, 0, i)) >= 0
              : is_extremum(arg) &&
                    first_worsened(arg, row_start(cell, i, r, element), cell_row(cell, 0, i, r)) >= 0)
        return true;
  }
  return false;
}

static int check_reads(struct cell *cell, int side, long element, struct error *err) {
  for (int i = 0; i < cell->loop->nargs; i++)
    for (int r = 0; cell->loop->args[i].access == OP_READ && r < cell->args[i].rows; r++) {
      const unsigned char *now = cell_row(cell, side, i, r), *before = cell_row(cell, 1 - side, i, r);
      const int c = first_difference(&cell->loop->args[i], now, before);
      if (c >= 0)
        return watch_tell_change(
            cell, i, r, c, element, before, now,
            cell->loop->args[i].map
                ? "the kernel changed %s, which it is only to read, from %s to %s; do not write to it, or "
                  "declare it OP_INC wherever the loop passes it, and only add to it"
                : "the kernel changed %s, which it is only to read, from %s to %s; declare the argument "
                  "OP_RW, or do not write to it",
            err);
    }
  return OP_OK;
}

static int check_extrema(struct cell *cell, long element, struct error *err) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    for (int r = 0; is_extremum(arg) && r < cell->args[i].rows; r++) {
      const unsigned char *start = row_start(cell, i, r, element), *now = cell_row(cell, 0, i, r);
      const int c = first_worsened(arg, start, now);
      if (c >= 0)
        return watch_tell_change(cell, i, r, c, element, start, now,
                                 arg->access == OP_MIN
                                     ? "the kernel raised %s from %s to %s, so it assigns it "
                                       "without comparing; write if (v < *m) *m = v"
                                     : "the kernel lowered %s from %s to %s, so it assigns it "
                                       "without comparing; write if (v > *m) *m = v",
                                 err);
    }
  }
  return OP_OK;
}

/* ---- after the second run ---- */

/* A component that still holds the poison in both runs was not written. */
static int check_writes(const struct cell *cell, long element, struct error *err) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    const size_t size = value_size(arg);
    for (int r = 0; arg->access == OP_WRITE && r < cell->args[i].rows; r++) {
      const unsigned char *first = cell_row(cell, 0, i, r), *second = cell_row(cell, 1, i, r);
      for (int c = 0; c < arg->dim; c++) {
        const struct loop_arg one = {.type = arg->type, .dim = 1};
        const size_t at = (size_t)c * size;
        if (first_poisoned(&one, first + at, row_poison(cell->loop, 0, i)) == 0 &&
            first_poisoned(&one, second + at, row_poison(cell->loop, 1, i)) == 0)
          return watch_tell(
              cell, i, r, c, element,
              arg->map
                  ? "the kernel did not write %s, which it promised to write for every element; write it "
                    "on every path, " PROVE_INSTEAD_OF_WRITE
                  : "the kernel did not write %s, which it promised to write for every element; write it "
                    "on every path, or declare the argument OP_RW",
              err);
      }
    }
  }
  return OP_OK;
}

static int check_undefined(struct cell *cell, long element, struct error *err) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    if (arg->access == OP_READ || arg->access == OP_WORK || arg->access == OP_INC)
      continue;
    for (int r = 0; r < cell->args[i].rows; r++) {
      const int c = first_difference(arg, cell_row(cell, 0, i, r), cell_row(cell, 1, i, r));
      if (c < 0)
        continue;
      struct text where = {0};
      watch_place(cell, i, r, c, element, &where);
      if (!watch_tell_cause(cell, i, text_str(&where), element, err))
        watch_violation(
            cell->loop, i, element, err,
            "%s depends on what the kernel has no right to read: memory outside the arguments, what an "
            "OP_WRITE argument held before, how often the kernel ran, or an OP_INC argument; check its "
            "indices and what it keeps",
            text_str(&where));
      text_free(&where);
      return OP_ERR_VIOLATION;
    }
  }
  return OP_OK;
}

/* ---- increments ---- Side 0 started from 0 and gave a; side 1 starts from s, which is as large as anything that
 * the element reads, so a kernel that only adds ends near s + a. What is far from it is looked at once more from a
 * start so large that no rounding matters. */
struct increment {
  int arg, row, component;
  double from, to;
};

static bool is_watched_increment(const struct loop_arg *arg) {
  return arg->access == OP_INC && arg->type != TYPE_BOOL;
}

static bool has_increments(const struct cell *cell) {
  for (int i = 0; i < cell->loop->nargs; i++)
    if (is_watched_increment(&cell->loop->args[i]))
      return true;
  return false;
}

/* Of what side 1 holds before its run. */
static double largest_input(const struct cell *cell) {
  double largest = 1;
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    if (!type_info(arg->type)->is_float || is_undefined_before(arg) || arg->access == OP_INC)
      continue;
    for (int r = 0; r < cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++) {
        const double x = fabs(type_number(arg->type, cell_row(cell, 1, i, r) + (size_t)c * value_size(arg)));
        largest = isfinite(x) && x > largest ? x : largest;
      }
  }
  return largest;
}

static void put_number(enum type_code type, unsigned char *out, double value) {
  if (type == TYPE_DOUBLE)
    memcpy(out, &value, sizeof value);
  else if (type == TYPE_FLOAT) {
    const float narrow = (float)value;
    memcpy(out, &narrow, sizeof narrow);
  } else {
    const long long whole = (long long)value;
    memcpy(out, &whole, type_info(type)->size); /* the low bytes come first */
  }
}

static double start_of(enum type_code type, const unsigned char *increment, double scale, bool again) {
  const double step = fabs(type_number(type, increment));
  if (!type_info(type)->is_float)
    return again ? 3 : 1;
  return (isfinite(step) && step > scale ? step : scale) * (again ? 1024 : 1);
}

static void start_increments(struct cell *cell, double scale, bool again) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    for (int r = 0; is_watched_increment(arg) && r < cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++) {
        const size_t at = (size_t)c * value_size(arg);
        put_number(arg->type, cell_row(cell, 1, i, r) + at,
                   start_of(arg->type, cell_row(cell, 0, i, r) + at, scale, again));
      }
  }
}

static bool is_added(const struct loop_arg *arg, const unsigned char *step, const unsigned char *got,
                     double start) {
  unsigned char want[sizeof(long double)];
  if (!isfinite(type_number(arg->type, step)))
    return true;
  put_number(arg->type, want, start);
  type_combine(arg->type, OP_INC, want, step);
  if (memcmp(want, got, value_size(arg)) == 0)
    return true;
  const double wanted = type_number(arg->type, want);
  const double tolerance = (arg->type == TYPE_FLOAT ? 1e-2 : 1e-6) * start;
  return type_info(arg->type)->is_float &&
         (!isfinite(wanted) || fabs(type_number(arg->type, got) - wanted) <= tolerance);
}

static bool find_not_added(const struct cell *cell, double scale, bool again, struct increment *found) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    for (int r = 0; is_watched_increment(arg) && r < cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++) {
        const size_t at = (size_t)c * value_size(arg);
        const unsigned char *step = cell_row(cell, 0, i, r) + at, *got = cell_row(cell, 1, i, r) + at;
        const double start = start_of(arg->type, step, scale, again);
        if (is_added(arg, step, got, start))
          continue;
        *found = (struct increment){i, r, c, start, type_number(arg->type, got)};
        return true;
      }
  }
  return false;
}

static int check_increments(struct cell *cell, double scale, long element, struct error *err) {
  struct increment found, confirmed;
  if (!find_not_added(cell, scale, false, &found))
    return OP_OK;
  rows_load(cell, 1, element);
  start_increments(cell, scale, true);
  cell_run(cell, 1, 1);
  if (!find_not_added(cell, scale, true, &confirmed))
    return OP_OK;
  const struct loop_arg *arg = &cell->loop->args[found.arg];
  const double step = type_number(arg->type, cell_row(cell, 0, found.arg, found.row) +
                                                 (size_t)found.component * value_size(arg));
  struct text where = {0};
  watch_place(cell, found.arg, found.row, found.component, element, &where);
  if (!watch_tell_cause(cell, found.arg, text_str(&where), element, err))
    watch_violation(
        cell->loop, found.arg, element, err,
        "%s is not only added to: from 0 it becomes %.10g, from %.10g it becomes %.10g; use += or -= "
        "only and do not read it%s",
        text_str(&where), step, found.from, found.to,
        arg->map ? "" : ", or declare the argument OP_RW or OP_WRITE");
  text_free(&where);
  return OP_ERR_VIOLATION;
}

/* ---- extrema once more ---- From a start that nothing can beat, a kernel that compares changes no extremum; one
 * that assigns does. Nothing else that it leaves may depend on the start, for that is what other elements left. */
static bool has_extrema(const struct cell *cell) {
  for (int i = 0; i < cell->loop->nargs; i++)
    if (is_extremum(&cell->loop->args[i]) && cell->loop->args[i].present)
      return true;
  return false;
}

/* A value that no other beats. */
static void put_limit(const struct loop_arg *arg, unsigned char *out) {
  const struct type_info *info = type_info(arg->type);
  const bool largest = arg->access == OP_MAX;
  if (info->is_float) {
    put_number(arg->type, out, largest ? INFINITY : -INFINITY);
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
    for (int r = 0; is_extremum(arg) && r < cell->args[i].rows; r++) {
      for (int c = 0; c < arg->dim; c++)
        put_limit(arg, cell_row(cell, 1, i, r) + (size_t)c * value_size(arg));
      last = i;
    }
  }
  return last;
}

/* A component that is not at its limit any more; NaN is let through. */
static int first_below_limit(const struct loop_arg *arg, const unsigned char *row) {
  for (int c = 0; c < arg->dim; c++) {
    unsigned char limit[sizeof(long double)];
    const unsigned char *got = row + (size_t)c * value_size(arg);
    put_limit(arg, limit);
    if (memcmp(got, limit, value_size(arg)) != 0 && !isnan(type_number(arg->type, got)))
      return c;
  }
  return -1;
}

static int check_limits(struct cell *cell, long element, struct error *err) {
  const struct loop *loop = cell->loop;
  rows_load(cell, 1, element);
  const int extremum = start_at_limits(cell);
  cell_run(cell, 1, 1);
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    int c = -1;
    for (int r = 0; is_extremum(arg) && r < cell->args[i].rows; r++)
      if ((c = first_below_limit(arg, cell_row(cell, 1, i, r))) >= 0)
        return watch_tell(cell, i, r, c, element,
                          arg->access == OP_MIN
                              ? "the kernel assigns %s without comparing; write if (v < *m) *m = v"
                              : "the kernel assigns %s without comparing; write if (v > *m) *m = v",
                          err);
    for (int r = 0; (arg->access == OP_WRITE || arg->access == OP_RW) && r < cell->args[i].rows; r++)
      if ((c = first_difference(arg, cell_row(cell, 0, i, r), cell_row(cell, 1, i, r))) >= 0)
        return watch_tell_dependence(cell, i, r, c, extremum, element, err);
  }
  return OP_OK;
}

/* ---- the runs ---- */

static int check_guards(struct cell *cell, int side, long element, struct error *err) {
  const int broken = cell_broken_guard(cell, side);
  if (broken < 0)
    return OP_OK;
  if (!cell->loop->args[broken].present)
    return watch_violation(
        cell->loop, broken, element, err,
        "the kernel writes the argument, which is absent in this call; pass another argument "
        "that says whether it is there, and test that first");
  if (cell->args[broken].ragged) {
    struct text rows = {0};
    rows_remedy(cell, broken, &rows);
    watch_violation(cell->loop, broken, element, err,
                    "the kernel wrote outside the argument's rows; %s, and check "
                    "the indices of their components (dim %d)",
                    text_str(&rows), cell->loop->args[broken].dim);
    text_free(&rows);
    return err->code;
  }
  return watch_violation(
      cell->loop, broken, element, err,
      "the kernel wrote outside the %d component%s of the argument; check its indices, and "
      "dim",
      cell->loop->args[broken].dim, cell->loop->args[broken].dim == 1 ? "" : "s");
}

static int look_closely(struct cell *cell, long element, struct error *err) {
  const double scale = has_increments(cell) ? largest_input(cell) : 1;
  int code = check_guards(cell, 0, element, err);
  if (!code)
    code = check_reads(cell, 0, element, err);
  if (!code)
    code = check_extrema(cell, element, err);
  if (code)
    return code;
  start_increments(cell, scale, false);
  cell_run(cell, 1, 1);
  if (cell->condition)
    return watch_tell_assertion(cell, element, err);
  if (cell_left_variable(cell))
    return watch_tell_index(cell, element, err);
  code = check_guards(cell, 1, element, err);
  if (!code)
    code = check_reads(cell, 1, element, err);
  if (!code)
    code = check_writes(cell, element, err);
  if (!code)
    code = check_undefined(cell, element, err);
  if (!code)
    code = check_increments(cell, scale, element, err);
  if (!code && has_extrema(cell))
    code = check_limits(cell, element, err);
  return code;
}

int watch_element(struct cell *cell, long element, bool thorough, struct error *err) {
  rows_load(cell, 0, element);
  if (thorough)
    rows_load(cell, 1, element);
  cell_run(cell, 0, thorough ? 0 : -1);
  if (cell->trap == TRAP_DIVIDED)
    return watch_tell_division(cell->loop, element, err);
  if (cell->condition)
    return watch_tell_assertion(cell, element, err);
  if (cell_left_variable(cell))
    return watch_tell_index(cell, element, err);
  if (!thorough) {
    if (!is_suspicious(cell, element))
      return OP_OK;
    rows_load(cell, 1, element);
  }
  return look_closely(cell, element, err);
}
