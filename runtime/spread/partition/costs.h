/* What the loops that ran so far took for each element of their sets: what op_partition weighs elements by. */
#ifndef OP2JIT_COSTS_H
#define OP2JIT_COSTS_H

#include <stdbool.h>

#include "base/error.h"

struct op_context;

/* From the nanoseconds of each set on this rank, which become those of all (NULL: there was no memory for them):
 * cost[set], relative to the dearest set and the same on all ranks, as parts_weights takes them. Steps of a fifth,
 * so that small differences of time do not make other parts. *measured false: too little ran to tell, or
 * OP2_WEIGHTS=equal. Collective. */
int measured_costs(struct op_context *ctx, long long *times, int *cost, bool *measured, struct error *err);

#endif
