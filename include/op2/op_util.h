/* OP2's small helpers that programs call. */
#ifndef OP_UTIL_H
#define OP_UTIL_H

#include <unistd.h>

#include "op_lib_c.h"

static inline void *xmalloc(size_t size) {
  return malloc(size);
}
static inline void *xcalloc(size_t count, size_t size) {
  return calloc(count, size);
}
static inline void *xrealloc(void *memory, size_t size) {
  return realloc(memory, size);
}
static inline int file_exist(const char *path) {
  return access(path, F_OK) == 0;
}

/* For a set of so many elements that is dealt out evenly. */
static inline int compute_local_size(int global_size, int ranks, int rank) {
  return global_size / ranks + (rank < global_size % ranks);
}

#if defined(__cplusplus) && !defined(OP2JIT_READING_FEW)
#include <algorithm>
#include <array>
#include <tuple>

template <typename T> inline void op_sort(T *numbers, int count) {
  std::sort(numbers, numbers + count);
}
template <typename T> inline int removeDups(T *sorted, int count) {
  return static_cast<int>(std::unique(sorted, sorted + count) - sorted);
}
#endif

#endif
