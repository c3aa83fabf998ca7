/* Loops of a kernel over the rows of a ragged map whose steps may be dealt out to several threads: each thread has some
 * of the steps, and what they add up is put together behind the loop. Everything else of the kernel is done by all of
 * these threads, with the same values. Where the text leaves a doubt a loop stays whole. */
#ifndef OP2JIT_FRONT_ROWS_SPLIT_H
#define OP2JIT_FRONT_ROWS_SPLIT_H

#include "jit/front/kernel.h"

/* How values of threads become one. */
enum split_kind { SPLIT_SUM, SPLIT_PRODUCT, SPLIT_LEAST, SPLIT_MOST };

struct split_result {
  size_t name; /* token of the variable */
  enum split_kind kind;
  int count;    /* of its values */
  bool address; /* the name stands for where they are: an array, or a pointer of the kernel's parameters */
};

enum { SPLIT_LOOPS = 8, SPLIT_RESULTS = 8 };

/* All are tokens: `first` to `end` the loop, with its OP_ANY_ORDER, `zero` what its counter begins with, `step` to
 * `step_end` what is done between two steps. */
struct split_loop {
  size_t first, counter, zero, step, step_end, body, end;
  struct split_result results[SPLIT_RESULTS];
  int nresults;
};

struct split {
  struct split_loop loops[SPLIT_LOOPS];
  int count;
  const char *why; /* if there is no loop: what the kernel has or lacks */
};

/* Finds the loops: those behind OP_ANY_ORDER, or, with `unmarked`, where sums may always be in any order, any. False:
 * there is none, and `why` says why not. */
bool rows_split(const struct kernel *k, const struct desc *d, bool unmarked, struct split *out);

#endif
