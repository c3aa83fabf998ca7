/* What the prover knows of a loop's kernel, before the loop gets its code. */
#ifndef OP2JIT_LOOP_PARTIAL_H
#define OP2JIT_LOOP_PARTIAL_H

#include "jit/prover.h"
#include "record/record.h"

struct op_context;

/* Of each argument; false: nothing is known here. Rank 0 asks for all. *broken: see jit_facts. */
bool loop_facts(struct op_context *ctx, const struct loop *loop, struct prove_fact facts[], bool *broken);
/* OP_WRITE promises to write every component on every path, so code for it does not load what was there. Where the prover
 * does not see that the kernel keeps the promise, the rest of the row must stay as it was: the argument becomes OP_RW.
 * *changed: the loop must be described anew. Collective, before a loop gets its code. OP_ERR_MPI. */
int loop_keep_rest(struct op_context *ctx, struct loop *loop, bool *changed, struct error *err);

#endif
