#include "plan/strategy.h"

#define ROW(name) &strategy_##name,
const struct strategy *const strategies[] = {STRATEGIES(ROW) NULL};

/* ---- all elements in order, on one thread ---- */
static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  const int status = schedule_new(&e->schedule, 1, 1, 0, err);
  (void)team;
  if (status)
    return status;
  schedule_add_phase(&e->schedule, false);
  if (w->request.size > 0)
    schedule_add_item(&e->schedule, WORK_RANGE, 0, w->request.size, -1);
  return OP_OK;
}

const struct strategy strategy_whole = {
    .name = "whole", .deals = true, .serial = true, .build = build, .verify = verify_dealt};
