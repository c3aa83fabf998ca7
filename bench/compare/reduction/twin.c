#include "twin.h"

enum { LANES = 8 };

static double smaller(double a, double b) {
  return a < b ? a : b;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

static struct extremes merge(struct extremes a, struct extremes b) {
  return (struct extremes){a.sum + b.sum, smaller(a.smallest, b.smallest), larger(a.largest, b.largest)};
}

/* One result for each lane, so that compilers may use vectors. count > 0 */
static struct extremes reduce_range(int count, const double *restrict x) {
  double sum[LANES] = {0}, low[LANES], high[LANES];
  for (int k = 0; k < LANES; k++)
    low[k] = high[k] = x[0];
  struct extremes all = {0, x[0], x[0]};
  int i = 0;
  for (; i + LANES <= count; i += LANES) {
#pragma omp simd
    for (int k = 0; k < LANES; k++) {
      sum[k] += x[i + k];
      low[k] = smaller(x[i + k], low[k]);
      high[k] = larger(x[i + k], high[k]);
    }
  }
  for (; i < count; i++)
    all = merge(all, (struct extremes){x[i], x[i], x[i]});
  for (int k = 0; k < LANES; k++)
    all = merge(all, (struct extremes){sum[k], low[k], high[k]});
  return all;
}

struct extremes reduce_serial(int count, const double *x) {
  return reduce_range(count, x);
}

struct extremes reduce_openmp(int count, const double *x) {
  enum { CHUNK = 8192 };
  int chunks = (count + CHUNK - 1) / CHUNK;
  struct extremes all = {0, x[0], x[0]};
#pragma omp parallel
  {
    struct extremes mine = {0, x[0], x[0]};
#pragma omp for schedule(static)
    for (int c = 0; c < chunks; c++)
      mine = merge(mine, reduce_range((c + 1) * CHUNK < count ? CHUNK : count - c * CHUNK, x + c * CHUNK));
#pragma omp critical
    all = merge(all, mine);
  }
  return all;
}
