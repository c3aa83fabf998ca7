/* Results of strategies: built, freed, measured and checked alike for all of them. */
#include <stdlib.h>

#include "base/clock.h"
#include "plan/strategy.h"

int plan_entry_build(struct plan_entry *e, const struct plan_wish *wish, struct team *team,
                     struct error *err) {
  const double start = clock_seconds();
  *e = (struct plan_entry){0};
  const int status = wish->strategy->build(e, wish, team, err);
  if (status) {
    plan_entry_clear(e);
    return status;
  }
  schedule_shift(&e->schedule, wish->request.begin);
  e->seconds = clock_seconds() - start;
  return OP_OK;
}

void plan_entry_clear(struct plan_entry *e) {
  plan_free(&e->plan);
  schedule_free(&e->schedule);
  for (int i = 0; i < e->nreverse; i++)
    reverse_free(&e->reverse[i]);
  free(e->reverse);
  straight_free(&e->straight);
  prefix_free(&e->prefix);
  *e = (struct plan_entry){0};
}

size_t plan_entry_bytes(const struct plan_entry *e) {
  size_t bytes = plan_bytes(&e->plan) + schedule_bytes(&e->schedule) + straight_bytes(&e->straight) +
                 prefix_bytes(&e->prefix);
  for (int i = 0; i < e->nreverse; i++)
    bytes += reverse_bytes(&e->reverse[i]);
  return bytes;
}
