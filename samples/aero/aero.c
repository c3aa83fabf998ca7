/* Aero: compressible potential flow by bilinear finite elements. Each Newton step assembles a matrix for
 * every element and solves with conjugate gradients, whose product with the matrix is a loop over elements
 * that adds to their nodes; with --matrix the same kernel makes a sparse matrix, which PETSc solves
 * (op_solve). The source term is that of a potential given beforehand, so that the error is known; it must
 * fall by four when the elements are halved. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A flow at Mach 0.4 of a gas with gamma 1.4; the potential's bump. */
static double mach2 = 0.4 * 0.4, gm1 = 0.4, amplitude = 0.1;

#include "aero_kernels.h"

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

/* ---- the mesh: quadrilateral elements on a distorted unit square ---- */

struct aero_mesh {
  int n, nodes, cells, fixed;
  double *x;       /* nodes x 2 */
  int *cell_nodes; /* cells x 4, anticlockwise */
  int *fixed_node; /* the nodes of the boundary */
};

/* The potential that solves the equation with the source that the kernels have. */
static double aero_potential(double x, double y) {
  return x + amplitude * sin(M_PI * x) * sin(M_PI * y);
}

static int on_boundary(const struct aero_mesh *mesh, int node) {
  int i = node % (mesh->n + 1), j = node / (mesh->n + 1);
  return i == 0 || j == 0 || i == mesh->n || j == mesh->n;
}

static struct aero_mesh aero_mesh_make(int n) {
  struct aero_mesh made = {.n = n, .nodes = (n + 1) * (n + 1), .cells = n * n};
  made.x = array(2LL * made.nodes, sizeof *made.x);
  made.cell_nodes = array(4LL * made.cells, sizeof *made.cell_nodes);
  made.fixed_node = array(4LL * n, sizeof *made.fixed_node);
  for (int node = 0; node < made.nodes; node++) {
    int i = node % (n + 1), j = node / (n + 1);
    double s = (double)i / n, t = (double)j / n;
    double bend = 0.04 * sin(2 * M_PI * s) * sin(2 * M_PI * t);
    made.x[2 * node] = s + bend;
    made.x[2 * node + 1] = t - bend;
    if (on_boundary(&made, node))
      made.fixed_node[made.fixed++] = node;
  }
  for (int cell = 0; cell < made.cells; cell++) {
    int corner = cell % n + cell / n * (n + 1), *nodes = made.cell_nodes + 4 * cell;
    nodes[0] = corner;
    nodes[1] = corner + 1;
    nodes[2] = corner + n + 2;
    nodes[3] = corner + n + 1;
  }
  return made;
}

static void aero_mesh_free(struct aero_mesh *mesh) {
  free(mesh->x);
  free(mesh->cell_nodes);
  free(mesh->fixed_node);
  *mesh = (struct aero_mesh){0};
}

/* That potential on the boundary, a parallel flow inside. */
static double *aero_start(const struct aero_mesh *mesh) {
  double *phi = array(mesh->nodes, sizeof *phi);
  for (int node = 0; node < mesh->nodes; node++)
    phi[node] = mesh->x[2 * node];
  for (int k = 0; k < mesh->fixed; k++) {
    int node = mesh->fixed_node[k];
    phi[node] = aero_potential(mesh->x[2 * node], mesh->x[2 * node + 1]);
  }
  return phi;
}

/* ---- the loops ---- */

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static int here(int size) {
  return op_is_root() ? size : 0;
}

/* What is known of each Newton step. */
enum { MOST_STEPS = 20 };
struct history {
  int steps;
  double residual[MOST_STEPS]; /* root mean square over the nodes, before the step */
  int iterations[MOST_STEPS];  /* of conjugate gradients */
};

struct aero {
  op_set nodes, cells, fixed, one;
  op_map cell_nodes, fixed_node;
  op_dat x, phi, k, residual, u, v, p, r;
  op_gbl rr, pv, next, alpha, beta; /* of conjugate gradients: only rr is looked at here */
  op_mat matrix;                    /* instead of k and the loops of conjugate gradients; NULL: none */
};

/* The potential is known on the boundary: corrections are zero there. */
static op_mat declare_matrix(const struct aero *a, const struct aero_mesh *mesh) {
  int *known = array(mesh->nodes, sizeof *known);
  for (int i = 0; i < mesh->fixed; i++)
    known[mesh->fixed_node[i]] = 1;
  op_dat rows = op_decl_dat(a->nodes, 1, "int", known, "known");
  free(known);
  op_mat matrix = op_decl_mat(1, &a->cell_nodes, &a->cell_nodes, 1, 1, "double", "matrix");
  op_fix_mat(matrix, rows, rows, 1);
  return matrix;
}

