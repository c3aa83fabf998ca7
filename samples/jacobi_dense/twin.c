#include "twin.h"

#include "common/memory.h"
#include "common/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8 };

/* Partial sums, so that compilers may use vectors without reordering anything. */
static double dot(const double *restrict a, const double *restrict x, int n) {
  double lane[LANES] = {0}, sum = 0;
  int j = 0;
  for (; j + LANES <= n; j += LANES) {
#pragma omp simd
    for (int k = 0; k < LANES; k++)
      lane[k] += a[j + k] * x[j + k];
  }
  for (; j < n; j++)
    sum += a[j] * x[j];
  for (int k = 0; k < LANES; k++)
    sum += lane[k];
  return sum;
}

int dense_twin(const struct dense_system *system, double tolerance, int most, int parallel, double *x,
               double *seconds) {
  int n = system->n, done = 0;
  double *next = room(n, sizeof *next), change = INFINITY, start = clock_seconds();
  memset(x, 0, (size_t)n * sizeof *x);
  while (sqrt(change) > tolerance && done < most) {
    change = 0;
#pragma omp parallel for schedule(static) reduction(+ : change) if (parallel)
    for (int i = 0; i < n; i++) {
      const double *row = system->a + (size_t)i * (size_t)n;
      next[i] = (system->b[i] - (dot(row, x, n) - row[i] * x[i])) / row[i];
      change += (next[i] - x[i]) * (next[i] - x[i]);
    }
    memcpy(x, next, (size_t)n * sizeof *x);
    done++;
  }
  *seconds = (clock_seconds() - start) / done;
  free(next);
  return done;
}
