/* The mesh gets deeper copies: rings become its own, maps have rows for them, and dats room. */
#ifndef OP2JIT_SPREAD_GROW_H
#define OP2JIT_SPREAD_GROW_H

#include <stdbool.h>

#include "base/error.h"
#include "mesh/mesh.h"

struct op_context;

/* True if a map has rows for deeper copies: ragged ones have none. */
static inline bool map_may_grow(const struct map *map) {
  return !map->first && !map->entries && !map->of;
}

/* In place of those that it has, if any. followed[m]: rings follow the mesh's m-th map (rings.h). The mesh is
 * distributed, no loop waits, and no dat is lent or placed. Raises the epoch. Collective; a failure changes nothing. */
int mesh_grow(struct op_context *ctx, int layers, const bool *followed, struct error *err);

#endif
