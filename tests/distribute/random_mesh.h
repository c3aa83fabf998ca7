/* Random meshes that every rank can see whole: what the tests compare with. */
#ifndef OP2JIT_TESTS_RANDOM_MESH_H
#define OP2JIT_TESTS_RANDOM_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "spread/parts/build.h"

enum { MOST_SETS = 8, MOST_MAPS = 12 };

struct random_map {
  int from, to, arity; /* a ragged one: of arity 1 from its entries */
  int *table;
};

struct random_mesh {
  int ranks, nsets, nmaps;
  int size[MOST_SETS];
  long long *first[MOST_SETS]; /* declared by ranks */
  int *owner[MOST_SETS];       /* of each element */
  /* Entries of ragged maps: of the elements of which set, and where each one's begin; else NULL. */
  int of[MOST_SETS];
  long long *begin[MOST_SETS];
  struct random_map maps[MOST_MAPS];
  bool wide; /* rows as of a mesh whose numbers fit no int */
};

static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}
static inline int random_below(uint64_t *state, int n) {
  return (int)(next_random(state) % (uint64_t)n);
}

/* Some ranks declare nothing, some own nothing, some targets are reached by nobody, some sets are empty. */
void random_mesh_new(struct random_mesh *mesh, int ranks, uint64_t seed);
/* With up to two ragged maps, of which one may be of the other's entries; other maps may lead from and to the entries. */
void random_mesh_new_ragged(struct random_mesh *mesh, int ranks, uint64_t seed);
void random_mesh_free(struct random_mesh *mesh);
/* The part of a rank: the elements that it owns, or that it declared. */
void random_mesh_share(const struct random_mesh *mesh, int rank, bool declared, struct share *share);

#endif
