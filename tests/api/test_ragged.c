/* Ragged maps: loops through them do what nested loops over offsets and targets do, on every backend. Values are whole
 * numbers, so that sums are the same in any order. */
#include "support.h"

#include <stdbool.h>
#include <stdlib.h>

enum { ROWS = 3001, COLS = 2000, LONG_ROW = 20000 };

/* clang-format off */
OP_KERNEL_DEF(product, void product(int n, const double **a, const double **x, double *y) {
  double sum = 0;
  OP_ANY_ORDER
  for (int k = 0; k < n; k++)
    sum += OP_ROW(a, k)[0] * OP_ROW(x, k)[0];
  *y = sum;
})
OP_KERNEL_DEF(scatter, void scatter(const double *w, int n, double **out, double **own) {
  for (int k = 0; k < n; k++) {
    OP_ROW(out, k)[0] += *w;
    OP_ROW(out, k)[1] += *w * k;
    OP_ROW(own, k)[0] += k;
  }
})
OP_KERNEL_DEF(extremes, void extremes(const double *w, int n, double **low, double **high) {
  for (int k = 0; k < n; k++) {
    if (*w < *OP_ROW(low, k))
      *OP_ROW(low, k) = *w;
    if (*w > *OP_ROW(high, k))
      *OP_ROW(high, k) = *w;
  }
})
OP_KERNEL_DEF(number, void number(int n, int **entry, const int *row, double **twice, long long *count) {
  for (int k = 0; k < n; k++) {
    OP_ROW(entry, k)[0] = *row;
    OP_ROW(entry, k)[1] = k;
    *OP_ROW(twice, k) *= 2;
  }
  *count += n;
})
OP_KERNEL_DEF(both, void both(int n, const double **x, int m, const double **z, const double *q[2], double *y) {
  *y = *q[0] - 2 * *q[1];
  for (int k = 0; k < n; k++)
    *y += *OP_ROW(x, k);
  for (int k = 0; k < m; k++)
    *y += 3 * *OP_ROW(z, k);
})
OP_KERNEL_DEF(put, void put(int n, double **x) {
  for (int k = 0; k < n; k++)
    *OP_ROW(x, k) = n;
})
OP_KERNEL_DEF(turn, void turn(int n, double **x) {
  for (int k = 0; k < n; k++)
    *OP_ROW(x, k) = 3 * *OP_ROW(x, k) + k;
})
OP_KERNEL_DEF(more, void more(double *v) { *v += 1; })
OP_KERNEL_DEF(absent, void absent(int n, const double **x, const double **q, double *y) {
  *y = n;
  for (int k = 0; k < n; k++)
    *y += *OP_ROW(x, k);
  (void)q;
})
/* clang-format on */

static long long offsets[ROWS + 1];
static int *targets;
static double *values, vx[COLS], vw[ROWS];
static op_set rows, cols;
static op_map map;
static op_dat x, a, y, w;

static bool on_opencl(void) {
  const char *backend = getenv("OP2_BACKEND");
  return backend && strcmp(backend, "opencl") == 0;
}

/* Rows of 0 to 12 targets, some of them none, and a long one, in which targets occur several times. */
static int any_length(int r) {
  return r == 17 ? LONG_ROW : r % 5 == 3 ? 0 : (r * 7) % 13;
}
/* As long as those beside them; all alike. */
static int even_length(int r) {
  return r / 61 % 11;
}
static int five(int r) {
  (void)r;
  return 5;
}
static int (*length_of)(int r) = any_length;

static void make_matrix(void) {
  for (int r = 0; r < ROWS; r++)
    offsets[r + 1] = offsets[r] + length_of(r);
  targets = malloc((size_t)offsets[ROWS] * sizeof *targets);
  values = malloc((size_t)offsets[ROWS] * sizeof *values);
  for (int r = 0; r < ROWS; r++)
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      targets[i] = (int)((r * 31 + (i - offsets[r]) * 17) % COLS);
      values[i] = 1 + (double)(i % 7);
    }
  for (int c = 0; c < COLS; c++)
    vx[c] = c % 11 - 5;
  for (int r = 0; r < ROWS; r++)
    vw[r] = r % 23 - 7;
}

static int open_mesh(void **state) {
  if (start(state))
    return -1;
  make_matrix();
  rows = op_decl_set(ROWS, "rows");
  cols = op_decl_set(COLS, "cols");
  map = op_decl_map_ragged(rows, cols, offsets, targets, "map");
  x = op_decl_dat(cols, 1, "double", vx, "x");
  a = op_decl_dat(op_map_entries(map), 1, "double", values, "a");
  y = op_decl_dat(rows, 1, "double", NULL, "y");
  w = op_decl_dat(rows, 1, "double", vw, "w");
  return a && y && w ? 0 : -1;
}

static int open_even(void **state) {
  length_of = even_length;
  return open_mesh(state);
}

static int open_five(void **state) {
  length_of = five;
  return open_mesh(state);
}

