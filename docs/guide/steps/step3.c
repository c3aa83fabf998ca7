/* Step 3: increments. Each edge lets heat flow between its two cells; nothing is lost. */
#include <math.h>
#include <op2jit.h>

#include "grid.h"

OP_KERNEL_DEF(
    flow, void flow(const double *t1, const double *t2, double *gain1, double *gain2) {
      double heat = 0.2 * (*t2 - *t1);
      *gain1 += heat;
      *gain2 -= heat;
    })

OP_KERNEL_DEF(
    warm, void warm(double *t, double *gain, double *total, double *most) {
      *t += *gain;
      *gain = 0;
      *total += *t;
      if (*t > *most)
        *most = *t;
    })

int main(int argc, char **argv) {
  static double start[CELLS];
  double total = 0, most = 0;
  make_grid();
  start[CELLS / 2 + N / 2] = 1000;
  if (op_init(argc, argv, 1))
    return 1;
  op_set cells = op_decl_set(CELLS, "cells"), edges = op_decl_set(EDGES, "edges");
  op_map pair = op_decl_map(edges, cells, 2, grid_pairs[0], "pair");
  op_dat t = op_decl_dat(cells, 1, "double", start, "t");
  op_dat gain = op_decl_dat(cells, 1, "double", NULL, "gain");
  for (int step = 0; step < 100; step++) {
    total = most = 0;
    op_par_loop(OP_KERNEL_OF(flow), "flow", edges, op_arg_dat(t, 0, pair, 1, "double", OP_READ),
                op_arg_dat(t, 1, pair, 1, "double", OP_READ), op_arg_dat(gain, 0, pair, 1, "double", OP_INC),
                op_arg_dat(gain, 1, pair, 1, "double", OP_INC));
    op_par_loop(OP_KERNEL_OF(warm), "warm", cells, op_arg_dat(t, -1, OP_ID, 1, "double", OP_RW),
                op_arg_dat(gain, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&total, 1, "double", OP_INC),
                op_arg_gbl(&most, 1, "double", OP_MAX));
  }
  op_printf("heat %.12g, largest %.6g\n", total, most);
  return op_exit() || fabs(total - 1000) > 1e-9 || !(most > 1 && most < 10);
}
