/* Loops that waited, over sets that are spread over ranks: they run in segments, before each of which all that its
 * loops need of other ranks' elements comes in one message from each neighbour. Collective: all ranks run the same
 * launches in the same order, and are told if they do not. */
#ifndef OP2JIT_LOOP_CHAIN_SEGMENTS_H
#define OP2JIT_LOOP_CHAIN_SEGMENTS_H

#include "loop/chain/deep.h"
#include "loop/chain/layers.h"
#include "loop/chain/regions.h"
#include "loop/chain/tiled_describe.h"
#include "record/launch.h"

/* Run the launches, which are ready, in the order of their calls; each has the bits that it has alone. OP_ERR_MPI: ranks
 * differ. Where there is no memory for segments, on any rank, loops run one by one. */
int segments_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);
/* A chain that runs in more than one layer (OP2_LAYERS), on the rank that it costs most, and in one layer. */
struct layers_facts {
  const char *first, *last; /* its loops */
  int loops, layers;
  long long runs;
  struct layers_cost one, here;
  double seconds, gain; /* of its loops, each once; a run's, by layers_gain */
};
/* Facts of chain number i, from 0; false: it runs in one layer, or there is none (*more is false). */
bool segments_tell(const struct op_context *ctx, int i, struct layers_facts *out, bool *more);
/* Forget all chains. */
void segments_forget(struct op_context *ctx);

/* Loops of a segment in their own parts (record.h), as they run by themselves, but before the segment's messages are awaited as
 * many of them as need none: where tiles do not pay there is as much to do while messages travel, and bits, variants and times are
 * those of the loops one by one. */

/* For a segment of the described loops: ahead[l] becomes the number of parts of loop l of the chain that run before
 * its messages are awaited. Local. OP_ERR_MEMORY: they are as they were. */
int ahead_find(struct loop *const *loops, const struct tiled_description *d, const struct copies_set *sets,
               const struct depths *depths, const struct deep *deep, int segment, int *ahead,
               struct error *err);

/* ---- known.c: chains of ranks that came before: their segments, and what those need ---- */

/* Loops that came in this order, which all ranks agreed on. */
struct known_chain {
  unsigned epoch; /* of the mesh */
  uint64_t hash;
  int n;
  struct arrays memory; /* of the arrays that follow */
  size_t *orders;       /* of the loops: no two have the same, also where one was freed */
  struct depths depths;
  /* One for each segment. NULL: all loops run as deep as they do by themselves. */
  struct deep **deep;       /* NULL: its one loop does */
  struct regions **regions; /* that begins with it; NULL: none does here */
  bool early;               /* some rank has one */
  int *ahead;               /* of each loop, so many of its parts run before its segment waits */
  struct launch **waits;    /* room for turns (turn.h) */
  /* The same where neighbours of its segments run as one (fused.h); NULL: they do not, or not yet. */
  struct known_chain *whole;
  bool fuses;                /* it may still be made */
  unsigned turns;            /* so often it ran */
  int layers;                /* loop_depths_find's */
  struct layers_facts facts; /* layers > 1 */
};

/* The chain of these launches, which belongs to the context. *out NULL: some rank has no memory. A known chain is
 * compared by the messages themselves, but for a device's; else OP_ERR_MPI: ranks differ. Collective. */
int known_chain_get(struct op_context *ctx, struct launch *const *launches, int n, struct known_chain **out,
                    struct error *err);
/* One that is found by nobody, for the caller to free. Collective. */
int known_chain_make(struct op_context *ctx, struct launch *const *launches, int n, struct known_chain **out,
                     struct error *err);
void known_chain_free(struct op_context *ctx, struct known_chain *k);

#endif
