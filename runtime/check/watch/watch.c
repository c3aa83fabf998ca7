#include "check/watch/inner.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "check/rows.h"
#include "check/watch/watch_say.h"
#include "jit/prove.h"

/* ---- one row ---- */

/* The first component that holds nothing but the pattern; -1: none. */
static int first_poisoned(const struct loop_arg *arg, const unsigned char *row, int pattern) {
  const size_t size = watch_value_size(arg);
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
  const size_t size = watch_value_size(arg);
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
              : watch_is_extremum(arg) &&
                    first_worsened(arg, row_start(cell, i, r, element), cell_row(cell, 0, i, r)) >= 0)
        return true;
  }
  return false;
}

static int check_reads(struct cell *cell, int side, long element, struct error *err) {
  for (int i = 0; i < cell->loop->nargs; i++)
    for (int r = 0; cell->loop->args[i].access == OP_READ && r < cell->args[i].rows; r++) {
      const unsigned char *now = cell_row(cell, side, i, r), *before = cell_row(cell, 1 - side, i, r);
      const int c = watch_difference(&cell->loop->args[i], now, before);
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
    for (int r = 0; watch_is_extremum(arg) && r < cell->args[i].rows; r++) {
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
    const size_t size = watch_value_size(arg);
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
      const int c = watch_difference(arg, cell_row(cell, 0, i, r), cell_row(cell, 1, i, r));
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
  const double scale = watch_has_increments(cell) ? watch_largest_input(cell) : 1;
  int code = check_guards(cell, 0, element, err);
  if (!code)
    code = check_reads(cell, 0, element, err);
  if (!code)
    code = check_extrema(cell, element, err);
  if (code)
    return code;
  watch_start_increments(cell, scale, false);
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
    code = watch_increments(cell, scale, element, err);
  if (!code && watch_has_extrema(cell))
    code = watch_limits(cell, element, err);
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
