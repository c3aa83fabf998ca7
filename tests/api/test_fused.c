/* Loops that run as one (OP2_FUSE=on): the counter of loops that ran so, and the same data as one by one. */
#include "support.h"

enum { N = 1000 };

static const char scale[] = OP_KERNEL(
    static double twice(double x) { return 2 * x; } void scale(const double *x, double *y) {
      *y = twice(*x);
    });
static const char shift[] = OP_KERNEL(
    static double twice(double x) { return x + 2; } void shift(double *y, double *s) {
      *y = twice(*y);
      *s += *y;
    });
static const char gather[] =
    OP_KERNEL(void gather(const double *l, const double *r, double *y) { *y += *l + *r; });
static const char scatter[] = OP_KERNEL(void scatter(const double *y, double *l) { *l += *y; });
static const char number[] =
    OP_KERNEL(void number(const int *e, const int *by, double *y) { *y += *e * *by; });

static op_set cells;
static op_map next;
static op_dat x, y, z;

static int begin(const char *fuse) {
  char program[] = "fused", lazy[] = "OP2_LAZY=on", fp[] = "OP2_FP=strict", how[32];
  char *argv[] = {program, lazy, fp, how, NULL};
  static int table[N];
  static double values[N];
  snprintf(how, sizeof how, "OP2_FUSE=%s", fuse);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (op_init(4, argv, 0))
    return -1;
  for (int i = 0; i < N; i++) {
    table[i] = (i + 1) % N;
    values[i] = i / 8.0;
  }
  cells = op_decl_set(N, "cells");
  next = op_decl_map(cells, cells, 1, table, "next");
  x = op_decl_dat(cells, 1, "double", values, "x");
  y = op_decl_dat(cells, 1, "double", NULL, "y");
  z = op_decl_dat(cells, 1, "double", NULL, "z");
  return x && y && z && next ? 0 : -1;
}

FIXTURE(open_fused) {
  return begin("on");
}

static long long fused(void) {
  return op_counters()->fused;
}

static void call_scale(op_dat from, op_dat to) {
  works(op_par_loop(scale, "scale", cells, direct(from, 1, "double", OP_READ),
                    direct(to, 1, "double", OP_WRITE)));
}

static void call_shift(op_dat of, op_gbl sum) {
  works(op_par_loop(shift, "shift", cells, direct(of, 1, "double", OP_RW), op_arg_global(sum, OP_INC)));
}

static void call_gather(op_dat from, op_dat to) {
  works(op_par_loop(gather, "gather", cells, direct(from, 1, "double", OP_READ),
                    op_arg_dat(from, 0, next, 1, "double", OP_READ), direct(to, 1, "double", OP_INC)));
}

#define FUSED_TEST(name) TEST_BETWEEN(name, open_fused, stop)

FUSED_TEST(neighbours_on_one_dat_are_one_loop) {
  double values[N], s = 1, sum = 1;
  op_gbl kept = op_decl_gbl(1, "double", &s, "kept");
  call_scale(x, y);
  call_shift(y, kept);
  works(op_fetch_data(y, values));
  assert_int_equal(fused(), 2);
  for (int i = 0; i < N; i++) {
    assert_true(values[i] == 2 * (i / 8.0) + 2);
    sum += values[i];
  }
  works(op_get_gbl(kept, &s));
  assert_true(s == sum);
}

FUSED_TEST(the_same_helper_of_two_kernels_stays_two) {
  double values[N];
  op_gbl kept = op_decl_gbl(1, "double", NULL, "kept");
  call_scale(x, y);
  call_shift(y, kept);
  call_scale(y, z);
  works(op_fetch_data(z, values));
  assert_int_equal(fused(), 3);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 2 * (2 * (i / 8.0) + 2));
}

