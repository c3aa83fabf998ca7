#include "twin.h"

double jac_serial(const struct jac_problem *problem) {
  const int *restrict ends = problem->ends;
  const double *restrict a = problem->a, *restrict r = problem->r;
  double *restrict u = problem->u, *restrict du = problem->du;
  for (int edge = 0; edge < problem->edges; edge++)
    du[ends[2 * edge]] += a[edge] * u[ends[2 * edge + 1]];
  double change = 0;
  for (int node = 0; node < problem->nodes; node++) {
    double next = du[node] + r[node];
    double step = next - u[node];
    change += step * step;
    u[node] = next;
    du[node] = 0;
  }
  return change;
}

double jac_openmp(const struct jac_problem *problem, const struct colouring *colouring) {
  const int *restrict ends = problem->ends;
  const double *restrict a = problem->a, *restrict r = problem->r;
  double *restrict u = problem->u, *restrict du = problem->du;
  int nodes = problem->nodes;
  double change = 0;
#pragma omp parallel
  {
    for (int colour = 0; colour < colouring->colours; colour++) {
#pragma omp for schedule(static)
      for (int i = colouring->first[colour]; i < colouring->first[colour + 1]; i++) {
        int end = colouring_end(colouring, colouring->order[i]);
        for (int edge = colouring_begin(colouring, colouring->order[i]); edge < end; edge++)
          du[ends[2 * edge]] += a[edge] * u[ends[2 * edge + 1]];
      }
    }
#pragma omp for schedule(static) reduction(+ : change)
    for (int node = 0; node < nodes; node++) {
      double next = du[node] + r[node];
      double step = next - u[node];
      change += step * step;
      u[node] = next;
      du[node] = 0;
    }
  }
  return change;
}
