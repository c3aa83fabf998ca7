/* From the order of one set to that of the next, along a map. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/size.h"
#include "mesh/order/order.h"
#include "mesh/order/ranges.h"

/* Rows that are to be sorted by the smallest new number of their targets, then by the largest. */
struct sorting {
  const struct order_table *table;
  const int *new_of_target;
  int *low, *high; /* of rows */
  long *begin;     /* of rows with each smallest number; when they are placed, of those with the next one */
  uint64_t *keys;  /* of rows, in the order of their smallest numbers */
  int *order;
};

static void find_keys(void *argument, long begin, long end) {
  const struct sorting *s = argument;
  for (long row = begin; row < end; row++) {
    const long first = order_row(s->table, row), behind = order_row(s->table, row + 1);
    int low = first < behind ? INT_MAX : 0, high = 0;
    for (long j = first; j < behind; j++) {
      const int target = s->new_of_target[s->table->table[j]];
      low = target < low ? target : low;
      high = target > high ? target : high;
    }
    s->low[row] = low;
    s->high[row] = high;
  }
}

/* Handle the numbers begin .. end-1: the others are other threads'. */
static void count_keys(void *argument, long begin, long end) {
  const struct sorting *s = argument;
  for (long row = 0; row < s->table->rows; row++)
    if (s->low[row] >= begin && s->low[row] < end)
      s->begin[s->low[row] + 1]++;
}

/* Below the largest number the row, which keeps those that are alike in their order. */
static void place_rows(void *argument, long begin, long end) {
  const struct sorting *s = argument;
  for (long row = 0; row < s->table->rows; row++)
    if (s->low[row] >= begin && s->low[row] < end)
      s->keys[s->begin[s->low[row]]++] = (uint64_t)s->high[row] << 32 | (uint64_t)row;
}

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void sort_keys(uint64_t *keys, long count) {
  enum { FEW = 32 };
  if (count > FEW) {
    qsort(keys, (size_t)count, sizeof *keys, by_number);
    return;
  }
  for (long i = 1; i < count; i++) {
    const uint64_t key = keys[i];
    long j = i;
    for (; j > 0 && keys[j - 1] > key; j--)
      keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

static void sort_rows(void *argument, long begin, long end) {
  const struct sorting *s = argument;
  for (long number = begin; number < end; number++) {
    const long first = number ? s->begin[number - 1] : 0;
    sort_keys(s->keys + first, s->begin[number] - first);
    for (long i = first; i < s->begin[number]; i++)
      s->order[i] = (int)(s->keys[i] & UINT32_MAX);
  }
}

int order_by_targets(int *order, const struct order_table *t, const int *new_of_target, long targets,
                     struct team *team, struct error *err) {
  const size_t rows = (size_t)t->rows;
  struct sorting s = {.table = t,
                      .new_of_target = new_of_target,
                      .low = array_new(rows, sizeof *s.low),
                      .high = array_new(rows, sizeof *s.high),
                      .begin = array_new((size_t)targets + 1, sizeof *s.begin),
                      .keys = array_new(rows, sizeof *s.keys),
                      .order = order};
  const bool all = s.low && s.high && s.begin && s.keys;
  if (all) {
    ranges_run(team, t->rows, find_keys, &s);
    ranges_run(team, targets, count_keys, &s);
    for (long n = 0; n < targets; n++)
      s.begin[n + 1] += s.begin[n];
    ranges_run(team, targets, place_rows, &s);
    ranges_run(team, targets, sort_rows, &s);
  }
  free(s.low);
  free(s.high);
  free(s.begin);
  free(s.keys);
  return all ? OP_OK : error_memory(err, "a renumbering", rows * sizeof(uint64_t));
}

int order_by_sources(int *order, long targets, const struct order_table *t, const int *source_order,
                     struct error *err) {
  unsigned char *seen = array_new((size_t)targets, 1);
  if (!seen)
    return error_memory(err, "a renumbering", (size_t)targets);
  long count = 0;
  for (long i = 0; i < t->rows; i++)
    for (long j = order_row(t, source_order[i]); j < order_row(t, source_order[i] + 1L); j++) {
      int target = t->table[j];
      if (!seen[target]) {
        seen[target] = 1;
        order[count++] = target;
      }
    }
  for (int t = 0; t < targets; t++)
    if (!seen[t])
      order[count++] = t;
  free(seen);
  return OP_OK;
}
