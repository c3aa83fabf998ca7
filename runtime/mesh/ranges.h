/* A function for each of 0 .. count-1, in a range for each thread. */
#ifndef OP2JIT_MESH_RANGES_H
#define OP2JIT_MESH_RANGES_H

#include "exec/team.h"

typedef void range_task(void *argument, long begin, long end);

struct ranges {
  range_task *task;
  void *argument;
  long count;
};

static inline void ranges_piece(void *argument, int thread, int threads) {
  const struct ranges *r = argument;
  r->task(r->argument, r->count / threads * thread + r->count % threads * thread / threads,
          r->count / threads * (thread + 1) + r->count % threads * (thread + 1) / threads);
}

/* `team` may be NULL. */
static inline void ranges_run(struct team *team, long count, range_task *task, void *argument) {
  const long worth_waking = 20000;
  struct ranges r = {task, argument, count};
  if (team && count >= worth_waking)
    team_run(team, team_threads(team), ranges_piece, &r);
  else
    task(argument, 0, count);
}

#endif
