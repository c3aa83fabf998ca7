/* The same random programs over ranks: every rank knows the whole model, declares its share of each set, and
 * compares what it declared. Without MPI there is one rank, whose share is everything. */
#ifndef OP2JIT_TESTS_RANKS_H
#define OP2JIT_TESTS_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "random.h"

struct world;

int ranks_count(void);
/* False on all ranks if it is on one. */
bool ranks_agree(bool good);
/* This rank's share of a set of so many elements: as even as can be, anyhow, or all of it on one rank. */
void ranks_share(struct random *r, int size, int *begin, int *end);
/* Over all ranks. */
uint64_t ranks_sum(uint64_t mine);
/* Give all elements to other ranks, by any partitioner; in a world that is odd by one that needs no data. */
bool ranks_partition(struct world *w);

#endif
