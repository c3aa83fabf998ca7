/* OP2_SHADOW: each loop runs a second time on another backend, and a difference is found; the program's own
 * results are those of its backend.
 *   test_shadow BACKEND SHADOW */
#include "../unit.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../property/random.h"
#include "op2jit.h"

enum { EDGES = 300, CELLS = 70, STEPS = 5 };

#define works(call)                                                                                          \
  do {                                                                                                       \
    if ((call) != OP_OK)                                                                                     \
      fail_msg("%s: %s", #call, op_last_error()->message);                                                   \
  } while (0)

OP_KERNEL_DEF(
    spread, void spread(const double *x, double *a0, double *a1, double *most, double *sum) {
      *a0 += *x;
      *a1 -= *x;
      *sum += *x;
      if (*x > *most)
        *most = *x;
    })

OP_KERNEL_DEF(
    smooth, void smooth(const double *a, double *b) {
      b[0] = a[0] / 2;
      b[1] += a[0];
    })

struct outcome {
  double a[CELLS], b[2 * CELLS], most, sum;
};

static void run(const char *backend, const char *shadow, const char *variant, struct outcome *out) {
  char *argv[] = {"test",
                  (char *)(uintptr_t)backend,
                  (char *)(uintptr_t)shadow,
                  (char *)(uintptr_t)variant,
                  "OP2_CACHE=off",
                  "OP2_TUNE=off"};
  double x[EDGES];
  int table[2 * EDGES];
  for (int e = 0; e < EDGES; e++) {
    x[e] = e % 13 - 4;
    table[2 * e] = e % CELLS;
    table[2 * e + 1] = (7 * e + 1) % CELLS;
  }
  works(op_init(6, argv, 0));
  op_set edges = op_decl_set(EDGES, "edges"), cells = op_decl_set(CELLS, "cells");
  op_map map = op_decl_map(edges, cells, 2, table, "map");
  op_dat dx = op_decl_dat(edges, 1, "double", x, "x"), a = op_decl_dat(cells, 1, "double", NULL, "a"),
         b = op_decl_dat(cells, 2, "double:soa", NULL, "b");
  out->most = -100;
  out->sum = 3;
  for (int step = 0; step < STEPS; step++) {
    works(op_par_loop(OP_KERNEL_OF(spread), "spread", edges, op_arg_dat(dx, -1, OP_ID, 1, "double", OP_READ),
                      op_arg_dat(a, 0, map, 1, "double", OP_INC), op_arg_dat(a, 1, map, 1, "double", OP_INC),
                      op_arg_gbl(&out->most, 1, "double", OP_MAX),
                      op_arg_gbl(&out->sum, 1, "double", OP_INC)));
    works(op_par_loop(OP_KERNEL_OF(smooth), "smooth", cells, op_arg_dat(a, -1, OP_ID, 1, "double", OP_READ),
                      op_arg_dat(b, -1, OP_ID, 2, "double", OP_RW)));
  }
  works(op_fetch_data(a, out->a));
  works(op_fetch_data(b, out->b));
  works(op_exit());
}

static struct { const char *backend, *shadow; } wanted;

static bool is(const char *name, const char *backend) {
  return strcmp(strchr(name, '=') + 1, backend) == 0;
}

/* All values are whole or halves of whole numbers: sums in any order are the same. */
TEST(the_same_everywhere) {
  static struct outcome expected, got;
  char shadow[64];
  const bool gpu = is(wanted.backend, "cuda") || is(wanted.shadow, "cuda"),
             cpu = is(wanted.backend, "openmp") || is(wanted.shadow, "openmp"); /* whose words are others */
  run("OP2_BACKEND=native", "OP2_LOG=warn", "OP2_LOG=warn", &expected);
  run(wanted.backend, wanted.shadow, gpu && !cpu ? "OP2_VARIANT=staged/32/soa" : "OP2_LOG=warn", &got);
  assert_memory_equal(&got, &expected, sizeof got);
  snprintf(shadow, sizeof shadow, "%s:3", wanted.shadow);
  run(wanted.backend, shadow, "OP2_LOG=warn", &got);
  assert_memory_equal(&got, &expected, sizeof got);
}

static void thrice(double *x) {
  *x *= 3;
}

/* The text and its function do different things. */
TEST(differences_are_found) {
  static const char text[] = "void twice(double *x) { *x *= 2; }";
  const bool native = is(wanted.backend, "native");
  if (native == is(wanted.shadow, "native"))
    return;
  char *argv[] = {"test", (char *)(uintptr_t)wanted.backend, (char *)(uintptr_t)wanted.shadow,
                  "OP2_CACHE=off"};
  char expected[256];
  double x[] = {0, 1, 2};
  works(op_init(4, argv, 0));
  assert_ptr_equal(op_kernel_native(text, (op_kernel_function)thrice), text);
  op_set set = op_decl_set(3, "points");
  op_dat dat = op_decl_dat(set, 1, "double", x, "height");
  assert_int_equal(op_par_loop(text, "twice", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_RW)),
                   OP_ERR_VIOLATION);
  snprintf(expected, sizeof expected,
           "loop twice, argument 1: dat \"height\", element 1 of set \"points\", component 0, is %d with %s "
           "and %d with %s",
           native ? 3 : 2, strchr(wanted.backend, '=') + 1, native ? 2 : 3, strchr(wanted.shadow, '=') + 1);
  if (!strstr(op_last_error()->message, expected))
    fail_msg("%s", op_last_error()->message);
  works(op_fetch_data(dat, x));
  assert_true(x[1] == (native ? 3 : 2) && x[2] == (native ? 6 : 4)); /* the program's own backend counts */
  works(op_exit());
}

