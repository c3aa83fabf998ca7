/* Loops that wait (OP2_LAZY): nobody can tell, but for the counter of loops that ran. */
#include "support.h"

enum { N = 100 };

static const char add[] = OP_KERNEL(void add(const int *by, int *x) { x[0] += by[0]; });
static const char sum[] = OP_KERNEL(void sum(const int *x, long long *s) { s[0] += x[0]; });

static op_set cells;
static op_dat x;

static int open_lazily(void **state) {
  char program[] = "lazy", lazy[] = "OP2_LAZY=on";
  char *argv[] = {program, lazy, NULL};
  (void)state;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (op_init(2, argv, 0))
    return -1;
  cells = op_decl_set(N, "cells");
  x = op_decl_dat(cells, 1, "int", NULL, "x");
  return x ? 0 : -1;
}

static void add_to_all(int by) {
  works(op_par_loop(add, "add", cells, op_arg_gbl(&by, 1, "int", OP_READ), direct(x, 1, "int", OP_RW)));
}

static long long loops(void) {
  return op_counters()->loops;
}

CASE(a_loop_waits_until_somebody_looks) {
  int values[N];
  for (int by = 1; by <= 4; by++)
    add_to_all(by); /* of a variable that is gone when the loop runs */
  assert_int_equal(loops(), 0);
  works(op_fetch_data(x, values));
  assert_int_equal(loops(), 4);
  for (int i = 0; i < N; i++)
    assert_int_equal(values[i], 10);
}

CASE(a_result_in_a_variable_is_there_when_the_call_returns) {
  long long s = 5;
  add_to_all(3);
  assert_int_equal(loops(), 0);
  works(op_par_loop(sum, "sum", cells, direct(x, 1, "int", OP_READ), op_arg_gbl(&s, 1, "long long", OP_INC)));
  assert_int_equal(loops(), 2);
  assert_int_equal(s, 5 + 3 * N);
}

CASE(a_result_in_a_handle_ends_no_chain) {
  long long s = 0;
  op_gbl kept = op_decl_gbl(1, "long long", NULL, "kept");
  for (int i = 1; i <= 3; i++) {
    add_to_all(1);
    works(op_par_loop(sum, "sum", cells, direct(x, 1, "int", OP_READ), op_arg_global(kept, OP_INC)));
  }
  assert_int_equal(loops(), 0);
  works(op_get_gbl(kept, &s));
  assert_int_equal(loops(), 6);
  assert_int_equal(s, N + 2 * N + 3 * N);
}

CASE(the_queue_is_bounded) {
  enum { MOST = 256 };
  int values[N];
  for (int i = 0; i < MOST - 1; i++)
    add_to_all(1);
  assert_int_equal(loops(), 0);
  add_to_all(1);
  assert_int_equal(loops(), MOST);
  add_to_all(1);
  assert_int_equal(loops(), MOST);
  works(op_fetch_data(x, values));
  assert_int_equal(values[N - 1], MOST + 1);
}

CASE(what_is_refused_is_refused_at_the_call) {
  int values[N], by = 1;
  add_to_all(2);
  fails(OP_ERR_ARGUMENT,
        op_par_loop(add, "add", cells, op_arg_gbl(NULL, 1, "int", OP_READ), direct(x, 1, "int", OP_RW)));
  fails(OP_ERR_DIM,
        op_par_loop(add, "add", cells, op_arg_gbl(&by, 1, "int", OP_READ), direct(x, 2, "int", OP_RW)));
  fails(OP_ERR_COMPILE, op_par_loop("void odd(const int *by, int *x) { x[0] = unknown + by[0]; }", "odd",
                                    cells, op_arg_gbl(&by, 1, "int", OP_READ), direct(x, 1, "int", OP_RW)));
  assert_int_equal(loops(), 0);
  works(op_fetch_data(x, values));
  assert_int_equal(values[0], 2);
}

CASE(what_no_chain_can_hold_runs_at_once) {
  char program[] = "lazy", lazy[] = "OP2_LAZY=on", check[] = "OP2_CHECK=add";
  char *argv[] = {program, lazy, check, NULL};
  works(op_exit());
  works(op_init(3, argv, 0));
  cells = op_decl_set(N, "cells");
  x = op_decl_dat(cells, 1, "int", NULL, "x");
  add_to_all(1);
  assert_int_equal(loops(), 1);
}

#define lazy_test(f) cmocka_unit_test_setup_teardown(f, open_lazily, stop)

int main(void) {
  const struct CMUnitTest tests[] = {
      lazy_test(a_loop_waits_until_somebody_looks),
      lazy_test(a_result_in_a_variable_is_there_when_the_call_returns),
      lazy_test(a_result_in_a_handle_ends_no_chain),
      lazy_test(the_queue_is_bounded),
      lazy_test(what_is_refused_is_refused_at_the_call),
      lazy_test(what_no_chain_can_hold_runs_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
