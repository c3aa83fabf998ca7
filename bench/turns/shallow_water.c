/* Shallow water in turns. */
#include "turns.h"

#define SHALLOW_WATER_SAMPLE
#include "common/memory.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/shallow_water/shallow_water.c"
#undef main

#include "compare/shallow_water/twin.h"

const double turns_limit = 0; /* all bits */
const char *const turns_word = "OP2_FP=strict";
static struct model model;
static struct water water;
static struct state start;
static int points, *neighbour;

long long turns_prepare(int size, int library) {
  model = model_make(size, size);
  points = size * size;
  start = state_make(points);
  model_initial(&model, start.u, start.v, start.p);
  turns_bytes = 256.0 * points;
  int *number = room(points, sizeof *number);
  number_by_rows(size, size, number);
  if (library)
    water = water_make(&model, number, &start);
  else
    neighbour = neighbour_table(size, size, number);
  free(number);
  return 3LL * points;
}

static double on_grid(int steps, double *answer) {
  return twin_run(&model, steps, 1, answer, answer + points, answer + 2 * (size_t)points);
}

static double by_map(int steps, double *answer) {
  double *const fields[3] = {answer, answer + points, answer + 2 * (size_t)points};
  memcpy(fields[0], start.u, (size_t)points * sizeof(double));
  memcpy(fields[1], start.v, (size_t)points * sizeof(double));
  memcpy(fields[2], start.p, (size_t)points * sizeof(double));
  return twin_run_by_map(&model, steps, neighbour, fields[0], fields[1], fields[2]);
}

const struct turns_form turns_forms[] = {{"grid", on_grid}, {"map", by_map}, {NULL, NULL}};

double turns_library(int steps, double *answer) {
  const op_dat dats[3][2] = {{water.u, water.uold}, {water.v, water.vold}, {water.p, water.pold}};
  const double *const fields[3] = {start.u, start.v, start.p};
  for (int f = 0; f < 3; f++)
    for (int level = 0; level < 2; level++) {
      op_put_data(dats[f][level], fields[f]);
      turns_bring(dats[f][level], water.points);
    }
  turns_wait();
  const double begin = clock_seconds();
  water_run(&water, &model, steps);
  turns_wait();
  const double seconds = (clock_seconds() - begin) / steps;
  for (int f = 0; f < 3; f++)
    op_fetch_data(dats[f][0], answer + (size_t)f * (size_t)points);
  return seconds;
}
