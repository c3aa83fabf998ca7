/* Orders by coordinates. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "mesh/order/order.h"

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
