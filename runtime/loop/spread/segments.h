/* Loops that waited, over sets that are spread over ranks: they run in segments, before each of which all that its
 * loops need of other ranks' elements comes in one message from each neighbour. Collective: all ranks run the same
 * launches in the same order, and are told if they do not. */
#ifndef OP2JIT_LOOP_SEGMENTS_H
#define OP2JIT_LOOP_SEGMENTS_H

#include "record/launch.h"

/* Run the launches, which are ready, in the order of their calls; each has the bits that it has alone. OP_ERR_MPI: ranks
 * differ. Where there is no memory for segments, on any rank, loops run one by one. */
int segments_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);
/* Nothing is known of chains any more. */
void segments_forget(struct op_context *ctx);

#endif
