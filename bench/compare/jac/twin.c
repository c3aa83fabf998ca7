#include "twin.h"

#include "common/threads.h"

enum { STRIP = 8 }; /* edges whose products are made together, in vectors */

static inline void gather_strip(const struct jac_problem *problem, int edge, int count) {
  const int *restrict ends = problem->ends + 2 * edge;
  const double *restrict a = problem->a + edge, *restrict u = problem->u;
  double *restrict du = problem->du, part[STRIP];
#pragma omp simd
  for (int k = 0; k < count; k++)
    part[k] = a[k] * u[ends[2 * k + 1]];
  for (int k = 0; k < count; k++)
    du[ends[2 * k]] += part[k];
}

static void gather_range(const struct jac_problem *problem, int begin, int end) {
  int edge = begin;
  for (; edge + STRIP <= end; edge += STRIP)
    gather_strip(problem, edge, STRIP);
  gather_strip(problem, edge, end - edge);
}

static double update_range(const struct jac_problem *problem, int begin, int end) {
  const double *restrict r = problem->r;
  double *restrict u = problem->u, *restrict du = problem->du, change = 0;
#pragma omp simd reduction(+ : change)
  for (int node = begin; node < end; node++) {
    double next = du[node] + r[node];
    double step = next - u[node];
    change += step * step;
    u[node] = next;
    du[node] = 0;
  }
  return change;
}

void jac_clear(const struct jac_problem *problem, int parallel) {
  (void)parallel; /* without OpenMP */
  double *restrict u = problem->u, *restrict du = problem->du;
#pragma omp parallel for schedule(static) if (parallel)
  for (int node = 0; node < problem->nodes; node++)
    u[node] = du[node] = 0;
}

double jac_serial(const struct jac_problem *problem) {
  gather_range(problem, 0, problem->edges);
  return update_range(problem, 0, problem->nodes);
}

double jac_openmp(const struct jac_problem *problem, const struct colouring *colouring) {
  double change = 0;
#pragma omp parallel reduction(+ : change)
  {
    for (int colour = 0; colour < colouring->colours; colour++) {
#pragma omp for schedule(static)
      for (int i = colouring->first[colour]; i < colouring->first[colour + 1]; i++)
        gather_range(problem, colouring_begin(colouring, colouring->order[i]),
                     colouring_end(colouring, colouring->order[i]));
    }
    int begin = (int)((long long)problem->nodes * thread_number() / thread_count());
    int end = (int)((long long)problem->nodes * (thread_number() + 1) / thread_count());
    change += update_range(problem, begin, end);
  }
  return change;
}
