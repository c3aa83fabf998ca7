/* Facts that are proved of a loop's kernel, and what follows for its arguments. */
#ifndef OP2JIT_LOOP_PARTIAL_H
#define OP2JIT_LOOP_PARTIAL_H

#include "jit/jit.h"
#include "record/record.h"

/* Fills loop->facts, which stay unknown where nobody knows more. Rank 0 knows for all. `recalled`: only what is remembered.
 * OP_ERR_VIOLATION: the text breaks a promise. */
int loop_facts(struct op_context *ctx, struct loop *loop, bool recalled, struct error *err);
/* Ask the jit about the loop's text; messages begin with the loop. */
int loop_ask(struct op_context *ctx, const struct loop *loop, const struct jit_wish *wish, struct facts *out,
             struct error *err);
/* OP_WRITE promises to write every component on every path, so code for it does not load what was there. Where the prover
 * does not see that the kernel keeps the promise, the rest of the row must stay as it was: the argument becomes OP_RW.
 * *changed: the loop must be described anew, and has no code any more. Collective. OP_ERR_MPI. */
int loop_keep_rest(struct op_context *ctx, struct loop *loop, bool recalled, bool *changed,
                   struct error *err);

#endif
