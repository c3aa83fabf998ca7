/* A nonlinear equation by PETSc's Newton method: -laplace u = 2 e^u + f on a square with edges at zero, linear functions on
 * triangles (Bratu's problem, with f so that the solution is known). PETSc calls the program for residuals and
 * derivatives; loops work in PETSc's vectors. The error must fall by four when the edges are halved. Needs PETSc's headers:
 * compile with those of PETSc and its MPI. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <petscsnes.h>

#include <op2jit_petsc.h>

/* What a triangle contributes: slopes, and a third of its area at each corner for the rest. */
OP_KERNEL_DEF(
    add_residual, void add_residual(const double *x[3], const double *u[3], double *r[3]) {
      const double pi = 3.14159265358979323846;
      double a[3], b[3], da = 0, db = 0;
      for (int i = 0; i < 3; i++) {
        a[i] = x[(i + 1) % 3][1] - x[(i + 2) % 3][1];
        b[i] = x[(i + 2) % 3][0] - x[(i + 1) % 3][0];
        da += a[i] * u[i][0];
        db += b[i] * u[i][0];
      }
      double twice = a[1] * b[2] - a[2] * b[1];
      for (int i = 0; i < 3; i++) {
        double known = sin(pi * x[i][0]) * sin(pi * x[i][1]);
        double load = 2 * exp(u[i][0]) + 2 * pi * pi * known - 2 * exp(known);
        r[i][0] += (a[i] * da + b[i] * db) / (2 * twice) - twice / 6 * load;
      }
    })
OP_KERNEL_DEF(
    add_derivative, void add_derivative(const double *x[3], const double *u[3], double *k) {
      double a[3], b[3];
      for (int i = 0; i < 3; i++) {
        a[i] = x[(i + 1) % 3][1] - x[(i + 2) % 3][1];
        b[i] = x[(i + 2) % 3][0] - x[(i + 1) % 3][0];
      }
      double twice = a[1] * b[2] - a[2] * b[1];
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          k[3 * i + j] = (a[i] * a[j] + b[i] * b[j]) / (2 * twice) - (i == j ? twice / 3 * exp(u[i][0]) : 0);
    })
OP_KERNEL_DEF(
    clear, void clear(double *r) { *r = 0; })
OP_KERNEL_DEF(
    fix_edges, void fix_edges(const int *fixed, const double *u, double *r) {
      if (*fixed)
        *r = *u;
    })
