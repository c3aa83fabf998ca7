/* Multigrid in turns. */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/multigrid/multigrid.c"
#undef main

#include "compare/multigrid/twin.h"

const double turns_limit = 1e-10;
const char *const turns_word = NULL;
static struct levels levels;
static struct grid grid[MOST_LEVELS];
static struct schedule schedule = {.before = 2, .after = 2, .last = 40, .damping = 0.8};
static double *right, *start;

long long turns_prepare(int size, int library) {
  levels = levels_make(size, MOST_LEVELS);
  const int cells = levels.level[0].cells;
  double *solution = room(cells, sizeof *solution);
  right = room(cells, sizeof *right);
  start = room(cells, sizeof *start);
  levels_problem(&levels, right, solution, start);
  free(solution);
  if (library)
    declare(grid, &levels, right, start);
  return cells;
}

static double by_hand(int steps, double *answer) {
  double *residual = room(steps + 1, sizeof *residual);
  schedule.cycles = steps;
  memcpy(answer, start, (size_t)levels.level[0].cells * sizeof *answer);
  const double seconds = multigrid_twin(&levels, &schedule, 1, right, answer, residual);
  free(residual);
  return seconds;
}

const struct turns_form turns_forms[] = {{"colours", by_hand}, {NULL, NULL}};

double turns_library(int steps, double *answer) {
  double *residual = room(steps + 1, sizeof *residual);
  schedule.cycles = steps;
  op_put_data(grid[0].u, start);
  const double begin = clock_seconds();
  solve(grid, levels.count, &schedule, residual);
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(grid[0].u, answer);
  free(residual);
  return seconds;
}
