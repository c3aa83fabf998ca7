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

/* ---- cause.c ---- */

/* Side 0 holds the rows after a run, and a run on side 1 gave something else. Runs the kernel again with one thing
 * changed at a time until the result changes, and writes what that was and what to do into an empty text: "what
 * argument 2 (dat "q", OP_WRITE) held before; declare it OP_RW, or write it first". RULE_NO_RIGHT, and nothing
 * is written, if it cannot be told. Side 1 holds nothing of use afterwards. */
enum rule cause_tell(struct cell *cell, long element, struct text *out);

/* ---- messages about arguments that do not keep the promise of their descriptors (watch_say.c); all ints are those of note() ---- */

/* "loop res_calc, argument 5 (dat "res", OP_INC)", appended. */
void watch_title(const struct loop *loop, int arg, struct text *out);

/* Notes a violation of argument `arg`: its message has loop, argument, element, and the words. */
int watch_violation(const struct loop *loop, enum rule rule, int arg, long element, struct notes *notes,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The place in row r of argument i: "component 2", or "component 2 (element 7 of set "cells", entry 1 of map "edge_cells")",
 * appended. */
void watch_place(const struct look *look, int i, int r, int component, struct text *out);
/* `said` names the place. What mends it, by the rule, is said behind it. */
int watch_tell(const struct look *look, enum rule rule, int i, int r, int component, const char *said);
/* The same; `said` names the place and the two values. */
int watch_tell_change(const struct look *look, enum rule rule, int i, int r, int component,
                      const unsigned char *before, const unsigned char *after, const char *said);
/* It depends on the value so far of argument `extremum`. */
int watch_tell_dependence(const struct look *look, int i, int r, int c, int extremum);
/* An op_assert, or a k of OP_ROW. */
int watch_tell_assertion(const struct look *look);
/* A division of whole numbers by zero. */
int watch_tell_division(const struct look *look);
/* The last run ended at an index outside an array. */
int watch_tell_index(const struct look *look);
/* It depends on something that is not the element's; *known false, and nothing is said, if nobody knows on what. */
int watch_tell_cause(const struct look *look, int i, int r, int component, bool *known);

#endif
