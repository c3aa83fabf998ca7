/* What loops did whose records are gone, because a temporary that they used was freed: a report is of all that ran. */
#ifndef OP2JIT_LOOP_PAST_H
#define OP2JIT_LOOP_PAST_H

#include "record/record.h"

/* Calls of one kernel on one set with arguments of the same kind are one row, whatever temporaries they were given. */
struct loop_past {
  char *name, *text, *variant;
  op_set set;
  int nargs;
  op_arg *keys;
  size_t order; /* of the first call of the first of them */
  struct loop_stats stats;
};

struct loop_pasts {
  struct loop_past *items; /* in the order in which the records were forgotten */
  int count;
};

/* The record is about to go. Without memory its row is lost, which is no error. */
void loop_past_keep(struct loop_pasts *pasts, const struct loop *loop);
void loop_pasts_free(struct loop_pasts *pasts);

#endif
