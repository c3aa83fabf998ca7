/* The cost of an element of the set that is parted by name, with everything that follows it. */
#ifndef OP2JIT_DISTRIBUTE_WEIGHTS_H
#define OP2JIT_DISTRIBUTE_WEIGHTS_H

#include "ranks/comm.h"
#include "spread/distribute/build.h"

/* cost[s] is what an element of set s costs, 0 .. MOST_COST, the same on all ranks: each, or where the set has ragged maps
 * the mean, and each by how many targets of these it has, and one more. Elements of other sets hand
 * theirs on to those that they will follow, in equal shares. weights: one for each owned element of set `prime`, 1
 * or more; they do not depend on who owns what. Collective. */
enum { MOST_COST = 1 << 12 };
int parts_weights(struct comm *comm, const struct share *share, int prime, const int *cost,
                  long long *weights, struct error *err);

#endif
