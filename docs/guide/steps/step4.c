/* Step 4: a boundary, a constant, and steps until nothing changes any more. Left and right are kept at 0 and 1. */
#include <math.h>
#include <op2jit.h>

#include "grid.h"

static double rate = 0.2;

OP_KERNEL_DEF(
    flow, void flow(const double *t1, const double *t2, double *gain1, double *gain2) {
      double heat = rate * (*t2 - *t1);
      *gain1 += heat;
      *gain2 -= heat;
    })

OP_KERNEL_DEF(
    keep, void keep(const int *kind, const double *t, double *gain) {
      enum { LEFT, RIGHT };
      if (*kind == LEFT || *kind == RIGHT)
        *gain += 2 * rate * ((*kind == LEFT ? 0 : 1) - *t);
    })

OP_KERNEL_DEF(
    warm, void warm(double *t, double *gain, double *change) {
      *t += *gain;
      if (fabs(*gain) > *change)
        *change = fabs(*gain);
      *gain = 0;
    })

int main(int argc, char **argv) {
  static double end[CELLS];
  double change = 1, wrong = 0;
  int steps = 0;
  make_grid();
  if (op_init(argc, argv, 1))
    return 1;
  op_set cells = op_decl_set(CELLS, "cells"), edges = op_decl_set(EDGES, "edges");
  op_set sides = op_decl_set(SIDES, "sides");
  op_map pair = op_decl_map(edges, cells, 2, grid_pairs[0], "pair");
  op_map inside = op_decl_map(sides, cells, 1, grid_sides[0], "inside");
  op_dat t = op_decl_dat(cells, 1, "double", NULL, "t"), gain = op_decl_dat(cells, 1, "double", NULL, "gain");
  op_dat kind = op_decl_dat(sides, 1, "int", grid_kinds, "kind");
  op_decl_const("rate", 1, "double", &rate);
  for (; change > 1e-10; steps++) {
    change = 0;
    op_par_loop(OP_KERNEL_OF(flow), "flow", edges, op_arg_dat(t, 0, pair, 1, "double", OP_READ),
                op_arg_dat(t, 1, pair, 1, "double", OP_READ), op_arg_dat(gain, 0, pair, 1, "double", OP_INC),
                op_arg_dat(gain, 1, pair, 1, "double", OP_INC));
    op_par_loop(OP_KERNEL_OF(keep), "keep", sides, op_arg_dat(kind, -1, OP_ID, 1, "int", OP_READ),
                op_arg_dat(t, 0, inside, 1, "double", OP_READ),
                op_arg_dat(gain, 0, inside, 1, "double", OP_INC));
    op_par_loop(OP_KERNEL_OF(warm), "warm", cells, op_arg_dat(t, -1, OP_ID, 1, "double", OP_RW),
                op_arg_dat(gain, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&change, 1, "double", OP_MAX));
  }
  op_fetch_data(t, end);
  for (int c = 0; c < CELLS; c++) /* a straight line from 0 to 1 */
    wrong = fmax(wrong, fabs(end[c] - (c % N + 0.5) / N));
  op_printf("%d steps, largest error %.1e\n", steps, wrong);
  return op_exit() || wrong > 1e-6;
}
