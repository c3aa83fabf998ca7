/* A segment whose loops run deeper than they do by themselves: on copies of others' elements, so that what they make of
 * them need not travel. Only those copies run, and only those rows travel, that the owned elements of the segment's loops
 * ask for in the end (plan/copies.h). Maps of copies that have no rows here lead to what no loop of the chain changes:
 * values of their targets come to memory of their own, again whenever they have changed. Where the mesh has more layers (spread/rings.h) all copies that run have rows. */
#ifndef OP2JIT_LOOP_CHAIN_DEEP_H
#define OP2JIT_LOOP_CHAIN_DEEP_H

#include "exec/executor.h"
#include "loop/chain/tiled_describe.h"
#include "plan/copies.h"
#include "plan/depth.h"
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
const struct deep_copies *deep_copies(const struct deep *deep);
void deep_sent(const struct deep *deep, struct copies_list *sent);

/* Dats that no loop of the chain changes are old here, and come with the segment's messages. */
bool deep_awaits_constants(const struct deep *deep);

/* A run of a chain whose loops run deeper than they do by themselves (deep.h): which of its messages travel, and which results
 * are still to be left. All ranks begin the same in the same order, however each of them runs its own elements: first what
 * they must do together, then messages, segment by segment, and results at the end, in the order of the calls. */

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

/* ---- the copies of others' elements that a loop of a chain runs on ---- */
/* Works of a loop's schedule: copies with rows of maps, and those whose targets are apart. */
enum { WITH_ROWS, APART, WORKS };

/* Values of a dat at the targets, by a map, of copies that have no rows: as many for each as the map has columns. */
struct apart {
  int arg; /* the loop's first one with the dat */
  struct dat *dat;
  const struct map *map;
  struct dat values; /* the dat, with memory for these alone */
  struct halo_rows rows;
  const int *copies; /* the loop's */
  long count;
  int *table; /* in place of the map's, from row `first` on */
  long first;
};

struct deep_loop {
  struct schedule schedule;
  struct apart *aparts;
  int naparts;
};

/* Elements that follow one another are an item; those before `rows` have rows of maps. Results of all go to one slot.
 * OP_ERR_MEMORY. */
int deep_schedule_new(struct schedule *out, long rows, const struct copies_list *run, int slot,
                      struct error *err);
/* Run the copies of a launch with `deep`, behind its owned elements. Their results do not count. OP_ERR_MEMORY, and
 * the backend's errors. */
int deep_loop_run(struct op_context *ctx, struct launch *launch, struct error *err);
/* Run the copies of such a schedule by the backend's work for the launch; threads may be running its owned elements.
 * OP_ERR_MEMORY. */
int deep_loop_run_some(const struct launch *launch, const struct schedule *schedule, const struct work *work,
                       struct error *err);

#endif
