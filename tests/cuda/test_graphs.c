/* Chains on the stand-in: loops wait, run as one where they can, and a chain that comes again is one graph. */
#include "../api/support.h"

#include <stdbool.h>

enum { N = 500 };

static const char scale[] =
    OP_KERNEL(void scale(const double *x, const double *by, double *y) { *y = *by * factor * *x; });
static const char scatter[] = OP_KERNEL(void scatter(const double *y, double *l) { *l += *y; });
static const char sum[] = OP_KERNEL(void sum(const double *y, double *s) { *s += *y; });
static const char most[] = OP_KERNEL(void most(const double *y, double *m) { *m = *y > *m ? *y : *m; });

static op_set cells;
static op_map next;
static op_dat x, y, z;
static op_gbl total, largest;
static double factor;

static bool declare(void) {
  static int table[N];
  static double values[N];
  for (int i = 0; i < N; i++) {
    table[i] = (i + 1) % N;
    values[i] = i;
  }
  factor = 1;
  op_decl_const("factor", 1, "double", &factor);
  cells = op_decl_set(N, "cells");
  next = op_decl_map(cells, cells, 1, table, "next");
  x = op_decl_dat(cells, 1, "double", values, "x");
  y = op_decl_dat(cells, 1, "double", NULL, "y");
  z = op_decl_dat(cells, 1, "double", NULL, "z");
  total = op_decl_gbl(1, "double", NULL, "total");
  largest = op_decl_gbl(1, "double", NULL, "largest");
  return z && next && largest;
}

static int begin(const char *lazy, const char *fuse) {
  char program[] = "graphs", how[24], fused[24], tune[] = "OP2_TUNE=off"; /* what is timed is in no graph */
  char *argv[] = {program, how, fused, tune, NULL};
  snprintf(how, sizeof how, "OP2_LAZY=%s", lazy);
  snprintf(fused, sizeof fused, "OP2_FUSE=%s", fuse);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  return op_init(4, argv, 0) || !declare() ? -1 : 0;
}

FIXTURE(open_graphs) {
  return begin("on", "off");
}

FIXTURE(open_fused) {
  return begin("on", "on");
}

FIXTURE(open_checked) {
  return begin("check", "on");
}

/* Five loops; y = by * factor * x, and z gets what the neighbour has. */
static void step(double by) {
  works(op_par_loop(scale, "scale", cells, direct(x, 1, "double", OP_READ),
                    op_arg_gbl(&by, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
  works(op_par_loop(sum, "sum", cells, direct(y, 1, "double", OP_READ), op_arg_global(total, OP_INC)));
  works(op_par_loop(most, "most", cells, direct(y, 1, "double", OP_READ), op_arg_global(largest, OP_MAX)));
  works(op_par_loop(scatter, "scatter", cells, direct(y, 1, "double", OP_READ),
                    op_arg_dat(z, 0, next, 1, "double", OP_INC)));
  works(op_par_loop(sum, "sum", cells, direct(z, 1, "double", OP_READ), op_arg_global(total, OP_INC)));
}

/* The values that the steps so far leave. */
static struct { double z, total, largest; } expected;

static void expect_step(double by) {
  const double all = by * factor * N * (N - 1) / 2;
  expected.z += by * factor;
  expected.total += all + expected.z * N * (N - 1) / 2;
  if (by * factor * (N - 1) > expected.largest)
    expected.largest = by * factor * (N - 1);
}

static void compare(void) {
  double values[N], s, m;
  works(op_get_gbl(total, &s));
  works(op_get_gbl(largest, &m));
  works(op_fetch_data(z, values));
  assert_true(s == expected.total);
  assert_true(m == expected.largest);
  for (int i = 0; i < N; i++)
    assert_true(values[(i + 1) % N] == expected.z * i);
}

static void run_steps(int steps) {
  memset(&expected, 0, sizeof expected);
  for (int i = 1; i <= steps; i++) {
    step(i);
    expect_step(i);
    op_barrier();
  }
}

TEST_BETWEEN(a_chain_that_comes_again_is_one_graph, open_graphs, stop) {
  run_steps(1);
  assert_int_equal(op_counters()->graphs, 0);
  const long long waits = op_counters()->waits;
  for (int i = 2; i <= 5; i++) {
    step(i);
    expect_step(i);
    assert_int_equal(op_counters()->waiting, 5);
    op_barrier();
    assert_int_equal(op_counters()->graphs, i - 1);
    assert_int_equal(op_counters()->waits, waits); /* its results stay on the device */
  }
  compare();
}

TEST_BETWEEN(what_comes_to_a_variable_is_waited_for_once, open_graphs, stop) {
  run_steps(1);
  for (int i = 2; i <= 5; i++) {
    double s = 0;
    step(i);
    expect_step(i);
    const long long waits = op_counters()->waits;
    works(
        op_par_loop(sum, "sum", cells, direct(z, 1, "double", OP_READ), op_arg_gbl(&s, 1, "double", OP_INC)));
    assert_int_equal(op_counters()->waits, waits + 1);
    assert_true(s == expected.z * N * (N - 1) / 2);
  }
  assert_int_equal(op_counters()->graphs, 3);
  compare();
}

TEST_BETWEEN(what_a_program_changes_is_seen, open_graphs, stop) {
  run_steps(3);
  for (int i = 4; i <= 8; i++) {
    factor = i % 3;
    works(op_update_const("factor", &factor));
    step(i);
    expect_step(i);
  }
  compare();
  assert_true(op_counters()->graphs > 2);
}

TEST_BETWEEN(fused_loops_are_in_it, open_fused, stop) {
  run_steps(4);
  compare();
  assert_int_equal(op_counters()->fused, 4 * 3);
  assert_int_equal(op_counters()->graphs, 3);
}

/* The graph has the address of what is freed. */
TEST_BETWEEN(one_goes_with_a_dat_of_it, open_graphs, stop) {
  for (int round = 0; round < 3; round++) {
    op_dat d = op_decl_dat(cells, 1, "double", NULL, "d");
    double by = 2;
    double values[N];
    for (int i = 0; i < 3; i++) {
      works(op_par_loop(scale, "scale", cells, direct(x, 1, "double", OP_READ),
                        op_arg_gbl(&by, 1, "double", OP_READ), direct(d, 1, "double", OP_WRITE)));
      works(op_par_loop(scatter, "scatter", cells, direct(d, 1, "double", OP_READ),
                        op_arg_dat(z, 0, next, 1, "double", OP_INC)));
      op_barrier();
    }
    works(op_fetch_data(z, values));
    for (int i = 0; i < N; i++)
      assert_true(values[(i + 1) % N] == 6.0 * (round + 1) * i);
    works(op_free_dat(d));
  }
  assert_int_equal(op_counters()->graphs, 6);
}

TEST_BETWEEN(with_check_both_ways_are_compared, open_checked, stop) {
  run_steps(4);
  compare();
  assert_true(op_counters()->fused > 0);
}

TEST_BETWEEN(a_driver_without_graphs_does_without, open_graphs, stop) {
  const char *hip = getenv("OP2_HIP"), *driver = hip ? hip : getenv("OP2_CUDA_DRIVER");
  if (!driver || !strstr(driver, "standin"))
    skip_since("a real driver has graphs; the stand-in can be asked to have none");
  works(op_exit());
  setenv("STANDIN_FAIL", "cuGraphInstantiateWithFlags:1:801", 1);
  assert_int_equal(begin("on", "off"), 0);
  unsetenv("STANDIN_FAIL");
  run_steps(4);
  compare();
  assert_int_equal(op_counters()->graphs, 0);
}
