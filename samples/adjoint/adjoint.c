/* Differentiated loops: the tangent and the adjoint of one iteration of jac, by hand and by the library (a tape), which have
 * to agree. Both are proved by the dot-product test: for any x and y, <y, J x> computed by the tangent equals <J^T y, x>
 * computed by the adjoint. */
#include <math.h>
#include <op2jit_adjoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adjoint_kernels.h"

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static int here(int size) {
  return op_is_root() ? size : 0;
}

/* Numbers from -1 to 1 that depend on `seed` alone. */
static double *noise(long long count, unsigned seed) {
  double *made = array(count, sizeof *made);
  unsigned state = seed * 2654435761u + 12345u;
  for (long long i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    made[i] = (state >> 8) / 8388608.0 - 1;
  }
  return made;
}

/* Where each field's noise starts. */
enum { A = 1, U, R, A_D, U_D, R_D, U_B };

struct jac {
  op_set nodes, edges;
  op_map ends;
  op_dat a, u, r, du;
  op_dat a_d, u_d, r_d, du_d;
  op_dat a_b, u_b, r_b, du_b;
};

static op_dat noise_on(op_set set, unsigned seed, const char *name) {
  double *values = noise(op_get_size(set), seed);
  op_dat dat = op_decl_dat(set, 1, "double", values, name);
  free(values);
  return dat;
}

static op_dat zeros_on(op_set set, const char *name) {
  return op_decl_dat(set, 1, "double", NULL, name);
}

/* The edges of a grid of n x n nodes: a node, and a neighbour that it reads. */
static int *make_ends(int n, int *edge_count) {
  int edges = 0, *ends = array(8LL * n * n, sizeof *ends);
  for (int node = 0; node < n * n; node++) {
    int near[4] = {node >= n ? node - n : -1, node % n ? node - 1 : -1, (node + 1) % n ? node + 1 : -1,
                   node + n < n * n ? node + n : -1};
    for (int k = 0; k < 4; k++) {
      if (near[k] >= 0) {
        ends[2 * edges] = node;
        ends[2 * edges++ + 1] = near[k];
      }
    }
  }
  *edge_count = edges;
  return ends;
}

