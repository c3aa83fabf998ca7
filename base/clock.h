/* The one clock: how long something takes. It never goes back, and its zero means nothing. */
#ifndef OP2JIT_BASE_CLOCK_H
#define OP2JIT_BASE_CLOCK_H

#include <time.h>

static inline long clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (long)t.tv_sec * 1000000000L + t.tv_nsec;
}

static inline long clock_ms(void) {
  return clock_ns() / 1000000;
}

static inline double clock_seconds(void) {
  return 1e-9 * (double)clock_ns();
}

#endif
