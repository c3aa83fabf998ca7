/* The part of a machine that one of several processes (ranks) may take. For runtime/ranks/mpi and runtime/run/team*.c. */
#ifndef OP2JIT_TEAM_SHARE_H
#define OP2JIT_TEAM_SHARE_H

#include <sched.h>
#include <stdbool.h>

#include "run/team_quota.h"

/* The CPUs that a process is allowed on. Ranks send it to each other: it has one size and no pointers. */
struct allowance {
  cpu_set_t cpus;
  struct quotas quotas;
};

/* The allowance of the calling process. */
void allowance_read(struct allowance *out);

/* The CPUs' time that `mine` leaves each of those in `all`, itself among them, that are allowed on exactly the
 * same CPUs or are in the same control groups: a whole number, at least 1. 0: nobody shares with it. `crowded`:
 * there are fewer CPUs than ranks. */
int allowance_share(const struct allowance *mine, int count, const struct allowance all[], bool *crowded);

#endif
