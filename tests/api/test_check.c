/* The checking form beyond what tests/mistakes plants: other layouts and types, later calls, what is absent, names
 * of loops, and that answers are those of a normal run. */
#include "support.h"

#include <math.h>
#include <stdbool.h>

enum { ELEMENTS = 40 };

static int start_with(const char *assignment) {
  char own[64];
  snprintf(own, sizeof own, "%s", assignment);
  char *argv[] = {"check", "OP2_BACKEND=native", own};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  return op_init(3, argv, 0);
}

FIXTURE(start_checked) {
  return start_with("OP2_CHECK=on");
}

static void says(const char *what) {
  assert_int_equal(op_last_error()->code, OP_ERR_VIOLATION);
  if (!strstr(op_last_error()->message, what))
    fail_msg("\"%s\" is not in: %s", what, op_last_error()->message);
}

/* ---- what must be found ---- */

OP_KERNEL_DEF(
    spills, void spills(const int *when, float *a) {
      a[0] = 1;
      a[1] = 2;
      if (*when)
        a[2] = 3;
    })

#define CHECKED_TEST(name) TEST_BETWEEN(name, start_checked, stop)

/* At later calls guards are looked at behind the last element; then the element is searched for. */
CHECKED_TEST(write_outside_at_a_later_call) {
  int when[ELEMENTS] = {0};
  float values[2 * ELEMENTS];
  op_set set = op_decl_set(ELEMENTS, "set");
  op_dat d = op_decl_dat(set, 1, "int", when, "when"), a = op_decl_dat(set, 2, "float:soa", NULL, "a");
  for (int call = 0; call < 5; call++) {
    when[17] = call == 4;
    works(op_put_data(d, when));
    int code = op_par_loop(OP_KERNEL_OF(spills), "spills", set, direct(d, 1, "int", OP_READ),
                           direct(a, 2, "float", OP_WRITE));
    assert_int_equal(code, call == 4 ? OP_ERR_VIOLATION : OP_OK);
  }
  says("argument 2 (dat \"a\", OP_WRITE), element 17 of set \"set\": the kernel wrote outside the 2 "
       "components");
  works(op_fetch_data(a, values));
  assert_true(values[34] == 1 && values[35] == 2);
}

OP_KERNEL_DEF(
    skips, void skips(const int *n, int *a) {
      if (*n != 31)
        *a = *n;
    })

CHECKED_TEST(unwritten_integer) {
  op_set set = op_decl_set(ELEMENTS, "set");
  op_dat a = op_decl_dat(set, 1, "int", NULL, "a");
  op_par_loop(OP_KERNEL_OF(skips), "skips", set, op_arg_idx(-1, OP_ID), direct(a, 1, "int", OP_WRITE));
  says("element 31 of set \"set\": the kernel did not write component 0");
}

OP_KERNEL_DEF(
    doubles, void doubles(const int *n, long long *a) {
      *a += *n;
      *a *= 2;
    })

CHECKED_TEST(integer_increment) {
  op_set set = op_decl_set(ELEMENTS, "set");
  op_dat a = op_decl_dat(set, 1, "ll", NULL, "a");
  op_par_loop(OP_KERNEL_OF(doubles), "doubles", set, op_arg_idx(-1, OP_ID), direct(a, 1, "ll", OP_INC));
  says("is not only added to: from 0 it becomes 0, from 1 it becomes 2");
}

OP_KERNEL_DEF(
    assigns_second, void assigns_second(const int *n, double *a) {
      a[0] += *n + 1;
      a[1] = a[0];
    })
OP_KERNEL_DEF(
    assigns_other, void assigns_other(const int *n, int *a, int *b) {
      *a += *n + 1;
      *b = *a;
    })

/* Each of the components that get the same ends where a sum would, if all start alike. */
CHECKED_TEST(increment_assigned_from_another) {
  int ends[ELEMENTS] = {0};
  op_set set = op_decl_set(ELEMENTS, "set"), to = op_decl_set(2, "to");
  op_map map = op_decl_map(set, to, 1, ends, "ends");
  op_dat a = op_decl_dat(to, 2, "double", NULL, "a"), b = op_decl_dat(set, 1, "int", NULL, "b"),
         c = op_decl_dat(set, 1, "int", NULL, "c");
  op_par_loop(OP_KERNEL_OF(assigns_second), "assigns_second", set, op_arg_idx(-1, OP_ID),
              op_arg_dat(a, 0, map, 2, "double", OP_INC));
  says("component 1 (element 0 of set \"to\", entry 0 of map \"ends\") is not only added to: from 0 it "
       "becomes "
       "1, from ");
  op_par_loop(OP_KERNEL_OF(assigns_other), "assigns_other", set, op_arg_idx(-1, OP_ID),
              direct(b, 1, "int", OP_INC), direct(c, 1, "int", OP_INC));
  says(
      "argument 3 (dat \"c\", OP_INC), element 0 of set \"set\": component 0 is not only added to: from 0 it "
      "becomes 1, from 5 it becomes 2");
}

