/* A loop with an argument that its kernel does not use, and one with all. Of several ranks the first one has everything. */
#include "op2jit.h"

static const char *spare = OP_KERNEL(void spare(const double *x, const double *y, double *z) { *z = *x; });
static const char *both = OP_KERNEL(void both(const double *x, const double *y, double *z) { *z = *x + *y; });

int main(int argc, char **argv) {
  if (op_init(argc, argv, 0))
    return 1;
  op_set set = op_decl_set(op_is_root() ? 10 : 0, "set");
  op_dat x = op_decl_dat(set, 1, "double", NULL, "x"), y = op_decl_dat(set, 1, "double", NULL, "y"),
         z = op_decl_dat(set, 1, "double", NULL, "z");
  op_par_loop(spare, "spare", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(z, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(both, "both", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(z, -1, OP_ID, 1, "double", OP_WRITE));
  return op_exit();
}
