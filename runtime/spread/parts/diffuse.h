/* Parts from the parts that are: elements at borders go to neighbours, until all ranks have their share. */
#ifndef OP2JIT_SPREAD_PARTS_DIFFUSE_H
#define OP2JIT_SPREAD_PARTS_DIFFUSE_H

#include "base/error.h"

struct op_context;
struct map;
struct set;

/* A part for each owned element of `prime`: mostly this rank. How much each rank gives to each neighbour is what moves least
 * (the least sum of squares, Hu and Blake 1999); what it gives lies next to the neighbour, in layers. Elements are neighbours
 * if a row of the map, from or to `prime`, holds both, or both lead to one target. A rank without elements meets nobody: where
 * there is one, all elements are cut into ranges, in the order of the ranks that have them. Weights and speeds as in struct part_request.
 * The mesh is distributed. Collective. */
int parts_diffuse(struct op_context *ctx, const struct set *prime, const struct map *map,
                  const long long *weights, const int *speeds, int *part, struct error *err);

#endif
