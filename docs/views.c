/* The section "The program's own arrays" of docs/manual.md as a whole: a field that stays the program's. */
#include <stddef.h>
#include <stdlib.h>

#include <op2jit.h>

static const char *cool = OP_KERNEL(void cool(double *t) { *t *= 0.5; });

enum { COUNT = 24 };

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  const int count = op_is_root() ? COUNT : 0;
  double *temperature = malloc(COUNT * sizeof *temperature);
  if (!temperature)
    return 1;
  for (int i = 0; i < COUNT; i++)
    temperature[i] = 100;
  op_set cells = op_decl_set(count, "cells");
  op_dat t = op_decl_dat_view(cells, 1, "double", temperature, "t");
  for (int step = 0; step < 2; step++) {
    op_par_loop(cool, "cool", cells, op_arg_dat(t, -1, OP_ID, 1, "double", OP_RW));
    op_acquire(t, OP_RW); /* temperature[] holds the values of t, and is the program's */
    temperature[0] = 100;
    op_release(t); /* it is the library's again */
  }
  int code = op_exit(); /* leaves the values in temperature[] */
  if (count && (temperature[0] != 100 || temperature[1] != 25))
    code = 1;
  free(temperature);
  return code;
}
