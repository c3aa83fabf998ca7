#include "twin.h"

#include "common/report.h"
#include "common/touch.h"

#include <math.h>
#include <stdlib.h>

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
  double *now = touched_zeros(n, sizeof *now, parallel), *next = touched_zeros(n, sizeof *next, parallel);
  double *a = touched_copy(system->a, n, (size_t)n * sizeof *a, parallel), change = INFINITY;
  double start = clock_seconds();
  while (sqrt(change) > tolerance && done < most) {
    change = 0;
#pragma omp parallel for schedule(static) reduction(+ : change) if (parallel)
    for (int i = 0; i < n; i++) {
      const double *row = a + (size_t)i * (size_t)n;
      next[i] = (system->b[i] - (dot(row, now, n) - row[i] * now[i])) / row[i];
      change += (next[i] - now[i]) * (next[i] - now[i]);
    }
    double *held = now;
    now = next;
    next = held;
    done++;
  }
  *seconds = (clock_seconds() - start) / done;
  for (int i = 0; i < n; i++)
    x[i] = now[i];
  touched_free(a);
  touched_free(now);
  touched_free(next);
  return done;
}
