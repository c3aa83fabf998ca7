/* The load of a large flow solver: seven variables on the nodes of a three-dimensional mesh and their
 * gradients, seven by three, at both ends of every edge, so that the flux loop touches eighty-one values per
 * edge. Reconstructed states, a flux with smoothing, and diffusion with the mean gradient corrected along
 * the edge. Checked by what must hold exactly: gradients of a linear field, no residual in uniform flow,
 * nothing lost between nodes, a boundary that keeps its state. box.c makes the mesh. */
#include "box.h"

#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double gam = BOX_GAMMA, viscosity = BOX_VISCOSITY;

#include "airfoil_hydra_kernels.h"

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static int here(int size) {
  return op_is_root() ? size : 0;
}

struct hydra {
  op_set nodes, edges, boundary;
  op_map edge_nodes, boundary_node;
  op_dat x, volume, normal, boundary_normal, q, grad, res;
};

static struct hydra declare(const struct box *box) {
  struct hydra h;
  h.nodes = op_decl_set(here(box->nodes), "nodes");
  h.edges = op_decl_set(here(box->edges), "edges");
  h.boundary = op_decl_set(here(box->boundary), "boundary");
  h.edge_nodes = op_decl_map(h.edges, h.nodes, 2, box->edge_nodes, "edge_nodes");
  h.boundary_node = op_decl_map(h.boundary, h.nodes, 1, box->boundary_node, "boundary_node");
  h.x = op_decl_dat(h.nodes, 3, "double", box->x, "x");
  h.volume = op_decl_dat(h.nodes, 1, "double", box->volume, "volume");
  h.normal = op_decl_dat(h.edges, 3, "double", box->normal, "normal");
  h.boundary_normal = op_decl_dat(h.boundary, 3, "double", box->boundary_normal, "boundary_normal");
  h.q = op_decl_dat(h.nodes, VARIABLES, "double", NULL, "q");
  h.grad = op_decl_dat(h.nodes, GRADIENTS, "double", NULL, "grad");
  h.res = op_decl_dat(h.nodes, VARIABLES, "double", NULL, "res");
  op_partition("block", "", h.nodes, NULL, NULL);
  return h;
}

