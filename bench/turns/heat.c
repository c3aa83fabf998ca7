/* The heat equation in turns. */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"

#include <string.h>

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/heat/heat.c"
#undef main

#include "compare/heat/twin.h"

const double turns_limit = 1e-13;
const char *const turns_word = NULL;
static double *start;
static struct plate plate;
static int width, *near;

long long turns_prepare(int size, int library) {
  width = size;
  start = hill(size, 1);
  turns_bytes = 16.0 * size * size;
  if (library)
    plate = plate_make(size);
  else
    near = neighbours(size);
  return framed(size);
}

/* As in the sample, half a second for all steps. */
static double factor(int steps) {
  const double dx = length / (width + 1);
  return alpha * 0.5 / steps / (dx * dx);
}

static double on_grid(int steps, double *answer) {
  memcpy(answer, start, (size_t)framed(width) * sizeof *answer);
  return heat_twin(width, steps, factor(steps), 1, answer);
}

static double by_map(int steps, double *answer) {
  memcpy(answer, start, (size_t)framed(width) * sizeof *answer);
  return heat_twin_by_map((int)framed(width), near, steps, factor(steps), answer);
}

const struct turns_form turns_forms[] = {{"grid", on_grid}, {"map", by_map}, {NULL, NULL}};

double turns_library(int steps, double *answer) {
  op_put_data(plate.u, start);
  turns_bring(plate.u, plate.points);
  turns_wait();
  const double begin = clock_seconds();
  plate_run(&plate, steps, factor(steps));
  turns_wait();
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(plate.u, answer);
  return seconds;
}
