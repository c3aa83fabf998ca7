/* Poisson's equation on tetrahedra, by a matrix and PETSc's solvers: u is given on the four walls of a cube, and its flow
 * through the floor and the ceiling. A loop over tetrahedra makes the matrix and the right-hand side, and op_solve
 * solves: by conjugate gradients with multigrid, unless options say something else (-poisson_ksp_type,
 * -poisson_pc_type). The solution is known; its error must fall by four when the edges are halved, and the number of
 * iterations must hardly grow. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "poisson_kernels.h"

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

/* ---- the mesh: cubes of six tetrahedra each -----------------------------------------------------*/

struct mesh {
  int n, nodes, cells, faces;
  double *x;        /* nodes x 3 */
  int *cell, *face; /* cells x 4, faces x 3: their nodes */
  int *fixed;       /* nodes: 1 on the four walls */
};

static int node_at(int n, int i, int j, int k) {
  return i + (n + 1) * (j + (n + 1) * k);
}

/* The way from a cube's first corner to its last leads along its edges in six ways. */
static void add_cube(struct mesh *m, int i, int j, int k) {
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int o = 0; o < 6; o++) {
    int at[3] = {i, j, k}, *cell = m->cell + 4 * m->cells++;
    cell[0] = node_at(m->n, at[0], at[1], at[2]);
    for (int step = 0; step < 3; step++) {
      at[orders[o][step]]++;
      cell[step + 1] = node_at(m->n, at[0], at[1], at[2]);
    }
  }
}

static void add_flat(struct mesh *m, int i, int j, int k) {
  const int corners[2][3] = {
      {node_at(m->n, i, j, k), node_at(m->n, i + 1, j, k), node_at(m->n, i + 1, j + 1, k)},
      {node_at(m->n, i, j, k), node_at(m->n, i, j + 1, k), node_at(m->n, i + 1, j + 1, k)}};
  memcpy(m->face + 3 * m->faces, corners, sizeof corners);
  m->faces += 2;
}

static struct mesh make_mesh(int n) {
  const long long cubes = (long long)n * n * n;
  struct mesh m = {.n = n, .nodes = (n + 1) * (n + 1) * (n + 1)};
  m.x = array(3LL * m.nodes, sizeof *m.x);
  m.fixed = array(m.nodes, sizeof *m.fixed);
  m.cell = array(24 * cubes, sizeof *m.cell);
  m.face = array(12LL * n * n, sizeof *m.face);
  for (int k = 0; k <= n; k++)
    for (int j = 0; j <= n; j++)
      for (int i = 0; i <= n; i++) {
        const int node = node_at(n, i, j, k);
        m.x[3 * node] = (double)i / n;
        m.x[3 * node + 1] = (double)j / n;
        m.x[3 * node + 2] = (double)k / n;
        m.fixed[node] = i == 0 || i == n || j == 0 || j == n;
        if (i < n && j < n && k < n)
          add_cube(&m, i, j, k);
        if (i < n && j < n && (k == 0 || k == n))
          add_flat(&m, i, j, k);
      }
  return m;
}

static void free_mesh(struct mesh *m) {
  free(m->x);
  free(m->fixed);
  free(m->cell);
  free(m->face);
}

/* ---- solving ----------------------------------------------------------------------------------*/

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static int here(int size) {
  return op_is_root() ? size : 0;
}

struct result {
  double error;
  long long iterations;
};

static struct result solve(int n, const char *vtk) {
  struct mesh m = make_mesh(n);
  struct result result = {0};
  op_set nodes = op_decl_set(here(m.nodes), "nodes"), cells = op_decl_set(here(m.cells), "cells");
  op_set faces = op_decl_set(here(m.faces), "faces");
  op_map cell = op_decl_map(cells, nodes, 4, m.cell, "cell"),
         face = op_decl_map(faces, nodes, 3, m.face, "face");
  op_dat x = op_decl_dat(nodes, 3, "double", m.x, "x"),
         fixed = op_decl_dat(nodes, 1, "int", m.fixed, "fixed");
  op_dat given = op_decl_dat(nodes, 1, "double", NULL, "given"),
         b = op_decl_dat(nodes, 1, "double", NULL, "b");
  op_dat u = op_decl_dat(nodes, 1, "double", NULL, "u");
  free_mesh(&m);
  op_partition("rcb", "", cells, NULL, x);