FUSED_TEST(a_result_in_a_variable_is_there_when_the_call_returns) {
  double s = 0, sum = 0;
  call_scale(x, y);
  works(
      op_par_loop(shift, "shift", cells, direct(y, 1, "double", OP_RW), op_arg_gbl(&s, 1, "double", OP_INC)));
  assert_int_equal(fused(), 2);
  for (int i = 0; i < N; i++)
    sum += 2 * (i / 8.0) + 2;
  assert_true(s == sum);
}

/* An element's neighbour may not be there yet. */
FUSED_TEST(what_is_read_through_a_map_is_not_fused_with_what_writes_it) {
  double values[N];
  call_scale(x, y);
  call_gather(y, z);
  works(op_fetch_data(z, values));
  assert_int_equal(fused(), 0);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 2 * (i / 8.0) + 2 * ((i + 1) % N / 8.0));
}

FUSED_TEST(nor_with_what_writes_it_later) {
  double values[N];
  call_scale(x, y);
  call_gather(x, z);
  call_scale(y, x);
  works(op_fetch_data(z, values));
  assert_int_equal(fused(), 2); /* scale passes over gather only where it may */
  for (int i = 0; i < N; i++)
    assert_true(values[i] == i / 8.0 + (i + 1) % N / 8.0);
  works(op_fetch_data(x, values));
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 4 * (i / 8.0));
}

FUSED_TEST(reading_through_a_map_what_nobody_writes_is_fused) {
  double values[N];
  call_scale(x, y);
  call_gather(x, y);
  works(op_fetch_data(y, values));
  assert_int_equal(fused(), 2);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 2 * (i / 8.0) + i / 8.0 + (i + 1) % N / 8.0);
}

FUSED_TEST(what_increments_through_a_map_stays_alone_and_is_passed_over) {
  double values[N];
  op_dat w = op_decl_dat(cells, 1, "double", NULL, "w");
  call_scale(x, y);
  works(op_par_loop(scatter, "scatter", cells, direct(x, 1, "double", OP_READ),
                    op_arg_dat(z, 0, next, 1, "double", OP_INC)));
  call_scale(y, w);
  works(op_fetch_data(w, values));
  assert_int_equal(fused(), 2);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 4 * (i / 8.0));
  works(op_fetch_data(z, values));
  for (int i = 0; i < N; i++)
    assert_true(values[(i + 1) % N] == i / 8.0);
}

FUSED_TEST(numbers_and_values_that_are_gone_when_it_runs) {
  double values[N];
  call_scale(x, y);
  for (int by = 1; by <= 3; by++)
    works(op_par_loop(number, "number", cells, op_arg_idx(-1, OP_ID), op_arg_gbl(&by, 1, "int", OP_READ),
                      direct(y, 1, "double", OP_INC)));
  works(op_fetch_data(y, values));
  assert_int_equal(fused(), 4);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 2 * (i / 8.0) + 6 * i);
}

FUSED_TEST(other_sets_are_other_loops) {
  double values[N];
  op_set others = op_decl_set(N, "others");
  op_dat o = op_decl_dat(others, 1, "double", NULL, "o"), p = op_decl_dat(others, 1, "double", NULL, "p");
  call_scale(x, y);
  works(
      op_par_loop(scale, "scale", others, direct(o, 1, "double", OP_READ), direct(p, 1, "double", OP_WRITE)));
  call_scale(y, z);
  works(op_fetch_data(z, values));
  assert_int_equal(fused(), 2);
  assert_true(values[8] == 4);
}