static double kappa = 0.5;
OP_KERNEL_DEF(
    cool, void cool(double *x) { *x *= kappa; })

/* The variable is not what op_decl_const was given: both are named. */
TEST(another_value_of_a_constant) {
  const bool native = is(wanted.backend, "native");
  char *argv[] = {"test", (char *)(uintptr_t)wanted.backend, (char *)(uintptr_t)wanted.shadow,
                  "OP2_CACHE=off"};
  char expected[256];
  const double declared = 0.8, more[6] = {1, 2, 3, 4, 5, 6}, x[] = {0, 1};
  if (native == is(wanted.shadow, "native"))
    return;
  works(op_init(4, argv, 0));
  works(op_decl_const("kappa", 1, "double", &declared));
  works(op_decl_const("more", 6, "double", more));
  op_set set = op_decl_set(2, "points");
  op_dat dat = op_decl_dat(set, 1, "double", x, "height");
  assert_int_equal(
      op_par_loop(OP_KERNEL_OF(cool), "cool", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_RW)),
      OP_ERR_VIOLATION);
  snprintf(expected, sizeof expected,
           "and %s has what op_decl_const or op_update_const was given: compare the variable with kappa = "
           "0.8; if they are "
           "equal and OP2_CHECK=on finds",
           strchr(native ? wanted.shadow : wanted.backend, '=') + 1);
  if (!strstr(op_last_error()->message, expected))
    fail_msg("%s", op_last_error()->message);
  works(op_exit());
}

/* Terms of order one that cancel, in another order on another backend: what is left is rounding. */
OP_KERNEL_DEF(
    cancel, void cancel(const double *x, const float *f, double *a, float *b, double *sum, float *most) {
      *a += x[0] * x[1] + x[2];
      *b += f[0] * f[1];
      *sum += x[0] * x[1] + x[2];
      *most += f[0] / f[1];
    })

enum { MOST_TERMS = 4000, MOST_LOOPS = 60 };

/* The second half takes away what the first half adds, in its order or backwards. */
static void fill_terms(struct random *r, double *x, float *f, int *cell, int n, int cells) {
  const bool backwards = random_chance(r, 50);
  for (int e = 0; e < n; e++) {
    const int other = backwards ? n - 1 - e : e - n / 2;
    const bool second = e >= n / 2;
    for (int c = 0; c < 3; c++)
      x[3 * e + c] = second ? (c == 1 ? 1 : -1) * x[3 * other + c] : random_below(r, 2001) / 1000. - 1;
    for (int c = 0; c < 2; c++)
      f[2 * e + c] =
          second ? (c == 1 ? 1 : -1) * f[2 * other + c] : (float)(random_below(r, 2000) + 1) / 1000.F;
    cell[e] = second ? cell[other] : random_below(r, cells);
  }
}

