/* Samples on many ranks, that is under mpirun: the first rank declares everything, with the numbers that it has without
 * MPI, the others declare empty sets, and op_partition gives each its part. What is fetched arrives at the first rank,
 * which alone compares, prints and decides the job's status. */
#ifndef BENCH_COMMON_RANKS_H
#define BENCH_COMMON_RANKS_H

#include <op2jit.h>
#include <stddef.h>

/* The size of a set on this rank. */
static inline int declared(int size) {
  return op_is_root() ? size : 0;
}

/* Every rank gets as many elements of `prime`, in order; other sets follow along the maps. */
static inline void share_out(op_set prime) {
  op_partition("block", "", prime, NULL, NULL);
}

/* Wait for the loops that write the dat: fetch its first row. Ranks that declared nothing fetch nothing, from 0 to
 * -1. */
static inline void wait_for(op_dat dat, void *row) {
  op_fetch_data_idx(dat, row, 0, declared(1) - 1);
}

#endif
