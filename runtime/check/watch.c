#include "check/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "data.h"

/* Two patterns for memory that the kernel must not read, or must write all of. As floating point both are numbers that no
 * program computes; as integers they differ in every byte. */
enum { POISON_FIRST = 0xA9, POISON_SECOND = 0x56 };

static const char *const access_names[] = {"OP_READ", "OP_WRITE", "OP_RW",  "OP_INC",
                                           "OP_MIN",  "OP_MAX",   "OP_WORK"};

int watch_open(struct watch *watch, const struct cell *cell, struct error *err) {
  size_t bytes = 0;
  for (int i = 0; i < cell->loop->nargs; i++) {
    size_t rows;
    watch->offset[i] = bytes;
    if (!size_mul((size_t)cell->args[i].rows, cell->args[i].row_bytes, &rows) ||
        !size_add(bytes, rows, &bytes))
      return error_set(err, OP_ERR_SIZE, "loop %s: too large for the checking form", cell->loop->name);
  }
  watch->bytes = bytes;
  watch->before = array_new(bytes, 1);
  watch->first = array_new(bytes, 1);
  return watch->before && watch->first ? OP_OK : error_memory(err, "the checking form", 2 * bytes);
}

void watch_close(struct watch *watch) {
  free(watch->before);
  free(watch->first);
  *watch = (struct watch){0};
}

const unsigned char *watch_before(const struct watch *watch, const struct cell *cell, int arg, int r) {
  return watch->before + watch->offset[arg] + (size_t)r * cell->args[arg].row_bytes;
}

static unsigned char *saved(unsigned char *store, const struct watch *w, const struct cell *cell, int i,
                            int r) {
  return store + w->offset[i] + (size_t)r * cell->args[i].row_bytes;
}

static void save(unsigned char *store, const struct watch *w, const struct cell *cell) {
  for (int i = 0; i < cell->loop->nargs; i++)
    for (int r = 0; r < cell->args[i].rows; r++)
      memcpy(saved(store, w, cell, i, r), cell_row(cell, i, r), cell->args[i].row_bytes);
}

static bool is_undefined_before(const struct loop_arg *arg) {
  return arg->access == OP_WRITE || arg->access == OP_WORK;
}

/* ---- messages ---- */

static int violation(const struct cell *cell, int i, long long element, struct error *err, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));
static int violation(const struct cell *cell, int i, long long element, struct error *err, const char *format,
                     ...) {
  const struct loop *loop = cell->loop;
  const struct loop_arg *arg = &loop->args[i];
  struct text what = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&what, format, args);
  va_end(args);
  error_set(err, OP_ERR_VIOLATION, "loop %s, argument %d (%s%s%s%s), element %lld of set \"%s\": %s",
            loop->name, i + 1, arg->dat ? "dat \"" : "", arg->dat ? arg->dat->name : "a global",
            arg->dat ? "\", " : ", ", access_names[arg->access], element, loop->set->name, text_str(&what));
  text_free(&what);
  return OP_ERR_VIOLATION;
}

/* Where two rows differ: "component 2" or "component 2 of target 1". */
static void place(const struct cell *cell, int i, int r, size_t byte, struct text *out) {
  const struct loop_arg *arg = &cell->loop->args[i];
  text_addf(out, "component %zu", byte / type_info(arg->type)->size);
  if (cell->args[i].rows > 1)
    text_addf(out, " of target %d", r);
}

static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t bytes) {
  size_t i = 0;
  while (i < bytes && a[i] == b[i])
    i++;
  return i;
}

static int difference(const struct cell *cell, int i, int r, const unsigned char *a, const unsigned char *b,
                      long long element, const char *said, struct error *err) {
  if (memcmp(a, b, cell->args[i].row_bytes) == 0)
    return OP_OK;
  const size_t byte = first_difference(a, b, cell->args[i].row_bytes);
  struct text where = {0};
  place(cell, i, r, byte, &where);
  int code = violation(cell, i, element, err, said, text_str(&where));
  text_free(&where);
  return code;
}

/* ---- what is compared ---- */

static int check_reads(const struct cell *cell, const struct watch *w, long long element, struct error *err) {
  for (int i = 0; i < cell->loop->nargs; i++)
    for (int r = 0; cell->loop->args[i].access == OP_READ && r < cell->args[i].rows; r++) {
      int code = difference(
          cell, i, r, saved(w->before, w, cell, i, r), cell_row(cell, i, r), element,
          "the kernel changed %s of what it promised only to read; declare the argument OP_RW, or do not "
          "write to it",
          err);
      if (code)
        return code;
    }
  return OP_OK;
}

static bool all_equal(const unsigned char *bytes, size_t count, int value) {
  for (size_t b = 0; b < count; b++)
    if (bytes[b] != value)
      return false;
  return true;
}

