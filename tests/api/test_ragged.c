/* Ragged maps: loops through them do what nested loops over offsets and targets do, on every backend. Values are whole
 * numbers, so that sums are the same in any order. */
#include "ragged.h"

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
  /* A later declaration is in the program's numbers. */
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
  /* The dat that holds them is no use of the map's entries. */
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
