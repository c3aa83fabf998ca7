/* Lists of pointers in the order in which they were added; arrays whose sizes are checked. */
#ifndef OP2JIT_BASE_LIST_H
#define OP2JIT_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct list {
  void **items;
  int count;
};
bool list_add(struct list *list, void *item);
void list_remove(struct list *list, const void *item);
bool list_has(const struct list *list, const void *item);
void list_free(struct list *list);

/* Sizes that are checked: every product and sum that becomes an allocation goes through here. */

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

/* Arrays that belong together: made one by one, freed at once. For those whose lengths are known before. */
struct arrays_piece {
  struct arrays_piece *before;
  max_align_t items[];
};
/* Zeros at first. `failed`: there was no memory for one of them. `bytes`: of all. */
struct arrays {
  struct arrays_piece *last;
  size_t bytes;
  bool failed;
};

/* As array_new. */
static inline void *arrays_add(struct arrays *a, size_t count, size_t size) {
  size_t bytes, room;
  struct arrays_piece *piece =
      size_mul(count, size, &bytes) && size_add(bytes, sizeof *piece, &room) ? calloc(1, room) : NULL;
  a->failed |= !piece;
  if (!piece)
    return NULL;
  a->bytes += bytes;
  piece->before = a->last;
  a->last = piece;
  return piece->items;
}

static inline void arrays_free(struct arrays *a) {
  for (struct arrays_piece *before; a->last; a->last = before) {
    before = a->last->before;
    free(a->last);
  }
  a->bytes = 0;
}

#endif
