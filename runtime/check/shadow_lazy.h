/* OP2_LAZY=check: what waited runs a second time from the same data, one loop after the other, and the results are
 * compared. Those of the chains stand. */
#ifndef OP2JIT_CHECK_SHADOW_LAZY_H
#define OP2JIT_CHECK_SHADOW_LAZY_H

#include "record/launch.h"

/* Runs launches that are ready. OP_ERR_INTERNAL: their results differ. After an error data and results are as
 * before. */
int lazy_check(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);

#endif
