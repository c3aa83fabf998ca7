/* Does it pay to let the loops of a period wait? A model says so, from what the loops share, what they took, and the
 * caches. */
#ifndef OP2JIT_LOOP_CHAIN_WORTH_H
#define OP2JIT_LOOP_CHAIN_WORTH_H

#include <stdbool.h>

#include "loop/chain/watch.h"

struct waiting_worth {
  bool pays;
  struct chain_way guess; /* how to run them at first */
  double seconds;         /* that a period takes as called */
  double gain; /* of these, what a device is expected to gain, where no clock can tell afterwards; else 0 */
};
/* For the n calls of a period, in turns for ever; says which of them may wait. A call before which chains end comes first
 * afterwards, if there is any. Of several ranks: all get the same, and meet for it. OP_ERR_MEMORY of one rank is the error of
 * all, here or where they agree next. */
int worth_waiting(struct op_context *ctx, struct watched *period, int n, struct waiting_worth *worth,
                  struct error *err);
/* Over how many periods tiles of these loops are cut at first. */
int worth_periods(const struct op_context *ctx, struct loop *const *loops, int n);
/* A launch of the loop may wait: for what it is, whatever the calls are. */
bool loop_may_wait(const struct op_context *ctx, const struct loop *loop);
/* The usual seconds of a call: the slowest one, which may be the first, does not count. */
double loop_usual_seconds(const struct loop *loop);
/* OP2_TILES and OP2_TASKS, for tests: whatever comes again waits. */
bool worth_is_forced(const struct op_context *ctx);
/* The first guess of a tile's bytes: at home in a core's own cache. */
double worth_tile_bytes(const struct op_context *ctx);

/* The gain of waiting on a device. The program goes on while its loops run, so that clocks of the host say nothing: a
 * model counts the bytes that fused loops save, and the launches (struct backend's expect). */

struct loop;
struct op_context;

/* Seconds, added up over the parts of a period. */
struct device_gain {
  double seconds;      /* as called */
  double fused;        /* that are saved by loops made of several */
  double graph, whole; /* that are saved by graphs: of loops as they are, of those made of several */
};
/* The same of loops that wait as the program wants it (OP2_LAZY=on). */
bool device_fuses(struct op_context *ctx, struct loop *const *loops, int n);

#endif
