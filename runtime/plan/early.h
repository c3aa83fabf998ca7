/* When elements of segments (depth.h) that follow one another run, on one rank. Most need no message and nothing of what waits for
 * one: they are early, and run while the first segment's messages travel. Then segment by segment, once its messages are there, the
 * rest of it runs: first the rim, which is all that the next segment's messages wait for, and, when they are sent, what is left. Each
 * target is then added to in the order of the loop's elements, as by the loops one by one, unless nobody minds the order: then elements
 * of one loop that add to the same target do not wait for one another. Pure. */
#ifndef OP2JIT_PLAN_EARLY_H
#define OP2JIT_PLAN_EARLY_H

#include <stdbool.h>

#include "plan/copies.h"

enum when { WHEN_EARLY, WHEN_RIM, WHEN_REST };

struct early_segment {
  int end;                          /* behind its last loop */
  const struct deep_copies *copies; /* on which its loops run */
  const struct copies_list
      *sent; /* of each dat, what the rank owns and sends behind it, in any order; NULL: nothing */
  /* Where the second part of a loop's owned elements begins; no element of a part is early unless all are.
   * NULL: each is by itself. */
  const long *cuts;
};

/* Finds when[l - first][e], an enum when, for the loops from `first` on, which are in these segments: of the elements that the rank
 * owns and of the copies that run, for the caller to free, each and all. `ordered`: each target is added to in the order of elements. Copies of what no loop of the chain changes are there
 * before: elements that reach others are never early. OP_ERR_MEMORY: *out is NULL. */
int early_find(unsigned char ***out, const struct chain *chain, const struct copies_set *sets, int first,
               const struct early_segment *segments, int nsegments, bool ordered, struct error *err);
void early_free(unsigned char **when, int nloops);

#endif