static int close_mesh(void **state) {
  length_of = any_length;
  free(targets);
  free(values);
  return stop(state);
}

static op_arg all(op_dat dat, int dim, const char *type, op_access access) {
  return op_arg_dat(dat, OP_ALL, map, dim, type, access);
}

static void multiply(void) {
  static double got[ROWS];
  works(op_par_loop(OP_KERNEL_OF(product), "product", rows, all(a, 1, "double", OP_READ),
                    all(x, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
  works(op_fetch_data(y, got));
  for (int r = 0; r < ROWS; r++) {
    double sum = 0;
    for (long long i = offsets[r]; i < offsets[r + 1]; i++)
      sum += values[i] * vx[targets[i]];
    assert_true(got[r] == sum);
  }
}

#define MESH_TEST(name) TEST_BETWEEN(name, open_mesh, close_mesh)

/* The text of OP_KERNEL_DEF has OP_ANY_ORDER too, or the variant would not be there. */
MESH_TEST(any_order_is_in_the_text) {
  const char *variant = getenv("OP2_VARIANT");
  static char report[65536];
  multiply();
  if (!variant || !strstr(variant, "+rows"))
    return;
  works(op_report_json(report, sizeof report));
  if (!strstr(report, "+rows"))
    fail_msg("no variant with +rows in %s", report);
}

MESH_TEST(targets_and_entries_are_read) {
  assert_int_equal(op_get_size(op_map_entries(map)), offsets[ROWS]);
  multiply();
  multiply();
}

static void add_and_compare(void) {
  static double expected[2 * COLS], got[2 * COLS];
  double *own = malloc((size_t)offsets[ROWS] * sizeof *own);
  op_dat sums = op_decl_dat(cols, 2, "double", NULL, "sums");
  op_dat places = op_decl_dat(op_map_entries(map), 1, "double", NULL, "places");
  works(op_par_loop(OP_KERNEL_OF(scatter), "scatter", rows, direct(w, 1, "double", OP_READ),
                    all(sums, 2, "double", OP_INC), all(places, 1, "double", OP_INC)));
  memset(expected, 0, sizeof expected);
  works(op_fetch_data(sums, got));
  works(op_fetch_data(places, own));
  for (int r = 0; r < ROWS; r++)
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      expected[2 * targets[i]] += vw[r];
      expected[2 * targets[i] + 1] += vw[r] * (double)(i - offsets[r]);
      assert_true(own[i] == (double)(i - offsets[r]));
    }
  assert_memory_equal(got, expected, sizeof got);
  works(op_free_dat(sums));
  works(op_free_dat(places));
  free(own);
}

MESH_TEST(targets_are_incremented) {
  add_and_compare();
  assert_int_equal(op_plan_check(2), OP_OK);
}

MESH_TEST(targets_keep_extremes) {
  static double low[COLS], high[COLS], vlow[COLS], vhigh[COLS];
  for (int c = 0; c < COLS; c++) {
    vlow[c] = low[c] = 3;
    vhigh[c] = high[c] = 4;
  }
  op_dat lows = op_decl_dat(cols, 1, "double", low, "lows"),
         highs = op_decl_dat(cols, 1, "double", high, "highs");
  works(op_par_loop(OP_KERNEL_OF(extremes), "extremes", rows, direct(w, 1, "double", OP_READ),
                    all(lows, 1, "double", OP_MIN), all(highs, 1, "double", OP_MAX)));
  works(op_fetch_data(lows, low));
  works(op_fetch_data(highs, high));
  for (int r = 0; r < ROWS; r++)
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      vlow[targets[i]] = vw[r] < vlow[targets[i]] ? vw[r] : vlow[targets[i]];
      vhigh[targets[i]] = vw[r] > vhigh[targets[i]] ? vw[r] : vhigh[targets[i]];
    }
  assert_memory_equal(low, vlow, sizeof low);
  assert_memory_equal(high, vhigh, sizeof high);
}

static void number_and_compare(void) {
  const size_t n = (size_t)offsets[ROWS];
  int *numbers = malloc(2 * n * sizeof *numbers);
  double *twice = malloc(n * sizeof *twice);
  long long count = 5;
  op_dat entry = op_decl_dat(op_map_entries(map), 2, "int", NULL, "entry");
  op_dat copy = op_decl_dat(op_map_entries(map), 1, "double", values, "copy");
  works(op_par_loop(OP_KERNEL_OF(number), "number", rows, all(entry, 2, "int", OP_WRITE),
                    op_arg_idx(-1, OP_ID), all(copy, 1, "double", OP_RW),
                    op_arg_gbl(&count, 1, "long long", OP_INC)));
  works(op_par_loop(OP_KERNEL_OF(more), "more", op_map_entries(map), direct(copy, 1, "double", OP_RW)));
  works(op_fetch_data(entry, numbers));
  works(op_fetch_data(copy, twice));
  assert_int_equal(count, 5 + offsets[ROWS]);
  for (int r = 0; r < ROWS; r++)
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      assert_int_equal(numbers[2 * i], r);
      assert_int_equal(numbers[2 * i + 1], i - offsets[r]);
      assert_true(twice[i] == 2 * values[i] + 1);
    }
  works(op_free_dat(entry));
  works(op_free_dat(copy));
  free(numbers);
  free(twice);
}

