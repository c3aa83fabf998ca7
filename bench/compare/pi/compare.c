/* pi against hand-written loops. */
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "twin.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/pi/pi.c"
#undef main

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
