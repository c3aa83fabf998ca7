#include "twin.h"

#include "common/report.h"
#include "common/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8 };

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

/* One maximum for each lane, so that compilers keep them in a vector. */
static double relax_row(const double *restrict u, double *restrict next, size_t width) {
  const double *restrict below = u - width, *restrict above = u + width;
  double change[LANES] = {0}, largest = 0;
  size_t i = 1;
  for (; i + LANES <= width - 1; i += LANES) {
#pragma omp simd
    for (int k = 0; k < LANES; k++) {
      size_t at = i + (size_t)k;
      next[at] = 0.25 * (u[at + 1] + u[at - 1] + above[at] + below[at]);
      change[k] = larger(fabs(next[at] - u[at]), change[k]);
    }
  }
  for (; i < width - 1; i++) {
    next[i] = 0.25 * (u[i + 1] + u[i - 1] + above[i] + below[i]);
    largest = larger(fabs(next[i] - u[i]), largest);
  }
  for (int k = 0; k < LANES; k++)
    largest = larger(change[k], largest);
  return largest;
}

int laplace_twin(int width, double tolerance, int most, int parallel, double *u, double *seconds) {
  size_t row = (size_t)width;
  double *now = touched_copy(u, width, row * sizeof *now, parallel),
         *next = touched_copy(u, width, row * sizeof *next, parallel);
  double change = INFINITY, start = clock_seconds();
  int done = 0;
  while (change > tolerance && done < most) {
    change = 0;
#pragma omp parallel for schedule(static) reduction(max : change) if (parallel)
    for (int j = 1; j < width - 1; j++) {
      double of_row = relax_row(now + (size_t)j * row, next + (size_t)j * row, row);
      change = of_row > change ? of_row : change;
    }
    double *held = now;
    now = next;
    next = held;
    done++;
  }
  *seconds = (clock_seconds() - start) / done;
  memcpy(u, now, row * row * sizeof *u);
  touched_free(now);
  touched_free(next);
  return done;
}

static double relax_by_map(int inside, const int *restrict cross, const double *restrict u,
                           double *restrict next) {
  double change = 0;
#pragma omp parallel for schedule(static) reduction(max : change)
  for (int k = 0; k < inside; k++) {
    const int *restrict at = cross + 5 * (size_t)k;
    double value = 0.25 * (u[at[1]] + u[at[2]] + u[at[3]] + u[at[4]]);
    change = larger(fabs(value - u[at[0]]), change);
    next[at[0]] = value;
  }
  return change;
}

int laplace_twin_by_map(int points, int inside, const int *cross, double tolerance, int most, double *u,
                        double *seconds) {
  double *now = touched_copy(u, points, sizeof *now, 1), *next = touched_copy(u, points, sizeof *next, 1);
  int *mine = touched_copy(cross, inside, 5 * sizeof *mine, 1), done = 0;
  double change = INFINITY;
  double start = clock_seconds();
  while (change > tolerance && done < most) {
    change = relax_by_map(inside, mine, now, next);
    double *held = now;
    now = next;
    next = held;
    done++;
  }
  *seconds = (clock_seconds() - start) / done;
  memcpy(u, now, (size_t)points * sizeof *u);
  touched_free(now);
  touched_free(next);
  touched_free(mine);
  return done;
}
