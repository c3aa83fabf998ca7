/* Floating point as C has it, whatever the backend, the strategy and the number of threads. */
#include "support.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>

enum { N = 5003, TARGETS = 700 };
static double x[N];
static int table[2 * N];
static op_set set, targets;
static op_map map;
static op_dat dat;

static void make_mesh(void) {
  for (int i = 0; i < N; i++) {
    table[2 * i] = i % TARGETS;
    table[2 * i + 1] = (i * 7 + 3) % TARGETS;
  }
  set = op_decl_set(N, "set");
  targets = op_decl_set(TARGETS, "targets");
  map = op_decl_map(set, targets, 2, table, "map");
  dat = op_decl_dat(set, 1, "double", x, "x");
}

/* ---- MIN and MAX that start from a NaN ---- */
OP_KERNEL_DEF(
    both, void both(const double *v, double *low, float *high) {
      *low = fmin(*low, *v);
      for (int c = 0; c < 3; c++)
        high[c] = fmaxf(high[c], (float)*v + (float)c);
    })
OP_KERNEL_DEF(
    ordered, void ordered(const double *v, double *low) {
      if (*v < *low)
        *low = *v;
    })
OP_KERNEL_DEF(
    place, void place(const double *v, const int *e, double *low, int *where) {
      if (!(*v >= *low)) {
        *low = *v;
        *where = *e;
      }
    })

LIBRARY_TEST(an_extremum_that_starts_from_a_nan_is_what_the_kernel_makes_of_it) {
  for (int nans = 0; nans < 3; nans++) {
    for (int i = 0; i < N; i++)
      x[i] = nans == 2 || (nans == 1 && i % 3) ? (double)NAN : (i * 37) % N - 100;
    make_mesh();
    double low = NAN;
    float high[3] = {NAN, 5, NAN};
    double low_there = NAN;
    float high_there[3] = {NAN, 5, NAN};
    for (int i = 0; i < N; i++)
      both(&x[i], &low_there, high_there);
    works(op_par_loop(OP_KERNEL_OF(both), "both", set, direct(dat, 1, "double", OP_READ),
                      op_arg_gbl(&low, 1, "double", OP_MIN), op_arg_gbl(high, 3, "float", OP_MAX)));
    assert_true(low == low_there || (isnan(low) && isnan(low_there)));
    for (int c = 0; c < 3; c++)
      assert_true(high[c] == high_there[c] || (isnan(high[c]) && isnan(high_there[c])));
    /* A comparison with a NaN is false: nothing is smaller. */
    low = NAN;
    works(op_par_loop(OP_KERNEL_OF(ordered), "ordered", set, direct(dat, 1, "double", OP_READ),
                      op_arg_gbl(&low, 1, "double", OP_MIN)));
    assert_true(isnan(low));
  }
}

LIBRARY_TEST(so_is_its_place) {
  for (int i = 0; i < N; i++)
    x[i] = (i * 37) % N + 100;
  x[N / 2] = x[N - 1] = 7;
  make_mesh();
  double low = NAN;
  int where = -5;
  works(op_par_loop(OP_KERNEL_OF(place), "place", set, direct(dat, 1, "double", OP_READ),
                    op_arg_idx(-1, OP_ID), op_arg_gbl(&low, 1, "double", OP_MIN),
                    op_arg_info(&where, 1, "int", 3)));
  assert_true(low == 7 && where == N / 2);
}

/* ---- sums of -0.0 ---- */
OP_KERNEL_DEF(
    add,
    void add(const double *v, double *direct_sum, double *near, double *far, double *total, float *narrow) {
      *direct_sum += *v;
      near[0] += *v;
      far[1] += *v;
      *total += *v;
      *narrow += (float)*v;
    })
OP_KERNEL_DEF(
    add_all, void add_all(const double *v, double *ends[2], double *total) {
      for (int c = 0; c < 2; c++)
        ends[c][0] += *v * (c + 1);
      *total += *v;
    })

static bool all_negative(op_dat of, int count) {
  double *values = malloc((size_t)count * sizeof *values);
  bool good = op_fetch_data(of, values) == OP_OK;
  for (int i = 0; i < count; i++)
    good &= values[i] == 0 && signbit(values[i]);
  free(values);
  return good;
}

LIBRARY_TEST(sums_of_minus_zero_keep_their_sign) {
  static double minus[2 * N];
  for (int i = 0; i < N; i++)
    x[i] = -0.0;
  for (int i = 0; i < 2 * N; i++)
    minus[i] = -0.0;
  make_mesh();
  for (int soa = 0; soa < 2; soa++) {
    op_dat own = op_decl_dat(set, 1, "double", minus, "own");
    op_dat rows = op_decl_dat(targets, 2, soa ? "double:soa" : "double", minus, "rows");
    double total = -0.0;
    float narrow = -0.0f;
    works(op_par_loop(OP_KERNEL_OF(add), "add", set, direct(dat, 1, "double", OP_READ),
                      direct(own, 1, "double", OP_INC), op_arg_dat(rows, 0, map, 2, "double", OP_INC),
                      op_arg_dat(rows, 1, map, 2, "double", OP_INC), op_arg_gbl(&total, 1, "double", OP_INC),
                      op_arg_gbl(&narrow, 1, "float", OP_INC)));
    assert_true(total == 0 && signbit(total) && narrow == 0 && signbit(narrow));
    assert_true(all_negative(own, N) && all_negative(rows, 2 * TARGETS));
    works(op_par_loop(OP_KERNEL_OF(add_all), "add_all", set, direct(dat, 1, "double", OP_READ),
                      op_arg_dat(rows, -2, map, 2, "double", OP_INC),
                      op_arg_gbl(&total, 1, "double", OP_INC)));
    assert_true(total == 0 && signbit(total));
    assert_true(all_negative(rows, 2 * TARGETS));
  }
}

/* ---- exceptions ---- */
OP_KERNEL_DEF(
    inverse, void inverse(const double *v, double *w) {
      if (*v != 0)
        *w += 1 / *v;
      else if (*v > 1e300)
        *w *= *v * 1e300;
    })

/* Compiled code computes what a condition leaves out, and drops it; a C function does not, as docs/manual.md says. */
LIBRARY_TEST(a_kernel_as_a_C_function_raises_what_its_text_does) {
  const char *backend = getenv("OP2_BACKEND");
  for (int i = 0; i < N; i++)
    x[i] = i % 3;
  make_mesh();
  op_dat w = op_decl_dat(set, 1, "double", NULL, "w");
  feclearexcept(FE_ALL_EXCEPT);
  works(op_par_loop(OP_KERNEL_OF(inverse), "inverse", set, direct(dat, 1, "double", OP_READ),
                    direct(w, 1, "double", OP_RW)));
  if (backend && strcmp(backend, "native") == 0)
    assert_int_equal(fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID), 0);
}