static int cancelling_loop(struct random *r, double *sum) {
  static double x[3 * MOST_TERMS];
  static float f[2 * MOST_TERMS];
  static int table[MOST_TERMS];
  const int n = 2 + 2 * random_below(r, MOST_TERMS / 2), cells = 1 + random_below(r, 3);
  float most = 0;
  fill_terms(r, x, f, table, n, cells);
  op_set from = op_decl_set(n, "terms"), to = op_decl_set(cells, "cells");
  op_map map = op_decl_map(from, to, 1, table, "map");
  op_dat dx = op_decl_dat(from, 3, "double", x, "x"), df = op_decl_dat(from, 2, "float", f, "f"),
         a = op_decl_dat(to, 1, "double", NULL, "a"), b = op_decl_dat(to, 1, "float", NULL, "b");
  *sum = 0;
  return op_par_loop(OP_KERNEL_OF(cancel), "cancel", from, op_arg_dat(dx, -1, OP_ID, 3, "double", OP_READ),
                     op_arg_dat(df, -1, OP_ID, 2, "float", OP_READ),
                     op_arg_dat(a, 0, map, 1, "double", OP_INC), op_arg_dat(b, 0, map, 1, "float", OP_INC),
                     op_arg_gbl(sum, 1, "double", OP_INC), op_arg_gbl(&most, 1, "float", OP_INC));
}

TEST(sums_that_cancel_are_no_violation) {
  char *argv[] = {"test", (char *)(uintptr_t)wanted.backend, (char *)(uintptr_t)wanted.shadow,
                  "OP2_CACHE=off", "OP2_TUNE=off"};
  struct random r = {3};
  double sum;
  works(op_init(5, argv, 0));
  for (int l = 0; l < MOST_LOOPS; l++) {
    works(cancelling_loop(&r, &sum));
    assert_true(sum > -1e-9 && sum < 1e-9);
  }
  works(op_exit());
}

/* A value that one of the two alone adds is far more than rounding. */
static void adds_once_more(const double *x, double *sum) {
  *sum += *x + (*x == 1 ? 1e-3 : 0);
}

TEST(a_sum_of_other_terms_is_a_violation) {
  static const char text[] = "void adds(const double *x, double *sum) { *sum += *x; }";
  char *argv[] = {"test", (char *)(uintptr_t)wanted.backend, (char *)(uintptr_t)wanted.shadow,
                  "OP2_CACHE=off"};
  double x[CELLS], sum = 0;
  if (is(wanted.backend, "native") == is(wanted.shadow, "native"))
    return;
  for (int e = 0; e < CELLS; e++)
    x[e] = e % 2 ? 1 - e : e;
  works(op_init(4, argv, 0));
  assert_ptr_equal(op_kernel_native(text, (op_kernel_function)adds_once_more), text);
  x[7] = 1;
  op_set set = op_decl_set(CELLS, "points");
  op_dat dat = op_decl_dat(set, 1, "double", x, "x");
  assert_int_equal(op_par_loop(text, "adds", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_READ),
                               op_arg_gbl(&sum, 1, "double", OP_INC)),
                   OP_ERR_VIOLATION);
  assert_non_null(strstr(op_last_error()->message, "loop adds, argument 2: the global is "));
  works(op_exit());
}

TEST(what_cannot_be_opened) {
  char *gpu[] = {"test", "OP2_BACKEND=native", "OP2_SHADOW=cuda", "OP2_CUDA_DRIVER=/nowhere/libcuda.so"},
       *unknown[] = {"test", "OP2_BACKEND=native", "OP2_SHADOW=nativ"},
       *each[] = {"test", "OP2_BACKEND=native", "OP2_SHADOW=native:0"};
  if (is(wanted.shadow, "cuda")) {
    assert_int_equal(op_init(4, gpu, 0), OP_ERR_BACKEND);
    assert_non_null(strstr(op_last_error()->message, "OP2_SHADOW=cuda: "));
    assert_non_null(strstr(op_last_error()->message, "/nowhere/libcuda.so"));
  }
  assert_int_equal(op_init(3, unknown, 0), OP_ERR_ENV);
  assert_non_null(strstr(op_last_error()->message, "OP2_SHADOW=nativ: expected native"));
  assert_int_equal(op_init(3, each, 0), OP_ERR_ENV);
}

int main(int argc, char **argv) {
  static char backend[64], shadow[64];
  if (argc != 3) {
    fprintf(stderr, "usage: test_shadow BACKEND SHADOW\n");
    return 2;
  }
  snprintf(backend, sizeof backend, "OP2_BACKEND=%s", argv[1]);
  snprintf(shadow, sizeof shadow, "OP2_SHADOW=%s", argv[2]);
  wanted.backend = backend;
  wanted.shadow = shadow;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  return run_these(NULL, NULL);
}
