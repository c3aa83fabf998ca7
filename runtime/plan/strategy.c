#include "plan/strategy.h"

#define ROW(name) &strategy_##name,
const struct strategy *const strategies[] = {STRATEGIES(ROW) NULL};

/* ---- all elements in order, on one thread ---- */
int schedule_whole(struct schedule *s, long size, struct error *err) {
  int status = schedule_new(s, 1, 1, 0, err);
  if (status)
    return status;
  schedule_add_phase(s, false);
  if (size > 0)
    schedule_add_item(s, WORK_RANGE, 0, size, -1);
  return OP_OK;
}

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  (void)team;
  return schedule_whole(&e->schedule, w->request.size, err);
}

const struct strategy strategy_whole = {
    .name = "whole", .deals = true, .serial = true, .build = build, .verify = verify_dealt};
