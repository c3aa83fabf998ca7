#include "check/watch.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "check/cell.h"

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

/* True if a closer look might find a violation. */
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

static int check_read(struct look *look, int side, int i) {
  const struct loop_arg *arg = &look->cell->loop->args[i];
  for (int r = 0; arg->access == OP_READ && r < look->cell->args[i].rows; r++) {
    const unsigned char *now = cell_row(look->cell, side, i, r),
                        *before = cell_row(look->cell, 1 - side, i, r);
    const int c = watch_difference(arg, now, before);
    if (c >= 0)
      return watch_tell_change(look, RULE_READ, i, r, c, before, now,
                               "the kernel changed %s, which it is only to read, from %s to %s");
  }
  return OP_OK;
}

/* Checks each argument after the run on `side`. */
static int check_each(struct look *look, int side, int (*check)(struct look *look, int side, int i)) {
  int code = OP_OK;
  for (int i = 0; !code && i < look->cell->loop->nargs; i++)
    code = check(look, side, i);
  return code;
}

static int check_extremum(struct look *look, int side, int i) {
  const struct loop_arg *arg = &look->cell->loop->args[i];
  for (int r = 0; watch_is_extremum(arg) && r < look->cell->args[i].rows; r++) {
    const unsigned char *start = row_start(look->cell, i, r, look->element),
                        *now = cell_row(look->cell, side, i, r);
    const int c = first_worsened(arg, start, now);
    if (c >= 0)
      return watch_tell_change(look, RULE_COMPARE, i, r, c, start, now,
                               arg->access == OP_MIN
                                   ? "the kernel raised %s from %s to %s, so it assigns it "
                                     "without comparing"
                                   : "the kernel lowered %s from %s to %s, so it assigns it "
                                     "without comparing");
  }
  return OP_OK;
}

/* ---- after the second run ---- */

/* The first component that holds the poison in both runs: it was not written. -1: none. */
static int first_unwritten(const struct cell *cell, int i, int r) {
  const struct loop_arg *arg = &cell->loop->args[i];
  const struct loop_arg one = {.type = arg->type, .dim = 1};
  for (int c = 0; c < arg->dim; c++) {
    const size_t at = (size_t)c * watch_value_size(arg);
    if (first_poisoned(&one, cell_row(cell, 0, i, r) + at, row_poison(cell->loop, 0, i)) == 0 &&
        first_poisoned(&one, cell_row(cell, 1, i, r) + at, row_poison(cell->loop, 1, i)) == 0)
      return c;
  }
  return -1;
}

static int check_write(struct look *look, int side, int i) {
  (void)side; /* both runs must have left it alone */
  const struct loop_arg *arg = &look->cell->loop->args[i];
  for (int r = 0; arg->access == OP_WRITE && r < look->cell->args[i].rows; r++) {
    const int c = first_unwritten(look->cell, i, r);
    if (c < 0)
      continue;
    look->told[i] = true;
    return watch_tell(look, RULE_WRITE, i, r, c,
                      "the kernel did not write %s, which it promised to write for every element");
  }
  return OP_OK;
}

static int tell_undefined(struct look *look, int i, int r, int c) {
  struct text where = {0};
  bool known;
  int code = watch_tell_cause(look, i, r, c, &known);
  watch_place(look, i, r, c, &where);
  if (!known)
    code = watch_violation(
        look->cell->loop, RULE_NO_RIGHT, i, look->element, look->notes,
        "%s depends on what the kernel has no right to read: memory outside the arguments, what an "
        "OP_WRITE argument held before, how often the kernel ran, or an OP_INC argument; check its "
        "indices and what it keeps",
        text_str(&where));
  text_free(&where);
  look->told[i] = true;
  return code;
}

/* The first row and component that the two runs left different. */
static bool find_undefined(const struct cell *cell, int i, int *r, int *c) {
  const struct loop_arg *arg = &cell->loop->args[i];
  if (!access_changes(arg->access) || arg->access == OP_INC)
    return false;
  for (*r = 0; *r < cell->args[i].rows; ++*r)
    if ((*c = watch_difference(arg, cell_row(cell, 0, i, *r), cell_row(cell, 1, i, *r))) >= 0)
      return true;
  return false;
}

