/* Orders of elements: by coordinates, and along maps. */
#include "mesh/order.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "mesh/ranges.h"

struct keyed {
  uint64_t key;
  int element;
};

static int by_key(const void *a, const void *b) {
  const struct keyed *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return x->element < y->element ? -1 : x->element > y->element;
}

struct box {
  double low[3], high[3];
};

static struct box bounds(const double *coords, long size, int dim) {
  struct box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (long e = 0; e < size; e++)
    for (int d = 0; d < dim; d++) {
      b.low[d] = fmin(b.low[d], coords[e * dim + d]);
      b.high[d] = fmax(b.high[d], coords[e * dim + d]);
    }
  return b;
}

/* Bits per axis: 3 x 20 fit in the key. */
enum { BITS = 20 };

/* Skilling's transposition (AIP Conf. Proc. 707, 2004): axes to the Hilbert index, bit planes interleaved. */
static uint64_t hilbert_index(uint32_t axes[3], int dim) {
  for (uint32_t q = 1u << (BITS - 1); q > 1; q >>= 1) {
    const uint32_t p = q - 1;
    for (int i = 0; i < dim; i++) {
      if (axes[i] & q)
        axes[0] ^= p;
      else {
        uint32_t swap = (axes[0] ^ axes[i]) & p;
        axes[0] ^= swap;
        axes[i] ^= swap;
      }
    }
  }
  for (int i = 1; i < dim; i++)
    axes[i] ^= axes[i - 1];
  uint32_t flip = 0;
  for (uint32_t q = 1u << (BITS - 1); q > 1; q >>= 1)
    if (axes[dim - 1] & q)
      flip ^= q - 1;
  for (int i = 0; i < dim; i++)
    axes[i] ^= flip;
  uint64_t index = 0;
  for (int bit = BITS - 1; bit >= 0; bit--)
    for (int i = 0; i < dim; i++)
      index = index << 1 | (axes[i] >> bit & 1u);
  return index;
}

static uint64_t key_of(const double *point, int dim, const struct box *box) {
  uint32_t axes[3] = {0};
  for (int d = 0; d < dim; d++) {
    if (isnan(point[d]))
      return UINT64_MAX;
    double extent = box->high[d] - box->low[d];
    double part = extent > 0 && isfinite(extent) ? (point[d] - box->low[d]) / extent : 0;
    axes[d] = (uint32_t)(part * ((1u << BITS) - 1));
  }
  return hilbert_index(axes, dim);
}

int order_hilbert(int *order, long size, const double *coords, int dim, struct error *err) {
  struct keyed *keys = array_new((size_t)size, sizeof *keys);
  if (!keys)
    return error_memory(err, "a renumbering", (size_t)size * sizeof *keys);
  struct box box = bounds(coords, size, dim);
  for (long e = 0; e < size; e++)
    keys[e] = (struct keyed){key_of(coords + e * dim, dim, &box), (int)e};
  qsort(keys, (size_t)size, sizeof *keys, by_key);
  for (long e = 0; e < size; e++)
    order[e] = keys[e].element;
  free(keys);
  return OP_OK;
}

/* ---- recursive coordinate bisection ---- */

struct points {
  const double *coords;
  int dim;
};

static double place(const struct points *p, int element, int axis) {
  double x = p->coords[(long)element * p->dim + axis];
  return isnan(x) ? INFINITY : x;
}

static bool before(const struct points *p, int a, int b, int axis) {
  double x = place(p, a, axis), y = place(p, b, axis);
  return x < y || (x == y && a < b);
}

/* Quickselect: afterwards the first `middle` elements come before the rest along the axis. */
static void split(const struct points *p, int *list, long count, long middle, int axis) {
  long low = 0, high = count - 1;
  while (low < high) {
    int pivot = list[low + (high - low) / 2];
    long i = low, j = high;
    while (i <= j) {
      while (before(p, list[i], pivot, axis))
        i++;
      while (before(p, pivot, list[j], axis))
        j--;
      if (i <= j) {
        int other = list[i];
        list[i++] = list[j];
        list[j--] = other;
      }
    }
    if (middle <= j)
      high = j;
    else if (middle >= i)
      low = i;
    else
      return;
  }
}

static int widest_axis(const struct points *p, const int *list, long count) {
  int best = 0;
  double widest = -1;
  for (int axis = 0; axis < p->dim; axis++) {
    double low = INFINITY, high = -INFINITY;
    for (long i = 0; i < count; i++) {
      low = fmin(low, place(p, list[i], axis));
      high = fmax(high, place(p, list[i], axis));
    }
    if (high - low > widest) {
      widest = high - low;
      best = axis;
    }
  }
  return best;
}

/* Depth is the logarithm of the count, so recursion is safe. */
enum { SMALL_BOX = 8 };

static void bisect(const struct points *p, int *list, long count) {
  if (count <= SMALL_BOX)
    return;
  split(p, list, count, count / 2, widest_axis(p, list, count));
  bisect(p, list, count / 2);
  bisect(p, list + count / 2, count - count / 2);
}

int order_rcb(int *order, long size, const double *coords, int dim, struct error *err) {
  (void)err;
  struct points p = {coords, dim};
  for (long e = 0; e < size; e++)
    order[e] = (int)e;
  bisect(&p, order, size);
  return OP_OK;
}

/* ---- from the order of one set to that of the next, along a map ---- */
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
  struct arrays arrays = {0};
  struct sorting s = {.table = t,
                      .new_of_target = new_of_target,
                      .low = arrays_add(&arrays, rows, sizeof *s.low),
                      .high = arrays_add(&arrays, rows, sizeof *s.high),
                      .begin = arrays_add(&arrays, (size_t)targets + 1, sizeof *s.begin),
                      .keys = arrays_add(&arrays, rows, sizeof *s.keys),
                      .order = order};
  if (!arrays.failed) {
    ranges_run(team, t->rows, find_keys, &s);
    ranges_run(team, targets, count_keys, &s);
    for (long n = 0; n < targets; n++)
      s.begin[n + 1] += s.begin[n];
    ranges_run(team, targets, place_rows, &s);
    ranges_run(team, targets, sort_rows, &s);
  }
  arrays_free(&arrays);
  return arrays.failed ? error_memory(err, "a renumbering", rows * sizeof(uint64_t)) : OP_OK;
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
