/* Step 2: a map. Each cell reads its four corners. */
#include <math.h>
#include <op2jit.h>

#include "grid.h"

OP_KERNEL_DEF(
    measure, void measure(const double *x[4], double *area, double *total) {
      *area = 0;
      for (int k = 0; k < 4; k++) {
        const double *a = x[k], *b = x[(k + 1) % 4];
        *area += 0.5 * (a[0] * b[1] - b[0] * a[1]);
      }
      *total += *area;
    })

int main(int argc, char **argv) {
  make_grid();
  if (op_init(argc, argv, 1))
    return 1;
  op_set nodes = op_decl_set(NODES, "nodes"), cells = op_decl_set(CELLS, "cells");
  op_map corners = op_decl_map(cells, nodes, 4, grid_corners[0], "corners");
  op_dat x = op_decl_dat(nodes, 2, "double", grid_x[0], "x");
  op_dat area = op_decl_dat(cells, 1, "double", NULL, "area");
  double total = 0;
  op_par_loop(OP_KERNEL_OF(measure), "measure", cells, op_arg_dat(x, -4, corners, 2, "double", OP_READ),
              op_arg_dat(area, -1, OP_ID, 1, "double", OP_WRITE), op_arg_gbl(&total, 1, "double", OP_INC));
  op_printf("area %.15g\n", total);
  return op_exit() || fabs(total - 1) > 1e-12;
}
