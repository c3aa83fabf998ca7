/* A run of a chain whose loops run deeper than they do by themselves (deep.h): which of its messages travel, and which results
 * are still to be left. All ranks begin the same in the same order, however each of them runs its own elements: first what
 * they must do together, then messages, segment by segment, and results at the end, in the order of the calls. */
#ifndef OP2JIT_LOOP_TURN_H
#define OP2JIT_LOOP_TURN_H

#include "loop/spread/deep.h"
#include "plan/depth/depth.h"
#include "record/launch.h"
#include "spread/exchange.h"

struct turn {
  const struct depths *depths;
  struct deep *const *deep; /* of each segment; NULL: it is one loop, which runs as it does by itself */
  struct launch *const *launches;
  bool early; /* what no loop of the chain changes is there before anything runs, as regions.h needs it */
  struct launch **waits; /* for each segment the launch that has its exchange; NULL: none is under way */
  int started;           /* segments: their messages travel, or did, or there are none */
  int left;              /* launches whose results are left */
};

/* All that ranks do together before the first loop: exchanges are made, and what is not part of any segment is brought.
 * turn->waits is room for as many as there are segments. Collective. */
int turn_begin(struct op_context *ctx, struct turn *turn, const struct exchange_header *header,
               struct error *err);
/* The segment's messages are packed and sent, if they were not yet; those before have come. */
int turn_start(struct op_context *ctx, struct turn *turn, int segment, struct error *err);
int turn_finish(struct op_context *ctx, struct turn *turn, int segment, struct error *err);
/* Results of the launches before this one. Collective. */
int turn_leave_results(struct op_context *ctx, struct turn *turn, int end, struct error *err);
/* End what is under way. Returns `code`, the error so far. */
int turn_end(struct op_context *ctx, struct turn *turn, int code);

#endif