static struct aero declare(const struct aero_mesh *mesh, const double *phi, int by_matrix) {
  struct aero a;
  a.nodes = op_decl_set(here(mesh->nodes), "nodes");
  a.cells = op_decl_set(here(mesh->cells), "cells");
  a.fixed = op_decl_set(here(mesh->fixed), "fixed");
  a.cell_nodes = op_decl_map(a.cells, a.nodes, 4, mesh->cell_nodes, "cell_nodes");
  a.fixed_node = op_decl_map(a.fixed, a.nodes, 1, mesh->fixed_node, "fixed_node");
  a.x = op_decl_dat(a.nodes, 2, "double", mesh->x, "x");
  a.phi = op_decl_dat(a.nodes, 1, "double", phi, "phi");
  a.k = op_decl_dat(a.cells, 16, "double", NULL, "k");
  a.residual = op_decl_dat(a.nodes, 1, "double", NULL, "residual");
  a.u = op_decl_dat(a.nodes, 1, "double", NULL, "u");
  a.v = op_decl_dat(a.nodes, 1, "double", NULL, "v");
  a.p = op_decl_dat(a.nodes, 1, "double", NULL, "p");
  a.r = op_decl_dat(a.nodes, 1, "double", NULL, "r");
  a.one = op_decl_set(here(1), "one");
  a.rr = op_decl_gbl(1, "double", NULL, "rr");
  a.pv = op_decl_gbl(1, "double", NULL, "pv");
  a.next = op_decl_gbl(1, "double", NULL, "next");
  a.alpha = op_decl_gbl(1, "double", NULL, "alpha");
  a.beta = op_decl_gbl(1, "double", NULL, "beta");
  a.matrix = by_matrix ? declare_matrix(&a, mesh) : NULL;
  op_partition("block", "", a.cells, NULL, NULL);
  return a;
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static op_arg corners(const struct aero *a, op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -4, a->cell_nodes, dim, "double", access);
}

static void fix_boundary(const struct aero *a, op_dat dat) {
  op_par_loop(OP_KERNEL_FILE("aero_kernels.h", fix), "fix", a->fixed,
              op_arg_dat(dat, 0, a->fixed_node, 1, "double", OP_WRITE));
}

/* Assembles, and returns the squared norm of the residual, from which conjugate gradients start. */
static double linearise(const struct aero *a) {
  double rr = 0;
  op_put_gbl(a->rr, &rr);
  if (a->matrix)
    op_zero_mat(a->matrix);
  op_par_loop(OP_KERNEL_FILE("aero_kernels.h", assemble), "assemble", a->cells, corners(a, a->x, 2, OP_READ),
              corners(a, a->phi, 1, OP_READ),
              a->matrix ? op_arg_mat(a->matrix, a->cell_nodes, a->cell_nodes, 1, 1, "double", OP_INC)
                        : op_arg_dat(a->k, -1, OP_ID, 16, "double", OP_WRITE),
              corners(a, a->residual, 1, OP_INC));
  fix_boundary(a, a->residual);
  op_par_loop(OP_KERNEL_FILE("aero_kernels.h", start_gradient), "start_gradient", a->nodes,
              own(a->residual, OP_RW), own(a->u, OP_WRITE), own(a->v, OP_WRITE), own(a->p, OP_WRITE),
              own(a->r, OP_WRITE), op_arg_global(a->rr, OP_INC));
  op_get_gbl(a->rr, &rr);
  return rr;
}

static double iterate_gradient(const struct aero *a) {
  double rr;
  op_par_loop(OP_KERNEL_FILE("aero_kernels.h", multiply), "multiply", a->cells,
              op_arg_dat(a->k, -1, OP_ID, 16, "double", OP_READ), corners(a, a->p, 1, OP_READ),
              corners(a, a->v, 1, OP_INC));
  fix_boundary(a, a->v);
  op_par_loop(OP_KERNEL_FILE("aero_kernels.h", product), "product", a->nodes, own(a->p, OP_READ),
              own(a->v, OP_READ), op_arg_global(a->pv, OP_INC));
  op_par_loop(OP_KERNEL_FILE("aero_kernels.h", find_alpha), "find_alpha", a->one,
              op_arg_global(a->rr, OP_READ), op_arg_global(a->pv, OP_RW), op_arg_global(a->alpha, OP_WRITE));
  op_par_loop(OP_KERNEL_FILE("aero_kernels.h", advance), "advance", a->nodes, own(a->p, OP_READ),
              own(a->v, OP_RW), own(a->u, OP_RW), own(a->r, OP_RW), op_arg_global(a->alpha, OP_READ),
              op_arg_global(a->next, OP_INC));
  op_par_loop(OP_KERNEL_FILE("aero_kernels.h", find_beta), "find_beta", a->one, op_arg_global(a->rr, OP_RW),
              op_arg_global(a->next, OP_RW), op_arg_global(a->beta, OP_WRITE));
  op_get_gbl(a->rr, &rr); /* the next loop can wait for the next iteration */
  op_par_loop(OP_KERNEL_FILE("aero_kernels.h", turn), "turn", a->nodes, own(a->r, OP_READ), own(a->p, OP_RW),
              op_arg_global(a->beta, OP_READ));
  return rr;
}

