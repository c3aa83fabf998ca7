/* The machine's memory bandwidth: that of a[i] = b[i] + s * c[i] over arrays that no cache holds, first
 * touched by the threads that use them. 24 bytes count for each element, as for loops: what a cache reads before it
 * writes does not. With ordinary stores and with stores past the caches: what is better on the machine. */
#ifndef OP2JIT_EXEC_TRIAD_H
#define OP2JIT_EXEC_TRIAD_H

#include "exec/team.h"

/* The best of some passes, in GB/s, with this many threads (one if `team` is NULL) that have so much cache; takes a few
 * hundred milliseconds at most. OP_ERR_MEMORY. */
int triad_measure(struct team *team, int threads, size_t cache_bytes, double *gb_per_second,
                  struct error *err);
/* The same over arrays that take a quarter of that cache together, which is what loops over few data have. */
int triad_in_cache(struct team *team, int threads, size_t cache_bytes, double *gb_per_second,
                   struct error *err);

#endif
