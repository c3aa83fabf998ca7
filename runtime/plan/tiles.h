/* Prefix tiles: a chain cut across its loops, so that data are read once for several of them. A tile is one range of
 * each loop. Tile after tile, what an element needs ran in this tile or before. For threads the chain is cut into
 * chunks of tiles that run side by side; what lies just right of a cut and touches both sides waits for a second
 * phase, the gaps. The number of chunks is a matter of the mesh, not of the threads. */
#ifndef OP2JIT_PLAN_TILES_H
#define OP2JIT_PLAN_TILES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "exec/executor.h"
#include "exec/team.h"

/* A chain: loops that follow one another, as plain arrays. What can be said of the order in which its elements may run
 * follows from this alone: the sizes of sets, the tables of maps, and for each loop which dats it reads, writes and
 * adds to through which columns. */

struct prefix;

struct chain_set {
  const char *name;
  long size;
};

struct chain_map {
  int from, to; /* sets */
  int arity;    /* of a ragged one 1: its targets are all in column 0 */
  const int
      *table; /* NULL, of a ragged one: an element's targets are its entries, which have these numbers */
  const long long
      *first; /* ragged: where the targets of each element begin in the table, and the end; else NULL */
  /* Prefixes of all its columns, in steps of PREFIX_STEP; and those that keep apart what goes round. NULL: found when it is
   * needed. */
  const struct prefix *prefix, *periodic;
  const bool *seen; /* elements that run in tiles at all: prefixes that are made see no others. NULL: all */
};

/* Adding elements, and those that write and are known to, meet each other in one target, the others only those of other
 * loops. What overwrites does not read the old value. */
enum chain_use { CHAIN_READS, CHAIN_WRITES, CHAIN_ADDS, CHAIN_OVERWRITES };

struct chain_access {
  int dat;
  enum chain_use use;
  int map;          /* -1: directly */
  int first, count; /* columns of the map */
  bool own;         /* the map leads to what only the loop's own element has, as if directly */
};

struct chain_loop {
  int set;
  const struct chain_access *accesses;
  int naccesses;
  bool combines; /* it has results that are kept apart by blocks of its set */
  bool
      whole; /* it runs over all elements of a set, and what it overwrites directly has nothing of its old values */
  bool gives; /* copies of elements run as well, whatever is needed of dats: they add to rows of a matrix */
};

struct chain {
  const struct chain_set *sets;
  int nsets;
  const struct chain_map *maps;
  int nmaps;
  const int *dats; /* of each dat, its set */
  int ndats;
  const struct chain_loop *loops; /* in the order in which they were called */
  int nloops;
};

static inline long chain_size(const struct chain *c, int loop) {
  return c->sets[c->loops[loop].set].size;
}
/* changed[dat]: by any loop of the chain. */
static inline void chain_note_changed(const struct chain *c, bool *changed) {
  for (int l = 0; l < c->nloops; l++)
    for (int a = 0; a < c->loops[l].naccesses; a++)
      changed[c->loops[l].accesses[a].dat] |= c->loops[l].accesses[a].use != CHAIN_READS;
}

/* Where the targets of an element that an access has begin, and how many they are; what stands at a place. */
static inline long chain_begin(const struct chain_map *map, const struct chain_access *a, long element) {
  return map->first ? (long)map->first[element] : element * map->arity + a->first;
}
static inline long chain_count(const struct chain_map *map, const struct chain_access *a, long element) {
  return map->first ? (long)(map->first[element + 1] - map->first[element]) : a->count;
}
static inline long chain_target(const struct chain_map *map, long place) {
  return map->table ? map->table[place] : place;
}

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
