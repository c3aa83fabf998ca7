/* Which shape has this wall? The pressure along a wing section is known, in a flow that has become steady, and the shape that
 * makes it is looked for: the section of airfoil with bumps on it, by a tape's gradient and NLopt's L-BFGS. The flow is a
 * fixed point of airfoil's iterations, so that only one of them is kept for the way back. Mesh and kernels of the flow are
 * those of ../airfoil. Compile it with NLopt (Debian's libnlopt-dev), for a backend that compiles kernels. */
#include "../airfoil/mesh.h"

#include <math.h>
#include <nlopt.h>
#include <op2jit_adjoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double gam = 1.4, gm1 = 0.4, cfl = 0.9, eps = 0.05, qinf[4];

#include "../airfoil/airfoil_kernels.h"
#include "wall_kernels.h"

enum { MOST_ROUNDS = 5000, LOOK = 50 };
static const double steady = 1e-11, tolerance = 1e-8;

static struct wall {
  op_set nodes, cells, edges, sides;
  op_map cell_nodes, edge_nodes, edge_cells, side_nodes, side_cell;
  op_dat straight, ways, x, q, old, adt, res, kind, seen;
  op_gbl heights, squares, misfit;
  double cell_count;
  int gradients;
} w;

/* ---- mesh and bumps ------------------------------------------------------------------------------------ */

/* Bump k at this place of the wall, which goes from 0 at the tail round the nose, to 1: smooth, and zero at both ends. */
static double bump(int k, double place) {
  const double from = k / (BUMPS + 1.0), to = (k + 2) / (BUMPS + 1.0);
  return place > from && place < to ? pow(sin(M_PI * (place - from) / (to - from)), 2) : 0;
}

/* Which way each bump of height 1 takes each node: that of the mesh's columns, and less the farther from the wall. Columns and
 * rows of a mesh that was made are known: its first row of nodes has the wall in its middle third. */
static double *make_ways(const struct airfoil_mesh *mesh) {
  double *ways = calloc(2 * BUMPS * (size_t)mesh->nodes + 1, sizeof *ways);
  const int columns = mesh->columns + 1, wide = mesh->columns / 3, high = mesh->nodes / columns - 1;
  for (int n = 0; ways && n < mesh->nodes; n++) {
    const int i = n % columns, j = n / columns;
    const double *low = mesh->x + 2 * i, *up = low + 2 * columns;
    const double length = hypot(up[0] - low[0], up[1] - low[1]), far = 1 - (double)j / high;
    for (int k = 0; k < BUMPS; k++)
      for (int d = 0; d < 2; d++)
        ways[2 * (BUMPS * n + k) + d] =
            bump(k, (double)(i - wide) / wide) * far * far * (up[d] - low[d]) / length;
  }
  return ways;
}

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static void declare(int cells) {
  struct airfoil_mesh mesh = {0};
  if (op_is_root())
    mesh_generate(&mesh, cells);
  double *ways = make_ways(&mesh), *q = calloc(4 * (size_t)mesh.cells + 1, sizeof *q);
  for (int i = 0; q && i < 4 * mesh.cells; i++)
    q[i] = qinf[i % 4];
  w.nodes = op_decl_set(mesh.nodes, "nodes");
  w.cells = op_decl_set(mesh.cells, "cells");
  w.edges = op_decl_set(mesh.edges, "edges");
  w.sides = op_decl_set(mesh.boundary_edges, "sides");
  w.cell_nodes = op_decl_map(w.cells, w.nodes, 4, mesh.cell_nodes, "cell_nodes");
  w.edge_nodes = op_decl_map(w.edges, w.nodes, 2, mesh.edge_nodes, "edge_nodes");
  w.edge_cells = op_decl_map(w.edges, w.cells, 2, mesh.edge_cells, "edge_cells");
  w.side_nodes = op_decl_map(w.sides, w.nodes, 2, mesh.boundary_nodes, "side_nodes");
  w.side_cell = op_decl_map(w.sides, w.cells, 1, mesh.boundary_cell, "side_cell");
  w.kind = op_decl_dat(w.sides, 1, "int", mesh.boundary_kind, "kind");
  w.straight = op_decl_dat(w.nodes, 2, "double", mesh.x, "straight");
  w.x = op_decl_dat(w.nodes, 2, "double", mesh.x, "x");
  w.ways = op_decl_dat(w.nodes, 2 * BUMPS, "double", ways, "ways");
  w.q = op_decl_dat(w.cells, 4, "double", q, "q");
  w.old = op_decl_dat(w.cells, 4, "double", NULL, "old");
  w.adt = op_decl_dat(w.cells, 1, "double", NULL, "adt");
  w.res = op_decl_dat(w.cells, 4, "double", NULL, "res");
  w.seen = op_decl_dat(w.sides, 1, "double", NULL, "seen");
  w.heights = op_decl_gbl(BUMPS, "double", NULL, "heights");
  w.squares = op_decl_gbl(1, "double", NULL, "squares");
  w.misfit = op_decl_gbl(1, "double", NULL, "misfit");
  w.cell_count = (double)op_get_global_size(w.cells);
  op_partition("rcb", "", w.cells, w.cell_nodes, w.x);
  free(ways);
  free(q);
  mesh_free(&mesh);
}

