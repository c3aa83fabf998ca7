/* How deep the loops of a chain run, and what that spares: for what the loops are, so that it is the same on all ranks. */
#ifndef OP2JIT_LOOP_DEPTHS_H
#define OP2JIT_LOOP_DEPTHS_H

#include "loop/tiled/describe.h"
#include "plan/depth/depth.h"

/* A loop that runs so deep may run on copies that have no rows of maps. */
static inline bool runs_apart(int run) {
  return run > 1;
}
/* Why the loop shares no copies with others: it is a segment of its own, and runs as it does by itself; NULL: it may. In words
 * for reports. The same on all ranks. */
const char *loop_keeps_to_itself(const struct loop *loop);
/* Of the described loops; *deep: some run deeper than they do by themselves (deep.h). OP_ERR_MEMORY. */
int loop_depths_find(struct loop *const *loops, int n, const struct tiled_description *d, struct depths *out,
                     bool *deep, struct error *err);
/* Do they exchange less often, or less, than the loops one by one, in turns for ever? OP_ERR_MEMORY. */
int loop_depths_spare(struct loop *const *loops, int n, bool *spare, struct error *err);

#endif