static op_arg own(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static op_arg end_of_edge(const struct hydra *h, op_dat dat, int end, int dim, op_access access) {
  return op_arg_dat(dat, end, h->edge_nodes, dim, "double", access);
}

static void find_gradients(const struct hydra *h) {
  op_par_loop(OP_KERNEL_FILE("airfoil_hydra_kernels.h", gradient), "gradient", h->edges,
              own(h->normal, 3, OP_READ), end_of_edge(h, h->q, 0, VARIABLES, OP_READ),
              end_of_edge(h, h->q, 1, VARIABLES, OP_READ), end_of_edge(h, h->grad, 0, GRADIENTS, OP_INC),
              end_of_edge(h, h->grad, 1, GRADIENTS, OP_INC));
  op_par_loop(OP_KERNEL_FILE("airfoil_hydra_kernels.h", close_gradient), "close_gradient", h->boundary,
              own(h->boundary_normal, 3, OP_READ),
              op_arg_dat(h->q, 0, h->boundary_node, VARIABLES, "double", OP_READ),
              op_arg_dat(h->grad, 0, h->boundary_node, GRADIENTS, "double", OP_INC));
  op_par_loop(OP_KERNEL_FILE("airfoil_hydra_kernels.h", divide), "divide", h->nodes,
              own(h->volume, 1, OP_READ), own(h->grad, GRADIENTS, OP_RW));
}

/* Gradients and fluxes; returns the sum of all residuals, over the sum of their sizes. */
static double find_residual(const struct hydra *h) {
  double sum = 0, size = 0;
  find_gradients(h);
  op_par_loop(OP_KERNEL_FILE("airfoil_hydra_kernels.h", flux), "flux", h->edges,
              end_of_edge(h, h->x, 0, 3, OP_READ), end_of_edge(h, h->x, 1, 3, OP_READ),
              own(h->normal, 3, OP_READ), end_of_edge(h, h->volume, 0, 1, OP_READ),
              end_of_edge(h, h->volume, 1, 1, OP_READ), end_of_edge(h, h->q, 0, VARIABLES, OP_READ),
              end_of_edge(h, h->q, 1, VARIABLES, OP_READ), end_of_edge(h, h->grad, 0, GRADIENTS, OP_READ),
              end_of_edge(h, h->grad, 1, GRADIENTS, OP_READ), end_of_edge(h, h->res, 0, VARIABLES, OP_INC),
              end_of_edge(h, h->res, 1, VARIABLES, OP_INC));
  op_par_loop(OP_KERNEL_FILE("airfoil_hydra_kernels.h", total), "total", h->nodes,
              own(h->res, VARIABLES, OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC),
              op_arg_gbl(&size, 1, "double", OP_INC));
  return fabs(sum) / size;
}

/* Returns the norm of the residual of the inner nodes; those on the boundary keep their state. */
static double advance_by(const struct hydra *h, double dt) {
  double sum = 0;
  op_par_loop(OP_KERNEL_FILE("airfoil_hydra_kernels.h", hold), "hold", h->boundary,
              op_arg_dat(h->res, 0, h->boundary_node, VARIABLES, "double", OP_WRITE));
  op_par_loop(OP_KERNEL_FILE("airfoil_hydra_kernels.h", advance), "advance", h->nodes,
              own(h->volume, 1, OP_READ), op_arg_gbl(&dt, 1, "double", OP_READ), own(h->q, VARIABLES, OP_RW),
              own(h->res, VARIABLES, OP_RW), own(h->grad, GRADIENTS, OP_WRITE),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  return sqrt(sum);
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

/* Inside, the gradient of a linear field is found exactly. */
static void check_gradients(const struct box *box, const struct hydra *h, double *q, double *grad) {
  double worst = 0;
  for (int k = 0; k < VARIABLES * box->nodes; k++) {
    const double *x = box->x + 3 * (k / VARIABLES);
    int v = k % VARIABLES;
    q[k] = 2 + v + (v + 1) * x[0] - 0.5 * v * x[1] + 3 * x[2];
  }
  op_put_data(h->q, q);
  find_gradients(h);
  op_fetch_data(h->grad, grad);
  for (int node = 0; op_is_root() && node < box->nodes; node++) {
    for (int v = 0; v < VARIABLES && box_inside(box, node); v++) {
      const double exact[3] = {v + 1, -0.5 * v, 3};
      for (int d = 0; d < 3; d++)
        worst = larger(worst, fabs(grad[GRADIENTS * node + 3 * v + d] - exact[d]));
    }
  }
  expect("gradients of a linear field", worst, 1e-13 * box->n * 10);
  advance_by(h, 0); /* clears the gradients */
}

static void check_uniform(const struct box *box, const struct hydra *h, double *q) {
  const double area = 1.0 / ((box->n - 1.0) * (box->n - 1.0));
  box_state(box, 0, q);
  op_put_data(h->q, q);
  find_residual(h);
  expect("residual in uniform flow, over the area of a face", advance_by(h, 0) / (area * sqrt(box->nodes)),
         1e-13);
}

static void run(int n, int iterations, double step) {
  struct box box = box_make(n);
  double *q = calloc((size_t)(2 * VARIABLES + GRADIENTS) * (size_t)box.nodes, sizeof *q), leak = 0, first = 0,
         last = 0;
  if (!q)
    exit(1);
  double *end = q + (size_t)VARIABLES * (size_t)box.nodes,
         *grad = end + (size_t)VARIABLES * (size_t)box.nodes;
  struct hydra hydra = declare(&box);
  check_gradients(&box, &hydra, q, grad);
  check_uniform(&box, &hydra, q);
  box_state(&box, 0.05, q);
  op_put_data(hydra.q, q);
  for (int i = 0; i < iterations; i++) {
    leak = larger(leak, find_residual(&hydra));
    last = advance_by(&hydra, step / (n - 1));
    if (i == 0)
      first = last;
  }
  op_fetch_data(hydra.q, end);
  op_printf("%d nodes, %d edges, %d iterations: norm of the residual from %.6e to %.6e\n", box.nodes,
            box.edges, iterations, first, last);
  int moved_boundary = 0, moved = 0;
  for (int k = 0; op_is_root() && k < VARIABLES * box.nodes; k++) {
    const int changed = q[k] != end[k];
    moved_boundary += changed && !box_inside(&box, k / VARIABLES);
    moved += changed;
  }
  expect("sum of all residuals, over the sum of their sizes", leak, 1e-13);
  expect("growth of the residual (a shorter --step if not)", last / first, 2);
  expect("values on the boundary that changed", moved_boundary, 0);
  if (op_is_root() && step > 0)
    expect("the share of values inside that stayed", 1 - (double)moved / (VARIABLES * pow(n - 2, 3)), 0.5);
  free(q);
  box_free(&box);
}

int main(int argc, char **argv) {
  int n = 24, iterations = 20;
  double step = 0.1;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--n"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--iters"))
      iterations = atoi(value);
    else if (!strcmp(argv[a], "--step"))
      step = atof(value);
    else
      n = 0;
    a++;
  }
  if (n < 3 || n > 400 || iterations < 1 || !(step >= 0)) {
    fprintf(stderr,
            "usage: airfoil_hydra [--n NODES-ON-A-SIDE] [--iters N] [--step TIME-STEP-OVER-DISTANCE]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("viscosity", 1, "double", &viscosity);
  run(n, iterations, step);
  op_printf("airfoil_hydra: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
