/* Multigrid for Poisson's equation by finite volumes: cells that exchange through edges, on levels of halved
 * resolution with maps between them. Every loop runs on each level, on sets of very different size: one
 * compiled kernel, several plans. The right-hand side is an eigenvector of the discrete operator, so that
 * the exact discrete solution is known; the start is noise, so that the factor by which a cycle shrinks the
 * residual is that of the method. */
#include "levels.h"
#include "twin.h"

#include "common/memory.h"
#include "common/options.h"
#include "common/output.h"
#include "common/picture.h"
#include "common/ranks.h"
#include "common/report.h"

#include <float.h>
#include <math.h>
#include <op2jit.h>
#include <stdlib.h>
#include <string.h>

OP_KERNEL_DEF(
    exchange,
    void exchange(const double *weight, const double *u1, const double *u2, double *flow1, double *flow2) {
      double through = *weight * (*u2 - *u1);
      *flow1 += through;
      *flow2 -= through;
    })

OP_KERNEL_DEF(
    relax, void relax(const double *right, const double *outer, const double *diagonal, const double *damping,
                      double *flow, double *u) {
      *u += *damping * (*right + *flow - *outer * *u) / *diagonal;
      *flow = 0;
    })

OP_KERNEL_DEF(
    measure,
    void measure(const double *right, const double *outer, const double *u, double *flow, double *sum) {
      double defect = *right + *flow - *outer * *u;
      *sum += defect * defect;
      *flow = 0;
    })

OP_KERNEL_DEF(
    clear, void clear(double *u, double *right) {
      *u = 0;
      *right = 0;
    })

/* What is left over goes to the cell of the next level that holds this one. */
OP_KERNEL_DEF(
    descend, void descend(const double *right, const double *outer, const double *u, double *flow,
                          double *coarse_right) {
      *coarse_right += *right + *flow - *outer * *u;
      *flow = 0;
    })

OP_KERNEL_DEF(
    ascend, void ascend(const double *share, const double *coarse[4], double *u) {
      for (int k = 0; k < 4; k++)
        *u += share[k] * coarse[k][0];
    })

struct grid {
  op_set cells, edges;
  op_map edge_cells, parent, around;
  op_dat weight, outer, diagonal, share, u, right, flow;
};