/* A component that still holds the poison in both runs was not written. */
static int check_writes(const struct cell *cell, const struct watch *w, long long element,
                        struct error *err) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    const size_t size = type_info(arg->type)->size;
    for (int r = 0; arg->access == OP_WRITE && r < cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++) {
        const size_t at = (size_t)c * size;
        if (!all_equal(saved(w->first, w, cell, i, r) + at, size, POISON_FIRST) ||
            !all_equal(cell_row(cell, i, r) + at, size, POISON_SECOND))
          continue;
        struct text where = {0};
        place(cell, i, r, at, &where);
        int code = violation(
            cell, i, element, err,
            "the kernel did not write %s, which it promised to write for every element; write it on every "
            "path, or declare the argument OP_RW",
            text_str(&where));
        text_free(&where);
        return code;
      }
  }
  return OP_OK;
}

/* Nothing that the kernel leaves behind may depend on memory that it had no right to read. */
static int check_undefined(const struct cell *cell, const struct watch *w, long long element,
                           struct error *err) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    if (arg->access == OP_READ || arg->access == OP_WORK || arg->access == OP_INC)
      continue;
    for (int r = 0; r < cell->args[i].rows; r++) {
      int code =
          difference(cell, i, r, saved(w->first, w, cell, i, r), cell_row(cell, i, r), element,
                     "%s depends on what an OP_WRITE argument or OP_WORK memory held before, or on what "
                     "lies outside the arguments or is not set at all; read it only after writing it, or "
                     "declare the argument OP_RW",
                     err);
      if (code)
        return code;
    }
  }
  return OP_OK;
}

/* The second run started from the first one's increment a, so a kernel that only adds ends at 2a; one that assigns ends at
 * a. Rounding and cancelling leave the sum near 2a. */
static int check_increments(const struct cell *cell, const struct watch *w, long long element,
                            struct error *err) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    const size_t size = type_info(arg->type)->size;
    if (arg->access != OP_INC || arg->type == TYPE_BOOL)
      continue;
    for (int r = 0; r < cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++) {
        const unsigned char *a = saved(w->first, w, cell, i, r) + (size_t)c * size;
        unsigned char twice[sizeof(long double)];
        memcpy(twice, a, size);
        type_combine(arg->type, OP_INC, twice, a);
        const double step = type_number(arg->type, a), want = type_number(arg->type, twice);
        const double got = type_number(arg->type, cell_row(cell, i, r) + (size_t)c * size);
        if (isnan(step) || isinf(want) || fabs(got - want) <= 0.25 * fabs(step))
          continue;
        struct text where = {0};
        place(cell, i, r, (size_t)c * size, &where);
        int code = violation(
            cell, i, element, err,
            "%s is not only added to: from 0 it becomes %.17g, from %.17g it becomes %.17g; use += or -= "
            "only and do not read it, or declare the argument OP_RW or OP_WRITE",
            text_str(&where), step, step, got);
        text_free(&where);
        return code;
      }
  }
  return OP_OK;
}

/* ---- the two runs ---- */

static void poison(struct cell *cell, int pattern) {
  for (int i = 0; i < cell->loop->nargs; i++)
    for (int r = 0; is_undefined_before(&cell->loop->args[i]) && r < cell->args[i].rows; r++)
      memset(cell_row(cell, i, r), pattern, cell->args[i].row_bytes);
}

/* Rows for the second run: as before the first, but increments go on from the first one's. */
static void prepare_second(struct cell *cell, const struct watch *w) {
  for (int i = 0; i < cell->loop->nargs; i++)
    for (int r = 0; r < cell->args[i].rows; r++)
      memcpy(cell_row(cell, i, r),
             cell->loop->args[i].access == OP_INC ? saved(w->first, w, cell, i, r)
                                                  : saved(w->before, w, cell, i, r),
             cell->args[i].row_bytes);
  poison(cell, POISON_SECOND);
}

static int check_guards(const struct cell *cell, int broken, long long element, struct error *err) {
  if (broken < 0)
    return OP_OK;
  return violation(cell, broken, element, err,
                   "the kernel wrote outside the %d component%s of the argument; check its indices, and dim",
                   cell->loop->args[broken].dim, cell->loop->args[broken].dim == 1 ? "" : "s");
}

int watch_element(struct cell *cell, struct watch *w, long long element, struct error *err) {
  save(w->before, w, cell);
  poison(cell, POISON_FIRST);
  int code = check_guards(cell, cell_run(cell, 0), element, err);
  if (!code)
    code = check_reads(cell, w, element, err);
  if (code)
    return code;
  save(w->first, w, cell);
  prepare_second(cell, w);
  code = check_guards(cell, cell_run(cell, 1), element, err);
  if (!code)
    code = check_writes(cell, w, element, err);
  if (!code)
    code = check_undefined(cell, w, element, err);
  if (!code)
    code = check_increments(cell, w, element, err);
  if (code)
    return code;
  for (int i = 0; i < cell->loop->nargs; i++)
    for (int r = 0; r < cell->args[i].rows; r++)
      memcpy(cell_row(cell, i, r), saved(w->first, w, cell, i, r), cell->args[i].row_bytes);
  return OP_OK;
}
