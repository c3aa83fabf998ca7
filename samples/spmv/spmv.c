/* Sparse matrices times vectors, with matrices as they come: y = A x reads through a ragged map, z = A' y adds through it.
 * With ranks the first one declares them; rows are shared out so that each rank has as many entries as the others.
 * Checks: y is what a plain loop over the rows gives; x . (A' y) = y . y, as for any matrix. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

/* clang-format off */
OP_KERNEL_DEF(multiply, void multiply(int n, const double **a, const double **x, double *y) {
  double sum = 0;
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(a, k) * *OP_ROW(x, k);
  *y = sum;
})
OP_KERNEL_DEF(transposed, void transposed(int n, const double **a, const double *y, double **z) {
  for (int k = 0; k < n; k++)
    *OP_ROW(z, k) += *OP_ROW(a, k) * *y;
})
OP_KERNEL_DEF(dot, void dot(const double *x, const double *y, double *sum) { *sum += *x * *y; })
/* clang-format on */

static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

static op_arg direct(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static double dot_of(op_set set, op_dat x, op_dat y) {
  double sum = 0;
  op_par_loop(OP_KERNEL_OF(dot), "dot", set, direct(x, OP_READ), direct(y, OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  return sum;
}

/* The largest difference from a plain loop, beside the largest value. */
static double deviation(const struct matrix *m, const double *x, const double *y) {
  double largest = 0, error = 0;
  for (int r = 0; r < m->rows; r++) {
    double sum = 0;
    for (long long i = m->offsets[r]; i < m->offsets[r + 1]; i++)
      sum += m->values[i] * x[m->targets[i]];
    largest = fmax(largest, fabs(sum));
    error = fmax(error, fabs(sum - y[r]));
  }
  return largest > 0 ? error / largest : error;
}

static int run(const char *kind, int wanted) {
  struct matrix m;
  if (!matrix_make(&m, kind, wanted))
    return 1;
  double *x = malloc((size_t)m.rows * sizeof *x), *y = malloc((size_t)m.rows * sizeof *y);
  if (!x || !y)
    exit(1);
  for (int r = 0; r < m.rows; r++) {
    x[r] = sin(0.1 * r) + 2;
    y[r] = r;
  }
  op_set rows = op_decl_set(op_is_root() ? m.rows : 0, "rows");
  op_map map = op_decl_map_ragged(rows, rows, m.offsets, m.targets, "matrix");
  op_dat a = op_decl_dat(op_map_entries(map), 1, "double", m.values, "a");
  op_dat dx = op_decl_dat(rows, 1, "double", x, "x"), dy = op_decl_dat(rows, 1, "double", NULL, "y");
  op_dat dz = op_decl_dat(rows, 1, "double", NULL, "z"), number = op_decl_dat(rows, 1, "double", y, "number");
  op_partition("rcb", "", rows, NULL, number);
  op_par_loop(OP_KERNEL_OF(multiply), "multiply", rows, op_arg_dat(a, OP_ALL, map, 1, "double", OP_READ),
              op_arg_dat(dx, OP_ALL, map, 1, "double", OP_READ), direct(dy, OP_WRITE));
  op_par_loop(OP_KERNEL_OF(transposed), "transposed", rows, op_arg_dat(a, OP_ALL, map, 1, "double", OP_READ),
              direct(dy, OP_READ), op_arg_dat(dz, OP_ALL, map, 1, "double", OP_INC));
  op_printf("%s: %d rows, %lld entries\n", kind, m.rows, m.offsets[m.rows]);
  op_fetch_data(dy, y);
  expect("y = A x, as a plain loop gives it", op_is_root() ? deviation(&m, x, y) : 0, 1e-13);
  const double xz = dot_of(rows, dx, dz), yy = dot_of(rows, dy, dy);
  expect("x . (A' y) = y . y", fabs(xz - yy) / yy, 1e-11);
  op_free_dat(a);
  op_free_dat(dx);
  op_free_dat(dy);
  op_free_dat(dz);
  op_free_dat(number);
  op_free_map(map);
  op_free_set(rows);
  free(x);
  free(y);
  matrix_free(&m);
  return 0;
}

int main(int argc, char **argv) {
  static const char *const kinds[] = {"five", "power", "banded", "ring"};
  int rows = 20000;
  for (int i = 1; i < argc; i++) {
    if (!strncmp(argv[i], "OP2_", 4))
      continue; /* for the library */
    rows = !strcmp(argv[i], "--rows") && i + 1 < argc ? atoi(argv[++i]) : 0;
    if (rows < 1)
      break;
  }
  if (rows < 1 || rows > 20000000) {
    fprintf(stderr, "usage: spmv [--rows ABOUT-SO-MANY]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  for (int k = 0; k < 4; k++)
    if (run(kinds[k], rows)) {
      fprintf(stderr, "no memory for a matrix of %d rows\n", rows);
      return 1;
    }
  op_printf("spmv: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
