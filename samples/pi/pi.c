/* Pi as the integral of 4 / (1 + x^2) from 0 to 1: one set, no data but the number of each element, and a
 * sum over all. */
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "twin.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>

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

/* The middle of several times. */
static double time_of(double (*twin)(int), op_set set, int strips) {
  enum { REPEATS = 7 };
  double times[REPEATS], sum = 0;
  for (int r = 0; r < REPEATS; r++) {
    double start = clock_seconds();
    sum += twin ? twin(strips) : pi_library(set);
    times[r] = clock_seconds() - start;
  }
  return isfinite(sum) ? median(times, REPEATS) : NAN;
}

/* No data is moved: bytes are 0. */
static void compare_times(struct check *check, op_set set, int strips) {
  double base = 0;
  compare_header("one sum");
  if (op_is_root()) {
    compare_row("hand-written, serial", time_of(pi_serial, set, strips), 0, &base);
    compare_row("hand-written, OpenMP", time_of(pi_openmp, set, strips), 0, &base);
    check_at_most(check, "hand-written loop with OpenMP", fabs(pi_openmp(strips) - pi_serial(strips)), 1e-12);
  }
  compare_row("op2jit", time_of(NULL, set, strips), 0, &base);
}

int main(int argc, char **argv) {
  int strips = 10000000, compare = 0;
  const struct option_entry entries[] = {
      {"strips", OPTION_INT, &strips, 1, 2e9, "strips of the integral"},
      {"compare", OPTION_FLAG, &compare, 0, 0, "time it, and the hand-written loops"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "pi, as a sum over a set", sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  op_set set = op_decl_set(declared(strips), "strips");
  share_out(set);
  double found = pi_library(set);
  op_printf("%d strips: %.15f\n", strips, found);
  struct check check = {0};
  /* The midpoint rule is off by 1 / (12 n^2). */
  double method = 1.01 / (12.0 * strips * strips);
  check_at_most(&check, "difference from pi", fabs(found - M_PI), 1e-12 + method);
  if (op_is_root())
    check_at_most(&check, "difference from the hand-written loop", fabs(found - pi_serial(strips)), 1e-12);
  if (compare)
    compare_times(&check, set, strips);
  int status = check_end(&check, "pi");
  op_exit();
  return status;
}