/* ---- the flow round a shape ---------------------------------------------------------------------------- */

static op_arg own(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static op_arg of(op_dat dat, int index, op_map map, int dim, op_access access) {
  return op_arg_dat(dat, index, map, dim, "double", access);
}

#define AIRFOIL(name) OP_KERNEL_FILE("../airfoil/airfoil_kernels.h", name), #name
#define WALL(name) OP_KERNEL_FILE("wall_kernels.h", name), #name

static void iterate(void) {
  op_par_loop(AIRFOIL(save_soln), w.cells, own(w.q, 4, OP_READ), own(w.old, 4, OP_WRITE));
  for (int stage = 0; stage < 2; stage++) {
    op_par_loop(AIRFOIL(adt_calc), w.cells, of(w.x, -4, w.cell_nodes, 2, OP_READ), own(w.q, 4, OP_READ),
                own(w.adt, 1, OP_WRITE));
    op_par_loop(AIRFOIL(res_calc), w.edges, of(w.x, 0, w.edge_nodes, 2, OP_READ),
                of(w.x, 1, w.edge_nodes, 2, OP_READ), of(w.q, 0, w.edge_cells, 4, OP_READ),
                of(w.q, 1, w.edge_cells, 4, OP_READ), of(w.adt, 0, w.edge_cells, 1, OP_READ),
                of(w.adt, 1, w.edge_cells, 1, OP_READ), of(w.res, 0, w.edge_cells, 4, OP_INC),
                of(w.res, 1, w.edge_cells, 4, OP_INC));
    op_par_loop(AIRFOIL(bres_calc), w.sides, of(w.x, 0, w.side_nodes, 2, OP_READ),
                of(w.x, 1, w.side_nodes, 2, OP_READ), of(w.q, 0, w.side_cell, 4, OP_READ),
                of(w.adt, 0, w.side_cell, 1, OP_READ), of(w.res, 0, w.side_cell, 4, OP_INC),
                op_arg_dat(w.kind, -1, OP_ID, 1, "int", OP_READ));
    op_par_loop(AIRFOIL(update), w.cells, own(w.old, 4, OP_READ), own(w.q, 4, OP_WRITE), own(w.res, 4, OP_RW),
                own(w.adt, 1, OP_READ), op_arg_global(w.squares, OP_INC));
  }
}

/* Until nothing changes any more, from the last flow that was found. `recorded`: each iteration is a round of a fixed point. */
static void settle(int recorded) {
  double squares = 0;
  op_par_loop(WALL(bend), w.nodes, own(w.straight, 2, OP_READ), own(w.ways, 2 * BUMPS, OP_READ),
              op_arg_global(w.heights, OP_READ), own(w.x, 2, OP_WRITE));
  if (recorded)
    op_tape_fixed_begin(tolerance, MOST_ROUNDS);
  for (int round = 1; round <= MOST_ROUNDS; round++) {
    if (recorded)
      op_tape_round();
    squares = 0;
    op_put_gbl(w.squares, &squares);
    iterate();
    if (round % LOOK)
      continue;
    op_get_gbl(w.squares, &squares);
    if (sqrt(squares / w.cell_count) < steady)
      break;
  }
  if (recorded)
    op_tape_fixed_end();
}

/* The misfit of a shape, and its gradient where NLopt asks for one. */
static double evaluate(unsigned n, const double *heights, double *gradient, void *unused) {
  const double zeros[BUMPS] = {0}, one = 1;
  double misfit = 0;
  (void)n, (void)unused, (void)find_largest, (void)find_strange; /* kernels of airfoil alone */
  op_put_gbl(w.heights, heights);
  op_put_gbl(w.misfit, zeros);
  op_tape tape = gradient ? op_tape_begin(0, NULL, 0) : NULL;
  if (tape) {
    op_tape_input_gbl(w.heights);
    op_tape_passive(); /* what is looked at only says when to stop */
  }
  settle(tape != NULL);
  op_par_loop(WALL(compare), w.sides, of(w.q, 0, w.side_cell, 4, OP_READ), own(w.seen, 1, OP_READ),
              op_arg_dat(w.kind, -1, OP_ID, 1, "int", OP_READ), op_arg_global(w.misfit, OP_INC));
  op_get_gbl(w.misfit, &misfit);
  if (tape) {
    op_tape_end(tape);
    op_put_gbl(op_bar_gbl(w.heights), zeros);
    op_put_gbl(op_bar_gbl(w.misfit), &one);
    op_tape_reverse(tape, 1);
    op_get_gbl(op_bar_gbl(w.heights), gradient);
    op_tape_free(tape);
    w.gradients++;
  }
  return misfit;
}

/* ---- the search ---------------------------------------------------------------------------------------- */

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

static void check_gradient(void) {
  double heights[BUMPS], gradient[BUMPS], moved[2], sum = 0;
  const double by = 1e-5;
  evaluate(BUMPS, (const double[BUMPS]){0}, gradient, NULL);
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < BUMPS; k++)
      heights[k] = (side ? by : -by) * cos(k);
    moved[side] = evaluate(BUMPS, heights, NULL, NULL);
  }
  for (int k = 0; k < BUMPS; k++)
    sum += gradient[k] * cos(k);
  expect("gradient against a difference, relative", fabs(sum * 2 * by / (moved[1] - moved[0]) - 1), 1e-6);
}