OP_KERNEL_DEF(
    uses_scratch, void uses_scratch(const double *a, double *work, double *b) {
      work[1] = *a;
      *b = work[0] + work[1];
    })

CHECKED_TEST(scratch_read_first) {
  op_set set = op_decl_set(ELEMENTS, "set");
  op_dat a = op_decl_dat(set, 1, "double", NULL, "a"), b = op_decl_dat(set, 1, "double", NULL, "b");
  op_par_loop(OP_KERNEL_OF(uses_scratch), "uses_scratch", set, direct(a, 1, "double", OP_READ),
              op_arg_gbl(NULL, 2, "double", OP_WORK), direct(b, 1, "double", OP_WRITE));
  says("what argument 2 held before, and it is declared OP_WORK");
}

OP_KERNEL_DEF(
    uses_absent, void uses_absent(double *a, double *maybe) {
      *a = 1;
      *maybe = 2;
    })

CHECKED_TEST(absent_argument_used) {
  op_set set = op_decl_set(ELEMENTS, "set");
  op_dat a = op_decl_dat(set, 1, "double", NULL, "a");
  op_par_loop(OP_KERNEL_OF(uses_absent), "uses_absent", set, direct(a, 1, "double", OP_WRITE),
              op_opt_arg_dat(0, NULL, -1, OP_ID, 1, "double", OP_WRITE));
  says("argument 2");
  says("absent in this call");
}

OP_KERNEL_DEF(
    last_wins, void last_wins(const int *n, double *both[2]) {
      *both[0] = *n;
      *both[1] = *n;
    })

CHECKED_TEST(vector_targets_shared) {
  int table[] = {0, 1, 2, 3, 3, 4};
  op_set set = op_decl_set(3, "pairs"), to = op_decl_set(5, "points");
  op_map map = op_decl_map(set, to, 2, table, "ends");
  op_dat a = op_decl_dat(to, 1, "double", NULL, "a");
  op_par_loop(OP_KERNEL_OF(last_wins), "last_wins", set, op_arg_idx(-1, OP_ID),
              op_arg_dat(a, -2, map, 1, "double", OP_WRITE));
  says("elements 1 and 2 of set \"pairs\" both write element 3 of set \"points\"");
}

/* ---- what must not be found ---- */

OP_KERNEL_DEF(
    cancels, void cancels(const double *a, double *b, float *c) {
      *b += *a * 1e6;
      *b -= *a * 1e6;
      *c += (float)*a;
      *c -= (float)*a / 3;
    })
OP_KERNEL_DEF(
    best, void best(const double *a, double *low, int *where, const int *n) {
      if (!(*a >= *low)) {
        *low = *a;
        *where = *n;
      }
    })

CHECKED_TEST(rounding_and_extrema_are_right) {
  double values[ELEMENTS], low = 1e30;
  int where = -1;
  for (int e = 0; e < ELEMENTS; e++)
    values[e] = cos(3 * e) * pow(10, e % 13);
  op_set set = op_decl_set(ELEMENTS, "set");
  op_dat a = op_decl_dat(set, 1, "double", values, "a"), b = op_decl_dat(set, 1, "double", NULL, "b");
  op_dat c = op_decl_dat(set, 1, "float", NULL, "c");
  for (int call = 0; call < 20; call++)
    works(op_par_loop(OP_KERNEL_OF(cancels), "cancels", set, direct(a, 1, "double", OP_READ),
                      direct(b, 1, "double", OP_INC), direct(c, 1, "float", OP_INC)));
  works(op_par_loop(OP_KERNEL_OF(best), "best", set, direct(a, 1, "double", OP_READ),
                    op_arg_gbl(&low, 1, "double", OP_MIN), op_arg_info(&where, 1, "int", 2),
                    op_arg_idx(-1, OP_ID)));
  for (int e = 0; e < ELEMENTS; e++)
    assert_true(low <= values[e]);
  assert_true(values[where] == low);
}

/* ---- names of loops ---- */

TEST(only_the_loops_that_are_named) {
  static const char *const values[] = {"OP2_CHECK=skips", "OP2_CHECK=other,skips", "OP2_CHECK=skip",
                                       "OP2_CHECK=off"};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(start_with(values[i]), OP_OK);
    op_set set = op_decl_set(ELEMENTS, "set");
    op_dat a = op_decl_dat(set, 1, "int", NULL, "a");
    fails(
        i < 2 ? OP_ERR_VIOLATION : OP_OK,
        op_par_loop(OP_KERNEL_OF(skips), "skips", set, op_arg_idx(-1, OP_ID), direct(a, 1, "int", OP_WRITE)));
    assert_int_equal(op_exit(), OP_OK);
  }
}
