/* OP2_LAZY=check finds what a chain does otherwise than its loops, and says where; data are then as before the
 * call that looked. */
#include "../api/support.h"

#include <unistd.h>

#include "loop/chain/queue.h"
#include "mesh/data.h"

enum { N = 50 };

static const char add[] = OP_KERNEL(void add(const double *by, double *x) {
  x[0] += by[0];
  x[1] -= by[0];
});
static const char copy[] = OP_KERNEL(void copy(const double *x, double *y, double *sum) {
  y[0] = x[1];
  sum[0] += x[0];
});

/* The mistake of the chain of this test: by so much, to a dat or to a global. */
static double wrong;
static bool wrong_global;

int __real_chain_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);
int __wrap_chain_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);
int __wrap_chain_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  const int code = __real_chain_run(ctx, launches, n, err);
  const struct loop *last = launches[n - 1]->loop;
  double *value = wrong_global ? launches[n - 1]->user[2] : dat_value(last->args[1].dat, 7, 0);
  *value += wrong;
  return code;
}

static struct {
  op_set cells;
  op_dat x, y;
  op_gbl sum;
} p;

static void declare(void) {
  static double values[2 * N];
  for (int i = 0; i < 2 * N; i++)
    values[i] = i;
  p.cells = op_decl_set(N, "cells");
  p.x = op_decl_dat(p.cells, 2, "double", values, "x");
  p.y = op_decl_dat(p.cells, 1, "double", NULL, "y");
  p.sum = op_decl_gbl(1, "double", NULL, "sum");
  wrong = 0;
  wrong_global = false;
}

static void add_and_copy(void) {
  const double by = 3;
  works(op_par_loop(add, "add", p.cells, op_arg_gbl((void *)(size_t)&by, 1, "double", OP_READ),
                    direct(p.x, 2, "double", OP_RW)));
  works(op_par_loop(copy, "copy", p.cells, direct(p.x, 2, "double", OP_READ),
                    direct(p.y, 1, "double", OP_WRITE), op_arg_global(p.sum, OP_INC)));
}

static void has(const char *part) {
  if (!strstr(op_last_error()->message, part))
    fail_msg("no \"%s\" in: %s", part, op_last_error()->message);
}

LIBRARY_TEST(what_agrees_goes_on) {
  double y[N], sum;
  declare();
  add_and_copy();
  wrong = 1e-12; /* of 96: rounding */
  add_and_copy();
  works(op_fetch_data(p.y, y));
  works(op_get_gbl(p.sum, &sum));
  assert_true(y[0] == 1 - 6 && y[9] == 19 - 6 && sum == 2 * N * (N - 1) + N * 9);
  assert_int_equal(op_counters()->loops, 4);
}

LIBRARY_TEST(a_wrong_element_is_found) {
  double x[2 * N], y[N];
  declare();
  add_and_copy();
  wrong = 1e-3;
  fails(OP_ERR_INTERNAL, op_fetch_data(p.y, y));
  has("loop copy, argument 2, called at ");
  has("test_lazy_check.c:");
  has("dat \"y\", element 7 of set \"cells\", component 0");
  has("op_fetch_data");
  wrong = 0;
  /* As before: neither loop has run. */
  works(op_fetch_data(p.x, x));
  works(op_fetch_data(p.y, y));
  assert_true(x[0] == 0 && x[2 * N - 1] == 2 * N - 1 && y[7] == 0);
}

LIBRARY_TEST(a_warning_says_how_to_keep_what_failed) {
  char path[] = "/tmp/op2jit-lazy-XXXXXX", said[4096] = "";
  const int file = mkstemp(path), was = dup(STDERR_FILENO);
  assert_true(file >= 0 && was >= 0 && dup2(file, STDERR_FILENO) >= 0);
  declare();
  add_and_copy();
  wrong = 1e-3;
  const int code = op_fetch_data(p.y, said);
  fflush(stderr);
  dup2(was, STDERR_FILENO);
  close(was);
  assert_int_equal(code, OP_ERR_INTERNAL);
  assert_true(pread(file, said, sizeof said - 1, 0) > 0);
  close(file);
  unlink(path);
  assert_non_null(strstr(said, "OP2_CAPTURE=add:1+2:add.capture"));
}

LIBRARY_TEST(a_wrong_global_is_found) {
  double x[2 * N], sum = 5;
  declare();
  add_and_copy();
  wrong = 1;
  wrong_global = true;
  fails(OP_ERR_INTERNAL, op_get_gbl(p.sum, &sum));
  has("global \"sum\"");
  assert_true(sum == 5);
  wrong = 0;
  works(op_fetch_data(p.x, x));
  works(op_get_gbl(p.sum, &sum));
  assert_true(x[0] == 0 && sum == 0);
}

/* A loop that has a result for the program is the last of its chain. */
LIBRARY_TEST(a_result_is_as_before_the_loop) {
  const double by = 3;
  double sum = 11;
  declare();
  works(op_par_loop(add, "add", p.cells, op_arg_gbl((void *)(size_t)&by, 1, "double", OP_READ),
                    direct(p.x, 2, "double", OP_RW)));
  works(op_par_loop(copy, "copy", p.cells, direct(p.x, 2, "double", OP_READ),
                    direct(p.y, 1, "double", OP_WRITE), op_arg_gbl(&sum, 1, "double", OP_INC)));
  assert_true(sum == 11 + N * (N - 1) + 3 * N);
  wrong = 1;
  wrong_global = true;
  fails(OP_ERR_INTERNAL,
        op_par_loop(copy, "copy", p.cells, direct(p.x, 2, "double", OP_READ),
                    direct(p.y, 1, "double", OP_WRITE), op_arg_gbl(&sum, 1, "double", OP_INC)));
  has("argument 3");
  assert_true(sum == 11 + N * (N - 1) + 3 * N);
}
