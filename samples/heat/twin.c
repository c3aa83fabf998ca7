#include "twin.h"

#include "common/memory.h"
#include "common/report.h"

#include <stdlib.h>
#include <string.h>

static void step_row(const double *restrict u, double *restrict next, size_t width, double r) {
  double centre = 1 - 4 * r;
  const double *restrict below = u - width, *restrict above = u + width;
  for (size_t i = 1; i < width - 1; i++)
    next[i] = centre * u[i] + r * (u[i + 1] + u[i - 1] + above[i] + below[i]);
}

static double *framed(int n, int parallel) {
  size_t width = (size_t)n + 2;
  double *made = room((n + 2LL) * (n + 2), sizeof *made);
#pragma omp parallel for schedule(static) if (parallel)
  for (int j = 0; j < n + 2; j++)
    memset(made + (size_t)j * width, 0, width * sizeof *made);
  return made;
}

double heat_twin(int n, int steps, double r, int parallel, double *u) {
  size_t width = (size_t)n + 2;
  double *now = framed(n, parallel), *next = framed(n, parallel);
  for (int j = 0; j < n; j++)
    memcpy(now + ((size_t)j + 1) * width + 1, u + (size_t)j * (size_t)n, (size_t)n * sizeof *u);
  double start = clock_seconds();
  for (int s = 0; s < steps; s++) {
#pragma omp parallel for schedule(static) if (parallel)
    for (int j = 1; j <= n; j++)
      step_row(now + (size_t)j * width, next + (size_t)j * width, width, r);
    double *held = now;
    now = next;
    next = held;
  }
  double seconds = (clock_seconds() - start) / steps;
  for (int j = 0; j < n; j++)
    memcpy(u + (size_t)j * (size_t)n, now + ((size_t)j + 1) * width + 1, (size_t)n * sizeof *u);
  free(now);
  free(next);
  return seconds;
}