  op_par_loop(OP_KERNEL_FILE("poisson_kernels.h", start), "start", nodes,
              op_arg_dat(x, -1, OP_ID, 3, "double", OP_READ), op_arg_dat(fixed, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(given, -1, OP_ID, 1, "double", OP_WRITE),
              op_arg_dat(b, -1, OP_ID, 1, "double", OP_WRITE),
              op_arg_dat(u, -1, OP_ID, 1, "double", OP_WRITE));
  op_mat k = op_decl_mat(1, &cell, &cell, 1, 1, "double", "k");
  op_fix_mat(k, fixed, fixed, 1);
  op_par_loop(OP_KERNEL_FILE("poisson_kernels.h", assemble), "assemble", cells,
              op_arg_dat(x, OP_ALL, cell, 3, "double", OP_READ),
              op_arg_dat(given, OP_ALL, cell, 1, "double", OP_READ),
              op_arg_mat(k, cell, cell, 1, 1, "double", OP_INC),
              op_arg_dat(b, OP_ALL, cell, 1, "double", OP_INC));
  op_par_loop(OP_KERNEL_FILE("poisson_kernels.h", flow), "flow", faces,
              op_arg_dat(x, OP_ALL, face, 3, "double", OP_READ),
              op_arg_dat(b, OP_ALL, face, 1, "double", OP_INC));
  op_par_loop(OP_KERNEL_FILE("poisson_kernels.h", put_given), "put_given", nodes,
              op_arg_dat(fixed, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(given, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(b, -1, OP_ID, 1, "double", OP_RW));
  result.iterations = op_counters()->iterations;
  op_solve(k, b, u, "poisson_");
  result.iterations = op_counters()->iterations - result.iterations;
  op_par_loop(OP_KERNEL_FILE("poisson_kernels.h", compare), "compare", nodes,
              op_arg_dat(x, -1, OP_ID, 3, "double", OP_READ), op_arg_dat(u, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&result.error, 1, "double", OP_MAX));
  op_printf("%d tetrahedra, %d nodes: largest error %.5e, %lld iterations\n", 6 * n * n * n,
            (n + 1) * (n + 1) * (n + 1), result.error, result.iterations);
  if (vtk)
    op_write_vtk(vtk, -1, 2, (const op_dat[]){x, u});
  op_free_mat(k);
  return result;
}

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double value, double least, double most) {
  const int holds = value >= least && value <= most;
  op_printf("  %-40s %8.3f, from %g to %g: %s\n", what, value, least, most, holds ? "yes" : "NO");
  failures += !holds;
}

int main(int argc, char **argv) {
  int n = 16;
  const char *vtk = NULL;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strncmp(argv[a], "-poisson_", 9)) {
      a += *value && *value != '-' && strncmp(value, "OP2_", 4); /* for PETSc */
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
  if (n < 4 || n % 2 || n > 400) {
    fprintf(stderr, "usage: poisson [--n EVEN] [--vtk NAME] [-poisson_OPTION ...]\n");
    return 2;
  }
  setenv("PETSC_OPTIONS", "-poisson_ksp_type cg -poisson_pc_type gamg -poisson_ksp_rtol 1e-9",
         0); /* arguments win */
  if (op_init(argc, argv, 1))
    return 1;
  const struct result coarse = solve(n / 2, NULL), fine = solve(n, vtk);
  expect("order of convergence", log2(coarse.error / fine.error), 1.8, 2.2);
  expect("iterations, the fine mesh's by the coarse's", (double)fine.iterations / (double)coarse.iterations,
         0, 1.7);
  op_printf("poisson: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
