/* Partitioners: which part each element of one set goes to. The answer depends on the mesh alone, not on how its
 * elements are spread when it is asked for. All collective. */
#ifndef OP2JIT_SPREAD_PARTS_PARTS_H
#define OP2JIT_SPREAD_PARTS_PARTS_H

#include "ranks/comm.h"
#include "spread/parts/build.h"

struct part_request {
  struct comm *comm;
  int parts;       /* 0 .. parts-1 */
  long long total; /* elements of all ranks */
  long count;      /* of this rank */
  const long long *numbers;
  const long long *weights; /* 1 or more each; NULL: all the same */
  const int *speeds; /* of each part, 1 or more: how much it is to weigh beside the others; NULL: the same */
  const double *coords; /* rows of `dim` (1 to 3); NULL where they are not needed */
  int dim;
};

typedef int partitioner(const struct part_request *request, int *part, struct error *err);

/* Equal ranges of the user's numbers. */
partitioner parts_block;
/* By a hash of the numbers. */
partitioner parts_random;
/* Recursive bisection, across the longest side of the bounding box, or across the principal axis of inertia.
 * Elements at the same place are told apart by their numbers, so parts of equal weights differ by the rounding of
 * each cut only. */
partitioner parts_rcb;
partitioner parts_inertial;

/* All other sets from those that have parts (part[s] not NULL, one for each owned element): an element goes where
 * most of its targets go, or of its sources where it has no map; at a tie to the lowest part; by blocks where no
 * map leads. */
int parts_follow(struct comm *comm, const struct share *share, int parts, int **part, struct error *err);

/* ---- weights (weights.c) ---- */

/* cost[s] is what an element of set s costs, 0 .. MOST_COST, the same on all ranks: each, or where the set has ragged maps
 * the mean, and each by how many targets of these it has, and one more. Elements of other sets hand
 * theirs on to those that they will follow, in equal shares. weights: one for each owned element of set `prime`, 1
 * or more; they do not depend on who owns what. Collective. */
enum { MOST_COST = 1 << 12 };
int parts_weights(struct comm *comm, const struct share *share, int prime, const int *cost,
                  long long *weights, struct error *err);

/* cost[set] as parts_weights takes it, relative to the dearest set and the same on all ranks: by the nanoseconds of each set on this
 * rank, which become those of all (NULL: there was no memory for them), in steps of a fifth, so that small differences of
 * time do not make other parts. If too little ran to tell, by the targets of `prime`'s ragged maps. *known false: it has none,
 * or OP2_WEIGHTS=equal. Collective. */
int element_costs(struct op_context *ctx, const struct set *prime, long long *times, int *cost, bool *known,
                  struct error *err);

/* ---- parts from the parts that are (diffuse.c) ---- */
/* Parts from the parts that are: elements at borders go to neighbours, until all ranks have their share. */

/* A part for each owned element of `prime`: mostly this rank. How much each rank gives to each neighbour is what moves least
 * (the least sum of squares, Hu and Blake 1999); what it gives lies next to the neighbour, in layers. Elements are neighbours
 * if a row of the map, from or to `prime`, holds both, or both lead to one target. A rank without elements meets nobody: where
 * there is one, all elements are cut into ranges, in the order of the ranks that have them. Weights and speeds as in struct part_request.
 * The mesh is distributed. Collective. */
int parts_diffuse(struct op_context *ctx, const struct set *prime, const struct map *map,
                  const long long *weights, const int *speeds, int *part, struct error *err);

#endif
