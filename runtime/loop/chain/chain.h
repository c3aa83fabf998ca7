/* A chain: loops whose calls followed one another, and between which nobody looked. It has the outcome of its
 * loops one by one. */
#ifndef OP2JIT_LOOP_CHAIN_CHAIN_H
#define OP2JIT_LOOP_CHAIN_CHAIN_H

#include "loop/chains.h"
#include "record/launch.h"

/* Run the launches, which are ready, in the order of their calls, or in tiles that nobody can tell from it.
 * Nothing of it may fail once a dat has changed: what needs memory is made first, and where there is none the
 * loops run one by one. */
int chain_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);
/* The same one by one, always; in the pieces that tiles would have, so that sums have the same bits. */
int chain_run_singly(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);

/* The number of launches, from the first on, that are whole periods, with what comes before them; all, if nothing
 * repeats. */
int chain_whole_periods(const struct op_context *ctx, struct launch *const *launches, int n);
/* Maps are about to change: nobody reads them behind the program from now on. */
void chains_stay(struct op_context *ctx);

#endif
