/* A segment whose loops run deeper than they do by themselves: on copies of others' elements, so that what they make of
 * them need not travel. Only those copies run, and only those rows travel, that the owned elements of the segment's loops
 * ask for in the end (plan/depth/copies.h). Maps of copies that have no rows here lead to what no loop of the chain changes:
 * values of their targets come to memory of their own, again whenever they have changed. Where the mesh has more layers (spread/rings/) all copies that run have rows. */
#ifndef OP2JIT_LOOP_DEEP_H
#define OP2JIT_LOOP_DEEP_H

#include "loop/tiled/describe.h"
#include "plan/depth/copies.h"
#include "plan/depth/depth.h"
#include "record/launch.h"
#include "spread/exchange.h"

struct deep;

/* The parts here of each set of the described loops, with the copies that every mesh has, or (in more layers) all;
 * the caller frees it. NULL: no memory. */
struct copies_set *deep_sets(const struct tiled_description *d, int layers);
/* For a segment of the described loops, with deep_sets of so many layers; nothing has travelled yet. Local. OP_ERR_MEMORY. */
int deep_new(struct loop *const *loops, const struct tiled_description *d, const struct copies_set *sets,
             int layers, const struct depths *depths, int segment, struct deep **out, struct error *err);
/* Make out who sends what to whom. Collective, once. */
int deep_connect(struct op_context *ctx, struct deep *deep, struct error *err);
void deep_free(struct op_context *ctx, struct deep *deep);

/* On which copies it runs; and, once it is connected, of each dat what this rank sends: room for as many as the chain has. */
const struct copies *deep_copies(const struct deep *deep);
void deep_sent(const struct deep *deep, struct copies_list *sent);

/* Code that any elements run by is there for its launches, or is made now. Collective, as ranks get code together. */
int deep_get_code(struct op_context *ctx, const struct deep *deep, struct launch *const *launches,
                  struct error *err);
/* Its launches run on these copies from now on. */
void deep_begin(const struct deep *deep, struct launch *const *launches);
void deep_end(const struct deep *deep, struct launch *const *launches);
/* Before the first loop of the chain: *out: NULL, or the exchange that will bring what its loops need and is old by then.
 * What is apart travels now; early: so does what no loop of the chain changes. Collective. */
int deep_prepare(struct op_context *ctx, const struct deep *deep, bool early,
                 const struct exchange_header *header, struct exchange **out, struct error *err);
/* Dats that no loop of the chain changes are old here, and come with the segment's messages. */
bool deep_awaits_constants(const struct deep *deep);
#endif
