/* The threads of the hand-written loops, one where there is no OpenMP. */
#ifndef BENCH_COMMON_THREADS_H
#define BENCH_COMMON_THREADS_H

#ifdef _OPENMP
#include <omp.h>
static inline int thread_number(void) {
  return omp_get_thread_num();
}
static inline int thread_count(void) {
  return omp_get_num_threads();
}
#else
static inline int thread_number(void) {
  return 0;
}
static inline int thread_count(void) {
  return 1;
}
#endif

#endif
