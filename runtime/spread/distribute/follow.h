/* In which order sets follow the one that is parted by name, and along which maps. */
#ifndef OP2JIT_DISTRIBUTE_FOLLOW_H
#define OP2JIT_DISTRIBUTE_FOLLOW_H

#include <stdbool.h>

#include "base/error.h"
#include "build.h"

/* Entries of ragged maps follow the elements that have them, whatever else leads to them. */
enum follow_kind { FOLLOW_TARGETS, FOLLOW_SOURCES, FOLLOW_NOTHING, FOLLOW_ELEMENTS };

struct follow_step {
  int set;
  enum follow_kind kind;
};

struct follow_plan {
  struct follow_step *steps; /* one for each set that follows */
  int count;
  int *place; /* of each set: 0 for the first ones, else the number of its step, from 1 */
};

/* placed[s]: set s is there from the beginning. A set that a map connects with a placed one is the next, by its
 * targets rather than by its sources; else any that is left. Local, and the same on all ranks. */
int follow_plan(const struct share *share, const bool *placed, struct follow_plan *plan, struct error *err);
void follow_plan_free(struct follow_plan *plan);

/* True if the map says something about where the step's set goes. */
bool follow_leads(const struct follow_plan *plan, const struct follow_step *step,
                  const struct share_map *map);

#endif
