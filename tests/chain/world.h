/* Random meshes and chains for the tests of tiles, and what comes of a chain: whole numbers, so that sums do not
 * depend on their order and everything else does. */
#ifndef TESTS_CHAIN_WORLD_H
#define TESTS_CHAIN_WORLD_H

#include <stdint.h>

#include "plan/tiles.h"

enum { WORLD_SETS = 5, WORLD_MAPS = 8, WORLD_DATS = 8, WORLD_LOOPS = 12, WORLD_ACCESSES = 6 };

struct world {
  uint64_t random;
  bool periodic;
  struct chain_set sets[WORLD_SETS];
  struct chain_map maps[WORLD_MAPS];
  bool injective[WORLD_MAPS]; /* each target once: elements may write there */
  int *tables[WORLD_MAPS];
  long long *firsts[WORLD_MAPS]; /* of ragged maps */
  int dats[WORLD_DATS];
  struct chain_access accesses[WORLD_LOOPS][WORLD_ACCESSES];
  struct chain_loop loops[WORLD_LOOPS];
  struct chain chain;
  uint64_t *values[WORLD_DATS];
  /* Results of loops that combine: a sum over all, and for each slot one that knows the order of its elements. */
  uint64_t sum[WORLD_LOOPS], *slots[WORLD_LOOPS];
};

uint32_t world_random(struct world *w, long below);
/* `largest` elements of the largest set, about. */
void world_make(struct world *w, uint64_t seed, long largest);
void world_free(struct world *w);
/* The values before the first loop, and slots for these tiles (NULL: one for each loop). */
void world_start(struct world *w, const struct tiles *t);
/* Elements of a loop. */
void world_run(struct world *w, int loop, long begin, long end, uint64_t *slot);
void world_run_singly(struct world *w);
/* Owners of a phase one after the other, in that order or the other way round, or item by item as chance has it. */
enum world_order { ORDER_UP, ORDER_DOWN, ORDER_MIXED, ORDERS };
void world_run_tiles(struct world *w, const struct tiles *t, enum world_order order);
/* With the executor. */
void world_run_threads(struct world *w, const struct tiles *t, struct team *team, int threads);
/* Something that tells the values from others, and with `slots` the results too. */
uint64_t world_outcome(const struct world *w, const struct tiles *slots);

#endif
