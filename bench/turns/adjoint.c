/* The tangent and the adjoint of an iteration of jac with and without chains, in turns (chains.py); a step is one of
 * each. */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/adjoint/adjoint.c"
#undef main

/* Sums grow from step to step. */
const double turns_limit = 1e-7;
const struct turns_form turns_forms[] = {{0}};
const char *const turns_word = NULL;
static struct jac point;
static double *u_d, *u_b, *zeros;

long long turns_prepare(int size, int library) {
  const long long nodes = (long long)size * size;
  int edges, *ends = make_ends(size, &edges);
  (void)library;
  point = declare(size, ends, edges);
  u_d = noise(nodes, U_D);
  u_b = noise(nodes, U_B);
  zeros = room(nodes, sizeof *zeros);
  memset(zeros, 0, (size_t)nodes * sizeof *zeros);
  free(ends);
  return nodes;
}

double turns_library(int steps, double *answer) {
  op_put_data(point.u_d, u_d);
  op_put_data(point.u_b, u_b);
  op_put_data(point.du, zeros);
  op_put_data(point.du_d, zeros);
  const double begin = clock_seconds();
  for (int k = 0; k < steps; k++) {
    push_forward(&point);
    pull_back(&point, 1e-3);
  }
  op_barrier(); /* runs what waits */
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(point.u_b, answer);
  return seconds;
}
