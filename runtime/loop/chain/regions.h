/* Segments in time, on this rank (plan/early.h): what needs no message runs in tiles, which are cut across some of them, while
 * messages travel; then of each segment its rim, the next one's messages are sent, and its rest, loop by loop: that is a percent or
 * two. */
#ifndef OP2JIT_LOOP_CHAIN_REGIONS_H
#define OP2JIT_LOOP_CHAIN_REGIONS_H

#include "loop/chain/deep.h"
#include "loop/chain/tiled_describe.h"

struct regions;

/* Make a region of at most `most` segments of the described loops, from this segment on. All of them are connected, and so is the one
 * behind (deep.h). *out NULL: tiles would gain nothing, or the numbers of elements do not allow them. Local: other ranks need not have
 * one. OP_ERR_MEMORY. */
int region_new(struct op_context *ctx, struct loop *const *loops, struct tiled_description *d,
               const struct copies_set *sets, const struct depths *depths, struct deep *const *deep,
               int segment, int most, struct regions **out, struct error *err);
void region_free(struct regions *r);
/* So many segments it has. */
int region_segments(const struct regions *r);
/* These launches have the region's loops, and none of them is to be timed alone. */
bool region_may_run(const struct regions *r, struct launch *const *launches);
/* Run its launches. The messages of the segment behind may be sent, too. */
int region_run(struct op_context *ctx, const struct regions *r, struct turn *turn, struct error *err);

#endif