FUSED_TEST(a_constant_that_changes_is_seen) {
  static const char by_c[] = OP_KERNEL(void by_c(const double *x, double *y) { *y = factor * *x; });
  double values[N];
  for (double factor = 2; factor < 9; factor++) {
    if (factor < 3)
      works(op_decl_const("factor", 1, "double", &factor));
    else
      works(op_update_const("factor", &factor));
    works(
        op_par_loop(by_c, "by_c", cells, direct(x, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
    call_scale(y, z);
    works(op_fetch_data(z, values));
    for (int i = 0; i < N; i++)
      assert_true(values[i] == 2 * (factor * (i / 8.0)));
  }
  assert_int_equal(fused(), 14);
}

static op_dat temporary(const char *name) {
  return op_decl_dat_temp(cells, 1, "double", NULL, name);
}

FUSED_TEST(a_temporary_that_is_freed_is_not_stored) {
  double values[N];
  op_dat t = temporary("t");
  call_scale(x, t);
  call_scale(t, y);
  works(op_free_dat_temp(t));
  assert_int_equal(fused(), 0);
  works(op_fetch_data(y, values));
  assert_int_equal(fused(), 2);
  assert_int_equal(op_counters()->unstored, 1);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 4 * (i / 8.0));
}

FUSED_TEST(nor_are_two) {
  double values[N];
  op_dat t = temporary("t"), u = temporary("u");
  call_scale(x, t);
  call_scale(t, u);
  works(op_free_dat_temp(t));
  call_scale(u, y);
  works(op_free_dat_temp(u));
  works(op_fetch_data(y, values));
  assert_int_equal(fused(), 3);
  assert_int_equal(op_counters()->unstored, 2);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 8 * (i / 8.0));
}

FUSED_TEST(but_is_kept_for_a_loop_that_stays_alone) {
  double values[N];
  op_dat t = temporary("t");
  call_scale(x, t);
  call_scale(t, y);
  call_gather(t, z);
  works(op_free_dat_temp(t));
  works(op_fetch_data(z, values));
  assert_int_equal(fused(), 2);
  assert_int_equal(op_counters()->unstored, 0);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 2 * (i / 8.0) + 2 * ((i + 1) % N / 8.0));
}

/* One record for each loop, one fused loop, whatever the step; the handle is a new one. */
FUSED_TEST(one_that_comes_again_is_the_same) {
  double values[N];
  op_dat before = NULL;
  for (int step = 1; step <= 5; step++) {
    op_dat t = temporary("t");
    assert_true(t != before);
    before = t;
    call_scale(step % 2 ? x : z, t);
    call_scale(t, step % 2 ? z : x);
    works(op_free_dat_temp(t));
    fails(OP_ERR_HANDLE, op_fetch_data(t, values));
  }
  works(op_fetch_data(z, values));
  assert_int_equal(fused(), 10);
  assert_int_equal(op_counters()->unstored, 5);
  assert_int_equal(op_counters()->records, 4);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 1024 * (i / 8.0));
}

/* Also where the first loop that touches it adds to it, reads it, or does not touch all of it. */
FUSED_TEST(and_begins_with_zeros_or_what_it_is_given) {
  double values[N], given[N];
  for (int how = 0; how < 4; how++) {
    op_dat t = temporary("t");
    call_scale(x, t);
    works(op_fetch_data(t, values));
    assert_true(values[8] == 2);
    works(op_free_dat_temp(t));
    for (int i = 0; i < N; i++)
      given[i] = i;
    t = how == 3 ? op_decl_dat_temp(cells, 1, "double", given, "t") : temporary("t");
    if (how == 1)
      call_gather(x, t);
    if (how == 2)
      call_scale(t, y);
    works(op_fetch_data(how == 2 ? y : t, values));
    for (int i = 0; i < N; i++)
      assert_true(values[i] == (how == 1 ? i / 8.0 + (i + 1) % N / 8.0 : how == 3 ? i : 0));
    works(op_free_dat_temp(t));
  }
}

FUSED_TEST(another_one_is_another) {
  double values[N];
  op_dat t = temporary("t");
  call_scale(x, t);
  works(op_free_dat_temp(t));
  op_dat u = temporary("u"), wide = op_decl_dat_temp(cells, 2, "double", NULL, "t");
  call_scale(u, y);
  works(op_fetch_data(y, values));
  for (int i = 0; i < N; i++)
    assert_true(values[i] == 0);
  works(op_free_dat_temp(wide));
  works(op_free_dat_temp(u));
}

