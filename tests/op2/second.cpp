// A kernel of the same name as one in another unit, and of the same kind.
#include "op_seq.h"

static void own(double *x) {
  *x *= 10;
}

void other_unit(op_set set, op_dat x);
void other_unit(op_set set, op_dat x) {
  op_par_loop(own, "own", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
}
