/* Prefix tiles: a chain cut across its loops, so that data are read once for several of them. A tile is one range of
 * each loop. Tile after tile, what an element needs ran in this tile or before. For threads the chain is cut into
 * chunks of tiles that run side by side; what lies just right of a cut and touches both sides waits for a second
 * phase, the gaps. The number of chunks is a matter of the mesh, not of the threads. */
#ifndef OP2JIT_PLAN_TILES_H
#define OP2JIT_PLAN_TILES_H

#include "base/error.h"
#include "base/text.h"
#include "plan/tiles/chain.h"
#include "run/schedule.h"
#include "run/team.h"

struct tiles_wish {
  int tiles;  /* all together, at least 1 */
  int chunks; /* at most */
  int step; /* ranges of large sets begin at multiples of it: PREFIX_STEP, or for tests another power of two */
  int small;  /* sets below the largest one's size divided by this run in the order of their targets */
  int blocks; /* in which results of a loop are kept apart, at most */
  /* The elements of each set in the order in which they lie in the mesh, where that is not the order of their numbers; NULL: it is,
   * or NULL for all. No loop over such a set adds through maps: that keeps the order of numbers. */
  int *const *orders;
  bool wraps;  /* the mesh may be periodic: what goes round waits at both ends for all the rest */
  bool always; /* also where a part of the mesh needs most of it */
};

struct tiles {
  struct schedule
      schedule; /* an item's work is the number of its loop; owners are the chunks, the gaps after them */
  int *nslots;  /* of each loop, results of blocks to combine in this order */
  int nchunks, ntiles; /* as it came out */
  long all, gap;       /* elements of all loops, and those that run in gaps */
  struct text refused; /* not empty: why there is no schedule */
};

/* The same for any number of threads; `team` (may be NULL) helps with maps that have no prefix yet. A mesh whose
 * numbering does not allow tiles is no error: then t->refused says so. OP_ERR_MEMORY, OP_ERR_SIZE: then *t is empty. */
int tiles_build(struct tiles *t, const struct chain *chain, const struct tiles_wish *wish, struct team *team,
                struct error *err);
void tiles_free(struct tiles *t);
/* Leaves of each loop only the elements of the list: keep[loop][element]. Maps of the chain see no others. OP_ERR_MEMORY,
 * OP_ERR_SIZE: *t is as it was. */
int tiles_keep(struct tiles *t, bool *const *keep, struct error *err);
/* Owners become threads, neighbours on the same one. What comes out is the same for any number. */
void tiles_deal(struct tiles *t, int threads);

#endif
