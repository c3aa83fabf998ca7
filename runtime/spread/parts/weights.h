/* The cost of an element of the set that is parted by name, with everything that follows it. */
#ifndef OP2JIT_SPREAD_PARTS_WEIGHTS_H
#define OP2JIT_SPREAD_PARTS_WEIGHTS_H

#include <stdbool.h>

#include "base/error.h"
#include "ranks/comm.h"
#include "spread/parts/build.h"

/* cost[s] is what an element of set s costs, 0 .. MOST_COST, the same on all ranks: each, or where the set has ragged maps
 * the mean, and each by how many targets of these it has, and one more. Elements of other sets hand
 * theirs on to those that they will follow, in equal shares. weights: one for each owned element of set `prime`, 1
 * or more; they do not depend on who owns what. Collective. */
enum { MOST_COST = 1 << 12 };
int parts_weights(struct comm *comm, const struct share *share, int prime, const int *cost,
                  long long *weights, struct error *err);

/* The time that loops took so far for each element of their sets: op_partition weighs elements by it. */

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
