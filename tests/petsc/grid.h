/* A grid of nodes with edges between neighbours, whose matrix is the sum of w (1 -1; -1 1) over edges, with the rows and columns of
 * the outer nodes fixed. The first rank declares all of it. */
#ifndef OP2JIT_TESTS_PETSC_GRID_H
#define OP2JIT_TESTS_PETSC_GRID_H

#include "../mpi/check.h"

struct grid {
  int side, nodes, edges;
  op_set node_set, edge_set;
  op_map ends;
  op_dat at, fixed, weight, b, x, y;
  op_mat k;
};

OP_KERNEL_DEF(
    edge_matrix, void edge_matrix(const double *w, double *k) {
      k[0] = k[3] = *w;
      k[1] = k[2] = -*w;
    })
OP_KERNEL_DEF(
    zero, void zero(double *y) { *y = 0; })
OP_KERNEL_DEF(
    multiply, void multiply(const double *w, const int *fixed[2], const double *x[2], double *y[2]) {
      double a = *fixed[0] ? 0 : *x[0];
      double b = *fixed[1] ? 0 : *x[1];
      *y[0] += *fixed[0] ? 0 : *w * (a - b);
      *y[1] += *fixed[1] ? 0 : *w * (b - a);
    })
OP_KERNEL_DEF(
    keep_fixed, void keep_fixed(const int *fixed, const double *x, double *y) {
      if (*fixed)
        *y = *x;
    })

static void *memory(size_t count, size_t size) {
  void *made = calloc(count + 1, size);
  if (!made)
    abort();
  return made;
}

static struct grid grid_make(int side) {
  struct grid g = {.side = side, .nodes = (side + 1) * (side + 1), .edges = 2 * side * (side + 1)};
  double *at = memory(2 * (size_t)g.nodes, sizeof *at), *w = memory((size_t)g.edges, sizeof *w),
         *b = memory((size_t)g.nodes, sizeof *b);
  int *fixed = memory((size_t)g.nodes, sizeof *fixed), *ends = memory(2 * (size_t)g.edges, sizeof *ends),
      edges = 0;
  for (int n = 0; n < g.nodes; n++) {
    const int i = n % (side + 1), j = n / (side + 1);
    at[2 * n] = i;
    at[2 * n + 1] = j;
    fixed[n] = i == 0 || j == 0 || i == side || j == side;
    b[n] = fixed[n] ? 0 : 1 + (n * 7919 % 101) / 101.0;
    for (int d = 0; d < 2; d++)
      if ((d ? j : i) < side) {
        ends[2 * edges] = n;
        ends[2 * edges + 1] = n + (d ? side + 1 : 1);
        w[edges] = 1 + (edges * 31 % 17) / 17.0;
        edges++;
      }
  }
  const int here = op_is_root();
  g.node_set = op_decl_set(here * g.nodes, "nodes");
  g.edge_set = op_decl_set(here * g.edges, "edges");
  g.ends = op_decl_map(g.edge_set, g.node_set, 2, ends, "ends");
  g.at = op_decl_dat(g.node_set, 2, "double", at, "at");
  g.fixed = op_decl_dat(g.node_set, 1, "int", fixed, "fixed");
  g.weight = op_decl_dat(g.edge_set, 1, "double", w, "weight");
  g.b = op_decl_dat(g.node_set, 1, "double", b, "b");
  g.x = op_decl_dat(g.node_set, 1, "double", NULL, "x");
  g.y = op_decl_dat(g.node_set, 1, "double", NULL, "y");
  g.k = op_decl_mat(1, &g.ends, &g.ends, 1, 1, "double", "k");
  free(at);
  free(w);
  free(b);
  free(fixed);
  free(ends);
  return g;
}

static int grid_assemble(const struct grid *g) {
  return op_par_loop(OP_KERNEL_OF(edge_matrix), "edge_matrix", g->edge_set,
                     op_arg_dat(g->weight, -1, OP_ID, 1, "double", OP_READ),
                     op_arg_mat(g->k, g->ends, g->ends, 1, 1, "double", OP_INC));
}

/* y = K x without the matrix. */
static inline int grid_multiply(void *user) {
  const struct grid *g = user;
  int code = op_par_loop(OP_KERNEL_OF(zero), "zero", g->node_set,
                         op_arg_dat(g->y, -1, OP_ID, 1, "double", OP_WRITE));
  if (!code)
    code = op_par_loop(OP_KERNEL_OF(multiply), "multiply", g->edge_set,
                       op_arg_dat(g->weight, -1, OP_ID, 1, "double", OP_READ),
                       op_arg_dat(g->fixed, OP_ALL, g->ends, 1, "int", OP_READ),
                       op_arg_dat(g->x, OP_ALL, g->ends, 1, "double", OP_READ),
                       op_arg_dat(g->y, OP_ALL, g->ends, 1, "double", OP_INC));
  if (!code)
    code = op_par_loop(OP_KERNEL_OF(keep_fixed), "keep_fixed", g->node_set,
                       op_arg_dat(g->fixed, -1, OP_ID, 1, "int", OP_READ),
                       op_arg_dat(g->x, -1, OP_ID, 1, "double", OP_READ),
                       op_arg_dat(g->y, -1, OP_ID, 1, "double", OP_RW));
  return code;
}

#endif
