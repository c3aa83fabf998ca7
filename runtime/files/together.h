/* Agreements of ranks about files. A comm of one rank, or NULL, has nothing to settle. All
 * collective. */
#ifndef OP2JIT_IO_TOGETHER_H
#define OP2JIT_IO_TOGETHER_H

#include "ranks/comm.h"

static inline bool together_alone(const struct comm *comm) {
  return !comm || comm->size == 1;
}
static inline bool together_is_root(const struct comm *comm) {
  return !comm || comm->rank == 0;
}

/* All ranks go on, or all return one rank's error (agree.h). */
int together_agree(struct comm *comm, int code, struct error *err);
/* The largest of the ranks' numbers. */
int together_most(struct comm *comm, long long *value, struct error *err);
int together_broadcast(struct comm *comm, void *data, size_t bytes, struct error *err);
/* The rows of `total` that belong to this rank when they are divided evenly, in rank order. */
void together_share(const struct comm *comm, long long total, long long *first, long long *count);

#endif
