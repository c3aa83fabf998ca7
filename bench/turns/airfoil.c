/* Airfoil with and without chains, in turns (chains.py); by hand it is measured by ./dev bench samples. */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/airfoil/airfoil.c"
#undef main

const double turns_limit = 1e-10;
const char *const turns_word = NULL;
static struct airfoil flow;
static double *start;

long long turns_prepare(int size, int library) {
  struct airfoil_mesh mesh = {0};
  if (!library) {
    fprintf(stderr, "turns_airfoil: it has no hand-written loop\n");
    exit(2);
  }
  mesh_generate(&mesh, size);
  declare_constants();
  flow = declare_mesh(&mesh);
  mesh_free(&mesh);
  const long long values = 4LL * flow.cell_count;
  start = room(values, sizeof *start);
  op_fetch_data(flow.q, start);
  return values;
}

double turns_by_hand(int steps, double *answer) {
  (void)steps, (void)answer;
  return 0;
}

double turns_library(int steps, double *answer) {
  op_put_data(flow.q, start);
  iterate(&flow, NULL);
  op_barrier(); /* runs what waits */
  const double begin = clock_seconds();
  for (int i = 0; i < steps; i++)
    iterate(&flow, NULL);
  op_barrier();
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(flow.q, answer);
  return seconds;
}
