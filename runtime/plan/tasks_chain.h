/* A chain of loops as blocks that wait for one another, without a barrier between its loops. */
#ifndef OP2JIT_PLAN_TASKS_CHAIN_H
#define OP2JIT_PLAN_TASKS_CHAIN_H

#include "plan/tiles.h"

struct tasks_wish {
  int blocks; /* of each set, at least 1 */
  int least;  /* elements of a block; blocks begin at multiples of it */
};

/* In place of tiles: t->schedule has items that wait for one another, t->ntiles says how many, and there are no chunks.
 * The same for any number of threads; `team` (may be NULL) helps. OP_ERR_MEMORY, OP_ERR_SIZE: then *t is empty. */
int tasks_of_chain(struct tiles *t, const struct chain *chain, const struct tasks_wish *wish,
                   struct team *team, struct error *err);
/* Verifies tiles, or blocks that wait: see tasks_verify. */
int chain_verify(const struct tiles *t, const struct chain *chain, struct error *err);

#endif
