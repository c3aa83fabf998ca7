/* The section "Loops that run as one" of docs/manual.md as a whole. Run with OP2_LAZY=on OP2_FUSE=on. */
#include <stdio.h>

#include <op2jit.h>

static const char *add = OP_KERNEL(void add(const double *b, const double *c, double *a) { *a = *b + *c; });
static const char *scale = OP_KERNEL(void scale(const double *a, double *d) { *d = 2 * *a; });

enum { COUNT = 24 };

int main(int argc, char **argv) {
  double values[COUNT];
  op_init(argc, argv, 0);
  const int count = op_is_root() ? COUNT : 0;
  for (int i = 0; i < COUNT; i++)
    values[i] = i;
  op_set cells = op_decl_set(count, "cells");
  op_dat b = op_decl_dat(cells, 1, "double", values, "b"), c = op_decl_dat(cells, 1, "double", values, "c");
  op_dat a = op_decl_dat(cells, 1, "double", NULL, "a"), d = op_decl_dat(cells, 1, "double", NULL, "d");
  op_par_loop(add, "add", cells, op_arg_dat(b, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(c, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(a, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(scale, "scale", cells, op_arg_dat(a, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(d, -1, OP_ID, 1, "double", OP_WRITE));
  op_fetch_data(d, values); /* both ran, as one loop */
  printf("%lld loops ran as one\n", op_counters()->fused);
  int code = count && values[3] != 12;
  return op_exit() || code;
}
