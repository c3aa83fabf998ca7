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

#endif
