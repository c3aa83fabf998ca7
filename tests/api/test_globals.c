/* Globals that the library keeps: loops hand values to later loops, whether they wait or not (OP2_LAZY, from the
 * environment). All values are whole numbers, so that sums are exact. */
#include <stdbool.h>

#include "support.h"

enum { N = 3000 };

OP_KERNEL_DEF(
    sums, void sums(const double *x, double *sum, double *least, double *most) {
      *sum += *x;
      if (*x < *least)
        *least = *x;
      if (*x > *most)
        *most = *x;
    })
OP_KERNEL_DEF(
    divide, void divide(const double *sum, const int *count, double *mean, double *sums) {
      *mean = *sum / *count;
      sums[0] += *sum;
      sums[1] += 1;
    })
OP_KERNEL_DEF(
    subtract, void subtract(const double *mean, double *x) { *x -= *mean; })

struct program {
  op_set cells, one;
  op_dat x;
  op_gbl sum, least, most, mean, sums;
};

static struct program declare(void) {
  static double values[N];
  const double far = 1e9, near = -1e9;
  struct program p = {.cells = op_decl_set(N, "cells"), .one = op_decl_set(1, "one")};
  for (int i = 0; i < N; i++)
    values[i] = i * 7 % N + 10; /* the mean is no whole number, but half of one */
  p.x = op_decl_dat(p.cells, 1, "double", values, "x");
  p.sum = op_decl_gbl(1, "double", NULL, "sum");
  p.least = op_decl_gbl(1, "double", &far, "least");
  p.most = op_decl_gbl(1, "double", &near, "most");
  p.mean = op_decl_gbl(1, "double", NULL, "mean");
  p.sums = op_decl_gbl(2, "double", (double[]){100, 0}, "sums");
  assert_true(p.x && p.sum && p.least && p.most && p.mean && p.sums);
  return p;
}

/* The values with their mean taken away; the least and the most of all that ever was. */
static void step(const struct program *p) {
  const int count = N;
  works(op_par_loop(OP_KERNEL_OF(sums), "sums", p->cells, direct(p->x, 1, "double", OP_READ),
                    op_arg_global(p->sum, OP_INC), op_arg_global(p->least, OP_MIN),
                    op_arg_global(p->most, OP_MAX)));
  works(op_par_loop(OP_KERNEL_OF(divide), "divide", p->one, op_arg_global(p->sum, OP_READ),
                    op_arg_gbl((void *)(size_t)&count, 1, "int", OP_READ), op_arg_global(p->mean, OP_WRITE),
                    op_arg_global(p->sums, OP_RW)));
  works(op_par_loop(OP_KERNEL_OF(subtract), "subtract", p->cells, op_arg_global(p->mean, OP_READ),
                    direct(p->x, 1, "double", OP_RW)));
}

LIBRARY_TEST(loops_hand_values_to_later_loops) {
  const struct program p = declare();
  const double mean = (N - 1) / 2.0 + 10;
  double sum, least, most, sums[2], values[N];
  step(&p);
  works(op_put_gbl(p.sum, &(double){0}));
  step(&p);
  works(op_get_gbl(p.sum, &sum));
  works(op_get_gbl(p.least, &least));
  works(op_get_gbl(p.most, &most));
  works(op_get_gbl(p.sums, sums));
  works(op_fetch_data(p.x, values));
  assert_true(sum == 0 && least == 10 - mean && most == N + 9);
  assert_true(sums[0] == 100 + N * mean && sums[1] == 2);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == i * 7 % N + 10 - mean);
}

