/* The parts of a segment in time: what needs no message runs in tiles while messages travel, the rest once they are there,
 * loop by loop: it is a percent or two. */
#ifndef OP2JIT_LOOP_REGIONS_H
#define OP2JIT_LOOP_REGIONS_H

#include "loop/tiled/describe.h"
#include "plan/depth/copies.h"
#include "record/launch.h"

struct regions;
struct exchange;

/* Of the described loops first .. first+n-1, which run on these copies; *out NULL: tiles would gain nothing, or its numbering
 * does not allow them. Local: other ranks need not have one. OP_ERR_MEMORY. */
int region_new(struct op_context *ctx, struct loop *const *loops, int n, struct tiled_description *d,
               int first, const struct copies_set *sets, const struct copies *c, struct regions **out,
               struct error *err);
void region_free(struct regions *r);
/* Run the segment's launches, whose loops have `deep` (deep.h). `waits`: the launch that has the exchange under way, which
 * ends here; NULL: there is none. */
int region_run(struct op_context *ctx, const struct regions *r, struct launch *const *launches,
               struct launch *waits, struct error *err);

#endif
