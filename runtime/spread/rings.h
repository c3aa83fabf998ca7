/* Rings: copies of others' elements behind those that every mesh has, for loops that run deeper (plan/depth.h). A rank
 * owns D0; D1 and D2 are the copies of halo.h, executed and read. D(2k-1) adds the elements with a target in D(2k-2), D(2k)
 * the targets of D(2k-1); both by the maps that are followed. Works on arrays alone; the comm may be MPI's or a test's. */
#ifndef OP2JIT_SPREAD_RINGS_H
#define OP2JIT_SPREAD_RINGS_H

#include <stdbool.h>

#include "mesh/halo.h"
#include "ranks/comm.h"

/* A mesh that is spread. It has no ragged maps. */
struct rings_set {
  const struct distribution *spread;
  const long *extents;
};
struct rings_map {
  int from, to, arity;
  const int *table; /* rows of owned and executed elements */
  bool followed;    /* else it leads to what no loop changes */
};
struct rings_mesh {
  const struct rings_set *sets;
  const struct rings_map *maps;
  int nsets, nmaps;
};

/* Local numbers of a set are those that it has, then the deeper copies, by depth, owner and global number. */
struct rings {
  int layers, nsets, nmaps;
  struct ring_set *sets;
  /* A table for each map, in data_memory: rows of the elements of D(2 * layers), and MAP_SLACK entries. Rows of the last half layer
   * lead into the fringe, too. */
  int **tables;
};

/* layers: at least 1. The fringe is what elements of D(2 * layers) reach and is in no Dv: by maps that are followed, or not.
 * Collective. */
int rings_build(struct comm *comm, const struct rings_mesh *mesh, int layers, struct rings *out,
                struct error *err);
void rings_free(struct rings *r);

#endif