/* Neither results nor what later loops start from travel: not until the program asks. */
LIBRARY_TEST(values_stay_on_the_device) {
  const struct program p = declare();
  double sums[2];
  const char *check = getenv("OP2_CHECK");
  if (check && strcmp(check, "off") != 0)
    skip_since("OP2_CHECK compares on the host, so values do not stay on the device");
  step(&p);
  const op_counters_t first = *op_counters();
  assert_true(first.bytes_from_device == 0);
  for (int i = 0; i < 5; i++)
    step(&p);
  assert_true(op_counters()->bytes_from_device == 0 &&
              op_counters()->bytes_to_device == first.bytes_to_device);
  works(op_get_gbl(p.sums, sums));
  works(op_get_gbl(p.sums, sums));
  const bool device = first.bytes_to_device > 0;
  assert_true(sums[1] == 6 && op_counters()->bytes_from_device == (device ? (long long)sizeof sums : 0));
  works(op_put_gbl(p.sums, &(double[2]){7, 7}));
  step(&p);
  assert_true(op_counters()->bytes_to_device ==
              first.bytes_to_device + (device ? (long long)sizeof sums : 0));
  works(op_get_gbl(p.sums, sums));
  assert_true(sums[1] == 8);
}

/* Two arguments of a loop are one global, and an earlier loop's result meets what the program put. */
OP_KERNEL_DEF(
    twice, void twice(const double *x, double *a, double *b) {
      *a += 1;
      *b += *x > 0 ? 2 : 0;
    })
LIBRARY_TEST(a_global_comes_twice) {
  const struct program p = declare();
  double sum;
  works(op_put_gbl(p.sum, &(double){5}));
  for (int i = 0; i < 2; i++)
    works(op_par_loop(OP_KERNEL_OF(twice), "twice", p.cells, direct(p.x, 1, "double", OP_READ),
                      op_arg_global(p.sum, OP_INC), op_arg_global(p.sum, OP_INC)));
  works(op_get_gbl(p.sum, &sum));
  assert_true(sum == 5 + 2 * 3 * N);
}

LIBRARY_TEST(it_is_another_loop_with_another_global) {
  const struct program p = declare();
  double sum, other_sum;
  const op_gbl other = op_decl_gbl(1, "double", NULL, "other");
  for (int i = 0; i < 3; i++)
    works(op_par_loop(OP_KERNEL_OF(sums), "sums", p.cells, direct(p.x, 1, "double", OP_READ),
                      op_arg_global(i == 1 ? other : p.sum, OP_INC), op_arg_global(p.least, OP_MIN),
                      op_arg_global(p.most, OP_MAX)));
  works(op_get_gbl(p.sum, &sum));
  works(op_get_gbl(other, &other_sum));
  assert_true(sum == 2 * other_sum && other_sum == N * ((N - 1) / 2.0 + 10));
}

LIBRARY_TEST(what_is_wrong_is_refused) {
  const struct program p = declare();
  double value = 0;
  int number = 0;
  assert_null(op_decl_gbl(0, "double", NULL, "none"));
  assert_int_equal(op_last_error()->code, OP_ERR_DIM);
  assert_null(op_decl_gbl(1, "double", &number, "whole"));
  assert_int_equal(op_last_error()->code, OP_ERR_TYPE);
  assert_null(op_decl_gbl(1, "complex", NULL, "complex"));
  assert_int_equal(op_last_error()->code, OP_ERR_TYPE);
  fails(OP_ERR_HANDLE, op_get_gbl(NULL, &value));
  fails(OP_ERR_HANDLE, op_get_gbl((op_gbl)(void *)p.x, &value));
  assert_non_null(strstr(op_last_error()->message, "a dat"));
  fails(OP_ERR_ARGUMENT, op_put_gbl(p.sum, (void *)NULL));
  fails(OP_ERR_TYPE, op_put_gbl(p.sum, &number));
  fails(OP_ERR_TYPE, op_get_gbl(p.sum, &number));
  fails(OP_ERR_HANDLE, op_par_loop(OP_KERNEL_OF(subtract), "subtract", p.cells, op_arg_global(NULL, OP_READ),
                                   direct(p.x, 1, "double", OP_RW)));
  assert_non_null(strstr(op_last_error()->message, "loop subtract, argument 1: the global is NULL"));
  fails(OP_ERR_ACCESS, op_par_loop(OP_KERNEL_OF(subtract), "subtract", p.cells,
                                   op_arg_global(p.mean, OP_WRITE), direct(p.x, 1, "double", OP_RW)));
  fails(OP_ERR_ACCESS, op_par_loop(OP_KERNEL_OF(subtract), "subtract", p.cells,
                                   op_arg_global(p.mean, OP_WORK), direct(p.x, 1, "double", OP_RW)));
}
