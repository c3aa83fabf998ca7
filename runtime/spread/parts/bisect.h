/* Inside bisect.c. */
#ifndef OP2JIT_SPREAD_PARTS_BISECT_H
#define OP2JIT_SPREAD_PARTS_BISECT_H

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
  double *room;   /* for who chooses directions: DIRECTION_ROOM values of each group, 0 */
};
enum { DIRECTION_ROOM = 1 + MOST_DIMS + MOST_DIMS * MOST_DIMS };

/* A direction of MOST_DIMS values for each group, the same on every rank. Collective; it takes no memory. */
typedef int choose_direction(const struct bisection *b, double *direction, struct error *err);

int bisect(const struct part_request *request, choose_direction *choose, int *part, struct error *err);

/* With as many parts as ranks no rank looks at more groups than these twice: from then on the points of each group are cut
 * among as many ranks as it becomes parts, which they are sent to (apart.c). */
enum { GROUPS_APART = 64 };
int bisect_apart(const struct bisection *b, choose_direction *choose, struct error *err);

#endif
