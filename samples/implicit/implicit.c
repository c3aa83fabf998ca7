/* The heat equation u_t = laplace u on a unit square with edges at zero, by implicit steps on triangles: the trapezoidal
 * rule, (M + dt/2 K) new = (M - dt/2 K) u. The matrix on the left is made once, and what PETSc has set up for it (op_solve)
 * serves all steps; the right-hand side needs no matrix. The solution is known; its error must fall by four when edges and
 * steps are halved. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double half_step; /* dt / 2 */

/* Linear functions on a triangle: its mass is area / 12 (1 + same), and its stiffness the product of slopes. */
OP_KERNEL_DEF(
    make_left, void make_left(const double *x[3], double *k) {
      double a[3], b[3];
      for (int i = 0; i < 3; i++) {
        a[i] = x[(i + 1) % 3][1] - x[(i + 2) % 3][1];
        b[i] = x[(i + 2) % 3][0] - x[(i + 1) % 3][0];
      }
      double twice = a[1] * b[2] - a[2] * b[1];
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          k[3 * i + j] = twice / 24 * (1 + (i == j)) + half_step * (a[i] * a[j] + b[i] * b[j]) / (2 * twice);
    })
OP_KERNEL_DEF(
    make_right, void make_right(const double *x[3], const double *u[3], double *right[3]) {
      double a[3], b[3], da = 0, db = 0, sum = 0;
      for (int i = 0; i < 3; i++) {
        a[i] = x[(i + 1) % 3][1] - x[(i + 2) % 3][1];
        b[i] = x[(i + 2) % 3][0] - x[(i + 1) % 3][0];
        da += a[i] * u[i][0];
        db += b[i] * u[i][0];
        sum += u[i][0];
      }
      double twice = a[1] * b[2] - a[2] * b[1];
      for (int i = 0; i < 3; i++)
        right[i][0] += twice / 24 * (sum + u[i][0]) - half_step * (a[i] * da + b[i] * db) / (2 * twice);
    })
OP_KERNEL_DEF(
    clear, void clear(double *right) { *right = 0; })
OP_KERNEL_DEF(
    fix_edges, void fix_edges(const int *fixed, double *right) {
      if (*fixed)
        *right = 0;
    })
OP_KERNEL_DEF(
    compare, void compare(const double *x, const double *u, const double *decay, double *error) {
      double pi = 3.14159265358979323846;
      double e = fabs(*u - *decay * sin(pi * x[0]) * sin(pi * x[1]));
      *error = *error >= e ? *error : e; /* a NaN stays */
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
  op_dat x, fixed, u, right;
};

static struct plate make_plate(int n) {
  const int nodes = (n + 1) * (n + 1);
  double *x = array(2LL * nodes, sizeof *x), *u = array(nodes, sizeof *u);
  int *fixed = array(nodes, sizeof *fixed), *cell = array(6LL * n * n, sizeof *cell), *next = cell;
  for (int k = 0; k < nodes; k++) {
    const int i = k % (n + 1), j = k / (n + 1);
    x[2 * k] = (double)i / n;
    x[2 * k + 1] = (double)j / n;
    fixed[k] = i == 0 || i == n || j == 0 || j == n;
    u[k] = fixed[k] ? 0 : sin(M_PI * x[2 * k]) * sin(M_PI * x[2 * k + 1]);
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
  p.fixed = op_decl_dat(p.nodes, 1, "int", fixed, "fixed");
  p.u = op_decl_dat(p.nodes, 1, "double", u, "u");
  p.right = op_decl_dat(p.nodes, 1, "double", NULL, "right");
  free(x);
  free(u);
  free(fixed);
  free(cell);
  op_partition("rcb", "", p.cells, NULL, p.x);
  return p;
}

static op_arg own(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static op_arg corners(const struct plate *p, op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, OP_ALL, p->cell, dim, "double", access);
}

static void make_step(const struct plate *p, op_mat left) {
  op_par_loop(OP_KERNEL_OF(clear), "clear", p->nodes, own(p->right, 1, OP_WRITE));
  op_par_loop(OP_KERNEL_OF(make_right), "make_right", p->cells, corners(p, p->x, 2, OP_READ),
              corners(p, p->u, 1, OP_READ), corners(p, p->right, 1, OP_INC));
  op_par_loop(OP_KERNEL_OF(fix_edges), "fix_edges", p->nodes,
              op_arg_dat(p->fixed, -1, OP_ID, 1, "int", OP_READ), own(p->right, 1, OP_RW));
  op_solve(left, p->right, p->u, "implicit_");
}

/* To time 0.1 on n x n squares of two triangles; returns the largest error. */
static double run(int n) {
  const double end = 0.1;
  const int steps = n;
  struct plate p = make_plate(n);
  half_step = end / steps / 2;
  op_update_const("half_step", &half_step);
  op_mat left = op_decl_mat(1, &p.cell, &p.cell, 1, 1, "double", "left");
  op_fix_mat(left, p.fixed, p.fixed, 1);
  op_par_loop(OP_KERNEL_OF(make_left), "make_left", p.cells, corners(&p, p.x, 2, OP_READ),
              op_arg_mat(left, p.cell, p.cell, 1, 1, "double", OP_INC));
  for (int s = 0; s < steps; s++)
    make_step(&p, left);
  double error = 0, decay = exp(-2 * M_PI * M_PI * end);
  op_par_loop(OP_KERNEL_OF(compare), "compare", p.nodes, own(p.x, 2, OP_READ), own(p.u, 1, OP_READ),
              op_arg_gbl(&decay, 1, "double", OP_READ), op_arg_gbl(&error, 1, "double", OP_MAX));
  op_printf("%d x %d squares, %d steps: largest error %.5e, %lld iterations so far\n", n, n, steps, error,
            op_counters()->iterations);
  op_free_mat(left);
  return error;
}

int main(int argc, char **argv) {
  int n = 32;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strncmp(argv[a], "-implicit_", 10)) {
      a += *value && *value != '-' && strncmp(value, "OP2_", 4); /* for PETSc */
      continue;
    }
    n = strcmp(argv[a], "--n") ? 0 : atoi(value);
    a++;
  }
  if (n < 4 || n % 2 || n > 4000) {
    fprintf(stderr, "usage: implicit [--n EVEN] [-implicit_OPTION ...]\n");
    return 2;
  }
  setenv("PETSC_OPTIONS", "-implicit_ksp_type cg -implicit_pc_type jacobi -implicit_ksp_rtol 1e-10",
         0); /* arguments win */
  if (op_init(argc, argv, 1))
    return 1;
  op_decl_const("half_step", 1, "double", &half_step);
  const double coarse = run(n / 2), fine = run(n), order = log2(coarse / fine);
  const int holds = order > 1.8 && order < 2.2;
  op_printf("order of convergence: %.3f, from 1.8 to 2.2: %s\n", order, holds ? "yes" : "NO");
  op_printf("implicit: %s\n", holds ? "PASSED" : "FAILED");
  return op_exit() || !holds;
}