static int check_undefined(struct look *look) {
  int code = OP_OK, r, c;
  for (int i = 0; !code && i < look->cell->loop->nargs; i++) {
    if (look->told[i] || !find_undefined(look->cell, i, &r, &c))
      continue;
    code = tell_undefined(look, i, r, c);
    if (!code)
      watch_run_again(look);
  }
  return code;
}

/* ---- the runs ---- */

void watch_run_again(struct look *look) {
  struct cell *cell = look->cell;
  rows_load(cell, 0, look->element);
  rows_load(cell, 1, look->element);
  cell_run(cell, 0, 0);
  watch_start_increments(cell, look->scale, false);
  cell_run(cell, 1, 1);
}

static int tell_guard(const struct look *look, int broken) {
  const struct cell *cell = look->cell;
  if (!cell->loop->args[broken].present)
    return watch_violation(
        cell->loop, RULE_ABSENT, broken, look->element, look->notes,
        "the kernel writes the argument, which is absent in this call; pass another argument "
        "that says whether it is there, and test that first");
  if (cell->args[broken].ragged) {
    struct text rows = {0};
    rows_remedy(cell, broken, &rows);
    const int code = watch_violation(cell->loop, RULE_OUTSIDE, broken, look->element, look->notes,
                                     "the kernel wrote outside the argument's rows; %s, and check "
                                     "the indices of their components (dim %d)",
                                     text_str(&rows), cell->loop->args[broken].dim);
    text_free(&rows);
    return code;
  }
  return watch_violation(
      cell->loop, RULE_OUTSIDE, broken, look->element, look->notes,
      "the kernel wrote outside the %d component%s of the argument; check its indices, and "
      "dim",
      cell->loop->args[broken].dim, cell->loop->args[broken].dim == 1 ? "" : "s");
}

static int check_guards(const struct look *look, int side) {
  int code = OP_OK;
  for (int broken; !code && (broken = cell_broken_guard(look->cell, side)) >= 0;)
    code = tell_guard(look, broken);
  return code;
}

static int look_after_first(struct look *look) {
  int code = check_guards(look, 0);
  if (!code)
    code = check_each(look, 0, check_read);
  return code ? code : check_each(look, 0, check_extremum);
}

static int look_after_second(struct look *look) {
  int code = check_guards(look, 1);
  if (!code)
    code = check_each(look, 1, check_read);
  if (!code)
    code = check_each(look, 1, check_write);
  if (!code)
    code = check_undefined(look);
  if (!code)
    code = watch_increments(look);
  if (!code && watch_has_extrema(look->cell))
    code = watch_limits(look);
  return code;
}

/* A run between other guards may end where the first one did not; what it divides by may be one of them. */
static int look_closely(struct look *look) {
  struct cell *cell = look->cell;
  bool ended = true;
  look->scale = watch_has_increments(cell) ? watch_largest_input(cell) : 1;
  int code = look_after_first(look);
  if (code)
    return code;
  watch_start_increments(cell, look->scale, false);
  cell_run(cell, 1, 1);
  if (cell->trap != TRAP_DIVIDED)
    code = watch_end(look, &ended);
  return code || !ended ? code : look_after_second(look);
}

int watch_end(const struct look *look, bool *ended) {
  const struct cell *cell = look->cell;
  *ended = false;
  if (cell->trap == TRAP_DIVIDED)
    return watch_tell_division(look);
  if (cell->condition)
    return watch_tell_assertion(look);
  if (cell_left_variable(cell))
    return watch_tell_index(look);
  *ended = true;
  return OP_OK;
}

int watch_element(struct cell *cell, long element, bool thorough, bool *ended, struct notes *notes) {
  struct look look = {.cell = cell, .element = element, .notes = notes};
  rows_load(cell, 0, element);
  if (thorough)
    rows_load(cell, 1, element);
  cell_run(cell, 0, thorough ? 0 : -1);
  const int code = watch_end(&look, ended);
  if (code || !*ended)
    return code;
  if (!thorough) {
    if (!is_suspicious(cell, element))
      return OP_OK;
    rows_load(cell, 1, element);
  }
  return look_closely(&look);
}
