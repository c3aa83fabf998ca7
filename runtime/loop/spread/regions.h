/* A segment in time, on this rank (plan/depth/early.h): what needs no message runs in tiles while messages travel; then its rim,
 * the next segment's messages are sent, and its rest, loop by loop: that is a percent or two. */
#ifndef OP2JIT_LOOP_REGIONS_H
#define OP2JIT_LOOP_REGIONS_H

#include "loop/spread/turn.h"
#include "loop/tiled/describe.h"

struct regions;

/* Of a segment of the described loops, which is connected, and so is the next (deep.h); *out NULL: tiles would gain nothing, or its
 * numbering does not allow them. Local: other ranks need not have one. OP_ERR_MEMORY. */
int region_new(struct op_context *ctx, struct loop *const *loops, struct tiled_description *d,
               const struct copies_set *sets, const struct depths *depths, struct deep *const *deep,
               int segment, struct regions **out, struct error *err);
void region_free(struct regions *r);
/* Run its launches. The next segment may have its messages sent, too. */
int region_run(struct op_context *ctx, const struct regions *r, struct turn *turn, struct error *err);

#endif
