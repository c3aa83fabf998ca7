/* Memory for programs that end when there is none left. */
#ifndef BENCH_COMMON_MEMORY_H
#define BENCH_COMMON_MEMORY_H

#include <stddef.h>

/* Room for `count` things of `size` bytes, not set, on a cache line; free() releases it. Without room
 * the program says so and ends with status 1. */
void *room(long long count, size_t size);
/* How many bytes that takes; the program ends if they cannot be counted. */
size_t room_bytes(long long count, size_t size);

#endif
