/* Which elements of a segment (depth.h) run before its messages have come: those that need nothing of them, and nothing of
 * what waits for them. Each target is then added to in the order of the loop's elements, as by the loops one by one. Pure. */
#ifndef OP2JIT_PLAN_EARLY_H
#define OP2JIT_PLAN_EARLY_H

#include "plan/depth/copies.h"

/* Of the loops first .. end-1, of which the copies are `c`: early[l - first][e] of the elements that the rank owns, for the
 * caller to free, each and all. Elements that reach copies are not among them. OP_ERR_MEMORY: *out is NULL. */
int early_find(bool ***out, const struct chain *chain, const struct copies_set *sets, int first, int end,
               const struct copies *c, struct error *err);
void early_free(bool **early, int nloops);

#endif
