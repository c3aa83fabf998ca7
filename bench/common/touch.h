/* Memory for the hand-written loops, as the library has it for its own: on huge pages if it is large, and
 * beginning at different lines of them. With `parallel`, each page is first touched by the thread that has its
 * share of the elements in OpenMP loops with a static schedule, which on machines with several memories decides
 * where it lies. */
#ifndef BENCH_COMMON_TOUCH_H
#define BENCH_COMMON_TOUCH_H

#include <stddef.h>

/* A copy of `count` elements of `size` bytes, zeros if `from` is NULL. touched_free releases it; without room the
 * program ends. The line behind it may be read. */
void *touched_copy(const void *from, long long count, size_t size, int parallel);
void touched_free(void *memory);
static inline void *touched_zeros(long long count, size_t size, int parallel) {
  return touched_copy(NULL, count, size, parallel);
}

#endif
