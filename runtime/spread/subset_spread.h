/* Subsets over ranks: each rank tells its elements to those that own them, and these to those that have copies. */
#ifndef OP2JIT_SUBSET_SPREAD_H
#define OP2JIT_SUBSET_SPREAD_H

#include "base/error.h"

struct op_context;
struct set;

/* How many elements it has on all ranks. Collective. */
int subset_count(struct op_context *ctx, struct set *set, struct error *err);
/* Its elements in the library's numbers, for the parent's distribution as it is. Collective. */
int subset_spread(struct op_context *ctx, struct set *set, struct error *err);
/* The same for all subsets, after a change of the distribution. */
int subsets_spread(struct op_context *ctx, struct error *err);

#endif
