/* Elements that meet in what a loop writes through maps (WRITE and RW). Such a loop is right, if no two of them run at one
 * time; what comes of it depends on their order, unless they write the same. */
#ifndef OP2JIT_LOOP_MEET_H
#define OP2JIT_LOOP_MEET_H

#include "jit/jit.h"
#include "mesh/meeting.h"
#include "record/record.h"

/* The argument assigns to a dat: WRITE or RW. */
bool meet_writes(const struct loop_arg *arg);
/* Where elements meet by any argument that writes the dat of `of`; nowhere if none goes through a map. OP_ERR_MEMORY.
 * */
int meet_find(const struct op_context *ctx, const struct loop *loop, const struct loop_arg *of,
              struct meeting *out, struct error *err);
/* Sets loop->meets, which is the same on all ranks. Collective, once for each numbering of the mesh. */
int loop_look_for_meetings(struct op_context *ctx, struct loop *loop, struct error *err);
/* Behind it, when the loop's code is there: a warning, once for each call site. Collective. */
int loop_tell_meetings(struct op_context *ctx, struct loop *loop, struct error *err);

/* ---- facts that are proved of a loop's kernel, and what follows for its arguments ---- */
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
