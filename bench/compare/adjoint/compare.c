/* Differentiated loops: the tangent and the adjoint of airfoil's residual, in the form in which
 * automatic differentiation tools write them, proved by the dot-product test: for any x and y, <y, J x>
 * computed by the tangent equals <J^T y, x> computed by the adjoint. */
#include "adjoint.h"

#include "common/memory.h"
#include "common/options.h"

#include <math.h>
#include <stdlib.h>

OP_KERNEL_DEF(
    dot2, void dot2(const double *a, const double *b, double *sum) { *sum += a[0] * b[0] + a[1] * b[1]; })

OP_KERNEL_DEF(
    dot4, void dot4(const double *a, const double *b, double *sum) {
      for (int n = 0; n < 4; n++)
        *sum += a[n] * b[n];
    })

double adjoint_dot(op_set set, op_dat a, op_dat b, int dim) {
  static const char *const names[5] = {[2] = "dot2", [4] = "dot4"};
  const char *kernel = dim == 2 ? OP_KERNEL_OF(dot2) : OP_KERNEL_OF(dot4);
  double sum = 0;
  op_par_loop(kernel, names[dim], set, op_arg_dat(a, -1, OP_ID, dim, "double", OP_READ),
              op_arg_dat(b, -1, OP_ID, dim, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
  return sum;
}

double *adjoint_noise(long long count, unsigned seed) {
  double *made = room(count, sizeof *made);
  unsigned state = seed * 2654435761u + 12345u;
  for (long long i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    made[i] = (state >> 8) / 8388608.0 - 1;
  }
  return made;
}

void adjoint_check(struct check *check, const char *what, double forward, double backward, double scale) {
  op_printf("  <y, J x> = %.15e, <J^T y, x> = %.15e\n", forward, backward);
  check_at_most(check, what, fabs(forward - backward) / scale, 1e-12);
}

int main(int argc, char **argv) {
  int cells = 20000, compare = 0;
  const struct option_entry entries[] = {
      {"cells", OPTION_INT, &cells, 12, 1e8, "cells of airfoil's mesh"},
      {"compare", OPTION_FLAG, &compare, 0, 0, "time the adjoint of the flux loop, and by hand"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "tangent and adjoint of airfoil", sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  struct check check = {0};
  adjoint_airfoil(&check, cells, compare);
  int status = check_end(&check, "adjoint");
  op_exit();
  return status;
}
