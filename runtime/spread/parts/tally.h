/* How many items go to, or came from, each of some ranks. Only ranks that have any are in it, so that nothing is as long as
 * the list of all ranks. */
#ifndef OP2JIT_SPREAD_PARTS_TALLY_H
#define OP2JIT_SPREAD_PARTS_TALLY_H

#include <stdbool.h>

#include "mesh/halo.h"

/* A zeroed struct is an empty one. */
struct tally {
  int count;
  int *ranks;  /* ascending */
  long *items; /* of each */
  long total;  /* of all */
  int last;    /* the place that was looked up last */
};

/* A rank that gets none does not come in. False: no memory. */
bool tally_add(struct tally *t, int rank, long items);
/* The place of a rank that is in it; -1: it is not. */
int tally_place(struct tally *t, int rank);
/* The beginnings of the items of each place, and the end; NULL: no memory. */
long *tally_first(const struct tally *t);
void tally_free(struct tally *t);

/* Bring items 0 .. count - 1 together by rank, ascending, and keep their order otherwise; `chosen` NULL: all of them, else
 * those. Returns them; NULL: no memory. */
int *tally_group(struct tally *t, const int *rank_of, const bool *chosen, long count);
/* The elements of each neighbour. */
bool tally_side(struct tally *t, const struct halo_side *side);

#endif