static void declare(struct grid grid[], const struct levels *levels, const double *right, const double *u) {
  for (int l = 0; l < levels->count; l++) {
    const struct level *level = &levels->level[l];
    struct grid *g = &grid[l];
    g->cells = op_decl_set(declared(level->cells), "cells");
    g->edges = op_decl_set(declared(level->edges), "edges");
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
  share_out(grid[0].cells);
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static void add_flow(const struct grid *g) {
  op_par_loop(OP_KERNEL_OF(exchange), "exchange", g->edges, own(g->weight, OP_READ),
              op_arg_dat(g->u, 0, g->edge_cells, 1, "double", OP_READ),
              op_arg_dat(g->u, 1, g->edge_cells, 1, "double", OP_READ),
              op_arg_dat(g->flow, 0, g->edge_cells, 1, "double", OP_INC),
              op_arg_dat(g->flow, 1, g->edge_cells, 1, "double", OP_INC));
}

static void smooth(const struct grid *g, int sweeps, double damping) {
  for (int s = 0; s < sweeps; s++) {
    add_flow(g);
    op_par_loop(OP_KERNEL_OF(relax), "relax", g->cells, own(g->right, OP_READ), own(g->outer, OP_READ),
                own(g->diagonal, OP_READ), op_arg_gbl(&damping, 1, "double", OP_READ), own(g->flow, OP_RW),
                own(g->u, OP_RW));
  }
}

static double norm(const struct grid *g) {
  double sum = 0;
  add_flow(g);
  op_par_loop(OP_KERNEL_OF(measure), "measure", g->cells, own(g->right, OP_READ), own(g->outer, OP_READ),
              own(g->u, OP_READ), own(g->flow, OP_RW), op_arg_gbl(&sum, 1, "double", OP_INC));
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
  op_par_loop(OP_KERNEL_OF(clear), "clear", coarse->cells, own(coarse->u, OP_WRITE),
              own(coarse->right, OP_WRITE));
  op_par_loop(OP_KERNEL_OF(descend), "descend", g->cells, own(g->right, OP_READ), own(g->outer, OP_READ),
              own(g->u, OP_READ), own(g->flow, OP_RW),
              op_arg_dat(coarse->right, 0, g->parent, 1, "double", OP_INC));
  cycle(coarse, levels - 1, s);
  op_par_loop(OP_KERNEL_OF(ascend), "ascend", g->cells,
              op_arg_dat(g->share, -1, OP_ID, CORNERS, "double", OP_READ),
              op_arg_dat(coarse->u, -CORNERS, g->around, 1, "double", OP_READ), own(g->u, OP_RW));
  smooth(g, s->after, s->damping);
}

static double solve(const struct grid grid[], int levels, const struct schedule *s, double *residual) {
  double start = 0;
  residual[0] = norm(grid);
  for (int k = 1; k <= s->cycles; k++) {
    if (k == 1 + (s->cycles > 1))
      start = clock_seconds();
    cycle(grid, levels, s);
    residual[k] = norm(grid);
  }
  return (clock_seconds() - start) / (s->cycles > 1 ? s->cycles - 1 : 1);
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

/* A cycle leaves, of errors that change from cell to cell, what its sweeps leave (over their diagonal, eigenvalues of the
 * operator are 1/2 to 2 there); of smooth ones what interpolation mixes into the former; and on the last level of the
 * smoothest what its sweeps leave, with a diagonal of 6 at most. By experience cycles are not worse than the first by
 * 1.6, and not than 0.8 by damping and sweeps, which is far from 1 except for few sweeps or weak ones. */
static double factor_expected(const struct schedule *s, const struct levels *levels) {
  const double w = s->damping;
  const int sweeps = s->before + s->after;
  const double rough = pow(fmax(1 - 0.5 * w, fabs(1 - 2 * w)), sweeps), mixed = 0.8 / (w * sweeps);
  const double smooth = 1 - w * least_eigenvalue(&levels->level[levels->count - 1]) / 6;
  const double last = pow(fmax(smooth, fabs(1 - 2 * w)), s->last);
  return fmin(1, fmax(1.6 * rough, mixed) + last);
}

struct settings {
  int side, levels, compare;
  struct schedule schedule;
  const char *picture, *vtk;
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
  int unwritten = s->picture && picture_png(s->picture, s->side, s->side, u);
  free(by_hand);
  free(twin_residual);
  int status = check_end(&check, "multigrid");
  return unwritten ? EXIT_FAILURE : status;
}

static int run(const struct settings *s) {
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
  double seconds = solve(grid, levels->count, &s->schedule, residual);
  op_fetch_data(grid[0].u, u);
  const op_counters_t *counters = op_counters();
  op_printf("%d cells, %d levels: %lld loops, %lld kernels compiled, %lld plans\n  cycle      residual\n",
            cells, levels->count, counters->records, counters->compiles, counters->plans);
  for (int k = 0; k <= cycles; k++)
    op_printf("  %5d  %12.5e\n", k, residual[k]);
  const op_dat fields[] = {grid[0].u, grid[0].right};
  int unwritten = s->vtk && output_squares(s->vtk, grid[0].cells, s->side, 2, fields);
  if (op_is_root())
    status = check_all(s, &problem, u, residual, seconds);
  double *const owned[] = {problem.right, problem.solution, problem.start, u, residual};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
    free(owned[k]);
  levels_free(levels);
  return unwritten ? EXIT_FAILURE : status;
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
      {"picture", OPTION_NEW_PICTURE, &s.picture, 0, 0, "write the answer to this PNG file"},
      {"vtk", OPTION_NEW_VTK, &s.vtk, 0, 0, "write the finest level for ParaView, under this name"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "multigrid for Poisson's equation on cells and edges",
                   sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  output_prepare(NULL, s.vtk);
  int status = run(&s);
  op_exit();
  return status;
}
