/* Several threads for an element (rowsN): loops do what they do with one. Values are whole numbers, so that sums are the
 * same in any order. OP2_BACKEND and OP2_VARIANT say where and how; all loops must have had the form. */
#include <math.h>

#include "../api/support.h"

enum { ROWS = 1021, COLS = 777, LONG_ROW = 10000 };

/* clang-format off */
OP_KERNEL_DEF(fold, void fold(int n, const double **a, const float **x, double *y, int *steps, double *moved, double *total, long long *count, double *largest) {
  double first = 1;
  if (n == 0) {
    y[0] = -y[0];
    return;
  }
  OP_ANY_ORDER
  for (int k = 0; k < n; k++) {
    const double v = *OP_ROW(a, k);
    y[0] += v;
    y[2] -= v * OP_ROW(x, k)[1];
    *largest = fmax(v * OP_ROW(x, k)[0], *largest);
    if (v > 3)
      *count += 1;
    *steps += 2;
    moved[0] += v;
    moved[2] -= 1;
    first *= v > 6 && k == n / 2 ? -2 : 1;
  }
  y[1] = first;
  moved[1] += n;
  *total += n + first;
})
OP_KERNEL_DEF(meet, void meet(int n, const double **a, const int **c, int *to, int *other, const int *row, int *most, int *where) {
  int sum = 0;
  float least = 1000;
  if (n == 0)
    return;
  OP_ANY_ORDER
  for (long k = 0; k < n; ++k) {
    sum += *OP_ROW(c, k) - 1;
    least = fminf((float)*OP_ROW(a, k), least);
  }
  to[0] += sum;
  to[1] += (int)least;
  *other -= sum;
  if (sum > *most) {
    *most = sum;
    *where = *row;
  }
})
OP_KERNEL_DEF(share, void share(int n, const int **c, double **part, double **twice) {
  double sum[2] = {1, 0};
  const int many = n;
  OP_ANY_ORDER
  for (int k = 0; k < many; k += 1) {
    *OP_ROW(twice, k) += *OP_ROW(c, k);
    for (int i = 0; i < 2; i++)
      sum[i] += *OP_ROW(c, k) + i;
  }
  OP_ANY_ORDER
  for (long long k = 0; k < n; k++) {
    OP_ROW(part, k)[0] = sum[0] - *OP_ROW(twice, k);
    OP_ROW(part, k)[1] = sum[1];
  }
})
/* clang-format on */
enum { KERNELS = 3 };

static long long offsets[ROWS + 1];
static int *targets, *numbers, pairs[2 * ROWS];
static double *values;
static float places[2 * COLS];
static op_set rows, cols;
static op_map map, pair;
static op_dat a, x, c;

static int length_of(int r) {
  return r == 17 ? LONG_ROW : r == ROWS - 1 ? 33 : r % 7 == 3 ? 0 : r * 5 % 41;
}

static int open_mesh(void **state) {
  if (start(state))
    return -1;
  for (int r = 0; r < ROWS; r++) {
    offsets[r + 1] = offsets[r] + length_of(r);
    pairs[2 * r] = r % COLS;
    pairs[2 * r + 1] = (r * 3 + 1) % COLS;
  }
  const size_t n = (size_t)offsets[ROWS];
  targets = malloc(n * sizeof *targets);
  numbers = malloc(n * sizeof *numbers);
  values = malloc(n * sizeof *values);
  for (size_t i = 0; i < n; i++) {
    targets[i] = (int)(i * 31 % COLS);
    numbers[i] = (int)(i % 5);
    values[i] = 1 + (double)(i * 3 % 7);
  }
  for (int i = 0; i < 2 * COLS; i++)
    places[i] = (float)(i % 13 - 4);
  rows = op_decl_set(ROWS, "rows");
  cols = op_decl_set(COLS, "cols");
  map = op_decl_map_ragged(rows, cols, offsets, targets, "map");
  pair = op_decl_map(rows, cols, 2, pairs, "pair");
  a = op_decl_dat(op_map_entries(map), 1, "double", values, "a");
  x = op_decl_dat(cols, 2, "float", places, "x");
  c = op_decl_dat(op_map_entries(map), 1, "int", numbers, "c");
  return a && x && c && pair ? 0 : -1;
}

static int close_mesh(void **state) {
  free(targets);
  free(numbers);
  free(values);
  return stop(state);
}

static op_arg all(op_dat dat, int dim, const char *type, op_access access) {
  return op_arg_dat(dat, OP_ALL, map, dim, type, access);
}

