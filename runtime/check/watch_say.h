/* Messages about arguments that do not keep the promise of their descriptors. All ints are those of note(). */
#ifndef OP2JIT_CHECK_WATCH_SAY_H
#define OP2JIT_CHECK_WATCH_SAY_H

#include "check/watch.h"

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
