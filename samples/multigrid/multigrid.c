/* Multigrid for Poisson's equation by finite volumes: cells that exchange through edges, on levels of halved
 * resolution with maps between them. Every loop runs on each level, on sets of very different size: one
 * compiled kernel, several plans. The right-hand side is an eigenvector of the discrete operator, so that
 * the exact discrete solution is known; the start is noise, so that the factor by which a cycle shrinks the
 * residual is that of the method. levels.c makes the meshes, multigrid_kernels.h has the kernels. */
#include "levels.h"

#include <float.h>
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multigrid_kernels.h"

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static int here(int size) {
  return op_is_root() ? size : 0;
}

struct grid {
  op_set cells, edges;
  op_map edge_cells, parent, around;
  op_dat weight, outer, diagonal, share, u, right, flow;
};

static void declare(struct grid grid[], const struct levels *levels, const double *right, const double *u) {
  for (int l = 0; l < levels->count; l++) {
    const struct level *level = &levels->level[l];
    struct grid *g = &grid[l];
    g->cells = op_decl_set(here(level->cells), "cells");
    g->edges = op_decl_set(here(level->edges), "edges");
    g->edge_cells = op_decl_map(g->edges, g->cells, 2, level->edge_cells, "edge_cells");
    g->weight = op_decl_dat(g->edges, 1, "double", level->weight, "weight");
    g->outer = op_decl_dat(g->cells, 1, "double", level->outer, "outer");
    g->diagonal = op_decl_dat(g->cells, 1, "double", level->diagonal, "diagonal");
    g->u = op_decl_dat(g->cells, 1, "double", l == 0 ? u : NULL, "u");
    g->right = op_decl_dat(g->cells, 1, "double", l == 0 ? right : NULL, "right");
    g->flow = op_decl_dat(g->cells, 1, "double", NULL, "flow");
  }
  for (int l = 0; l + 1 < levels->count; l++) {
    const struct level *level = &levels->level[l];
    struct grid *g = &grid[l];
    g->parent = op_decl_map(g->cells, grid[l + 1].cells, 1, level->parent, "parent");
    g->around = op_decl_map(g->cells, grid[l + 1].cells, CORNERS, level->around, "around");
    g->share = op_decl_dat(g->cells, CORNERS, "double", level->share, "share");
  }
  op_partition("block", "", grid[0].cells, NULL, NULL);
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static void add_flow(const struct grid *g) {
  op_par_loop(OP_KERNEL_FILE("multigrid_kernels.h", exchange), "exchange", g->edges, own(g->weight, OP_READ),
              op_arg_dat(g->u, 0, g->edge_cells, 1, "double", OP_READ),
              op_arg_dat(g->u, 1, g->edge_cells, 1, "double", OP_READ),
              op_arg_dat(g->flow, 0, g->edge_cells, 1, "double", OP_INC),
              op_arg_dat(g->flow, 1, g->edge_cells, 1, "double", OP_INC));
}

static void smooth(const struct grid *g, int sweeps, double damping) {
  for (int s = 0; s < sweeps; s++) {
    add_flow(g);
    op_par_loop(OP_KERNEL_FILE("multigrid_kernels.h", relax), "relax", g->cells, own(g->right, OP_READ),
                own(g->outer, OP_READ), own(g->diagonal, OP_READ), op_arg_gbl(&damping, 1, "double", OP_READ),
                own(g->flow, OP_RW), own(g->u, OP_RW));
  }
}

static double norm(const struct grid *g) {
  double sum = 0;
  add_flow(g);
  op_par_loop(OP_KERNEL_FILE("multigrid_kernels.h", measure), "measure", g->cells, own(g->right, OP_READ),
              own(g->outer, OP_READ), own(g->u, OP_READ), own(g->flow, OP_RW),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  return sqrt(sum / (double)op_get_global_size(g->cells));
}

/* One V-cycle from this level down. */
static void cycle(const struct grid *g, int levels, const struct schedule *s) {
  const struct grid *coarse = g + 1;
  if (levels == 1) {
    smooth(g, s->last, s->damping);
    return;
  }
  smooth(g, s->before, s->damping);
  add_flow(g);
  op_par_loop(OP_KERNEL_FILE("multigrid_kernels.h", clear), "clear", coarse->cells, own(coarse->u, OP_WRITE),
              own(coarse->right, OP_WRITE));
  op_par_loop(OP_KERNEL_FILE("multigrid_kernels.h", descend), "descend", g->cells, own(g->right, OP_READ),
              own(g->outer, OP_READ), own(g->u, OP_READ), own(g->flow, OP_RW),
              op_arg_dat(coarse->right, 0, g->parent, 1, "double", OP_INC));
  cycle(coarse, levels - 1, s);
  op_par_loop(OP_KERNEL_FILE("multigrid_kernels.h", ascend), "ascend", g->cells,
              op_arg_dat(g->share, -1, OP_ID, CORNERS, "double", OP_READ),
              op_arg_dat(coarse->u, -CORNERS, g->around, 1, "double", OP_READ), own(g->u, OP_RW));
  smooth(g, s->after, s->damping);
}

static void solve(const struct grid grid[], int levels, const struct schedule *s, double *residual) {
  residual[0] = norm(grid);
  for (int k = 1; k <= s->cycles; k++) {
    cycle(grid, levels, s);
    residual[k] = norm(grid);
  }
}

/* The factor by which a cycle shrinks the residual, from the last cycles before rounding is reached. */
static double factor_of(const double *residual, int cycles) {
  int last = cycles;
  while (last > 2 && residual[last] < 1e-11 * residual[0])
    last--;
  int first = last > 4 ? last - 3 : last > 1 ? 1 : 0;
  return pow(residual[last] / residual[first], 1.0 / (last - first));
}

/* The smallest eigenvalue of the operator; that of the solution. */
static double least_eigenvalue(const struct level *level) {
  return 4 - 4 * cos(M_PI / level->side);
}

/* A cycle leaves, of errors that change from cell to cell, what its sweeps leave (over their diagonal, eigenvalues
 * of the operator are 1/2 to 2 there); of smooth ones what interpolation mixes into the former; and on the last
 * level of the smoothest what its sweeps leave, with a diagonal of 6 at most. By experience cycles are not worse
 * than the first by 1.6, and not than 0.8 by damping and sweeps, which is far from 1 except for few sweeps or weak
 * ones. */
static double factor_expected(const struct schedule *s, const struct levels *levels) {
  const double w = s->damping;
  const int sweeps = s->before + s->after;
  const double rough = pow(fmax(1 - 0.5 * w, fabs(1 - 2 * w)), sweeps), mixed = 0.8 / (w * sweeps);
  const double smooth = 1 - w * least_eigenvalue(&levels->level[levels->count - 1]) / 6;
  const double last = pow(fmax(smooth, fabs(1 - 2 * w)), s->last);
  return fmin(1, fmax(1.6 * rough, mixed) + last);
}

/* The larger of the two; a NaN stays, which fmax would drop. */
static double larger(double a, double b) {
  return isnan(a) || b <= a ? a : b;
}

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

static void run(int side, int most_levels, const struct schedule *s) {
  struct levels levels = levels_make(side, most_levels);
  const int cells = levels.level[0].cells, cycles = s->cycles;
  struct grid grid[MOST_LEVELS];
  double *room = calloc(4 * (size_t)cells + (size_t)cycles + 1, sizeof *room);
  if (!room)
    exit(1);
  double *right = room, *solution = right + cells, *u = solution + cells, *residual = u + cells, worst = 0;
  levels_problem(&levels, right, solution, u);
  declare(grid, &levels, right, u);
  solve(grid, levels.count, s, residual);
  op_fetch_data(grid[0].u, u);
  const op_counters_t *counters = op_counters();
  op_printf("%d cells, %d levels: %lld loops, %lld kernels compiled, %lld plans\n  cycle      residual\n",
            cells, levels.count, counters->records, counters->compiles, counters->plans);
  for (int k = 0; k <= cycles; k++)
    op_printf("  %5d  %12.5e\n", k, residual[k]);
  if (levels.count > 1 && cycles > 1)
    expect("convergence factor of a cycle", factor_of(residual, cycles), factor_expected(s, &levels));
  for (int c = 0; op_is_root() && c < cells; c++)
    worst = larger(worst, fabs(u[c] - solution[c]));
  /* The error is at most the residual, as the root of its sum of squares, by the smallest eigenvalue. */
  expect("u against the exact discrete solution", worst,
         side * (residual[cycles] + 32 * DBL_EPSILON) / least_eigenvalue(&levels.level[0]));
  free(room);
  levels_free(&levels);
}

int main(int argc, char **argv) {
  int side = 128, levels = MOST_LEVELS;
  struct schedule s = {.cycles = 14, .before = 2, .after = 2, .last = 40, .damping = 0.8};
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--side"))
      side = atoi(value);
    else if (!strcmp(argv[a], "--levels"))
      levels = atoi(value);
    else if (!strcmp(argv[a], "--cycles"))
      s.cycles = atoi(value);
    else if (!strcmp(argv[a], "--before"))
      s.before = atoi(value);
    else if (!strcmp(argv[a], "--after"))
      s.after = atoi(value);
    else if (!strcmp(argv[a], "--last"))
      s.last = atoi(value);
    else if (!strcmp(argv[a], "--damping"))
      s.damping = atof(value);
    else
      side = 0;
    a++;
  }
  if (side < 2 || side > 16384 || levels < 1 || s.cycles < 1 || s.before < 1 || s.after < 1 || s.last < 1) {
    fprintf(stderr, "usage: multigrid [--side CELLS] [--levels N] [--cycles N] [--before SWEEPS] [--after "
                    "SWEEPS] [--last SWEEPS] [--damping X]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  run(side, levels, &s);
  op_printf("multigrid: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
