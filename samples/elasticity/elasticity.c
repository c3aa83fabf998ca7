/* A plate that is held at its edges and pulled inside: plane elasticity by linear functions on triangles. Each node has two
 * displacements, so that the matrix is of blocks of 2 x 2; multigrid is told the rigid motions, without which it takes
 * half as many iterations more. The solution is known; its error must fall by four when the edges are halved, and the
 * number of iterations must hardly grow. Needs PETSc's headers: compile with those of PETSc and its MPI. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <petscksp.h>

#include <op2jit_petsc.h>

/* Both of Lame's numbers are 1. The displacements are s = sin(pi x) sin(pi y), both, and the force follows. */
OP_KERNEL_DEF(
    assemble, void assemble(const double *x[3], double *k, double *b[3]) {
      const double pi = 3.14159265358979323846;
      double g[3][2];
      for (int i = 0; i < 3; i++) {
        g[i][0] = x[(i + 1) % 3][1] - x[(i + 2) % 3][1];
        g[i][1] = x[(i + 2) % 3][0] - x[(i + 1) % 3][0];
      }
      double twice = g[1][0] * g[2][1] - g[2][0] * g[1][1];
      for (int i = 0; i < 3; i++) {
        double s = sin(pi * x[i][0]) * sin(pi * x[i][1]), c = cos(pi * x[i][0]) * cos(pi * x[i][1]);
        for (int d = 0; d < 2; d++)
          b[i][d] += twice / 6 * 2 * pi * pi * (2 * s - c);
        for (int j = 0; j < 3; j++) {
          double dot = g[i][0] * g[j][0] + g[i][1] * g[j][1];
          for (int d = 0; d < 2; d++)
            for (int e = 0; e < 2; e++)
              k[6 * (2 * i + d) + 2 * j + e] =
                  (g[i][d] * g[j][e] + g[i][e] * g[j][d] + (d == e ? dot : 0)) / (2 * twice);
        }
      }
    })
OP_KERNEL_DEF(
    fix_edges, void fix_edges(const int *fixed, double *b) {
      for (int d = 0; d < 2; d++)
        if (fixed[d])
          b[d] = 0;
    })
OP_KERNEL_DEF(
    compare, void compare(const double *x, const double *u, double *error) {
      const double pi = 3.14159265358979323846;
      for (int d = 0; d < 2; d++) {
        double e = fabs(u[d] - sin(pi * x[0]) * sin(pi * x[1]));
        *error = *error >= e ? *error : e; /* a NaN stays */
      }
    })

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

struct plate {
  op_set nodes, cells;
  op_map cell;
  op_dat x, fixed, b, u;
};

static struct plate make_plate(int n) {
  const int nodes = (n + 1) * (n + 1);
  double *x = array(2LL * nodes, sizeof *x);
  int *fixed = array(2LL * nodes, sizeof *fixed), *cell = array(6LL * n * n, sizeof *cell), *next = cell;
  for (int k = 0; k < nodes; k++) {
    const int i = k % (n + 1), j = k / (n + 1);
    x[2 * k] = (double)i / n;
    x[2 * k + 1] = (double)j / n;
    fixed[2 * k] = fixed[2 * k + 1] = i == 0 || i == n || j == 0 || j == n;
    if (i < n && j < n) {
      const int corners[6] = {k, k + 1, k + n + 2, k, k + n + 2, k + n + 1};
      memcpy(next, corners, sizeof corners);
      next += 6;
    }
  }
  struct plate p;
  p.nodes = op_decl_set(here(nodes), "nodes");
  p.cells = op_decl_set(here(2 * n * n), "cells");
  p.cell = op_decl_map(p.cells, p.nodes, 3, cell, "cell");
  p.x = op_decl_dat(p.nodes, 2, "double", x, "x");
  p.fixed = op_decl_dat(p.nodes, 2, "int", fixed, "fixed");
  p.b = op_decl_dat(p.nodes, 2, "double", NULL, "b");
  p.u = op_decl_dat(p.nodes, 2, "double", NULL, "u");
  free(x);
  free(fixed);
  free(cell);
  op_partition("rcb", "", p.cells, NULL, p.x);
  return p;
}

/* Shifts and the rotation, from the coordinates. */
static int tell_motions(const struct plate *p, op_mat mat) {
  MatNullSpace motions;
  const Mat k = op_mat_petsc(mat);
  const Vec x = op_dat_petsc(p->x, OP_READ);
  const int failed = MatNullSpaceCreateRigidBody(x, &motions) || MatSetNearNullSpace(k, motions) ||
                     MatNullSpaceDestroy(&motions);
  op_petsc_end(p->x);
  return failed;
}

struct result {
  double error;
  long long iterations;
};

static struct result run(int n) {
  struct plate p = make_plate(n);
  struct result result = {.iterations = -op_counters()->iterations};
  op_mat k = op_decl_mat(1, &p.cell, &p.cell, 2, 2, "double", "k");
  op_fix_mat(k, p.fixed, p.fixed, 1);
  op_par_loop(OP_KERNEL_OF(assemble), "assemble", p.cells,
              op_arg_dat(p.x, OP_ALL, p.cell, 2, "double", OP_READ),
              op_arg_mat(k, p.cell, p.cell, 2, 2, "double", OP_INC),
              op_arg_dat(p.b, OP_ALL, p.cell, 2, "double", OP_INC));
  op_par_loop(OP_KERNEL_OF(fix_edges), "fix_edges", p.nodes,
              op_arg_dat(p.fixed, -1, OP_ID, 2, "int", OP_READ),
              op_arg_dat(p.b, -1, OP_ID, 2, "double", OP_RW));
  if (tell_motions(&p, k))
    return (struct result){.error = -1};
  op_solve(k, p.b, p.u, "elasticity_"); /* by the same Mat */
  result.iterations += op_counters()->iterations;
  op_par_loop(OP_KERNEL_OF(compare), "compare", p.nodes, op_arg_dat(p.x, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(p.u, -1, OP_ID, 2, "double", OP_READ),
              op_arg_gbl(&result.error, 1, "double", OP_MAX));
  op_printf("%d x %d squares: largest error %.5e, %lld iterations\n", n, n, result.error, result.iterations);
  op_free_mat(k);
  return result;
}

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double value, double least, double most) {
  const int holds = value >= least && value <= most;
  op_printf("  %-46s %8.3f, from %g to %g: %s\n", what, value, least, most, holds ? "yes" : "NO");
  failures += !holds;
}

int main(int argc, char **argv) {
  int n = 64;
  for (int a = 1; a + 1 < argc; a++) /* the rest is the library's and PETSc's */
    if (!strcmp(argv[a], "--n"))
      n = atoi(argv[a + 1]);
  if (n < 4 || n % 2 || n > 4000) {
    fprintf(stderr, "usage: elasticity [--n EVEN] [-elasticity_OPTION ...]\n");
    return 2;
  }
  setenv("PETSC_OPTIONS", "-elasticity_ksp_type cg -elasticity_pc_type gamg -elasticity_ksp_rtol 1e-9",
         0); /* arguments win */
  if (op_init(argc, argv, 1))
    return 1;
  const struct result coarse = run(n / 2), fine = run(n);
  expect("order of convergence", log2(coarse.error / fine.error), 1.8, 2.2);
  expect("iterations, the fine mesh's by the coarse's", (double)fine.iterations / (double)coarse.iterations,
         0, 1.7);
  op_printf("elasticity: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
