/* The program of docs/shared.md: a kernel that has an enum, a struct, a table and a function of the program. */
#include <stdio.h>

#include <op2jit.h>

#include "shared_kernels.h"

/* clang-format off */
OP_KERNEL_DEF(advance, void advance(const double *rho, const int *kind, double *u, double *total) {
  struct state s = {*rho, {u[0], u[1]}, (enum kind)*kind};
  op_assert(s.rho > 0);
  if (s.kind == SOLID && s.rho > 100)
    printf("a solid of density %g\n", s.rho);
  u[0] += 0.1 * pressure(&s);
  *total += u[0];
})
/* clang-format on */

enum { COUNT = 4 };

int main(int argc, char **argv) {
  const double rho[COUNT] = {1, 2, 3, 4}, speeds[2 * COUNT] = {0, 0, 1, 0, 0, 1, 0, 0};
  const int kinds[COUNT] = {FLUID, SOLID, FLUID, SOLID};
  double total = 0;
  op_init(argc, argv, 0);
  op_prelude_file("shared_kernels.h");

  op_set cells = op_decl_set(COUNT, "cells");
  op_dat density = op_decl_dat(cells, 1, "double", rho, "density");
  op_dat kind = op_decl_dat(cells, 1, "int", kinds, "kind");
  op_dat speed = op_decl_dat(cells, 2, "double", speeds, "speed");
  op_par_loop(OP_KERNEL_OF(advance), "advance", cells, op_arg_dat(density, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(kind, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(speed, -1, OP_ID, 2, "double", OP_RW), op_arg_gbl(&total, 1, "double", OP_INC));

  op_printf("%.2f\n", total);
  return op_exit() || total < 4.7 || total > 4.8;
}
