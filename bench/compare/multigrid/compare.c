/* multigrid against hand-written loops. */
#include "common/memory.h"
#include "common/options.h"
#include "common/report.h"
#include "twin.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/multigrid/multigrid.c"
#undef main

struct settings {
  int side, levels, compare;
  struct schedule schedule;
};

struct problem {
  struct levels levels;
  double *right, *solution, *start; /* on the finest level */
};

/* What each loop of a cycle moves at least. */
static double bytes_of_cycle(const struct settings *s, const struct levels *levels) {
  double bytes = 0;
  for (int l = 0; l < levels->count; l++) {
    int sweeps = l + 1 < levels->count ? s->schedule.before + s->schedule.after + 1 : s->schedule.last;
    bytes += sweeps * (levels->level[l].edges * 16.0 + levels->level[l].cells * (8 + 16 + 16 + 24 + 16.0));
  }
  return bytes;
}

/* What is checked and compared at the first rank. Returns the program's status. */
static int check_all(const struct settings *s, const struct problem *problem, const double *u,
                     const double *residual, double library_seconds) {
  const struct levels *levels = &problem->levels;
  int cells = levels->level[0].cells, cycles = s->schedule.cycles;
  double *by_hand = room(cells, sizeof *by_hand), *twin_residual = room(cycles + 1, sizeof *twin_residual);
  double worst = 0, base = 0, bytes = bytes_of_cycle(s, levels);
  struct check check = {0};
  memcpy(by_hand, problem->start, (size_t)cells * sizeof *by_hand);
  double serial_seconds = multigrid_twin(levels, &s->schedule, 0, problem->right, by_hand, twin_residual);
  for (int k = 0; k <= cycles; k++)
    worst = worse_of(worst, fabs(residual[k] - twin_residual[k]) / twin_residual[0]);
  if (levels->count > 1 && cycles > 1)
    check_between(&check, "convergence factor of a cycle", factor_of(residual, cycles), 0,
                  factor_expected(&s->schedule, levels));
  check_at_most(&check, "residuals against the hand-written loops, over the first", worst, 1e-13);
  check_at_most(&check, "u against the hand-written loops", largest_difference(u, by_hand, cells), 1e-10);
  /* The error is at most the residual, as the root of its sum of squares, by the smallest eigenvalue. */
  const double rounding = 32 * DBL_EPSILON,
               error = s->side * (residual[cycles] + rounding) / least_eigenvalue(&levels->level[0]);
  if (error < 0.1)
    check_at_most(&check, "u against the exact discrete solution",
                  largest_difference(u, problem->solution, cells), error);
  compare_header("one cycle");
  compare_row("hand-written, serial", serial_seconds, bytes, &base);
  if (s->compare) {
    memcpy(by_hand, problem->start, (size_t)cells * sizeof *by_hand);
    compare_row("hand-written, OpenMP",
                multigrid_twin(levels, &s->schedule, 1, problem->right, by_hand, twin_residual), bytes,
                &base);
    check_at_most(&check, "u, hand-written with OpenMP", largest_difference(u, by_hand, cells), 1e-10);
  }
  compare_row("op2jit", library_seconds, bytes, &base);
  free(by_hand);
  free(twin_residual);
  return check_end(&check, "multigrid");
}

/* The first cycle plans and compiles: of more than one it is not counted. */
static double time_cycles(const struct grid grid[], int levels, const struct schedule *s, double *residual) {
  struct schedule first = *s, others = *s;
  first.cycles = 1;
  others.cycles = s->cycles - 1;
  double start = clock_seconds();
  solve(grid, levels, &first, residual);
  if (others.cycles == 0)
    return clock_seconds() - start;
  start = clock_seconds();
  solve(grid, levels, &others, residual + 1);
  return (clock_seconds() - start) / others.cycles;
}

static int compare(const struct settings *s) {
  struct problem problem = {.levels = levels_make(s->side, s->levels)};
  struct levels *levels = &problem.levels;
  int cells = levels->level[0].cells, cycles = s->schedule.cycles, status = EXIT_SUCCESS;
  double *u = room(cells, sizeof *u), *residual = room(cycles + 1, sizeof *residual);
  struct grid grid[MOST_LEVELS];
  problem.right = room(cells, sizeof(double));
  problem.solution = room(cells, sizeof(double));
  problem.start = room(cells, sizeof(double));
  levels_problem(levels, problem.right, problem.solution, problem.start);
  declare(grid, levels, problem.right, problem.start);
  double seconds = time_cycles(grid, levels->count, &s->schedule, residual);
  op_fetch_data(grid[0].u, u);
  if (op_is_root())
    status = check_all(s, &problem, u, residual, seconds);
  double *const owned[] = {problem.right, problem.solution, problem.start, u, residual};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
    free(owned[k]);
  levels_free(levels);
  return status;
}

int main(int argc, char **argv) {
  struct settings s = {.side = 128, .levels = MOST_LEVELS};
  s.schedule = (struct schedule){.cycles = 14, .before = 2, .after = 2, .last = 40, .damping = 0.8};
  const struct option_entry entries[] = {
      {"side", OPTION_INT, &s.side, 2, 16384, "cells on a side of the finest level"},
      {"levels", OPTION_INT, &s.levels, 1, MOST_LEVELS, "most levels; each halves the side while it is even"},
      {"cycles", OPTION_INT, &s.schedule.cycles, 1, 10000, "V-cycles"},
      {"before", OPTION_INT, &s.schedule.before, 1, 100, "sweeps before going to the coarser level"},
      {"after", OPTION_INT, &s.schedule.after, 1, 100, "sweeps after it"},
      {"last", OPTION_INT, &s.schedule.last, 1, 10000, "sweeps on the coarsest level"},
      {"damping", OPTION_REAL, &s.schedule.damping, 0.1, 1, "of the sweeps"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loops with OpenMP too"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "multigrid for Poisson's equation on cells and edges",
                   sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  int status = compare(&s);
  op_exit();
  return status;
}
