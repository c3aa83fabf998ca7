/* The time that loops took so far for each element of their sets: op_partition weighs elements by it. */
#ifndef OP2JIT_COSTS_H
#define OP2JIT_COSTS_H

#include <stdbool.h>

#include "base/error.h"

struct op_context;
struct set;

/* From the nanoseconds of each set on this rank, which become those of all (NULL: there was no memory for them):
 * cost[set], relative to the dearest set and the same on all ranks, as parts_weights takes them. Steps of a fifth,
 * so that small differences of time do not make other parts. *measured false: too little ran to tell, or
 * OP2_WEIGHTS=equal. Collective. */
int measured_costs(struct op_context *ctx, long long *times, int *cost, bool *measured, struct error *err);

/* Elements of a set with ragged maps go by how many targets they have, if nothing is measured. True for such a set. Local,
 * and the same on all ranks. */
bool costs_by_targets(const struct op_context *ctx, const struct set *prime, int *cost);

#endif
