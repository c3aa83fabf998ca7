/* Containers are often given a part of a machine's time rather than some of its CPUs: threads on all CPUs use it
 * up at once and then stand still together. For runtime/run/team*.c. */
#ifndef OP2JIT_TEAM_QUOTA_H
#define OP2JIT_TEAM_QUOTA_H

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

#endif
