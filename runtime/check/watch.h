/* Compares what the kernel did on one element with the promises of its descriptors. */
#ifndef OP2JIT_CHECK_WATCH_H
#define OP2JIT_CHECK_WATCH_H

#include <string.h>

#include "check/cell.h"
#include "record/findings.h"

/* An element that is looked at. */
struct look {
  struct cell *cell;
  long element;
  struct notes *notes;
  double scale; /* increments start from it, which is as large as anything that the element reads */
  /* Something was said of it that shows again: other rows that differ, other starts. */
  bool told[OP_MAX_ARGS];
};

/* Load the element's rows and run the kernel on them; afterwards the rows of READ are as before, those of WRITE,
 * RW, MIN and MAX on side 0 hold the new values and those of INC the increments; *ended false: it came to no end, and
 * they hold nothing. What is found is noted with loop, argument, element, component.
 *   always    what is only read is unchanged, everything promised is written, extrema only move one way
 *   thorough  the kernel also runs on side 1 and from other increments: nothing it leaves depends on what it had
 *             no right to read, increments are only added to, nothing outside the rows is written
 * Without `thorough` guards are not looked at: ask cell_broken_guard. */
int watch_element(struct cell *cell, long element, bool thorough, bool *ended, struct notes *notes);
/* Notes why the last run did not come to its end, if so. */
int watch_end(const struct look *look, bool *ended);

/* The first component of a row of floating point that is infinite or NaN, -1: none. */
int watch_not_finite(const struct loop_arg *arg, const unsigned char *row);

/* Shared by watch.c and starts.c. Side 0 holds the results of a run. */

static inline size_t watch_value_size(const struct loop_arg *arg) {
  return type_info(arg->type)->size;
}
static inline bool watch_is_extremum(const struct loop_arg *arg) {
  return (arg->form == DESC_GBL || arg->form == DESC_DAT) && access_is_extremum(arg->access);
}
/* The first component in which two rows differ; -1: none. */
static inline int watch_difference(const struct loop_arg *arg, const unsigned char *a,
                                   const unsigned char *b) {
  const size_t size = watch_value_size(arg);
  size_t i = 0;
  while (i < arg->bytes && a[i] == b[i])
    i++;
  int c = (int)(i / size);
  while (type_is_struct(arg->type) && c < arg->dim &&
         type_same(arg->type, a + (size_t)c * size, b + (size_t)c * size))
    c++;
  return c >= arg->dim ? -1 : c;
}

/* Both runs once more, where something was listed and spoilt what they left. */
void watch_run_again(struct look *look);

/* Increments. Before the second run: from where they start (`again`: far larger). Behind it what the kernel does more
 * than add. */
bool watch_has_increments(const struct cell *cell);
double watch_largest_input(const struct cell *cell);
void watch_start_increments(struct cell *cell, double scale, bool again);
int watch_increments(struct look *look);
/* Extrema, in a run of their own. */
bool watch_has_extrema(const struct cell *cell);
int watch_limits(struct look *look);

#endif