/* The correction u from the residual, which is where conjugate gradients would begin, too. */
static int solve_by_matrix(const struct aero *a) {
  const long long before = op_counters()->iterations;
  op_solve(a->matrix, a->p, a->u, "aero_");
  return (int)(op_counters()->iterations - before);
}

/* Newton steps until the residual is below 1e-11, each by conjugate gradients that shrink it by 1e-8. */
static struct history solve(const struct aero *a, int most_iterations) {
  struct history history = {0};
  const double nodes = (double)op_get_global_size(a->nodes);
  while (history.steps < MOST_STEPS) {
    int iterations = 0;
    double rr = linearise(a), enough = rr * 1e-8 * 1e-8;
    history.residual[history.steps++] = sqrt(rr / nodes);
    if (sqrt(rr / nodes) <= 1e-11)
      break;
    if (a->matrix)
      iterations = solve_by_matrix(a);
    for (; !a->matrix && rr > enough && iterations < most_iterations; iterations++)
      rr = iterate_gradient(a);
    history.iterations[history.steps - 1] = iterations;
    op_par_loop(OP_KERNEL_FILE("aero_kernels.h", correct), "correct", a->nodes, own(a->u, OP_READ),
                own(a->phi, OP_RW));
  }
  return history;
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

/* Solve on n x n elements; returns the largest error. */
static double run(int n, const char *vtk, int by_matrix) {
  struct aero_mesh mesh = aero_mesh_make(n);
  double *phi = aero_start(&mesh), error = 0;
  struct aero a = declare(&mesh, phi, by_matrix);
  const struct history history = solve(&a, 100 * n);
  op_fetch_data(a.phi, phi);
  for (int i = 0; op_is_root() && i < mesh.nodes; i++)
    error = larger(error, fabs(phi[i] - aero_potential(mesh.x[2 * i], mesh.x[2 * i + 1])));
  op_printf("%d elements, %d nodes:\n  step      residual  iterations of conjugate gradients\n", mesh.cells,
            mesh.nodes);
  for (int i = 0; i < history.steps; i++)
    op_printf("  %4d  %12.5e  %d\n", i, history.residual[i], history.iterations[i]);
  expect("residual after the last step", history.residual[history.steps - 1], 1e-11);
  const op_dat shown[] = {a.x, a.phi};
  if (vtk)
    op_write_vtk(vtk, -1, 2, shown);
  free(phi);
  aero_mesh_free(&mesh);
  return error;
}

int main(int argc, char **argv) {
  int n = 64, by_matrix = 0;
  const char *vtk = NULL;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--matrix")) {
      by_matrix = 1;
      continue;
    }
    if (!strcmp(argv[a], "--n"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--vtk"))
      vtk = value;
    else
      n = 0;
    a++;
  }
  if (n < 4 || n % 2 || n > 10000) {
    fprintf(stderr, "usage: aero [--n EVEN] [--vtk NAME] [--matrix]\n");
    return 2;
  }
  setenv("PETSC_OPTIONS", "-aero_ksp_type cg -aero_pc_type gamg -aero_ksp_rtol 1e-8", 0); /* arguments win */
  if (op_init(argc, argv, 1))
    return 1;
  op_decl_const("mach2", 1, "double", &mach2);
  op_decl_const("gm1", 1, "double", &gm1);
  op_decl_const("amplitude", 1, "double", &amplitude);
  const double coarse = run(n / 2, NULL, by_matrix), fine = run(n, vtk, by_matrix);
  op_printf("largest error: %.6e on %d x %d elements, %.6e on %d x %d\n", coarse, n / 2, n / 2, fine, n, n);
  if (op_is_root())
    expect("order of convergence, from two", fabs(log2(coarse / fine) - 2), 0.2);
  op_printf("aero: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
