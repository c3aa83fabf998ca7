/* Finds on what a kernel's result depends and must not. */
#ifndef OP2JIT_CHECK_CAUSE_H
#define OP2JIT_CHECK_CAUSE_H

#include "check/cell.h"
#include "record/findings.h"

/* Side 0 holds the rows after a run, and a run on side 1 gave something else. Runs the kernel again with one thing
 * changed at a time until the result changes, and writes what that was and what to do into an empty text: "what
 * argument 2 (dat "q", OP_WRITE) held before; declare it OP_RW, or write it first". RULE_NO_RIGHT, and nothing
 * is written, if it cannot be told. Side 1 holds nothing of use afterwards. */
enum rule cause_tell(struct cell *cell, long element, struct text *out);

#endif
