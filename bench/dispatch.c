/* What a warm op_par_loop costs before any element runs: the same loop over an empty set, again and again. And with
 * one element: OP2_BACKEND=seq OP2_LAZY=on against off is what waiting costs. */
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 200000, REPEATS = 9 };

OP_KERNEL_DEF(
    eight, void eight(const double *a, const double *b, const double *c, const double *d, double *e,
                      double *f, double *g, double *h) {
      *e = *a;
      *f = *b;
      *g = *c;
      *h = *d;
    })
OP_KERNEL_DEF(
    one, void one(double *a) { *a = 0; })

static op_arg dat_arg(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static void eight_arguments(op_set set, op_dat *d) {
  op_par_loop(OP_KERNEL_OF(eight), "eight", set, dat_arg(d[0], OP_READ), dat_arg(d[1], OP_READ),
              dat_arg(d[2], OP_READ), dat_arg(d[3], OP_READ), dat_arg(d[4], OP_WRITE),
              dat_arg(d[5], OP_WRITE), dat_arg(d[6], OP_WRITE), dat_arg(d[7], OP_WRITE));
}

static void one_argument(op_set set, op_dat *d) {
  op_par_loop(OP_KERNEL_OF(one), "one", set, dat_arg(d[0], OP_WRITE));
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const char *name, void (*loop)(op_set, op_dat *), op_set set, op_dat *dats) {
  double times[REPEATS];
  for (int r = 0; r < REPEATS; r++) {
    double start = op_wtime();
    for (int i = 0; i < CALLS; i++)
      loop(set, dats);
    times[r] = (op_wtime() - start) / (double)CALLS * 1e9;
  }
  qsort(times, REPEATS, sizeof *times, by_value);
  printf("%-16s %10.1f %10.1f %10.1f\n", name, times[0], times[REPEATS / 2], times[REPEATS - 1]);
}

int main(int argc, char **argv) {
  setenv("OP2_BACKEND", "native", 0);
  op_init(argc, argv, 0);
  op_set set = op_decl_set(0, "empty");
  op_dat dats[8];
  for (int i = 0; i < 8; i++)
    dats[i] = op_decl_dat(set, 1, "double", NULL, "dat");
  /* A program has other loops too: the record must be found among them. */
  for (int n = 0; n < 200; n++) {
    op_dat other = op_decl_dat(set, 1, "double", NULL, "other");
    one_argument(set, &other);
  }
  printf("warm dispatch over an empty set, nanoseconds a call, %d calls x %d repeats (target: 8 arguments "
         "under 300)\n",
         CALLS, REPEATS);
  printf("%-16s %10s %10s %10s\n", "loop", "minimum", "median", "maximum");
  measure("1 argument", one_argument, set, dats);
  measure("8 arguments", eight_arguments, set, dats);
  op_set single = op_decl_set(1, "single");
  for (int i = 0; i < 8; i++)
    dats[i] = op_decl_dat(single, 1, "double", NULL, "dat");
  measure("1, one element", one_argument, single, dats);
  measure("8, one element", eight_arguments, single, dats);
  return op_exit();
}