MESH_TEST(entries_are_written) {
  number_and_compare();
}

MESH_TEST(two_ragged_maps_have_a_number_each) {
  static long long other_offsets[ROWS + 1];
  static int other[3 * ROWS], fixed[2 * ROWS];
  static double got[ROWS];
  for (int r = 0; r < ROWS; r++) {
    other_offsets[r + 1] = other_offsets[r] + r % 4;
    for (int k = 0; k < r % 4; k++)
      other[other_offsets[r] + k] = (r * 5 + k) % COLS;
    fixed[2 * r] = r % COLS;
    fixed[2 * r + 1] = r * 3 % COLS;
  }
  op_map second = op_decl_map_ragged(rows, cols, other_offsets, other, "second");
  op_map pairs = op_decl_map(rows, cols, 2, fixed, "pairs");
  works(op_par_loop(OP_KERNEL_OF(both), "both", rows, all(x, 1, "double", OP_READ),
                    op_arg_dat(x, OP_ALL, second, 1, "double", OP_READ),
                    op_arg_dat(x, OP_ALL, pairs, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
  works(op_fetch_data(y, got));
  for (int r = 0; r < ROWS; r++) {
    double sum = vx[fixed[2 * r]] - 2 * vx[fixed[2 * r + 1]];
    for (long long i = offsets[r]; i < offsets[r + 1]; i++)
      sum += vx[targets[i]];
    for (long long i = other_offsets[r]; i < other_offsets[r + 1]; i++)
      sum += 3 * vx[other[i]];
    assert_true(got[r] == sum);
  }
}

/* Each element its own targets: the user's promise. */
MESH_TEST(targets_are_written) {
  enum { HALF = COLS / 2 };
  static double got[COLS];
  long long two[HALF + 1];
  int one_each[COLS];
  for (int r = 0; r <= HALF; r++)
    two[r] = r < 10 ? 0 : 2 * r;
  for (int c = 0; c < COLS; c++)
    one_each[c] = COLS - 1 - c;
  op_set half = op_decl_set(HALF, "half");
  op_map own = op_decl_map_ragged(half, cols, two, one_each, "own");
  works(op_par_loop(OP_KERNEL_OF(put), "put", half, op_arg_dat(x, OP_ALL, own, 1, "double", OP_WRITE)));
  works(op_fetch_data(x, got));
  for (int r = 0; r < HALF; r++)
    for (long long i = two[r]; i < two[r + 1]; i++)
      assert_true(got[one_each[i]] == (double)(two[r + 1] - two[r]));
  works(op_par_loop(OP_KERNEL_OF(turn), "turn", half, op_arg_dat(x, OP_ALL, own, 1, "double", OP_RW)));
  works(op_fetch_data(x, got));
  for (int r = 0; r < HALF; r++)
    for (long long i = two[r]; i < two[r + 1]; i++)
      assert_true(got[one_each[i]] == (double)(3 * (two[r + 1] - two[r]) + i - two[r]));
}

MESH_TEST(arguments_may_be_absent) {
  static double got[ROWS];
  works(op_par_loop(OP_KERNEL_OF(absent), "absent", rows, all(x, 1, "double", OP_READ),
                    op_opt_arg_dat(0, NULL, OP_ALL, map, 1, "double", OP_READ),
                    direct(y, 1, "double", OP_WRITE)));
  works(op_fetch_data(y, got));
  for (int r = 0; r < ROWS; r++) {
    double sum = (double)(offsets[r + 1] - offsets[r]);
    for (long long i = offsets[r]; i < offsets[r + 1]; i++)
      sum += vx[targets[i]];
    assert_true(got[r] == sum);
  }
}

MESH_TEST(sets_are_renumbered) {
  op_dat late;
  multiply();
  works(op_renumber(map));
  multiply();
  add_and_compare();
  number_and_compare();
  /* What is declared later is in the program's numbers. */
  late = op_decl_dat(op_map_entries(map), 1, "double", values, "late");
  works(op_free_dat(a));
  a = late;
  multiply();
  op_map again = op_decl_map_ragged(rows, cols, offsets, targets, "again");
  op_dat of_again = op_decl_dat(op_map_entries(again), 1, "double", values, "of again");
  works(op_free_dat(a));
  works(op_free_map(map));
  map = again;
  a = of_again;
  multiply();
  works(op_renumber(map));
  multiply();
}

/* ---- the numbers of targets ---- */

/* clang-format off */
OP_KERNEL_DEF(tell, void tell(int n, const int **target, const int *row, int **out) {
  for (int k = 0; k < n; k++) {
    OP_ROW(out, k)[0] = *OP_ROW(target, k);
    OP_ROW(out, k)[1] = *row;
  }
})
/* clang-format on */

static void tell_targets(op_set set, bool (*has)(int r)) {
  const size_t n = (size_t)offsets[ROWS];
  int *got = malloc(2 * n * sizeof *got);
  op_dat out = op_decl_dat(op_map_entries(map), 2, "int", NULL, "out");
  works(op_par_loop(OP_KERNEL_OF(tell), "tell", set, op_arg_idx(OP_ALL, map), op_arg_idx(-1, OP_ID),
                    all(out, 2, "int", OP_WRITE)));
  works(op_fetch_data(out, got));
  for (int r = 0; r < ROWS; r++)
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      assert_int_equal(got[2 * i], has(r) ? targets[i] : 0);
      assert_int_equal(got[2 * i + 1], has(r) ? r : 0);
    }
  works(op_free_dat(out));
  free(got);
}

static bool is_any(int r) {
  return r >= 0;
}

/* ---- loops over some of the rows ---- */

static op_set some;
static bool in_some[ROWS];

static bool is_in(int r) {
  return r % 7 < 3 || (r > 900 && r < 1000);
}

static void choose_some(void) {
  static int chosen[ROWS];
  int n = 0;
  /* In an order that is not the set's. */
  for (int i = 0; i < ROWS; i++) {
    const int r = (int)(i * 1009L % ROWS);
    in_some[r] = is_in(r);
    if (in_some[r])
      chosen[n++] = r;
  }
  some = op_decl_subset(rows, n, chosen, "some");
}

static void read_of_some(void) {
  static double got[ROWS], before[ROWS];
  for (int r = 0; r < ROWS; r++)
    before[r] = -r;
  works(op_put_data(y, before));
  works(op_par_loop(OP_KERNEL_OF(product), "product", some, all(a, 1, "double", OP_READ),
                    all(x, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
  works(op_fetch_data(y, got));
  for (int r = 0; r < ROWS; r++) {
    double sum = in_some[r] ? 0 : -r;
    for (long long i = offsets[r]; in_some[r] && i < offsets[r + 1]; i++)
      sum += values[i] * vx[targets[i]];
    assert_true(got[r] == sum);
  }
}

/* To targets and entries, then to entries that are reached both ways. */
static void add_from_some(void) {
  static double expected[2 * COLS], got[2 * COLS];
  double *own = malloc((size_t)offsets[ROWS] * sizeof *own);
  op_dat sums = op_decl_dat(cols, 2, "double", NULL, "sums");
  op_dat places = op_decl_dat(op_map_entries(map), 1, "double", values, "places");
  works(op_par_loop(OP_KERNEL_OF(scatter), "scatter", some, direct(w, 1, "double", OP_READ),
                    all(sums, 2, "double", OP_INC), all(places, 1, "double", OP_INC)));
  memset(expected, 0, sizeof expected);
  works(op_fetch_data(sums, got));
  works(op_fetch_data(places, own));
  for (int r = 0; r < ROWS; r++)
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      expected[2 * targets[i]] += in_some[r] ? vw[r] : 0;
      expected[2 * targets[i] + 1] += in_some[r] ? vw[r] * (double)(i - offsets[r]) : 0;
      assert_true(own[i] == values[i] + (in_some[r] ? (double)(i - offsets[r]) : 0));
    }
  assert_memory_equal(got, expected, sizeof got);
  works(op_free_dat(sums));
  works(op_free_dat(places));
  free(own);
}

/* clang-format off */
OP_KERNEL_DEF(meet, void meet(int n, double **e, double *first) {
  for (int k = 0; k < n; k++)
    *OP_ROW(e, k) += 1;
  *first += 10;
})
/* clang-format on */

static void entries_of_some_meet(void) {
  const size_t n = (size_t)offsets[ROWS];
  double *expected = calloc(n, sizeof *expected), *got = malloc(n * sizeof *got);
  int to_entry[ROWS];
  for (int r = 0; r < ROWS; r++)
    to_entry[r] = (int)(r * 7919L % offsets[ROWS]);
  op_map far = op_decl_map(rows, op_map_entries(map), 1, to_entry, "far");
  op_dat e = op_decl_dat(op_map_entries(map), 1, "double", NULL, "e");
  works(op_par_loop(OP_KERNEL_OF(meet), "meet", some, all(e, 1, "double", OP_INC),
                    op_arg_dat(e, 0, far, 1, "double", OP_INC)));
  works(op_fetch_data(e, got));
  for (int r = 0; r < ROWS; r++) {
    for (long long i = offsets[r]; in_some[r] && i < offsets[r + 1]; i++)
      expected[i] += 1;
    expected[to_entry[r]] += in_some[r] ? 10 : 0;
  }
  assert_memory_equal(got, expected, n * sizeof *got);
  works(op_free_dat(e));
  works(op_free_map(far));
  free(expected);
  free(got);
}

MESH_TEST(loops_run_over_subsets) {
  choose_some();
  read_of_some();
  multiply();
  add_from_some();
  entries_of_some_meet();
  works(op_renumber(map));
  read_of_some();
  add_from_some();
  works(op_free_set(some));
  choose_some();
  read_of_some();
  assert_int_equal(op_plan_check(2), OP_OK);
  /* Its maps go with the map. */
  works(op_free_dat(a));
  works(op_free_map(map));
  map = op_decl_map_ragged(rows, cols, offsets, targets, "map");
  a = op_decl_dat(op_map_entries(map), 1, "double", values, "a");
  read_of_some();
  add_from_some();
}

MESH_TEST(targets_have_numbers) {
  tell_targets(rows, is_any);
  works(op_renumber(map));
  tell_targets(rows, is_any);
  choose_some();
  tell_targets(some, is_in);
  /* What holds them is no use of the map's entries. */
  works(op_free_dat(a));
  works(op_free_map(map));
  map = op_decl_map_ragged(rows, cols, offsets, targets, "map");
  tell_targets(some, is_in);
}

MESH_TEST(a_subset_may_have_no_targets) {
  static const int without[] = {3, 8};
  static double got[ROWS];
  some = op_decl_subset(rows, 2, without, "without");
  works(op_par_loop(OP_KERNEL_OF(product), "product", some, all(a, 1, "double", OP_READ),
                    all(x, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
  some = op_decl_subset(rows, 0, NULL, "none");
  works(op_par_loop(OP_KERNEL_OF(product), "product", some, all(a, 1, "double", OP_READ),
                    all(x, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
  works(op_fetch_data(y, got));
  for (int r = 0; r < ROWS; r++)
    assert_true(got[r] == 0);
}

MESH_TEST(maps_are_freed_with_their_entries) {
  multiply();
  fails(OP_ERR_STATE, op_free_map(map));
  fails(OP_ERR_HANDLE, op_free_set(op_map_entries(map)));
  works(op_free_dat(a));
  works(op_free_map(map));
  for (int i = 0; i < 5; i++) {
    map = op_decl_map_ragged(rows, cols, offsets, targets, "map");
    a = op_decl_dat(op_map_entries(map), 1, "double", values, "a");
    multiply();
    add_and_compare();
    works(op_free_dat(a));
    works(op_free_map(map));
  }
  works(op_free_dat(y));
  works(op_free_dat(w));
  works(op_free_set(rows));
}

MESH_TEST(all_of_an_ordinary_map_is_its_vector) {
  static double got[ROWS];
  static int fixed[2 * ROWS];
  const long long nothing[ROWS + 1] = {0};
  for (int i = 0; i < 2 * ROWS; i++)
    fixed[i] = i % COLS;
  op_map pairs = op_decl_map(rows, cols, 2, fixed, "pairs");
  op_map empty = op_decl_map_ragged(rows, cols, nothing, NULL, "empty");
  assert_int_equal(op_get_size(op_map_entries(empty)), 0);
  works(op_par_loop(OP_KERNEL_OF(both), "both", rows, op_arg_dat(x, OP_ALL, empty, 1, "double", OP_READ),
                    all(x, 1, "double", OP_READ), op_arg_dat(x, OP_ALL, pairs, 1, "double", OP_READ),
                    direct(y, 1, "double", OP_WRITE)));
  works(op_fetch_data(y, got));
  double sum = vx[2] - 2 * vx[3];
  for (long long i = offsets[1]; i < offsets[2]; i++)
    sum += 3 * vx[targets[i]];
  assert_true(got[1] == sum);
}

/* clang-format off */
OP_KERNEL_DEF(longest, void longest(int *most, int *where, int n, const double **q, const int *row) {
  if (n > *most) {
    *most = n;
    *where = *row;
  }
  (void)q;
})
/* clang-format on */

MESH_TEST(an_extremum_is_found_beside_a_ragged_map) {
  int most = 0, where = -1;
  works(op_par_loop(OP_KERNEL_OF(longest), "longest", rows, op_arg_gbl(&most, 1, "int", OP_MAX),
                    op_arg_info(&where, 1, "int", 1), all(x, 1, "double", OP_READ), op_arg_idx(-1, OP_ID)));
  assert_int_equal(most, LONG_ROW);
  assert_int_equal(where, 17);
}

/* clang-format off */
OP_KERNEL_DEF(total, double value(const double *row) { return row[0]; }
void total(int n, const double **x, const double **a, double *s) {
  *s = 0;
  for (int k = 0; k < n; k++)
    *s += value(OP_ROW(x, k)) * *OP_ROW(a, k);
})
OP_KERNEL_DEF(pointers, void pointers(int n, const double **x, float **last, double *s) {
  *s = 0;
  for (int k = 0; k < n; k++) {
    const double *here = OP_ROW(x, k), *const next = OP_ROW(x, k + 1 < n ? k + 1 : 0);
    float *r = OP_ROW(last, k);
    *s += here[0] - 2 * *next;
    *r = (float)*here;
    r[1] += 1;
  }
})
/* clang-format on */

static void says(const char *what) {
  if (!strstr(op_last_error()->message, what))
    fail_msg("\"%s\" is not in: %s", what, op_last_error()->message);
}

enum { MANY = 600 };
static const long long wide_begin[] = {0, 1, 1 + MANY};
static const int nothing[1 + MANY];

/* Rows that are passed on are copies there; those beside them need no room. */
MESH_TEST(copies_beyond_the_room_of_opencl_are_refused) {
  double ones[1 + MANY], got[2];
  for (int i = 0; i <= MANY; i++)
    ones[i] = 1;
  op_set from = op_decl_set(2, "from");
  op_map m = op_decl_map_ragged(from, cols, wide_begin, nothing, "wide");
  op_dat s = op_decl_dat(from, 1, "double", NULL, "s"),
         one = op_decl_dat(op_map_entries(m), 1, "double", ones, "one");
  const op_arg args[] = {op_arg_dat(x, OP_ALL, m, 1, "double", OP_READ),
                         op_arg_dat(one, OP_ALL, m, 1, "double", OP_READ), direct(s, 1, "double", OP_WRITE)};
  if (on_opencl()) {
    fails(OP_ERR_SIZE, op_par_loop_array(OP_KERNEL_OF(total), "total", from, 3, args, __FILE__, __LINE__));
    says("an element has 600 targets by ragged map \"wide\"");
    says("(argument 1)");
    return;
  }
  works(op_par_loop_array(OP_KERNEL_OF(total), "total", from, 3, args, __FILE__, __LINE__));
  works(op_fetch_data(s, got));
  assert_true(got[0] == vx[0] && got[1] == MANY * vx[0]);
}

MESH_TEST(pointers_lead_to_rows) {
  static double got[ROWS];
  const size_t n = (size_t)offsets[ROWS];
  float *last = calloc(2 * n, sizeof *last);
  op_dat l = op_decl_dat(op_map_entries(map), 2, "float", last, "last");
  works(op_par_loop(OP_KERNEL_OF(pointers), "pointers", rows, all(x, 1, "double", OP_READ),
                    all(l, 2, "float", OP_RW), direct(y, 1, "double", OP_WRITE)));
  works(op_fetch_data(y, got));
  works(op_fetch_data(l, last));
  for (int r = 0; r < ROWS; r++) {
    double sum = 0;
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      sum += vx[targets[i]] - 2 * vx[targets[i + 1 < offsets[r + 1] ? i + 1 : offsets[r]]];
      assert_true((double)last[2 * i] == vx[targets[i]] && last[2 * i + 1] == 1);
    }
    assert_true(got[r] == sum);
  }
  works(op_free_dat(l));
  free(last);
}

/* ---- right kernels that count on what their mesh has ---- */

/* clang-format off */
OP_KERNEL_DEF(seventh, void seventh(int n, const double **q, double *s) { *s = *OP_ROW(q, 6) + n; })
OP_KERNEL_DEF(between, void between(int n, double **length, int m, const double **q) {
  for (int k = 0; k < n; k++)
    *OP_ROW(length, k) = *OP_ROW(q, k + 1) - *OP_ROW(q, k);
  (void)m;
})
OP_KERNEL_DEF(ends, void ends(int n, double **q) {
  *OP_ROW(q, 0) = n;
  for (int k = 1; k < n - 1; k++)
    *OP_ROW(q, k) = k;
  *OP_ROW(q, n - 1) = -n;
})
OP_KERNEL_DEF(mean, void mean(int n, const double **q, double *s) {
  double sum = 0;
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(q, k);
  if (n)
    *s = sum / n;
})
OP_KERNEL_DEF(by_kind, void by_kind(const int *kind, int n, const double **q, double *s) {
  *s = *kind == 20 ? *OP_ROW(q, 19) : *OP_ROW(q, n - 1);
})
/* clang-format on */

/* Where no element is without targets, the kernel need not think of any; and one that has a branch for elements of twenty
 * runs on a mesh without these. */
MESH_TEST(kernels_may_count_on_having_targets) {
  static const long long full[] = {0, 1, 4}, holes[] = {0, 2, 2, 3};
  static const int some[] = {0, 1, 2, 3}, two[] = {2, 0};
  double got[3];
  op_set pair = op_decl_set(2, "pair"), three = op_decl_set(3, "three");
  op_map each = op_decl_map_ragged(pair, cols, full, some, "each"),
         most = op_decl_map_ragged(three, cols, holes, some, "most");
  op_dat s = op_decl_dat(pair, 1, "double", NULL, "s"), t = op_decl_dat(three, 1, "double", NULL, "t");
  op_dat kind = op_decl_dat(pair, 1, "int", NULL, "kind"), q = op_decl_dat(cols, 1, "double", vx, "q");
  op_set with = op_decl_subset(three, 2, two, "with");
  works(op_par_loop(OP_KERNEL_OF(mean), "mean", pair, op_arg_dat(q, OP_ALL, each, 1, "double", OP_READ),
                    direct(s, 1, "double", OP_WRITE)));
  works(op_par_loop(OP_KERNEL_OF(mean), "mean", with, op_arg_dat(q, OP_ALL, most, 1, "double", OP_READ),
                    direct(t, 1, "double", OP_WRITE)));
  works(op_fetch_data(t, got));
  assert_true(got[0] == (vx[0] + vx[1]) / 2 && got[2] == vx[2]);
  /* The code for the first mesh is no answer for one with an element without targets. */
  const char *backend = getenv("OP2_BACKEND");
  if (backend && strcmp(backend, "native") != 0) {
    fails(OP_ERR_VIOLATION,
          op_par_loop(OP_KERNEL_OF(mean), "mean", three, op_arg_dat(q, OP_ALL, most, 1, "double", OP_READ),
                      direct(t, 1, "double", OP_WRITE)));
    says("of an element without targets, argument 2 (s) is declared OP_WRITE");
  }
  works(op_par_loop(OP_KERNEL_OF(by_kind), "by_kind", pair, direct(kind, 1, "int", OP_READ),
                    op_arg_dat(q, OP_ALL, each, 1, "double", OP_READ), direct(s, 1, "double", OP_WRITE)));
  works(op_fetch_data(s, got));
  assert_true(got[0] == vx[0] && got[1] == vx[3]);
}

/* Elements of seven targets; lines of as many stretches and one more point; lines of two points at least. */
MESH_TEST(kernels_may_count_on_lengths) {
  static const long long sevens[] = {0, 7, 14}, stretches[] = {0, 2, 5}, points[] = {0, 3, 7};
  static const int some[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  double got[14];
  op_set lines = op_decl_set(2, "lines");
  op_map of_seven = op_decl_map_ragged(lines, cols, sevens, some, "of seven"),
         along = op_decl_map_ragged(lines, cols, stretches, some, "along"),
         on = op_decl_map_ragged(lines, cols, points, some, "on");
  op_dat s = op_decl_dat(lines, 1, "double", NULL, "s");
  op_dat length = op_decl_dat(op_map_entries(along), 1, "double", NULL, "length");
  op_dat q = op_decl_dat(cols, 1, "double", vx, "q");
  works(op_par_loop(OP_KERNEL_OF(seventh), "seventh", lines,
                    op_arg_dat(q, OP_ALL, of_seven, 1, "double", OP_READ), direct(s, 1, "double", OP_WRITE)));
  works(op_fetch_data(s, got));
  assert_true(got[0] == vx[6] + 7 && got[1] == vx[13] + 7);
  works(op_par_loop(OP_KERNEL_OF(between), "between", lines,
                    op_arg_dat(length, OP_ALL, along, 1, "double", OP_WRITE),
                    op_arg_dat(q, OP_ALL, on, 1, "double", OP_READ)));
  works(op_fetch_data(length, got));
  for (int k = 0; k < 5; k++)
    assert_true(got[k] == vx[k + (k > 1) + 1] - vx[k + (k > 1)]);
  works(op_par_loop(OP_KERNEL_OF(ends), "ends", lines, op_arg_dat(q, OP_ALL, on, 1, "double", OP_WRITE)));
  works(op_fetch_data_idx(q, got, 0, 6));
  assert_true(got[0] == 3 && got[1] == 1 && got[2] == -3 && got[3] == 4 && got[4] == 1 && got[5] == 2 &&
              got[6] == -4);
}

/* ---- what the checking form finds ---- */

/* clang-format off */
/* Where the text does not show it. */
OP_KERNEL_DEF(beyond, void beyond(int n, const double **q, double *s) {
  *s = n > 2 ? *OP_ROW(q, n + (int)(0 * *OP_ROW(q, 0))) : 0;
})
OP_KERNEL_DEF(before, void before(int n, double **q) { if (n == 2) *OP_ROW(q, -1) = 1; })
#define FAR(name, k)                                                                                         \
  OP_KERNEL_DEF(name, void name(int n, const double **q, double *s) {                                        \
    *s = n > 2 ? *OP_ROW(q, k + (int)(0 * *OP_ROW(q, 0))) : 0;                                               \
  })
FAR(far_20, 20)
FAR(far_700, 700)
FAR(far_billion, 1000000000)
FAR(far_back, -70000)
OP_KERNEL_DEF(far_written, void far_written(int n, double **q) { if (n == 3) *OP_ROW(q, 700) = 1; })
/* clang-format on */
static const char beyond_text[] = OP_KERNEL(void beyond_text(int n, const double **q, double *s) {
  *s = n > 2 ? *OP_ROW(q, n + (int)(0 * *OP_ROW(q, 0))) : 0;
});

static int check(const char *kernel, const char *name, op_access access, bool two) {
  static const long long three[] = {0, 2, 2, 5};
  static const int some[] = {0, 3, 1, 2, 0};
  op_set from = op_decl_set(3, "from"), to = op_decl_set(4, "to");
  op_map m = op_decl_map_ragged(from, to, three, some, "m");
  op_dat q = op_decl_dat(to, 1, "double", vx, "q"), s = op_decl_dat(from, 1, "double", NULL, "s");
  const op_arg args[] = {op_arg_dat(q, OP_ALL, m, 1, "double", access), direct(s, 1, "double", OP_WRITE)};
  return op_par_loop_array(kernel, name, from, two ? 2 : 1, args, __FILE__, __LINE__);
}

MESH_TEST(what_is_beyond_the_targets_is_found) {
  char on[] = "OP2_CHECK=on";
  char *argv[] = {"test", on};
  works(op_exit());
  works(op_init(2, argv, 0));
  fails(OP_ERR_VIOLATION, check(OP_KERNEL_OF(beyond), "beyond", OP_READ, true));
  says("element 2 of set \"from\"");
  fails(OP_ERR_VIOLATION, check(OP_KERNEL_OF(before), "before", OP_RW, false));
  says("element 0 of set \"from\"");
  const char *far[] = {OP_KERNEL_OF(far_20), OP_KERNEL_OF(far_700), OP_KERNEL_OF(far_billion),
                       OP_KERNEL_OF(far_back)};
  const char *names[] = {"far_20", "far_700", "far_billion", "far_back"};
  for (int i = 0; i < 4; i++) {
    fails(OP_ERR_VIOLATION, check(far[i], names[i], OP_READ, true));
    says("let k in OP_ROW(x, k) go from 0 to n - 1 (n is 3 here)");
  }
  fails(OP_ERR_VIOLATION, check(OP_KERNEL_OF(far_written), "far_written", OP_RW, false));
  const char *backend = getenv("OP2_BACKEND");
  if (backend && strcmp(backend, "native") != 0) {
    fails(OP_ERR_VIOLATION, check(beyond_text, "beyond_text", OP_READ, true));
    says("OP_ROW(x, k)");
    says("element 2 of set \"from\"");
  }
}

/* clang-format off */
OP_KERNEL_DEF(mixed, void mixed(int n, const double **a, int m, const double **b, double *s) {
  *s = m;
  for (int k = 0; k < n; k++)
    *s += *OP_ROW(a, k) * *OP_ROW(b, k);
})
/* clang-format on */

MESH_TEST(numbers_of_two_maps_are_told) {
  static const long long two[] = {0, 2, 4}, one[] = {0, 2, 3};
  static const int some[] = {0, 3, 1, 2};
  char on[] = "OP2_CHECK=on";
  char *argv[] = {"test", on};
  works(op_exit());
  works(op_init(2, argv, 0));
  op_set from = op_decl_set(2, "from"), to = op_decl_set(4, "to");
  op_map long_one = op_decl_map_ragged(from, to, two, some, "long one"),
         short_one = op_decl_map_ragged(from, to, one, some, "short one");
  op_dat q = op_decl_dat(to, 1, "double", NULL, "q"), s = op_decl_dat(from, 1, "double", NULL, "s");
  fails(OP_ERR_VIOLATION,
        op_par_loop(OP_KERNEL_OF(mixed), "mixed", from, op_arg_dat(q, OP_ALL, long_one, 1, "double", OP_READ),
                    op_arg_dat(q, OP_ALL, short_one, 1, "double", OP_READ),
                    direct(s, 1, "double", OP_WRITE)));
  says("here n is 2 by map \"long one\" (argument 1) and 1 by map \"short one\" (argument 2)");
}

#define test_of(f, mesh)                                                                                     \
  { #f ", " #mesh, f, open_##mesh, close_mesh, NULL }
#define tests_of(mesh)                                                                                       \
  test_of(targets_and_entries_are_read, mesh), test_of(targets_are_incremented, mesh),                       \
      test_of(targets_keep_extremes, mesh), test_of(entries_are_written, mesh),                              \
      test_of(two_ragged_maps_have_a_number_each, mesh), test_of(arguments_may_be_absent, mesh),             \
      test_of(sets_are_renumbered, mesh), test_of(loops_run_over_subsets, mesh),                             \
      test_of(targets_have_numbers, mesh)

/* test-api-ragged [any | PATTERN]: the mesh of rows of any length alone, or the cases of these names */
int main(int argc, char **argv) {
  const struct CMUnitTest others[] = {tests_of(even), tests_of(five)};
  const bool any = argc > 1 && strcmp(argv[1], "any") == 0;
  for (size_t i = 0; !any && i < sizeof others / sizeof *others; i++)
    add_test(others[i]);
  if (argc > 1 && !any)
    cmocka_set_test_filter(argv[1]);
  return run_these(NULL, NULL);
}
