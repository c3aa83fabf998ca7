#include "report.h"

#include <errno.h>
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
  int holds = error >= 0 && error <= limit;
  char most[16] = "0";
  if (limit != 0)
    snprintf(most, sizeof most, "%.2e", limit);
  op_printf("  check  %-52s %12.5e  at most %9s  %s\n", what, error, most, verdict(holds));
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

/* What nobody can read was not said. */
static int is_said(const char *sample) {
  const int reason = fflush(stdout) != 0 ? errno : ferror(stdout) ? EIO : 0;
  if (reason)
    fprintf(stderr, "%s: the standard output cannot be written: %s\n", sample, strerror(reason));
  return !reason;
}

int check_end(const struct check *check, const char *sample) {
  int passed = check->done > 0 && check->failed == 0;
  compare_print();
  if (!op_is_root())
    return EXIT_SUCCESS;
  op_printf("%s: %s (%d of %d checks hold)\n", sample, passed ? "PASSED" : "FAILED",
            check->done - check->failed, check->done);
  return is_said(sample) && passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

double relative_difference(double a, double b) {
  double scale = fmax(fabs(a), fabs(b));
  return scale > 0 ? fabs(a - b) / scale : fabs(a - b);
}

double difference_above(double least, double a, double b) {
  return fabs(a - b) / fmax(least, fmax(fabs(a), fabs(b)));
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
  const char *wanted = getenv("TURNS_CLOCK");
  struct timespec now;
  clock_gettime(wanted && strcmp(wanted, "cpu") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
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

/* More than any sample has: what comes after would be printed at once. */
enum { HELD_LINES = 64 };
static char held[HELD_LINES][112];
static int held_count;

static char *next_held(void) {
  if (held_count == HELD_LINES)
    compare_print();
  return held[held_count++];
}

void compare_header(const char *what) {
  snprintf(next_held(), sizeof *held, "%-34s %12s %9s %10s\n", what, "ms", "GB/s", "rel. time");
}

void compare_row(const char *name, double seconds, double bytes, double *base) {
  if (*base == 0)
    *base = seconds;
  const double ms = 1e3 * seconds;
  char time[24], rate[16] = "-";
  /* Short times have more digits; the points are below each other. */
  snprintf(time, sizeof time, ms < 1 ? "%12.5f" : "%10.3f  ", ms);
  if (bytes > 0)
    snprintf(rate, sizeof rate, "%.2f", 1e-9 * bytes / seconds);
  snprintf(next_held(), sizeof *held, "  %-32s %12s %9s %9.2fx\n", name, time, rate, seconds / *base);
}

/* The share of its time that the first thread waited for a CPU while it could have run, where Linux counts that. */
static double share_waited(void) {
  const double worth_counting = 1e7; /* nanoseconds */
  double ran = 0, waited = 0;
  FILE *file = fopen("/proc/self/schedstat", "r");
  if (!file)
    return 0;
  int found = fscanf(file, "%lf %lf", &ran, &waited);
  fclose(file);
  return found == 2 && waited > worth_counting ? waited / (ran + waited) : 0;
}

void compare_print(void) {
  const double much = 0.1;
  for (int line = 0; line < held_count; line++)
    op_printf("%s", held[line]);
  const double waited = share_waited();
  if (held_count > 0 && waited > much)
    op_printf(
        "the machine was busy: times say little (this program waited for a CPU for %.0f %% of its time)\n",
        100 * waited);
  held_count = 0;
}
