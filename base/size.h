/* Sizes that are checked: every product and sum that becomes an allocation goes through here. */
#ifndef OP2JIT_BASE_SIZE_H
#define OP2JIT_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* False if the result does not fit; objects larger than PTRDIFF_MAX cannot be addressed. */
static inline bool size_mul(size_t a, size_t b, size_t *out) {
  return !__builtin_mul_overflow(a, b, out) && *out <= PTRDIFF_MAX;
}
static inline bool size_add(size_t a, size_t b, size_t *out) {
  return !__builtin_add_overflow(a, b, out) && *out <= PTRDIFF_MAX;
}

/* calloc and realloc by count and size; NULL on overflow too. Count 0 gives a pointer that can be freed. */
static inline void *array_new(size_t count, size_t size) {
  size_t bytes;
  return size_mul(count, size, &bytes) ? calloc(count ? count : 1, size) : NULL;
}
static inline void *array_resize(void *old, size_t count, size_t size) {
  size_t bytes;
  return size_mul(count, size, &bytes) ? realloc(old, bytes ? bytes : 1) : NULL;
}

/* Room in `old` for one more item behind its `count`, for an array that is made by this function alone. The
 * count tells its size, which doubles at powers of two. NULL: no memory, and `old` is as it was. */
static inline void *array_more(void *old, size_t count, size_t size) {
  const size_t least = 8;
  const bool full = (count == 0 || count >= least) && (count & (count - 1)) == 0;
  return full ? array_resize(old, count ? 2 * count : least, size) : old;
}

#endif
