/* Random meshes, parts and chains, run on ranks that are arrays of one process, with as many messages as the arithmetic
 * of depths says; beside it the same on the whole mesh. Values are whole numbers that nobody can take for others, and
 * sums do not depend on their order. */
#ifndef TESTS_DEPTH_RANKS_H
#define TESTS_DEPTH_RANKS_H

#include <stdint.h>

#include "plan/depth.h"

static inline const int *depths_need(const struct depths *d, int segment) {
  return d->need + (long)segment * d->ndats;
}

enum {
  RANKS_MOST = 5,
  SETS_MOST = 5,
  MAPS_MOST = 6,
  DATS_MOST = 8,
  LOOPS_MOST = 8,
  ACCESSES_MOST = 5,
  SIZE_MOST = 70,
  ARITY_MOST = 4,
  LAYERS_MOST = 4,
  TOGETHER_MOST = 3 /* segments */
};

/* Mistakes of those that run segments, not of the arithmetic: each must be seen. */
enum mistake {
  NO_MISTAKE,
  ONE_HALF_LAYER_TOO_FEW,    /* imported */
  FOREIGN_NOT_RUN,           /* elements of others that add to what is owned here */
  SUMS_COUNT_COPIES,         /* and not what the rank owns alone */
  PACKED_BEFORE_LAST_WRITER, /* of what is sent */
  DIRECT_NEIGHBOURS_ONLY,    /* send deep rows */
  MISTAKES
};

struct world {
  uint64_t random;
  struct chain_set sets[SETS_MOST];
  struct chain_map maps[MAPS_MOST];
  int tables[MAPS_MOST][SIZE_MOST * ARITY_MOST];
  long long firsts[MAPS_MOST][SIZE_MOST + 1]; /* of ragged maps */
  bool injective[MAPS_MOST];                  /* each target once: elements may write there */
  int dats[DATS_MOST];
  struct chain_access accesses[LOOPS_MOST][ACCESSES_MOST];
  struct chain_loop loops[LOOPS_MOST];
  struct chain chain;
  bool changed[DATS_MOST];
  bool subset[LOOPS_MOST],
      partial[LOOPS_MOST]; /* it runs over some elements; it overwrites on some paths only */
  bool starts[LOOPS_MOST]; /* from the sum that the last loop with one left */

  int nranks;
  int owner[SETS_MOST][SIZE_MOST];
  /* The depth in which an element is, on each rank; whether elements of D(2L) reach it. */
  int depth[RANKS_MOST][SETS_MOST][SIZE_MOST];
  bool fringe[RANKS_MOST][SETS_MOST][SIZE_MOST];
  bool neighbours[RANKS_MOST][RANKS_MOST];

  struct depth_wish wish;
  uint64_t whole[DATS_MOST][SIZE_MOST], values[RANKS_MOST][DATS_MOST][SIZE_MOST];
  uint64_t before[DATS_MOST][SIZE_MOST];                /* owners' values before the last loop */
  uint64_t packed[TOGETHER_MOST][DATS_MOST][SIZE_MOST]; /* behind segments */
  uint64_t sum, sums;                                   /* on the whole mesh, and of all ranks */
  int valid[DATS_MOST];
  int exchanges;
  const char *wrong; /* NULL: nothing */
};

void world_make(struct world *w, uint64_t seed, const struct depth_wish *wish);
/* Its chain in these segments. What is wrong, or NULL. */
const char *world_run(struct world *w, const struct depths *d, enum mistake mistake);

/* Copies that run and travel, in place of those that depths say, and when elements run: of segments that run together. */
struct choice {
  bool run[RANKS_MOST][LOOPS_MOST][SIZE_MOST],
      need[TOGETHER_MOST + 1][RANKS_MOST][DATS_MOST][SIZE_MOST]; /* of each, and of the one behind them */
  unsigned char when[RANKS_MOST][LOOPS_MOST][SIZE_MOST];
};
void world_start(struct world *w);
/* n segments, with these alone; no loop starts from a sum. What is owned is compared at the end, and what was sent behind each.
 * `spoilt`, if it is not negative: one of the copies, by this number, is left out. Returns how many there are, or, with
 * `spoilt`, 1 if one was left out. */
long world_run_chosen(struct world *w, const struct depths *d, int segment, int n, struct choice *choice,
                      int spoilt);

#endif
