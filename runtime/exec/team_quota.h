/* Containers are often given a part of a machine's time rather than some of its CPUs: threads on all CPUs use it
 * up at once and then stand still together. For runtime/exec/team*.c. */
#ifndef OP2JIT_EXEC_TEAM_QUOTA_H
#define OP2JIT_EXEC_TEAM_QUOTA_H

#include <sched.h>
#include <stdbool.h>

/* A control group with a quota: how many CPUs' time it has, rounded up, and which file says so, by which two
 * processes, also of different containers, know that they are in the same group. */
struct quota {
  int cpus;
  unsigned long long device, file;
};

enum { QUOTAS_MOST = 16 };
struct quotas {
  int count;
  struct quota groups[QUOTAS_MOST];
};

/* The quotas of the process's control groups (Linux, versions 1 and 2) and of all above. `root` is put before all
 * paths: "" but in tests. */
void quotas_read(const char *root, struct quotas *out);
/* The least of them. 0: as much as there is, or unknown. */
int quota_cpus(const char *root);

/* The part of a machine that one of several processes (ranks) may take. For runtime/ranks/mpi and runtime/exec/team*.c. */
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