/* Those that wait hold no more memory than half of what dats have. */
FUSED_TEST(many_that_wait_run) {
  double values[N];
  char name[16];
  for (int step = 0; step < 20; step++) {
    snprintf(name, sizeof name, "t%d", step);
    op_dat t = temporary(name);
    call_scale(x, t);
    call_scale(t, y);
    works(op_free_dat_temp(t));
    assert_true(op_counters()->waiting <= 4);
  }
  works(op_fetch_data(y, values));
  assert_true(values[8] == 4);
}

/* ---- subsets ---- */

static op_set thirds(void) {
  static int elements[N / 3 + 1];
  int n = 0;
  for (int i = 0; i < N; i += 3)
    elements[n++] = i;
  return op_decl_subset(cells, n, elements, "thirds");
}

FUSED_TEST(loops_over_one_subset_are_one) {
  double values[N], s = 0, sum = 0;
  const op_set u = thirds();
  op_gbl kept = op_decl_gbl(1, "double", NULL, "kept");
  works(op_par_loop(scale, "scale", u, direct(x, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
  works(op_par_loop(gather, "gather", u, direct(x, 1, "double", OP_READ),
                    op_arg_dat(x, 0, next, 1, "double", OP_READ), direct(y, 1, "double", OP_INC)));
  works(op_par_loop(number, "number", u, op_arg_idx(-1, OP_ID), op_arg_gbl(&(int){3}, 1, "int", OP_READ),
                    direct(y, 1, "double", OP_INC)));
  works(op_par_loop(shift, "shift", u, direct(y, 1, "double", OP_RW), op_arg_global(kept, OP_INC)));
  works(op_fetch_data(y, values));
  assert_int_equal(fused(), 4);
  for (int i = 0; i < N; i++) {
    const double one = 2 * (i / 8.0) + i / 8.0 + (i + 1) % N / 8.0 + 3 * i + 2;
    assert_true(values[i] == (i % 3 ? 0 : one));
    sum += values[i];
  }
  works(op_get_gbl(kept, &s));
  assert_true(s == sum);
}

FUSED_TEST(but_not_with_one_over_the_whole_set) {
  double values[N];
  const op_set u = thirds();
  call_scale(x, y);
  works(op_par_loop(scale, "scale", u, direct(y, 1, "double", OP_READ), direct(z, 1, "double", OP_WRITE)));
  works(op_fetch_data(z, values));
  assert_int_equal(fused(), 0);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == (i % 3 ? 0 : 4 * (i / 8.0)));
}

/* Where the rest of a temporary is nobody's either. */
FUSED_TEST(a_temporary_of_a_subset_is_not_stored) {
  double values[N];
  const op_set u = thirds();
  op_dat t = temporary("t");
  works(op_par_loop(scale, "scale", u, direct(x, 1, "double", OP_READ), direct(t, 1, "double", OP_WRITE)));
  works(op_par_loop(scale, "scale", u, direct(t, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
  works(op_free_dat_temp(t));
  works(op_fetch_data(y, values));
  assert_int_equal(fused(), 2);
  assert_int_equal(op_counters()->unstored, 1);
  for (int i = 0; i < N; i++)
    assert_true(values[i] == (i % 3 ? 0 : 4 * (i / 8.0)));
  t = temporary("t");
  works(op_fetch_data(t, values));
  assert_true(values[3] == 0);
  works(op_free_dat_temp(t));
}

/* ---- bits ---- */

static const char blend[] = OP_KERNEL(void blend(const double *x, const double *w, double *y, double *z) {
  y[0] = x[0] * w[0] + w[1];
  y[1] = x[0] / 3 - w[0] * w[1];
  z[0] += y[0] * 0.1;
  z[0] += y[1] * x[0];
});
static const char damp[] = OP_KERNEL(void damp(double *y, const double *z, double *s) {
  y[0] = y[0] * z[0] + y[1];
  y[1] = sqrt(fabs(y[1])) + z[0] * 0.3;
  *s += y[0] * y[1];
});
static const char mix[] = OP_KERNEL(void mix(const double *y, double *z, double *most) {
  z[0] += y[0] * 0.7;
  z[0] -= y[1] * y[0];
  *most = y[0] > *most ? y[0] : *most;
});

struct bits {
  double y[2 * N], z[N], sum, most;
};

/* A value that is rounded in each step: a sum or a product taken in another way has other bits. */
static void run_awkward(const char *variant, const char *lazy, int over_subset, struct bits *out) {
  char program[] = "fused", fp[] = "OP2_FP=strict", fuse[] = "OP2_FUSE=on", words[2][40];
  char *argv[] = {program, fp, fuse, words[0], words[1], NULL};
  double values[2 * N], w[2] = {0.7, -1.3};
  int table[N];
  snprintf(words[0], sizeof words[0], "OP2_LAZY=%s", lazy);
  snprintf(words[1], sizeof words[1], "OP2_VARIANT=%s", variant);
  works(op_init(*variant ? 5 : 4, argv, 0));
  for (int i = 0; i < N; i++)
    table[i] = (i + 1) % N;
  for (int i = 0; i < 2 * N; i++)
    values[i] = (i * 37 % 101 - 50) / 7.0;
  cells = op_decl_set(N, "cells");
  next = op_decl_map(cells, cells, 1, table, "next");
  x = op_decl_dat(cells, 1, "double", values, "x");
  z = op_decl_dat(cells, 1, "double", values + N, "z");
  y = op_decl_dat(cells, 2, over_subset ? "double:soa" : "double", NULL, "y");
  op_gbl sum = op_decl_gbl(1, "double", NULL, "sum"), most = op_decl_gbl(1, "double", NULL, "most");
  const op_set set = over_subset ? thirds() : cells;
  for (int step = 0; step < 2; step++) {
    works(op_par_loop(blend, "blend", set, direct(x, 1, "double", OP_READ),
                      op_arg_gbl(w, 2, "double", OP_READ), direct(y, 2, "double", OP_WRITE),
                      direct(z, 1, "double", OP_INC)));
    works(op_par_loop(damp, "damp", set, direct(y, 2, "double", OP_RW), direct(z, 1, "double", OP_READ),
                      op_arg_global(sum, OP_INC)));
    works(op_par_loop(mix, "mix", set, direct(y, 2, "double", OP_READ), direct(z, 1, "double", OP_INC),
                      op_arg_global(most, OP_MAX)));
  }
  works(op_fetch_data(y, out->y));
  works(op_fetch_data(z, out->z));
  works(op_get_gbl(sum, &out->sum));
  works(op_get_gbl(most, &out->most));
  assert_int_equal(fused(),
                   strcmp(lazy, "on") == 0 ? 5 : 0); /* the second mix starts from what the first leaves */
  works(op_exit());
}

/* The values of loops one by one in the same variant. */
static void compare_bits(const char *variant) {
  static struct bits singly, together;
  for (int over_subset = 0; over_subset < 2; over_subset++) {
    run_awkward(variant, "off", over_subset, &singly);
    run_awkward(variant, "on", over_subset, &together);
    assert_memory_equal(&singly, &together, sizeof singly);
  }
}

FUSED_TEST(strict_has_the_same_bits) {
  works(op_exit());
  const char *backend = getenv("OP2_BACKEND");
  if (backend && (strcmp(backend, "seq") == 0 || strcmp(backend, "openmp") == 0)) {
    compare_bits("scalar");
    compare_bits("strip4");
  } else
    compare_bits("");
  assert_int_equal(begin("on"), 0);
}

FUSED_TEST(off_fuses_nothing) {
  double values[N];
  works(op_exit());
  assert_int_equal(begin("off"), 0);
  call_scale(x, y);
  call_scale(y, z);
  works(op_fetch_data(z, values));
  assert_int_equal(fused(), 0);
  assert_true(values[8] == 4);
}
