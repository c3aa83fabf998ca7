#include "report.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>
#include <time.h>

static void record(struct check *check, int holds) {
  check->done++;
  if (!holds)
    check->failed++;
}

static const char *verdict(int holds) {
  return holds ? "holds" : "DOES NOT HOLD";
}

void check_at_most(struct check *check, const char *what, double error, double limit) {
  int holds = error <= limit;
  op_printf("  check  %-52s %12.5e  at most %9.2e  %s\n", what, error, limit, verdict(holds));
  record(check, holds);
}

void check_between(struct check *check, const char *what, double value, double low, double high) {
  int holds = value >= low && value <= high;
  op_printf("  check  %-52s %12.5e  in %g .. %g  %s\n", what, value, low, high, verdict(holds));
  record(check, holds);
}

void check_equal(struct check *check, const char *what, long long value, long long expected) {
  int holds = value == expected;
  op_printf("  check  %-52s %12lld  expected %lld  %s\n", what, value, expected, verdict(holds));
  record(check, holds);
}

int check_end(const struct check *check, const char *sample) {
  int passed = check->done > 0 && check->failed == 0;
  if (!op_is_root())
    return EXIT_SUCCESS;
  op_printf("%s: %s (%d of %d checks hold)\n", sample, passed ? "PASSED" : "FAILED",
            check->done - check->failed, check->done);
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

double relative_difference(double a, double b) {
  double scale = fmax(fabs(a), fabs(b));
  return scale > 0 ? fabs(a - b) / scale : fabs(a - b);
}

double worse_of(double worst, double error) {
  return isnan(worst) || error <= worst ? worst : error;
}

double largest_difference(const double *a, const double *b, long long count) {
  double largest = 0;
  for (long long i = 0; i < count; i++) {
    double difference = fabs(a[i] - b[i]);
    if (isnan(difference))
      return INFINITY;
    largest = fmax(largest, difference);
  }
  return largest;
}

double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

double median(double *times, int count) {
  qsort(times, (size_t)count, sizeof *times, by_value);
  return count % 2 ? times[count / 2] : 0.5 * (times[count / 2 - 1] + times[count / 2]);
}

void compare_header(const char *what) {
  op_printf("%-34s %12s %9s %10s\n", what, "ms", "GB/s", "rel. time");
}

void compare_row(const char *name, double seconds, double bytes, double *base) {
  if (*base == 0)
    *base = seconds;
  op_printf("  %-32s %12.3f %9.2f %9.2fx\n", name, 1e3 * seconds, 1e-9 * bytes / seconds, seconds / *base);
}
