/* Kernels that find extrema, keep pointers to rows and count on what their mesh has; and what the checking form finds in others. */
#include "ragged.h"

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

static bool on_opencl(void) {
  const char *backend = getenv("OP2_BACKEND");
  return backend && strcmp(backend, "opencl") == 0;
}

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
