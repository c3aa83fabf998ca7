/* Inside bisect.c and directions.c. */
#ifndef OP2JIT_DISTRIBUTE_BISECT_H
#define OP2JIT_DISTRIBUTE_BISECT_H

#include <stdint.h>

#include "parts.h"

enum { MOST_DIMS = 3 };

/* Points that are still together, to become the parts first .. first+parts-1. */
struct group {
  int first, parts;
};

struct bisection {
  const struct part_request *request;
  struct group *groups;
  int ngroups;
  int *group;     /* of each point */
  uint64_t *keys; /* of each point: where it lies along its group's direction */
};

/* A direction of MOST_DIMS values for each group, the same on every rank. Collective. */
typedef int choose_direction(const struct bisection *b, double *direction, struct error *err);

int bisect(const struct part_request *request, choose_direction *choose, int *part, struct error *err);

#endif