static void search(void) {
  static const double is[BUMPS] = {0.004, -0.006, 0.01, 0.006, -0.004, 0.008};
  double found[BUMPS] = {0}, misfit = 0, worst = 0;
  op_put_gbl(w.heights, is);
  settle(0);
  op_par_loop(WALL(observe), w.sides, of(w.q, 0, w.side_cell, 4, OP_READ), own(w.seen, 1, OP_WRITE));
  const double before = evaluate(BUMPS, found, NULL, NULL);
  check_gradient();
  nlopt_opt optimiser = nlopt_create(NLOPT_LD_LBFGS, BUMPS);
  nlopt_set_min_objective(optimiser, evaluate, NULL);
  nlopt_set_lower_bounds1(optimiser, -0.02);
  nlopt_set_upper_bounds1(optimiser, 0.02);
  nlopt_set_stopval(optimiser, before * 1e-9);
  nlopt_set_maxeval(optimiser, 60);
  nlopt_optimize(optimiser, found, &misfit);
  nlopt_destroy(optimiser);
  for (int k = 0; k < BUMPS; k++)
    worst = fmax(worst, fabs(found[k] - is[k]));
  op_printf("%d bumps: misfit %.3e, %.3e after %d gradients; heights", BUMPS, before, misfit, w.gradients);
  for (int k = 0; k < BUMPS; k++)
    op_printf(" %.5f", found[k]);
  op_printf("\n");
  expect("misfit, of that without bumps", misfit / before, 1e-6);
  expect("largest error of a height", worst, 1e-4);
}

int main(int argc, char **argv) {
  int cells = 300;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    cells = strcmp(argv[a++], "--cells") ? 0 : atoi(value);
  }
  if (cells < 100) {
    fprintf(stderr, "usage: wall [--cells N, 100 or more]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  const double speed = sqrt(gam) * 0.4; /* Mach 0.4 at pressure and density 1 */
  memcpy(qinf, (const double[]){1, speed, 0, 1 / gm1 + 0.5 * speed * speed}, sizeof qinf);
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("gm1", 1, "double", &gm1);
  op_decl_const("cfl", 1, "double", &cfl);
  op_decl_const("eps", 1, "double", &eps);
  op_decl_const("qinf", 4, "double", qinf);
  declare(cells);
  search();
  op_printf("wall: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
