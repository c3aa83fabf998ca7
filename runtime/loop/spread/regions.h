/* Some segments of a chain in time, on this rank (plan/depth/early.h): what needs no message runs in tiles that are cut across
 * all of them, while the first messages travel; then, when a segment's have come, its rim, the next ones are sent, and its
 * rest, loop by loop: that is a percent or two. */
#ifndef OP2JIT_LOOP_REGIONS_H
#define OP2JIT_LOOP_REGIONS_H

#include "loop/spread/turn.h"
#include "loop/tiled/describe.h"

struct regions;

/* Of segments first .. first+count-1 of the described loops, which are connected (deep.h); *out NULL: tiles would gain nothing,
 * or its numbering does not allow them. Local: other ranks need not have one. OP_ERR_MEMORY. */
int region_new(struct op_context *ctx, struct loop *const *loops, struct tiled_description *d,
               const struct copies_set *sets, const struct depths *depths, struct deep *const *deep,
               int first, int count, struct regions **out, struct error *err);
void region_free(struct regions *r);
/* How many they are. */
int region_segments(const struct regions *r);
/* Run their launches. The segment behind them may have its messages sent, too. */
int region_run(struct op_context *ctx, const struct regions *r, struct turn *turn, struct error *err);

#endif
