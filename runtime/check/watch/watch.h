/* Compares what the kernel did on one element with the promises of its descriptors. */
#ifndef OP2JIT_CHECK_WATCH_H
#define OP2JIT_CHECK_WATCH_H

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

#endif