/* Sums in a row of the element's own, and for all elements. */
static void fold_all(void) {
  static double vy[3 * ROWS], got[3 * ROWS];
  static double vmoved[3 * ROWS], got_moved[3 * ROWS];
  static int vsteps[ROWS], got_steps[ROWS];
  double total = 5, largest = -1e3, all_total = 5, most = -1e3;
  long long count = 7, counted = 7;
  for (int i = 0; i < 3 * ROWS; i++) {
    vy[i] = i % 4;
    vmoved[i] = i % 5;
  }
  for (int r = 0; r < ROWS; r++)
    vsteps[r] = r;
  op_dat y = op_decl_dat(rows, 3, "double", vy, "y"), steps = op_decl_dat(rows, 1, "int", vsteps, "steps"),
         moved = op_decl_dat(rows, 3, "double", vmoved, "moved");
  works(op_par_loop(OP_KERNEL_OF(fold), "fold", rows, all(a, 1, "double", OP_READ),
                    all(x, 2, "float", OP_READ), direct(y, 3, "double", OP_RW),
                    direct(steps, 1, "int", OP_INC), direct(moved, 3, "double", OP_INC),
                    op_arg_gbl(&total, 1, "double", OP_INC), op_arg_gbl(&count, 1, "long long", OP_INC),
                    op_arg_gbl(&largest, 1, "double", OP_MAX)));
  works(op_fetch_data(y, got));
  works(op_fetch_data(steps, got_steps));
  works(op_fetch_data(moved, got_moved));
  for (int r = 0; r < ROWS; r++) {
    double first = 1;
    assert_int_equal(got_steps[r], r + 2 * (offsets[r + 1] - offsets[r]));
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      const float *at = &places[2 * targets[i]];
      vy[3 * r] += values[i];
      vmoved[3 * r] += values[i];
      vy[3 * r + 2] -= values[i] * (double)at[1];
      most = values[i] * (double)at[0] > most ? values[i] * (double)at[0] : most;
      counted += values[i] > 3;
      if (values[i] > 6 && i - offsets[r] == (offsets[r + 1] - offsets[r]) / 2)
        first *= -2;
    }
    vmoved[3 * r + 1] += (double)(offsets[r + 1] - offsets[r]);
    vmoved[3 * r + 2] -= (double)(offsets[r + 1] - offsets[r]);
    if (offsets[r] == offsets[r + 1]) {
      vy[3 * r] = -vy[3 * r];
      continue;
    }
    vy[3 * r + 1] = first;
    all_total += (double)(offsets[r + 1] - offsets[r]) + first;
  }
  assert_memory_equal(got, vy, sizeof got);
  assert_memory_equal(got_moved, vmoved, sizeof vmoved);
  assert_true(total == all_total && count == counted && largest == most);
  works(op_free_dat(y));
  works(op_free_dat(steps));
  works(op_free_dat(moved));
}

/* A value added through an ordinary map is added once, and so is an extremum's element. */
static void meet_all(void) {
  static int vto[2 * COLS], vother[COLS], got[2 * COLS], got_other[COLS];
  int most = -1, where = -1, expected = -1, at = -1;
  memset(vto, 0, sizeof vto);
  memset(vother, 0, sizeof vother);
  op_dat to = op_decl_dat(cols, 2, "int", NULL, "to"), other = op_decl_dat(cols, 1, "int", NULL, "other");
  works(op_par_loop(OP_KERNEL_OF(meet), "meet", rows, all(a, 1, "double", OP_READ), all(c, 1, "int", OP_READ),
                    op_arg_dat(to, 0, pair, 2, "int", OP_INC), op_arg_dat(other, 1, pair, 1, "int", OP_INC),
                    op_arg_idx(-1, OP_ID), op_arg_gbl(&most, 1, "int", OP_MAX),
                    op_arg_info(&where, 1, "int", 6)));
  works(op_fetch_data(to, got));
  works(op_fetch_data(other, got_other));
  for (int r = 0; r < ROWS; r++) {
    int sum = 0, least = 1000;
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      sum += numbers[i] - 1;
      least = values[i] < least ? (int)values[i] : least;
    }
    if (offsets[r] == offsets[r + 1])
      continue;
    vto[2 * pairs[2 * r]] += sum;
    vto[2 * pairs[2 * r] + 1] += least;
    vother[pairs[2 * r + 1]] -= sum;
    if (sum > expected) {
      expected = sum;
      at = r;
    }
  }
  assert_memory_equal(got, vto, sizeof got);
  assert_memory_equal(got_other, vother, sizeof got_other);
  assert_int_equal(most, expected);
  assert_int_equal(where, at);
  works(op_free_dat(to));
  works(op_free_dat(other));
}

/* Rows of entries that one loop of the kernel writes and the next one reads. */
static void share_all(void) {
  const size_t n = (size_t)offsets[ROWS];
  double *got = malloc(2 * n * sizeof *got), *doubled = malloc(n * sizeof *doubled);
  op_dat part = op_decl_dat(op_map_entries(map), 2, "double", NULL, "part"),
         twice = op_decl_dat(op_map_entries(map), 1, "double", values, "twice");
  works(op_par_loop(OP_KERNEL_OF(share), "share", rows, all(c, 1, "int", OP_READ),
                    all(part, 2, "double", OP_WRITE), all(twice, 1, "double", OP_RW)));
  works(op_fetch_data(part, got));
  works(op_fetch_data(twice, doubled));
  for (int r = 0; r < ROWS; r++) {
    double sum[2] = {1, 0};
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      sum[0] += numbers[i];
      sum[1] += numbers[i] + 1;
    }
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      assert_true(doubled[i] == values[i] + numbers[i]);
      assert_true(got[2 * i] == sum[0] - doubled[i] && got[2 * i + 1] == sum[1]);
    }
  }
  works(op_free_dat(part));
  works(op_free_dat(twice));
  free(got);
  free(doubled);
}

static int count_of(const char *text, const char *word) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, word)); at++)
    count++;
  return count;
}

TEST_BETWEEN(threads_share_elements, open_mesh, close_mesh) {
  static char report[65536];
  fold_all();
  fold_all();
  meet_all();
  share_all();
  works(op_report_json(report, sizeof report));
  if (count_of(report, "/rows") < KERNELS)
    fail_msg("not all of %d loops have the form: %s", KERNELS, report);
}
