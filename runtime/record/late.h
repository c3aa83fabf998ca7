/* Results that ranks bring together while the program goes on. */
#ifndef OP2JIT_LATE_H
#define OP2JIT_LATE_H

#include "record/launch.h"

/* All results of the loop go to globals with handles, whose values are the same on all ranks: they may come late.
 * The same on all ranks. */
bool results_come_late(const struct op_context *ctx, const struct loop *loop);
/* In place of launch_results, for such a loop: the results have only begun to come when this returns, and those for the
 * same globals before them are no more waited for than they. */
int late_begin(struct op_context *ctx, struct launch *launch, struct error *err);
/* All that are on their way are handed back. All ranks at the same call. After an error the others are still on their
 * way. */
int late_end(struct op_context *ctx, struct error *err);
/* Drop all late results: none is handed back. Local. */
void late_drop(struct op_context *ctx);

#endif
