#include "twin.h"

#include "common/stream.h"
#include "common/threads.h"
#include "common/touch.h"

struct vadd_arrays vadd_arrays_make(int size) {
  struct vadd_arrays made = {size, touched_zeros(size, sizeof(double), 1),
                             touched_zeros(size, sizeof(double), 1), touched_zeros(size, sizeof(double), 1)};
  double *restrict a = made.a, *restrict b = made.b;
  for (int i = 0; i < size; i++) {
    a[i] = i;
    b[i] = 2.0 * i;
  }
  return made;
}

void vadd_arrays_free(struct vadd_arrays *arrays) {
  touched_free(arrays->a);
  touched_free(arrays->b);
  touched_free(arrays->c);
  *arrays = (struct vadd_arrays){0};
}

static void add_range(const struct vadd_arrays *arrays, long long begin, long long end) {
  const double *restrict a = arrays->a, *restrict b = arrays->b;
  double *restrict c = arrays->c;
#pragma omp simd
  for (long long i = begin; i < end; i++)
    c[i] = a[i] + b[i];
}

static void add_range_past_caches(const struct vadd_arrays *arrays, long long begin, long long end) {
  long long i = begin + (long long)stream_ahead(arrays->c + begin, (size_t)(end - begin));
  add_range(arrays, begin, i);
  for (; i + STREAM_LINE <= end; i += STREAM_LINE)
    for (long long k = i; k < i + STREAM_LINE; k += STREAM_VALUES)
      stream_store(arrays->c + k, stream_load(arrays->a + k) + stream_load(arrays->b + k));
  add_range(arrays, i, end);
  stream_end();
}

static void add_share(const struct vadd_arrays *arrays, int thread, int threads) {
  long long begin = (long long)arrays->size * thread / threads,
            end = (long long)arrays->size * (thread + 1) / threads;
  if (stream_worth(3.0 * sizeof(double) * arrays->size))
    add_range_past_caches(arrays, begin, end);
  else
    add_range(arrays, begin, end);
}

void vadd_serial(const struct vadd_arrays *arrays) {
  add_share(arrays, 0, 1);
}

void vadd_openmp(const struct vadd_arrays *arrays) {
#pragma omp parallel
  add_share(arrays, thread_number(), thread_count());
}
