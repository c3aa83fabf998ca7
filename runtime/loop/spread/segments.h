/* Loops that waited, over sets that are spread over ranks: they run in segments, before each of which all that its
 * loops need of other ranks' elements comes in one message from each neighbour. Collective: all ranks run the same
 * launches in the same order, and are told if they do not. */
#ifndef OP2JIT_LOOP_SEGMENTS_H
#define OP2JIT_LOOP_SEGMENTS_H

#include "loop/spread/layers.h"
#include "record/launch.h"

/* Run the launches, which are ready, in the order of their calls; each has the bits that it has alone. OP_ERR_MPI: ranks
 * differ. Where there is no memory for segments, on any rank, loops run one by one. */
int segments_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);
/* A chain that runs in more than one layer (OP2_LAYERS), on the rank that it costs most, and in one layer. */
struct layers_facts {
  char *first, *last; /* its loops */
  int loops, layers;
  long long runs;
  struct layers_cost one, here;
  double seconds, gain; /* of its loops, each once; a run's, by layers_gain */
};
/* Facts of chain number i, from 0; false: it runs in one layer, or there is none (*more is false). The names live as
 * long as the chain is known. */
bool segments_tell(const struct op_context *ctx, int i, struct layers_facts *out, bool *more);
/* Forget all chains. */
void segments_forget(struct op_context *ctx);

#endif
