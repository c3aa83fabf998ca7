/* Does it pay to let the loops of a period wait? A model says so, from what the loops share, what they took, and the
 * caches. */
#ifndef OP2JIT_LOOP_AUTO_WORTH_H
#define OP2JIT_LOOP_AUTO_WORTH_H

#include "loop/auto/watch.h"

struct op_context;

/* Of several ranks: all get the same, and meet for it. For the n calls of a period, in turns for ever. Says which of them may wait, how many loops that are, and how to run them
 * at first; *seconds: what a period takes as called. A call before which chains end comes first afterwards, if there is
 * any. *gain: seconds of a period that a device is expected to gain, where no clock can tell afterwards; else 0. */
bool worth_waiting(struct op_context *ctx, struct watched *period, int n, struct chain_way *guess,
                   double *seconds, double *gain);
/* A launch of the loop may wait: for what it is, whatever the calls are. */
bool loop_may_wait(const struct op_context *ctx, const struct loop *loop);
/* What a call of it took so far, mostly: the slowest one, which may be the first, does not count. */
double loop_usual_seconds(const struct loop *loop);
/* OP2_TILES and OP2_TASKS, for tests: whatever comes again waits. */
bool worth_is_forced(const struct op_context *ctx);
/* The first guess of a tile's bytes: at home in a core's own cache. */
double worth_tile_bytes(const struct op_context *ctx);

#endif
