/* A dat of more than 2^31 components: 260 million rows of nine chars. */
#include "support.h"

enum { ROWS = 260000000, DIM = 9 };

OP_KERNEL_DEF(
    sum_row, void sum_row(char *x, const int *n, long long *sum) {
      for (int i = 0; i < 9; i++)
        *sum += x[i];
      x[8] = (char)(*n % 100);
    })

LIBRARY_TEST(more_than_2_to_the_31_components) {
  static const char *const types[] = {"char", "char:soa"};
  op_set set = op_decl_set(ROWS, "rows");
  char *values = malloc((size_t)ROWS * DIM), row[3 * DIM];
  assert_non_null(values);
  for (size_t i = 0; i < (size_t)ROWS * DIM; i++)
    values[i] = (char)(i % 3);
  for (int layout = 0; layout < 2; layout++) {
    op_dat dat = op_decl_dat_temp(set, DIM, types[layout], values, "x");
    assert_non_null(dat);
    long long sum = 0;
    works(op_par_loop(OP_KERNEL_OF(sum_row), "sum_row", set, direct(dat, DIM, "char", OP_RW),
                      op_arg_idx(-1, OP_ID), op_arg_gbl(&sum, 1, "long long", OP_INC)));
    assert_true(sum == (long long)ROWS * DIM);
    works(op_fetch_data_idx(dat, row, ROWS - 3, ROWS - 1));
    for (int r = 0; r < 3; r++) {
      assert_int_equal(row[DIM * r + 8], (ROWS - 3 + r) % 100);
      assert_memory_equal(row + DIM * r, values + (size_t)(ROWS - 3 + r) * DIM, 8);
    }
    works(op_free_dat_temp(dat));
  }
  free(values);
}
