/* Loops of a segment in their own parts (record.h), as they run by themselves, but before the segment's messages are awaited as
 * many of them as need none: where tiles do not pay there is as much to do while messages travel, and bits, variants and times are
 * those of the loops one by one. */
#ifndef OP2JIT_LOOP_AHEAD_H
#define OP2JIT_LOOP_AHEAD_H

#include "loop/spread/turn.h"
#include "loop/tiled/describe.h"

/* For a segment of the described loops: ahead[l] becomes the number of parts of loop l of the chain that run before
 * its messages are awaited. Local. OP_ERR_MEMORY: they are as they were. */
int ahead_find(struct loop *const *loops, const struct tiled_description *d, const struct copies_set *sets,
               const struct depths *depths, const struct deep *deep, int segment, int *ahead,
               struct error *err);
/* Its messages travel, and more may run meanwhile than a part of the loop that waits for them. */
bool ahead_pays(const struct turn *turn, int segment, const int *ahead);
int ahead_run(struct op_context *ctx, struct turn *turn, int segment, const int *ahead, struct error *err);

#endif
