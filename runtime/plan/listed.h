/* Elements that run through a list: some of them, or all in another order than that of their set. */
#ifndef OP2JIT_PLAN_LISTED_H
#define OP2JIT_PLAN_LISTED_H

#include "plan/plan.h"

/* A plan whose elements are places in the list, which has `n` elements of the request, in blocks of that size. OP_ERR_MEMORY,
 * and what plan_build has. */
int plan_of_list(struct plan *plan, const struct plan_request *r, const int *list, long n, int block_size,
                 struct error *err);
/* All elements of the request, in the order of a reverse Cuthill-McKee numbering of what the first column leads to: those
 * that meet are near each other. `list` has room for them; the same for any number of threads. OP_ERR_MEMORY. */
int list_neighbours(int *list, const struct plan_request *r, struct team *team, struct error *err);
/* A plan of blocks of one element, which ignores the request's work. Its colours are levels: each has the elements that share
 * a target with elements of the levels before, and with none of its own. Of two that share one, that with the lower
 * number (plan_number) is in the earlier level. OP_ERR_MEMORY. */
int plan_levels(struct plan *plan, const struct plan_request *r, struct error *err);

#endif