static struct jac declare(int n, const int *ends, int edges) {
  struct jac j;
  j.nodes = op_decl_set(here(n * n), "nodes");
  j.edges = op_decl_set(here(edges), "edges");
  j.ends = op_decl_map(j.edges, j.nodes, 2, ends, "ends");
  j.a = noise_on(j.edges, A, "a");
  j.u = noise_on(j.nodes, U, "u");
  j.r = noise_on(j.nodes, R, "r");
  j.a_d = noise_on(j.edges, A_D, "a_d");
  j.u_d = noise_on(j.nodes, U_D, "u_d");
  j.r_d = noise_on(j.nodes, R_D, "r_d");
  j.u_b = noise_on(j.nodes, U_B, "u_b");
  j.du = zeros_on(j.nodes, "du");
  j.du_d = zeros_on(j.nodes, "du_d");
  j.a_b = zeros_on(j.edges, "a_b");
  j.r_b = zeros_on(j.nodes, "r_b");
  j.du_b = zeros_on(j.nodes, "du_b");
  op_partition("block", "", j.nodes, NULL, NULL);
  return j;
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static op_arg at(const struct jac *j, op_dat dat, int end, op_access access) {
  return op_arg_dat(dat, end, j->ends, 1, "double", access);
}

/* One iteration by hand at the point moved by h along the tangent direction: the new u, and the sum of the squared
 * changes. */
static double change_at(int n, const int *ends, int edges, double h, double *next) {
  long long nodes = (long long)n * n;
  double *a = noise(edges, A), *a_d = noise(edges, A_D), *u = noise(nodes, U), *u_d = noise(nodes, U_D),
         *r = noise(nodes, R), *r_d = noise(nodes, R_D);
  double change = 0;
  for (int node = 0; node < nodes; node++)
    next[node] = r[node] + h * r_d[node];
  for (int e = 0; e < edges; e++)
    next[ends[2 * e]] += (a[e] + h * a_d[e]) * (u[ends[2 * e + 1]] + h * u_d[ends[2 * e + 1]]);
  for (int node = 0; node < nodes; node++) {
    double step = next[node] - (u[node] + h * u_d[node]);
    change += step * step;
  }
  double *const owned[] = {a, a_d, u, u_d, r, r_d};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
    free(owned[k]);
  return change;
}

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

/* Against differences: of the change, and of the new u at each node, where the largest is of the order of one. */
static void check_tangent(const struct jac *j, int n, const int *ends, int edges, double change_d) {
  const double h = 1e-5;
  const int nodes = n * n;
  double worst = 0;
  double *up = array(nodes, sizeof *up), *down = array(nodes, sizeof *down), *u_d = array(nodes, sizeof *u_d);
  double slope = (change_at(n, ends, edges, h, up) - change_at(n, ends, edges, -h, down)) / (2 * h);
  op_fetch_data(j->u_d, u_d);
  for (int node = 0; node < nodes; node++)
    up[node] = (up[node] - down[node]) / (2 * h);
  expect("tangent against a difference, relative", fabs(change_d - slope) / fabs(slope), 1e-6);
  for (int node = 0; op_is_root() && node < nodes; node++)
    worst = isnan(worst) || fabs(u_d[node] - up[node]) <= worst ? worst : fabs(u_d[node] - up[node]);
  expect("tangent of u against a difference", worst, 1e-8);
  free(up);
  free(down);
  free(u_d);
}

static double dot_of(op_set set, op_dat a, op_dat b) {
  double sum = 0;
  op_par_loop(OP_KERNEL_FILE("adjoint_kernels.h", dot), "dot", set, own(a, OP_READ), own(b, OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  return sum;
}

/* The tangent; returns that of the change. */
static double push_forward(const struct jac *j) {
  double change_d = 0;
  op_par_loop(OP_KERNEL_FILE("adjoint_kernels.h", gather), "gather", j->edges, own(j->a, OP_READ),
              at(j, j->u, 1, OP_READ), at(j, j->du, 0, OP_INC));

  op_par_loop(OP_KERNEL_FILE("adjoint_kernels.h", gather_d), "gather_d", j->edges, own(j->a, OP_READ),
              own(j->a_d, OP_READ), at(j, j->u, 1, OP_READ), at(j, j->u_d, 1, OP_READ),
              at(j, j->du_d, 0, OP_INC));
  op_par_loop(OP_KERNEL_FILE("adjoint_kernels.h", update_d), "update_d", j->nodes, own(j->r_d, OP_READ),
              own(j->r, OP_READ), own(j->du, OP_READ), own(j->du_d, OP_READ), own(j->u, OP_READ),
              own(j->u_d, OP_RW), op_arg_gbl(&change_d, 1, "double", OP_INC));
  return change_d;
}

/* The adjoint of both loops, the last one first. */
static void pull_back(const struct jac *j, double change_b) {
  op_par_loop(OP_KERNEL_FILE("adjoint_kernels.h", update_b), "update_b", j->nodes, own(j->r, OP_READ),
              own(j->r_b, OP_INC), own(j->du, OP_READ), own(j->du_b, OP_WRITE), own(j->u, OP_READ),
              own(j->u_b, OP_RW), op_arg_gbl(&change_b, 1, "double", OP_READ));
  op_par_loop(OP_KERNEL_FILE("adjoint_kernels.h", gather_b), "gather_b", j->edges, own(j->a, OP_READ),
              own(j->a_b, OP_INC), at(j, j->u, 1, OP_READ), at(j, j->u_b, 1, OP_INC),
              at(j, j->du_b, 0, OP_READ));
}

/* ---- the same by the library ---- */

/* The largest difference of two dats. */
static double apart(op_set set, op_dat a, op_dat b) {
  double most = 0;
  op_par_loop(OP_KERNEL_FILE("adjoint_kernels.h", distance), "distance", set, own(a, OP_READ),
              own(b, OP_READ), op_arg_gbl(&most, 1, "double", OP_MAX));
  return most;
}

/* One iteration, as the program would write it. */
static void iterate(const struct jac *j, op_dat u, op_dat du, op_gbl change) {
  op_par_loop(OP_KERNEL_FILE("adjoint_kernels.h", gather), "gather", j->edges, own(j->a, OP_READ),
              at(j, u, 1, OP_READ), at(j, du, 0, OP_INC));
  op_par_loop(OP_KERNEL_FILE("adjoint_kernels.h", update), "update", j->nodes, own(j->r, OP_READ),
              own(du, OP_READ), own(u, OP_RW), op_arg_global(change, OP_INC));
}

/* What the library makes of it, against the bars by hand. */
static void let_the_library(const struct jac *j, const double *seed, double change_b) {
  op_dat u = noise_on(j->nodes, U, "u of the library"), du = zeros_on(j->nodes, "du of the library");
  op_gbl change = op_decl_gbl(1, "double", NULL, "change");
  const op_dat inputs[] = {j->a, j->r, u};
  double difference = 1;
  op_tape tape = op_tape_begin(3, inputs, 0);
  iterate(j, u, du, change);
  op_tape_end(tape);
  op_tape_check(tape, 1, &difference);
  expect("the library's dot-product test", difference, 1e-12);
  op_put_data(op_bar(u), seed);
  op_put_gbl(op_bar_gbl(change), &change_b);
  op_tape_reverse(tape, 1);
  expect("its bars of a against those by hand", apart(j->edges, op_bar(j->a), j->a_b), 1e-12);
  expect("of r", apart(j->nodes, op_bar(j->r), j->r_b), 1e-12);
  expect("of u", apart(j->nodes, op_bar(u), j->u_b), 1e-12);
  op_tape_free(tape);
}

static void run(int n, int by_hand_only) {
  int edges, *ends = make_ends(n, &edges);
  struct jac j = declare(n, ends, edges);
  op_dat start = noise_on(j.nodes, U_D, "u_d at the start"),
         seed = noise_on(j.nodes, U_B, "u_b at the start");
  const double change_d = push_forward(&j), change_b = 0.7;
  check_tangent(&j, n, ends, edges, change_d);
  double forward = dot_of(j.nodes, j.u_d, seed) + change_d * change_b;

  pull_back(&j, change_b);
  double of_u = dot_of(j.nodes, j.u_b, start), of_r = dot_of(j.nodes, j.r_b, j.r_d);
  double of_a = dot_of(j.edges, j.a_b, j.a_d);
  const double backward = of_u + of_r + of_a,
               size = fabs(of_u) + fabs(of_r) + fabs(of_a) + sqrt((double)n * n);
  op_printf("<y, J x> = %.15e, <J^T y, x> = %.15e\n", forward, backward);
  expect("the dot-product test", fabs(forward - backward) / size, 1e-12);
  if (!by_hand_only) {
    double *weights = noise(op_get_size(j.nodes), U_B);
    let_the_library(&j, weights, change_b);
    free(weights);
  }
  free(ends);
}

int main(int argc, char **argv) {
  const char *backend = getenv("OP2_BACKEND");
  int n = 100,
      by_hand_only = backend && !strcmp(backend, "native"); /* which runs functions of the program only */
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strcmp(argv[a], "--by-hand") || !strcmp(argv[a], "OP2_BACKEND=native")) {
      by_hand_only = 1;
      continue;
    }
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--n"))
      n = atoi(value);
    else
      n = 0;
    a++;
  }
  if (n < 2 || n > 10000) {
    fprintf(stderr, "usage: adjoint [--n NODES-ON-A-SIDE] [--by-hand]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  run(n, by_hand_only);
  op_printf("adjoint: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
