/* When elements of some segments of a chain (depth.h) run, on one rank. Most need no message and nothing of what waits for
 * one: they are early, and run while the first messages travel, those of later segments, too. Once a segment's messages are
 * there the rest of it runs: first the rim, which is all that the next messages wait for, and, when they are sent, what is
 * left. Each target is then added to in the order of the loop's elements, as by the loops one by one. Pure. */
#ifndef OP2JIT_PLAN_EARLY_H
#define OP2JIT_PLAN_EARLY_H

#include "plan/depth/copies.h"

enum when { WHEN_EARLY, WHEN_RIM, WHEN_REST };

struct early_segment {
  int first, end; /* loops */
  const struct copies *copies;
  /* Of each dat, what the rank owns and sends before the first loop, in any order; NULL: no messages travel. */
  const struct copies_list *sent;
};

/* Of n segments that follow one another: when[l - first][e], an enum when, of the elements that the rank owns and of the
 * copies that run, for the caller to free, each and all. segments[n]: the segment behind them, of which only `sent` is looked
 * at, without copies where there is none. Copies of what no loop of the chain changes are there
 * before: elements that reach others are never early. OP_ERR_MEMORY: *out is NULL. */
int early_find(unsigned char ***out, const struct chain *chain, const struct copies_set *sets,
               const struct early_segment *segments, int n, struct error *err);
void early_free(unsigned char **when, int nloops);

#endif
