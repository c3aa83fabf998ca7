/* The load of a large flow solver with and without chains, in turns (chains.py). */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/airfoil_hydra/airfoil_hydra.c"
#undef main

const double turns_limit = 1e-10;
const struct turns_form turns_forms[] = {{0}};
const char *const turns_word = NULL;
static struct hydra flow;
static double *start, step;

long long turns_prepare(int size, int library) {
  struct box box = box_make(size);
  const long long values = (long long)VARIABLES * box.nodes;
  (void)library;
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("viscosity", 1, "double", &viscosity);
  flow = declare(&box);
  start = room(values, sizeof *start);
  box_state(&box, 0.05, start);
  step = 0.01 / (size - 1);
  box_free(&box);
  return values;
}

double turns_library(int steps, double *answer) {
  op_put_data(flow.q, start);
  const double begin = clock_seconds();
  for (int k = 0; k < steps; k++) {
    find_residual(&flow);
    advance_by(&flow, step);
  }
  op_barrier(); /* runs what waits */
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(flow.q, answer);
  return seconds;
}
