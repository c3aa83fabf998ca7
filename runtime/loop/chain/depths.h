/* The depths to which loops of a chain run, and the messages that these spare. They depend on the loops alone, so
 * that all ranks have the same. */
#ifndef OP2JIT_LOOP_CHAIN_DEPTHS_H
#define OP2JIT_LOOP_CHAIN_DEPTHS_H

#include "loop/chain/tiled_describe.h"
#include "plan/depth.h"

/* A loop that runs so deep may run on copies that have no rows of maps. */
static inline bool runs_apart(int run) {
  return run > 1;
}
/* Why the loop shares no copies with others: it is a segment of its own, and runs as it does by itself; NULL: it may. In words
 * for reports. The same on all ranks. */
const char *loop_keeps_to_itself(const struct loop *loop);
/* In several layers it is a segment of its own, too: so do loops with element matrices, which have no room for more copies. */
bool loop_keeps_apart(const struct loop *loop);
/* The depths of the described loops. *layers: 0: none runs deeper than by itself; else the layers of copies on which
 * some do (deep.h), at most `most`. OP_ERR_MEMORY. */
int loop_depths_find(const struct op_context *ctx, struct loop *const *loops, int n,
                     const struct tiled_description *d, int most, struct depths *out, int *layers,
                     struct error *err);
/* In so many layers, with the segments' ends of several. OP_ERR_MEMORY. */
int loop_depths_in(const struct op_context *ctx, struct loop *const *loops, int n,
                   const struct tiled_description *d, int layers, struct depths *out, struct error *err);
/* Do they exchange less often, or less, than the loops one by one, in turns for ever? OP_ERR_MEMORY. */
int loop_depths_spare(struct op_context *ctx, struct loop *const *loops, int n, bool *spare,
                      struct error *err);

#endif
