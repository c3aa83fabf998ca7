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
static int points;

long long turns_prepare(int size, int library) {
  model = model_make(size, size);
  points = size * size;
  start = state_make(points);
  model_initial(&model, start.u, start.v, start.p);
  if (library) {
    int *number = room(points, sizeof *number);
    number_by_rows(size, size, number);
    water = water_make(&model, number, &start);
    free(number);
  }
  return 3LL * points;
}

double turns_by_hand(int steps, double *answer) {
  return twin_run(&model, steps, 1, answer, answer + points, answer + 2 * (size_t)points);
}

double turns_library(int steps, double *answer) {
  const op_dat dats[3][2] = {{water.u, water.uold}, {water.v, water.vold}, {water.p, water.pold}};
  const double *const fields[3] = {start.u, start.v, start.p};
  for (int f = 0; f < 3; f++)
    for (int level = 0; level < 2; level++) {
      op_put_data(dats[f][level], fields[f]);
      turns_bring(dats[f][level], water.points);
    }
  turns_wait();
  const double begin = turns_seconds();
  water_run(&water, &model, steps);
  turns_wait();
  const double seconds = (turns_seconds() - begin) / steps;
  for (int f = 0; f < 3; f++)
    op_fetch_data(dats[f][0], answer + (size_t)f * (size_t)points);
  return seconds;
}
