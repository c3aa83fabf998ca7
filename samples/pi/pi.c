/* Pi as the integral of 4 / (1 + x^2) from 0 to 1: one set, no data but the number of each element, and a
 * sum over all. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

OP_KERNEL_DEF(
    strip, void strip(const int *i, const double *width, double *sum) {
      double x = (*i + 0.5) * *width;
      *sum += 4 / (1 + x * x);
    })

static double pi_library(op_set strips) {
  double width = 1.0 / (double)op_get_global_size(strips), sum = 0;
  op_par_loop(OP_KERNEL_OF(strip), "strip", strips, op_arg_idx(-1, OP_ID),
              op_arg_gbl(&width, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
  return sum * width;
}

int main(int argc, char **argv) {
  int strips = 10000000;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--strips"))
      strips = atoi(value);
    else
      strips = 0;
    a++;
  }
  if (strips < 1) {
    fprintf(stderr, "usage: pi [--strips N]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  /* Under mpirun the first process declares everything, and op_partition shares it out. */
  op_set set = op_decl_set(op_is_root() ? strips : 0, "strips");
  op_partition("block", "", set, NULL, NULL);
  /* The midpoint rule is off by 1 / (12 n^2). */
  const double found = pi_library(set), error = fabs(found - M_PI);
  const int good = error <= 1e-12 + 1.01 / (12.0 * strips * strips);
  op_printf("%d strips: %.15f, off by %.1e\npi: %s\n", strips, found, error, good ? "PASSED" : "FAILED");
  return op_exit() || !good;
}
