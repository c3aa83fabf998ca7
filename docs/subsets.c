/* The program of docs/subsets.md: heated ends of a bar, and particles that fly along it until they leave it. */
#include <stdio.h>

#include <op2jit.h>

enum { CELLS = 100, PARTICLES = 8, STEPS = 60 };

/* clang-format off */
OP_KERNEL_DEF(heat, void heat(double *t) { *t = 1; })
OP_KERNEL_DEF(fly, void fly(const double *t, double *x) { *x += 2 + *t; })
/* clang-format on */

int main(int argc, char **argv) {
  double position[PARTICLES];
  int cell[PARTICLES], inside[PARTICLES], n = 0;
  for (int p = 0; p < PARTICLES; p++) {
    position[p] = 10 * p;
    cell[p] = 10 * p;
    inside[n++] = p;
  }
  op_init(argc, argv, 0);
  op_set cells = op_decl_set(CELLS, "cells"), particles = op_decl_set(PARTICLES, "particles");
  op_dat t = op_decl_dat(cells, 1, "double", NULL, "t");
  op_dat x = op_decl_dat(particles, 1, "double", position, "x");

  const int ends[] = {0, CELLS - 1};
  op_set heated = op_decl_subset(cells, 2, ends, "heated");
  op_par_loop(OP_KERNEL_OF(heat), "heat", heated, op_arg_dat(t, -1, OP_ID, 1, "double", OP_WRITE));

  int steps = 0;
  for (; n > 0 && steps < STEPS; steps++) {
    op_map where = op_decl_map(particles, cells, 1, cell, "where");
    op_set flying = op_decl_subset(particles, n, inside, "flying");
    op_par_loop(OP_KERNEL_OF(fly), "fly", flying, op_arg_dat(t, 0, where, 1, "double", OP_READ),
                op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
    op_fetch_data(x, position);
    op_free_set(flying);
    op_free_map(where);

    n = 0;
    for (int p = 0; p < PARTICLES; p++)
      if (position[p] < CELLS) {
        cell[p] = (int)position[p];
        inside[n++] = p;
      }
  }

  op_printf("%d steps, the first particle left at %g\n", steps, position[0]);
  double values[CELLS];
  op_fetch_data(t, values);
  const int good = values[0] > 0.5 && values[1] < 0.5 && values[CELLS - 1] > 0.5;
  return op_exit() || !good || steps != 50;
}
