/* The dense linear system in turns. */
#include "turns.h"

#define JACOBI_DENSE_SAMPLE
#include "common/memory.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/jacobi_dense/jacobi_dense.c"
#undef main

#include "compare/jacobi_dense/twin.h"

const double turns_limit = 1e-12;
const char *const turns_word = NULL;
static struct dense_system equations;
static struct solver solver;
static double *zeros;

long long turns_prepare(int size, int library) {
  turns_bytes = 8.0 * size * size;
  equations = make_system(size, 1.1);
  if (library) {
    order = size;
    op_decl_const("order", 1, "int", &order);
    solver = declare(&equations);
    zeros = room(size, sizeof *zeros);
    for (int i = 0; i < size; i++)
      zeros[i] = 0;
  }
  return size;
}

/* A tolerance below all changes: it never stops before. */
static double by_hand(int steps, double *answer) {
  double seconds;
  dense_twin(&equations, -1, steps, 1, answer, &seconds);
  return seconds;
}

const struct turns_form turns_forms[] = {{"rows", by_hand}, {NULL, NULL}};

double turns_library(int steps, double *answer) {
  op_put_data(solver.x, zeros);
  const double begin = clock_seconds();
  iterate(&solver, -1, steps, answer);
  return (clock_seconds() - begin) / steps;
}
