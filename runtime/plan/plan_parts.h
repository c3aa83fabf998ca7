/* The pieces of plan.c that live in files of their own. */
#ifndef OP2JIT_PLAN_PARTS_H
#define OP2JIT_PLAN_PARTS_H

#include "plan/plan.h"

/* How many threads work on a plan's blocks: 1 .. PLAN_MOST_THREADS. */
int plan_threads(const struct plan *plan, const struct team *team);
#define PLAN_MOST_THREADS 16

int plan_build_staging(struct plan *plan, const struct plan_request *request, struct team *team,
                       struct error *err);
void plan_free_staging(struct plan *plan);
size_t plan_staging_bytes(const struct plan *plan);

#endif
