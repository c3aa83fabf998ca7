/* From what each rank owns to what each rank keeps: local numbers, copies of others' elements, and the messages
 * that bring them up to date, as halo.h defines them. Works on arrays alone; the comm may be MPI's or a test's. */
#ifndef OP2JIT_DISTRIBUTE_BUILD_H
#define OP2JIT_DISTRIBUTE_BUILD_H

#include "mesh/halo.h"
#include "mesh/rows.h"
#include "ranks/comm.h"

/* A rank's share of a mesh, in the user's global numbers. */
struct share_set {
  const long long *first; /* ranks + 1: rank r declared the numbers first[r] .. */
  long owned;
  long long *numbers; /* owned: in the order that they are to keep */
};
struct share_map {
  int from, to, arity; /* sets by their place in the share */
  struct rows rows;    /* a row for each owned element of `from` */
};
struct share {
  struct share_set *sets;
  struct share_map *maps;
  int nsets, nmaps;
};

/* What becomes of it. */
struct built_set {
  struct distribution *spread;
  long extents[EXTENTS];
  int *order; /* extents[EXTENT_OWNED]: the place in the share's numbers of each local number */
};
struct built_map {
  int *table; /* extents[EXTENT_EXEC] rows of the source set, and MAP_SLACK entries */
  struct map_halo *halo;
};
struct built {
  struct built_set *sets;
  struct built_map *maps;
  int nsets, nmaps;
};

/* Collective. The share's numbers and rows are freed on the way, to keep memory low. */
int build_halos(struct comm *comm, struct share *share, struct built *built, struct error *err);
void built_free(struct built *built);
void share_free(struct share *share);

#endif
