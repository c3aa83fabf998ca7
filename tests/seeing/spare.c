/* A loop with an argument that its kernel does not use, and one with all. A constant whose variable changes. Of several ranks the first one has everything. */
#include "op2jit.h"

static const char *spare = OP_KERNEL(void spare(const double *x, const double *y, double *z) { *z = *x; });
static const char *both = OP_KERNEL(void both(const double *x, const double *y, double *z) { *z = *x + *y; });

static double rate = 0.1, twice[2] = {1, 2}, kept = 3;

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
  double local = 4;
  op_decl_const("rate", 1, "double", &rate);
  op_decl_const("twice", 2, "double", twice);
  op_decl_const("kept", 1, "double", &kept);
  op_decl_const("local", 1, "double", &local);
  rate = 0.2; /* no loop sees that */
  local = twice[1] = 5;
  op_update_const("twice", twice);
  return op_exit();
}
