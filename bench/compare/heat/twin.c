#include "twin.h"

#include "common/report.h"
#include "common/stream.h"
#include "common/touch.h"

#include <stdlib.h>
#include <string.h>

/* The points begin .. end-1 of a row. */
static void step_part(const double *restrict u, double *restrict next, size_t begin, size_t end, size_t width,
                      double r) {
  double centre = 1 - 4 * r;
  const double *restrict below = u - width, *restrict above = u + width;
  for (size_t i = begin; i < end; i++)
    next[i] = centre * u[i] + r * (u[i + 1] + u[i - 1] + above[i] + below[i]);
}

static void step_row(const double *u, double *next, size_t width, double r) {
  step_part(u, next, 1, width - 1, width, r);
}

static inline stream_vector stepped(const double *u, size_t width, double r) {
  return (1 - 4 * r) * stream_load(u) +
         r * (stream_load(u + 1) + stream_load(u - 1) + stream_load(u + width) + stream_load(u - width));
}

static void step_row_past_caches(const double *u, double *next, size_t width, double r) {
  size_t i = 1 + stream_ahead(next + 1, width - 2);
  step_part(u, next, 1, i, width, r);
  for (; i + STREAM_LINE <= width - 1; i += STREAM_LINE)
    for (size_t k = i; k < i + STREAM_LINE; k += STREAM_VALUES)
      stream_store(next + k, stepped(u + k, width, r));
  step_part(u, next, i, width - 1, width, r);
}

/* By all threads of a team. */
static void step_by_map(int points, const int *restrict near, const double *restrict u, double *restrict next,
                        double r) {
  double centre = 1 - 4 * r;
#pragma omp for schedule(static)
  for (int k = 0; k < points; k++)
    next[k] =
        centre * u[k] + r * (u[near[4 * k]] + u[near[4 * k + 1]] + u[near[4 * k + 2]] + u[near[4 * k + 3]]);
}

double heat_twin_by_map(int points, const int *near, int steps, double r, double *u) {
  double *const state[2] = {touched_copy(u, points, sizeof *u, 1), touched_zeros(points, sizeof *u, 1)};
  int *mine = touched_copy(near, points, 4 * sizeof *near, 1);
  double start = clock_seconds();
#pragma omp parallel
  for (int s = 0; s < steps; s++)
    step_by_map(points, mine, state[s % 2], state[(s + 1) % 2], r);
  double seconds = (clock_seconds() - start) / steps;
  memcpy(u, state[steps % 2], (size_t)points * sizeof *u);
  touched_free(state[0]);
  touched_free(state[1]);
  touched_free(mine);
  return seconds;
}

double heat_twin(int n, int steps, double r, int parallel, double *u) {
  size_t width = (size_t)n + 2;
  double *const state[2] = {touched_copy(u, (long long)width, width * sizeof *u, parallel),
                            touched_zeros((long long)width, width * sizeof *u, parallel)};
  double start = clock_seconds();
  void (*row)(const double *, double *, size_t, double) =
      stream_worth(16.0 * n * n) ? step_row_past_caches : step_row;
#pragma omp parallel if (parallel)
  for (int s = 0; s < steps; s++) {
    const double *now = state[s % 2];
    double *next = state[(s + 1) % 2];
#pragma omp for schedule(static) nowait
    for (int j = 1; j <= n; j++)
      row(now + (size_t)j * width, next + (size_t)j * width, width, r);
    stream_end();
#pragma omp barrier
  }
  double seconds = (clock_seconds() - start) / steps;
  memcpy(u, state[steps % 2], width * width * sizeof *u);
  touched_free(state[0]);
  touched_free(state[1]);
  return seconds;
}
