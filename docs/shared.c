/* The program of docs/shared.md: a kernel that has an enum, a struct, a table and a function of the program. */
#include <stdio.h>

#include <op2jit.h>

#include "shared_kernels.h"

/* clang-format off */
OP_KERNEL_DEF(advance, void advance(struct state *s, double *total) {
  op_assert(s->rho > 0);
  if (s->kind == SOLID && s->rho > 100)
    printf("a solid of density %g\n", s->rho);
  s->u[0] += 0.1 * pressure(s);
  *total += s->u[0];
})
/* clang-format on */

enum { COUNT = 4 };

int main(int argc, char **argv) {
  struct state states[COUNT] = {
      {1, {0, 0}, FLUID}, {2, {1, 0}, SOLID}, {3, {0, 1}, FLUID}, {4, {0, 0}, SOLID}};
  double total = 0;
  op_init(argc, argv, 0);
  op_prelude_file("shared_kernels.h");
  OP_TYPE(struct state, rho, u, kind);

  op_set cells = op_decl_set(COUNT, "cells");
  op_dat w = op_decl_dat(cells, 1, "struct state", states, "w");
  op_par_loop(OP_KERNEL_OF(advance), "advance", cells, op_arg_dat(w, -1, OP_ID, 1, "struct state", OP_RW),
              op_arg_gbl(&total, 1, "double", OP_INC));
  op_fetch_data(w, states);

  op_printf("%.2f %.2f\n", total, states[3].u[0]);
  return op_exit() || total < 4.7 || total > 4.8;
}
