/* Reductions: sums, minima and maxima over all elements of a set, alone, of several values at once, and with the place
 * where an extremum is; and sums into data through a map. Checked against the same loops by hand. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduction_kernels.h"

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

/* Whole numbers, so that sums are exact in any order; the extremes occur several times. */
static double value_at(int e) {
  return (int)((e + 17LL) * 7919 % 89);
}

struct found {
  double sum, least, most, sums[3];
  int least_at, most_at;
  double carried[3]; /* the row of the largest */
};

static struct found by_hand(int count, const double *x, const double *row) {
  struct found f = {.least = INFINITY, .most = -INFINITY, .least_at = -1, .most_at = -1};
  for (int e = 0; e < count; e++) {
    f.sum += x[e];
    for (int k = 0; k < 3; k++)
      f.sums[k] += row[3 * e + k];
    if (x[e] < f.least) {
      f.least = x[e];
      f.least_at = e;
    }
    if (x[e] > f.most) {
      f.most = x[e];
      f.most_at = e;
      memcpy(f.carried, row + 3 * (size_t)e, sizeof f.carried);
    }
  }
  return f;
}

/* Globals start from what the variable holds and leave the result there. Of equal extremes the lowest element wins. */
static struct found reduce(op_set elements, op_dat x, op_dat row) {
  struct found f = {.least = INFINITY, .most = -INFINITY, .least_at = -1, .most_at = -1};
  op_arg value = op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ);
  op_arg values = op_arg_dat(row, -1, OP_ID, 3, "double", OP_READ);
  op_par_loop(OP_KERNEL_FILE("reduction_kernels.h", sum), "sum", elements, value, values,
              op_arg_gbl(&f.sum, 1, "double", OP_INC), op_arg_gbl(f.sums, 3, "double", OP_INC));
  op_par_loop(OP_KERNEL_FILE("reduction_kernels.h", least), "least", elements, value, op_arg_idx(-1, OP_ID),
              op_arg_gbl(&f.least, 1, "double", OP_MIN), op_arg_info(&f.least_at, 1, "int", 3));
  op_par_loop(OP_KERNEL_FILE("reduction_kernels.h", most), "most", elements, value, op_arg_idx(-1, OP_ID),
              op_arg_gbl(&f.most, 1, "double", OP_MAX), op_arg_info(&f.most_at, 1, "int", 3));
  double again = -INFINITY;
  op_par_loop(OP_KERNEL_FILE("reduction_kernels.h", carry), "carry", elements, value, values,
              op_arg_gbl(&again, 1, "double", OP_MAX), op_arg_info(f.carried, 3, "double", 3));
  return f;
}

/* Element e adds to the targets e/3 and e/2: some get nothing, others several. */
static double scatter_error(op_set elements, op_dat x, const double *value, int count) {
  const int size = op_is_root() ? count : 0;
  int *targets = malloc(2 * (size_t)count * sizeof *targets), wrong = 0;
  double *sums = calloc(2 * (size_t)count, sizeof *sums);
  if (!targets || !sums)
    exit(1);
  double *want = sums + count;
  for (int e = 0; e < count; e++) {
    targets[2 * e] = e / 3;
    targets[2 * e + 1] = e / 2;
    want[e / 3] += value[e];
    want[e / 2] += value[e];
  }
  op_set all = op_decl_set(size, "targets");
  op_map to = op_decl_map(elements, all, 2, targets, "to");
  op_dat y = op_decl_dat(all, 1, "double", NULL, "y");
  op_partition("block", "", elements, NULL, NULL);
  op_par_loop(OP_KERNEL_FILE("reduction_kernels.h", scatter), "scatter", elements,
              op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(y, 0, to, 1, "double", OP_INC),
              op_arg_dat(y, 1, to, 1, "double", OP_INC));
  op_fetch_data(y, sums);
  for (int t = 0; t < size; t++)
    wrong += sums[t] != want[t];
  free(targets);
  free(sums);
  return wrong;
}

int main(int argc, char **argv) {
  int count = 100000;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--size"))
      count = atoi(value);
    else
      count = 0;
    a++;
  }
  if (count < 1) {
    fprintf(stderr, "usage: reduction [--size N]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  double *value = malloc(4 * (size_t)count * sizeof *value);
  if (!value)
    return 1;
  double *rows = value + count;
  for (int e = 0; e < count; e++) {
    value[e] = value_at(e);
    for (int k = 0; k < 3; k++)
      rows[3 * e + k] = value_at(e + 5 * k);
  }
  /* Under mpirun the first process declares everything, and op_partition shares it out. */
  op_set elements = op_decl_set(op_is_root() ? count : 0, "elements");
  op_dat x = op_decl_dat(elements, 1, "double", value, "x");
  op_dat row = op_decl_dat(elements, 3, "double", rows, "row");
  const double wrong = scatter_error(elements, x, value, count);
  const struct found f = reduce(elements, x, row), want = by_hand(count, value, rows);
  op_printf("%d elements: sum %g, least %g in element %d, most %g in element %d\n", count, f.sum, f.least,
            f.least_at, f.most, f.most_at);
  expect("sum", fabs(f.sum - want.sum), 0);
  expect("sums of three",
         fabs(f.sums[0] - want.sums[0]) + fabs(f.sums[1] - want.sums[1]) + fabs(f.sums[2] - want.sums[2]), 0);
  expect("least value", fabs(f.least - want.least), 0);
  expect("most", fabs(f.most - want.most), 0);
  expect("place of the least", abs(f.least_at - want.least_at), 0);
  expect("place of the most", abs(f.most_at - want.most_at), 0);
  expect("what is carried along with the most",
         fabs(f.carried[0] - want.carried[0]) + fabs(f.carried[1] - want.carried[1]) +
             fabs(f.carried[2] - want.carried[2]),
         0);
  expect("targets with a wrong sum", wrong, 0);
  free(value);
  op_printf("reduction: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
