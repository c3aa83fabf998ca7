#include "follow.h"

#include <limits.h>
#include <stdlib.h>

#include "base/size.h"

enum { NOT_YET = INT_MAX };

bool follow_leads(const struct follow_plan *plan, const struct follow_step *step,
                  const struct share_map *map) {
  const bool by_targets = step->kind == FOLLOW_TARGETS;
  const int mine = by_targets ? map->from : map->to, other = by_targets ? map->to : map->from;
  return (by_targets || step->kind == FOLLOW_SOURCES) && mine == step->set && other != step->set &&
         plan->place[other] < plan->place[step->set];
}

/* All sets are placed if there is none: kind FOLLOW_NOTHING and set -1. */
static struct follow_step next_step(const struct share *share, const struct follow_plan *plan) {
  struct follow_step step = {.set = -1};
  for (int s = 0; s < share->nsets; s++)
    if (plan->place[s] == NOT_YET && share->sets[s].begin && plan->place[share->sets[s].of] != NOT_YET)
      return (struct follow_step){s, FOLLOW_ELEMENTS};
  for (int kind = FOLLOW_TARGETS; kind <= FOLLOW_SOURCES; kind++)
    for (int s = 0; s < share->nsets; s++)
      for (int m = 0; plan->place[s] == NOT_YET && !share->sets[s].begin && m < share->nmaps; m++) {
        step = (struct follow_step){s, (enum follow_kind)kind};
        if (follow_leads(plan, &step, &share->maps[m]))
          return step;
      }
  step = (struct follow_step){-1, FOLLOW_NOTHING};
  for (int s = share->nsets - 1; s >= 0; s--)
    if (plan->place[s] == NOT_YET && !share->sets[s].begin)
      step.set = s;
  return step;
}

int follow_plan(const struct share *share, const bool *placed, struct follow_plan *plan, struct error *err) {
  const size_t sets = (size_t)share->nsets;
  *plan = (struct follow_plan){.steps = array_new(sets, sizeof *plan->steps),
                               .place = array_new(sets, sizeof *plan->place)};
  if (!plan->steps || !plan->place) {
    follow_plan_free(plan);
    return error_memory(err, "the order of sets", sets * sizeof *plan->steps);
  }
  for (size_t s = 0; s < sets; s++)
    plan->place[s] = placed[s] ? 0 : NOT_YET;
  for (struct follow_step step; (step = next_step(share, plan)).set >= 0;) {
    plan->steps[plan->count++] = step;
    plan->place[step.set] = plan->count;
  }
  return OP_OK;
}

void follow_plan_free(struct follow_plan *plan) {
  free(plan->steps);
  free(plan->place);
  *plan = (struct follow_plan){0};
}
