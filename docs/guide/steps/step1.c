/* Step 1: a set, a dat, a direct loop and a sum. */
#include <op2jit.h>

enum { CELLS = 1600 };

OP_KERNEL_DEF(
    heat, void heat(double *t, double *total) {
      *t = *t * 2 + 1;
      *total += *t;
    })

int main(int argc, char **argv) {
  if (op_init(argc, argv, 1))
    return 1;
  op_set cells = op_decl_set(CELLS, "cells");
  op_dat t = op_decl_dat(cells, 1, "double", NULL, "t"); /* NULL: zeros */
  double total = 0;
  op_par_loop(OP_KERNEL_OF(heat), "heat", cells, op_arg_dat(t, -1, OP_ID, 1, "double", OP_RW),
              op_arg_gbl(&total, 1, "double", OP_INC));
  op_printf("%d cells, total %g\n", CELLS, total);
  return op_exit() || total != CELLS;
}
