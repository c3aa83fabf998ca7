/* How bridges to solvers number the elements of a set: those of rank r one after the other, behind those of the ranks before
 * it. It is the library's local order, so that no vector is turned round. */
#ifndef OP2JIT_SPREAD_CSR_LAYOUT_H
#define OP2JIT_SPREAD_CSR_LAYOUT_H

#include "mesh/mesh.h"

struct op_context;

/* Made for the mesh as it is, which is distributed: set->layout is there, and stays until the epoch changes. Collective: the first time in an
 * epoch it sends messages. OP_ERR_MEMORY, OP_ERR_MPI. */
int layout_make(struct op_context *ctx, struct set *set, struct error *err);
/* Epochs as bridges see them: never 0. */
static inline long long layout_epoch(const struct mesh *mesh) {
  return 1 + (long long)mesh->epoch;
}
/* The number of a local element, one that the rank owns or a copy. */
static inline long long layout_number(const struct set *set, long element) {
  const long owned = set->extents[EXTENT_OWNED];
  return element < owned ? set->layout->first + element : set->layout->copies[element - owned];
}

#endif
