/* The program of docs/ragged.md: a sparse matrix times a vector, and what its columns add up to. */
#include <stdio.h>

#include <op2jit.h>

/* clang-format off */
OP_KERNEL_DEF(multiply, void multiply(int n, const double **a, const double **x, double *y) {
  *y = 0;
  for (int k = 0; k < n; k++)
    *y += *OP_ROW(a, k) * *OP_ROW(x, k);
})
OP_KERNEL_DEF(add_up, void add_up(int n, const double **a, double **sum) {
  for (int k = 0; k < n; k++)
    *OP_ROW(sum, k) += *OP_ROW(a, k);
})
OP_KERNEL_DEF(multiply_long, void multiply_long(int n, const double **a, const double **x, double *y) {
  double sum = 0;
  OP_ANY_ORDER
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(a, k) * *OP_ROW(x, k);
  *y = sum;
})
/* clang-format on */

int main(int argc, char **argv) {
  op_init(argc, argv, 0);

  const long long offsets[] = {0, 2, 2, 5, 6};
  const int targets[] = {0, 2, 0, 1, 2, 1};
  const double values[] = {1, 2, 3, 4, 5, 6}, ones[] = {1, 1, 1};
  op_set rows = op_decl_set(4, "rows"), columns = op_decl_set(3, "columns");
  op_map matrix = op_decl_map_ragged(rows, columns, offsets, targets, "matrix");
  op_dat a = op_decl_dat(op_map_entries(matrix), 1, "double", values, "a");

  op_dat x = op_decl_dat(columns, 1, "double", ones, "x"), y = op_decl_dat(rows, 1, "double", NULL, "y");
  op_par_loop(OP_KERNEL_OF(multiply), "multiply", rows, op_arg_dat(a, OP_ALL, matrix, 1, "double", OP_READ),
              op_arg_dat(x, OP_ALL, matrix, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE));

  op_dat long_y = op_decl_dat(rows, 1, "double", NULL, "long y");
  op_par_loop(OP_KERNEL_OF(multiply_long), "multiply_long", rows,
              op_arg_dat(a, OP_ALL, matrix, 1, "double", OP_READ),
              op_arg_dat(x, OP_ALL, matrix, 1, "double", OP_READ),
              op_arg_dat(long_y, -1, OP_ID, 1, "double", OP_WRITE));

  op_dat sum = op_decl_dat(columns, 1, "double", NULL, "sum");
  op_par_loop(OP_KERNEL_OF(add_up), "add_up", rows, op_arg_dat(a, OP_ALL, matrix, 1, "double", OP_READ),
              op_arg_dat(sum, OP_ALL, matrix, 1, "double", OP_INC));

  double result[4], of_long[4], sums[3];
  op_fetch_data(y, result);
  op_fetch_data(long_y, of_long);
  op_fetch_data(sum, sums);
  op_printf("y = %g %g %g %g, columns add up to %g %g %g\n", result[0], result[1], result[2], result[3],
            sums[0], sums[1], sums[2]);
  const int good = result[0] == 3 && result[1] == 0 && result[2] == 12 && result[3] == 6 &&
                   of_long[2] == 12 && sums[0] == 4 && sums[1] == 10 && sums[2] == 7;
  return op_exit() || !good;
}
