/* Seconds that this rank waited for others since op_init, and that it was busy with exchanges, waiting included. */
#ifndef BENCH_MPI_FIGURES_H
#define BENCH_MPI_FIGURES_H

struct waiting {
  double seconds, exchanging;
};
struct waiting waiting_so_far(void);

#endif
