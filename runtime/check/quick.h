/* The checking form in generated code (jit/generate/watched.h), for backends that compile: it runs all elements in a row of which
 * there is nothing to say, in the rows of a cell, and stops before the first other one. */
#ifndef OP2JIT_CHECK_QUICK_H
#define OP2JIT_CHECK_QUICK_H

#include "check/cell.h"

struct quick {
  range_function run; /* NULL: there is no such code */
  void **frame;
  long stop;
};

/* Get the code, on all ranks at once. Where there is none (no compiler, OP2_JIT=load and not in the cache), *q stays empty,
 * which is no error. */
void quick_open(struct quick *q, struct op_context *ctx, const struct loop *loop);
void quick_free(struct quick *q);
/* Before the first run of a call: where the data of this call are. */
void quick_aim(struct quick *q, const struct cell *cell);
/* Elements begin .. end-1. Returns the first one that is to be looked at, of which nothing is stored; `end`: none; -1: one of them
 * divides a whole number by zero, and those before it are stored. Afterwards side 0
 * of the cell holds anything; its guards tell whether the kernel wrote outside the rows. */
long quick_run(struct quick *q, long begin, long end);

#endif
