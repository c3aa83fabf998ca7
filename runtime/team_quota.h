/* Containers are often given a part of a machine's time rather than some of its CPUs: threads on all CPUs use it up at once and then
 * stand still together. For runtime/team*.c. */
#ifndef OP2JIT_TEAM_QUOTA_H
#define OP2JIT_TEAM_QUOTA_H

/* How many CPUs' time the process's control groups (Linux, versions 1 and 2) let it have: the least of its group's and of all above,
 * rounded up. 0: as much as there is, or unknown. `root` is put before all paths: "" but in tests. */
int quota_cpus(const char *root);

#endif
