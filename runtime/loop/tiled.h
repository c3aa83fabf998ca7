/* Chains in tiles: what is known of those that were run before, and running them so. */
#ifndef OP2JIT_LOOP_TILED_H
#define OP2JIT_LOOP_TILED_H

#include "record/launch.h"

/* Run the launches, which are ready, in tiles; or, to compare with that, the pieces of tiles loop by loop, whose sums have the same bits.
 * *ran is false where they cannot, or it would not pay: then nothing has happened yet. OP_ERR_PLAN at diagnostic levels from 2 on,
 * if the tiles are wrong. */
int tiled_run(struct op_context *ctx, struct launch *const *launches, int n, bool loop_by_loop, bool *ran,
              struct error *err);
/* How many of the launches, from the first on, make a chain of a good length. */
int tiled_length(struct launch *const *launches, int n);
/* Records are about to go: nothing is known of chains any more. */
void tiled_forget(struct op_context *ctx);

#endif
