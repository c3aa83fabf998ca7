// For lost.sh: a constant of the name that another unit's has too.
#include "op_seq.h"

static double own = 100;
void declare_own() {
  op_decl_const(1, "double", &own);
}
static void owns_too(double *x) {
  *x += own;
}
void use_own(op_dat x) {
  op_par_loop(owns_too, "owns_too", x->set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
}
