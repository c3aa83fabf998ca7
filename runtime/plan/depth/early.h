/* When elements of a segment (depth.h) run, on one rank. Most need no message and nothing of what waits for one: they are
 * early, and run while messages travel. Once those are there the rest runs: first the rim, which is all that the next segment's
 * messages wait for, and, when they are sent, what is left. Each target is then added to in the order of the loop's elements,
 * as by the loops one by one. Pure. */
#ifndef OP2JIT_PLAN_EARLY_H
#define OP2JIT_PLAN_EARLY_H

#include "plan/depth/copies.h"

enum when { WHEN_EARLY, WHEN_RIM, WHEN_REST };

/* Of the loops first .. end-1, of which the copies are `c`: when[l - first][e], an enum when, of the elements that the rank
 * owns and of the copies that run, for the caller to free, each and all. `sent`: of each dat, what the rank owns and sends
 * behind the segment, in any order; NULL: nothing. Copies of what no loop of the chain changes are there before: elements that
 * reach others are never early. OP_ERR_MEMORY: *out is NULL. */
int early_find(unsigned char ***out, const struct chain *chain, const struct copies_set *sets, int first,
               int end, const struct copies *c, const struct copies_list *sent, struct error *err);
void early_free(unsigned char **when, int nloops);

#endif
