/* What a report says of all ranks: rows that were filled for this one get what it takes together. Collective. */
#ifndef OP2JIT_REPORT_RANKS_H
#define OP2JIT_REPORT_RANKS_H

#include "base/error.h"
#include "report/forms.h"

struct op_context;
struct loop_stats;

/* Least, mean and most of the seconds, and what was exchanged; the rows of all ranks are of the same loops. What each
 * rank says is in *by_rank, which the rows point into and the caller frees: NULL for one process. `code`: what went
 * wrong so far. */
int report_over_ranks(struct op_context *ctx, const struct loop_stats *const *stats, struct report_row *rows,
                      int nrows, struct report_rank **by_rank, int code, struct error *err);

#endif
