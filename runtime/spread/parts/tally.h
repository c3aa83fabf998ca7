/* How many items go to, or came from, each of some ranks. Only ranks that have any are in it, so that nothing is as long as
 * the list of all ranks. */
#ifndef OP2JIT_SPREAD_PARTS_TALLY_H
#define OP2JIT_SPREAD_PARTS_TALLY_H

#include <stdbool.h>

#include "mesh/halo.h"

/* A zeroed struct is an empty one. */
struct tally {
  int count;
  int *ranks;  /* as they were met; ascending once tally_sort was called */
  long *items; /* of each */
  int *slots;  /* place + 1 by hash of the rank, 0: free; NULL: not needed so far */
  int room, mask, last;
};

/* A rank that gets none does not come in. False: no memory. */
bool tally_add(struct tally *t, int rank, long items);
bool tally_sort(struct tally *t);
/* The place of a rank that is in it; -1: it is not. */
int tally_place(struct tally *t, int rank);
long tally_total(const struct tally *t);
/* The beginnings of the items of each place, and the end; NULL: no memory. */
long *tally_first(const struct tally *t);
void tally_free(struct tally *t);
/* `to` is overwritten. False: no memory. */
bool tally_copy(struct tally *to, const struct tally *from);

/* Bring items together by rank, ascending, and keep their order otherwise: order[k] is the k-th. False: no memory. */
bool tally_group(struct tally *t, const int *rank_of, long count, long *order);
/* The elements of each neighbour. */
bool tally_side(struct tally *t, const struct halo_side *side);

#endif
