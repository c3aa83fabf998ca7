/* What a report says of all ranks. */
#ifndef OP2JIT_REPORT_RANKS_H
#define OP2JIT_REPORT_RANKS_H

#include "base/error.h"
#include "report/forms.h"

struct op_context;

/* Fills what rows, which are of the same loops on all ranks, have of the ranks, and r->by_rank. `code`: what went wrong
 * so far. Collective. */
int report_over_ranks(struct op_context *ctx, struct report *r, int code, struct error *err);

#endif