OP_KERNEL_DEF(
    compare, void compare(const double *x, const double *u, double *error) {
      const double pi = 3.14159265358979323846;
      double e = fabs(*u - sin(pi * x[0]) * sin(pi * x[1]));
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
  op_dat x, fixed, solution, u, r; /* u and r are where PETSc's vectors are */
  op_mat k;
};

static struct plate make_plate(int n) {
  const int nodes = (n + 1) * (n + 1);
  double *x = array(2LL * nodes, sizeof *x);
  int *fixed = array(nodes, sizeof *fixed), *cell = array(6LL * n * n, sizeof *cell), *next = cell;
  for (int k = 0; k < nodes; k++) {
    const int i = k % (n + 1), j = k / (n + 1);
    x[2 * k] = (double)i / n;
    x[2 * k + 1] = (double)j / n;
    fixed[k] = i == 0 || i == n || j == 0 || j == n;
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
  p.solution = op_decl_dat(p.nodes, 1, "double", NULL, "solution");
  p.u = op_decl_dat(p.nodes, 1, "double", NULL, "u");
  p.r = op_decl_dat(p.nodes, 1, "double", NULL, "r");
  free(x);
  free(fixed);
  free(cell);
  op_partition("rcb", "", p.cells, NULL, p.x);
  p.k = op_decl_mat(1, &p.cell, &p.cell, 1, 1, "double", "k");
  op_fix_mat(p.k, p.fixed, p.fixed, 1);
  return p;
}

static op_arg own(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static op_arg corners(const struct plate *p, op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, OP_ALL, p->cell, dim, "double", access);
}

/* ---- what PETSc calls: errors of the library end the program ------------------------------------*/

static PetscErrorCode find_residual(SNES snes, Vec u, Vec r, void *user) {
  const struct plate *p = user;
  (void)snes;
  op_place_petsc(p->u, u, OP_READ);
  op_place_petsc(p->r, r, OP_WRITE);
  op_par_loop(OP_KERNEL_OF(clear), "clear", p->nodes, own(p->r, 1, OP_WRITE));
  op_par_loop(OP_KERNEL_OF(add_residual), "add_residual", p->cells, corners(p, p->x, 2, OP_READ),
              corners(p, p->u, 1, OP_READ), corners(p, p->r, 1, OP_INC));
  op_par_loop(OP_KERNEL_OF(fix_edges), "fix_edges", p->nodes,
              op_arg_dat(p->fixed, -1, OP_ID, 1, "int", OP_READ), own(p->u, 1, OP_READ), own(p->r, 1, OP_RW));
  op_petsc_end(p->r);
  op_petsc_end(p->u);
  return 0;
}

static void assemble(const struct plate *p) {
  op_zero_mat(p->k);
  op_par_loop(OP_KERNEL_OF(add_derivative), "add_derivative", p->cells, corners(p, p->x, 2, OP_READ),
              corners(p, p->u, 1, OP_READ), op_arg_mat(p->k, p->cell, p->cell, 1, 1, "double", OP_INC));
}

/* The Mat stays the same, and gets new values. */
static PetscErrorCode find_derivative(SNES snes, Vec u, Mat k, Mat also, void *user) {
  const struct plate *p = user;
  (void)snes, (void)also;
  op_place_petsc(p->u, u, OP_READ);
  assemble(p);
  op_petsc_end(p->u);
  return op_mat_petsc(p->k) == k ? 0 : PETSC_ERR_ARG_WRONGSTATE;
}

/* On n x n squares of two triangles; returns the largest error, -1 if PETSc did not solve. */
static double run(int n) {
  struct plate p = make_plate(n);
  SNES snes;
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  PetscInt steps = 0;
  assemble(&p);
  Mat k = op_mat_petsc(p.k);
  Vec solution = op_dat_petsc(p.solution, OP_RW);
  if (SNESCreate(PetscObjectComm((PetscObject)k), &snes) || SNESSetFunction(snes, NULL, find_residual, &p) ||
      SNESSetJacobian(snes, k, k, find_derivative, &p) || SNESSetFromOptions(snes) ||
      SNESSolve(snes, NULL, solution) || SNESGetConvergedReason(snes, &reason) ||
      SNESGetIterationNumber(snes, &steps) || SNESDestroy(&snes))
    return -1;
  op_petsc_end(p.solution);
  double error = 0;
  op_par_loop(OP_KERNEL_OF(compare), "compare", p.nodes, own(p.x, 2, OP_READ), own(p.solution, 1, OP_READ),
              op_arg_gbl(&error, 1, "double", OP_MAX));
  op_printf("%d x %d squares: %d Newton steps, %s, largest error %.5e\n", n, n, (int)steps,
            SNESConvergedReasons[reason], error);
  op_free_mat(p.k);
  return reason > 0 ? error : -1;
}

int main(int argc, char **argv) {
  int n = 64;
  for (int a = 1; a + 1 < argc; a++) /* the rest is the library's and PETSc's */
    if (!strcmp(argv[a], "--n"))
      n = atoi(argv[a + 1]);
  if (n < 4 || n % 2 || n > 4000) {
    fprintf(stderr, "usage: bratu [--n EVEN] [-snes_monitor] [-ksp_OPTION ...]\n");
    return 2;
  }
  setenv("PETSC_OPTIONS", "-ksp_type cg -pc_type gamg -snes_rtol 1e-10", 0); /* arguments win */
  if (op_init(argc, argv, 1))
    return 1;
  const double coarse = run(n / 2), fine = run(n), order = log2(coarse / fine);
  const int holds = coarse > 0 && fine > 0 && order > 1.8 && order < 2.2;
  op_printf("order of convergence: %.3f, from 1.8 to 2.2: %s\n", order, holds ? "yes" : "NO");
  op_printf("bratu: %s\n", holds ? "PASSED" : "FAILED");
  return op_exit() || !holds;
}
