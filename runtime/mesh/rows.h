/* Rows of data and of maps in memory. */
#ifndef OP2JIT_ROWS_H
#define OP2JIT_ROWS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/list.h"

/* Rows in memory: one behind the other, or (stride not 0) value c of row e at e + c * stride. */
struct row_store {
  void *memory;
  size_t value_bytes;
  int values; /* of a row */
  long stride;
};

static inline void *row_value(const struct row_store *store, long row, int value) {
  const size_t index = store->stride ? (size_t)value * (size_t)store->stride + (size_t)row
                                     : (size_t)row * (size_t)store->values + (size_t)value;
  return (unsigned char *)store->memory + index * store->value_bytes;
}

/* Between two stores of rows of the same kind. */
static inline void row_copy(const struct row_store *from, long row, const struct row_store *into, long to) {
  if (!from->stride && !into->stride)
    memcpy(row_value(into, to, 0), row_value(from, row, 0), from->value_bytes * (size_t)from->values);
  else
    for (int v = 0; v < from->values; v++)
      memcpy(row_value(into, to, v), row_value(from, row, v), from->value_bytes);
}

/* Rows of a map in global numbers, in half the memory as long as the numbers of the target set fit an int. */
struct rows {
  void *entries; /* long long if wide, else int; to be freed */
  bool wide;
};

/* True if numbers below `total`, which is the same on all ranks, need wide entries. */
static inline bool rows_wide(long long total) {
  return total > INT_MAX;
}

/* False: no memory. */
static inline bool rows_new(struct rows *r, size_t entries, bool wide) {
  r->wide = wide;
  r->entries = array_new(entries, r->wide ? sizeof(long long) : sizeof(int));
  return r->entries != NULL;
}

static inline size_t rows_entry_bytes(const struct rows *r) {
  return r->wide ? sizeof(long long) : sizeof(int);
}

static inline long long rows_get(const struct rows *r, size_t i) {
  return r->wide ? ((const long long *)r->entries)[i] : ((const int *)r->entries)[i];
}

static inline void rows_set(const struct rows *r, size_t i, long long number) {
  if (r->wide)
    ((long long *)r->entries)[i] = number;
  else
    ((int *)r->entries)[i] = (int)number;
}

#endif
