/* Subsets: loops over some of a set's elements do what loops over all do, on those; and what programs free. */
#include "support.h"
#include <malloc.h>
#include <unistd.h>

enum { NX = 13, NY = 11, CELLS = NX * NY, POINTS = (NX + 1) * (NY + 1) };

static const char set_to[] = OP_KERNEL(void set_to(const double *a, double *b) {
  b[0] = 2 * a[0];
  b[1] = a[0] + 1;
});
static const char scatter[] =
    OP_KERNEL(void scatter(const double *a, double *p0, double *p1, double *p2, double *p3) {
      p0[0] += a[0];
      p1[0] += 2 * a[0];
      p2[0] += 3 * a[0];
      p3[0] += 4 * a[0];
    });
static const char gather[] =
    OP_KERNEL(void gather(const double *p[4], double *a) { a[0] = p[0][0] + p[1][0] + p[2][0] + p[3][0]; });
static const char meet[] = OP_KERNEL(void meet(double *a) { a[0] += 1; });
static const char numbers[] =
    OP_KERNEL(void numbers(const int *own, const int *corner, int *out, long long *sum) {
      out[0] = *own;
      out[1] = *corner;
      *sum += *own;
    });
static const char largest[] =
    OP_KERNEL(void largest(const double *a, const int *n, double *most, int *where) {
      if (a[0] > *most) {
        *most = a[0];
        *where = *n;
      }
    });

/* On the native backend the kernels are these. */
static void native_set_to(const double *a, double *b) {
  b[0] = 2 * a[0];
  b[1] = a[0] + 1;
}
static void native_scatter(const double *a, double *p0, double *p1, double *p2, double *p3) {
  p0[0] += a[0];
  p1[0] += 2 * a[0];
  p2[0] += 3 * a[0];
  p3[0] += 4 * a[0];
}
static void native_gather(const double *p[4], double *a) {
  a[0] = p[0][0] + p[1][0] + p[2][0] + p[3][0];
}
static void native_meet(double *a) {
  a[0] += 1;
}
static void native_numbers(const int *own, const int *corner, int *out, long long *sum) {
  out[0] = *own;
  out[1] = *corner;
  *sum += *own;
}
static void native_largest(const double *a, const int *n, double *most, int *where) {
  if (a[0] > *most) {
    *most = a[0];
    *where = *n;
  }
}

static op_set cells, points;
static op_map corners;
static op_dat a, b, p;
static int corner[4 * CELLS];
static double va[CELLS], vb[2 * CELLS], vp[POINTS];

static void fill(void) {
  for (int e = 0; e < CELLS; e++) {
    const int first = e / NX * (NX + 1) + e % NX;
    const int of[4] = {first, first + 1, first + NX + 2, first + NX + 1};
    memcpy(corner + (size_t)e * 4, of, sizeof of);
    va[e] = (e * 7) % 31;
    vb[2 * e] = -1 - e;
    vb[2 * e + 1] = -2 - e;
  }
  for (int i = 0; i < POINTS; i++)
    vp[i] = i % 17;
}

static int open_mesh(void **state) {
  fill();
  if (start(state))
    return -1;
  op_kernel_native(set_to, (op_kernel_function)native_set_to);
  op_kernel_native(scatter, (op_kernel_function)native_scatter);
  op_kernel_native(gather, (op_kernel_function)native_gather);
  op_kernel_native(meet, (op_kernel_function)native_meet);
  op_kernel_native(numbers, (op_kernel_function)native_numbers);
  op_kernel_native(largest, (op_kernel_function)native_largest);
  cells = op_decl_set(CELLS, "cells");
  points = op_decl_set(POINTS, "points");
  corners = op_decl_map(cells, points, 4, corner, "corners");
  a = op_decl_dat(cells, 1, "double", va, "a");
  b = op_decl_dat(cells, 2, "double:soa", vb, "b");
  p = op_decl_dat(points, 1, "double", vp, "p");
  return p ? 0 : -1;
}

static op_arg at(int i, op_access access) {
  return op_arg_dat(p, i, corners, 1, "double", access);
}

/* Every loop over the subset, and the same by hand. */
static void run_all(op_set subset, int n, const int *elements) {
  double wanted_a[CELLS], wanted_b[2 * CELLS], wanted_p[POINTS], got[2 * CELLS + POINTS];
  works(op_fetch_data(a, wanted_a));
  works(op_fetch_data(b, wanted_b));
  works(op_fetch_data(p, wanted_p));
  works(op_par_loop(set_to, "set_to", subset, direct(a, 1, "double", OP_READ),
                    direct(b, 2, "double", OP_WRITE)));
  works(op_par_loop(scatter, "scatter", subset, direct(a, 1, "double", OP_READ), at(0, OP_INC), at(1, OP_INC),
                    at(2, OP_INC), at(3, OP_INC)));
  works(op_par_loop(gather, "gather", subset, at(-4, OP_READ), direct(a, 1, "double", OP_WRITE)));
  works(op_par_loop(meet, "meet", subset, direct(a, 1, "double", OP_INC)));
  for (int i = 0; i < n; i++) {
    const int e = elements[i];
    wanted_b[2 * e] = 2 * wanted_a[e];
    wanted_b[2 * e + 1] = wanted_a[e] + 1;
    for (int c = 0; c < 4; c++)
      wanted_p[corner[4 * e + c]] += (c + 1) * wanted_a[e];
  }
  for (int i = 0; i < n; i++) {
    const int e = elements[i];
    wanted_a[e] = 1;
    for (int c = 0; c < 4; c++)
      wanted_a[e] += wanted_p[corner[4 * e + c]];
  }
  works(op_fetch_data(a, got));
  assert_memory_equal(got, wanted_a, sizeof wanted_a);
  works(op_fetch_data(b, got));
  assert_memory_equal(got, wanted_b, sizeof wanted_b);
  works(op_fetch_data(p, got));
  assert_memory_equal(got, wanted_p, sizeof wanted_p);
}

/* In any order, as a user may give them. */
static int every(int step, int elements[CELLS]) {
  int n = 0;
  for (int e = 0; e < CELLS; e += step)
    elements[n++] = e;
  for (int i = 0; i + 1 < n; i += 2) {
    const int other = elements[i];
    elements[i] = elements[i + 1];
    elements[i + 1] = other;
  }
  return n;
}

#define MESH_TEST(name) TEST_BETWEEN(name, open_mesh, stop)

MESH_TEST(a_loop_runs_over_the_elements_of_a_subset) {
  int elements[CELLS];
  const int n = every(3, elements);
  const op_set third = op_decl_subset(cells, n, elements, "third");
  assert_non_null(third);
  assert_int_equal(op_get_size(third), n);
  assert_int_equal(op_get_global_size(third), n);
  run_all(third, n, elements);
  run_all(third, n, elements);
}

MESH_TEST(a_subset_may_be_a_range_or_all_or_nothing) {
  int elements[CELLS];
  for (int i = 0; i < CELLS; i++)
    elements[i] = i;
  run_all(op_decl_subset_range(cells, 20, 37, "range"), 37, elements + 20);
  run_all(op_decl_subset(cells, CELLS, elements, "all"), CELLS, elements);
  run_all(op_decl_subset(cells, 0, NULL, "none"), 0, NULL);
  run_all(op_decl_subset_range(cells, CELLS, 0, "end"), 0, NULL);
  run_all(op_decl_subset_range(cells, CELLS - 1, 1, "last"), 1, elements + CELLS - 1);
}

MESH_TEST(a_subset_follows_its_elements) {
  int elements[CELLS];
  const int n = every(4, elements);
  const op_set fourth = op_decl_subset(cells, n, elements, "fourth");
  run_all(fourth, n, elements);
  works(op_renumber(corners));
  run_all(fourth, n, elements);
  const op_set later = op_decl_subset(cells, n, elements, "later");
  run_all(later, n, elements);
  works(op_renumber_by("rcm", corners, NULL));
  run_all(fourth, n, elements);
  run_all(later, n, elements);
}

MESH_TEST(numbers_are_those_of_the_set) {
  for (int pass = 0; pass < 2; pass++) {
    const int elements[] = {140, 3, 77};
    int out[2 * CELLS], where = -1;
    long long sum = 0;
    double most = -1;
    const op_set three = op_decl_subset(cells, 3, elements, "three");
    const op_dat seen = op_decl_dat_temp(cells, 2, "int", NULL, "seen");
    works(op_par_loop(numbers, "numbers", three, op_arg_idx(-1, OP_ID), op_arg_idx(2, corners),
                      direct(seen, 2, "int", OP_WRITE), op_arg_gbl(&sum, 1, "long long", OP_INC)));
    works(op_fetch_data(seen, out));
    assert_int_equal(sum, 220);
    for (int e = 0; e < CELLS; e++) {
      const int of = e == 3 || e == 77 || e == 140;
      assert_int_equal(out[2 * e], of ? e : 0);
      assert_int_equal(out[2 * e + 1], of ? corner[4 * e + 2] : 0);
    }
    works(op_par_loop(largest, "largest", three, direct(a, 1, "double", OP_READ), op_arg_idx(-1, OP_ID),
                      op_arg_gbl(&most, 1, "double", OP_MAX), op_arg_info(&where, 1, "int", 3)));
    assert_true(most > 20.5 && most < 21.5); /* 140 * 7 % 31 = 19, 21, 12 */
    assert_int_equal(where, 3);
    works(op_free_dat(seen));
    works(op_free_set(three));
    works(op_renumber(corners));
  }
}

MESH_TEST(data_that_are_reached_both_ways_are_refused_or_right) {
  static const char both[] = OP_KERNEL(void both(double *x, double *y) {
    x[0] += 1;
    y[0] += 10;
  });
  static const char copy[] = OP_KERNEL(void copy(const double *x, double *y) { y[0] = x[0]; });
  int right[CELLS];
  double got[CELLS];
  for (int e = 0; e < CELLS; e++)
    right[e] = (e + 1) % CELLS;
  const op_map next = op_decl_map(cells, cells, 1, right, "next");
  const op_set even = op_decl_subset(cells, 2, (const int[]){10, 12}, "even");
  const op_set near = op_decl_subset(cells, 2, (const int[]){10, 11}, "near");
  if (strcmp(getenv("OP2_BACKEND"), "native") == 0)
    return; /* has no such kernels */
  works(op_par_loop(both, "both", near, direct(a, 1, "double", OP_INC),
                    op_arg_dat(a, 0, next, 1, "double", OP_INC)));
  works(op_fetch_data(a, got));
  for (int e = 0; e < CELLS; e++)
    assert_true(got[e] - va[e] - (e == 10 ? 1 : e == 11 ? 11 : e == 12 ? 10 : 0) == 0);
  works(op_par_loop(copy, "copy", even, op_arg_dat(a, 0, next, 1, "double", OP_READ),
                    direct(a, 1, "double", OP_WRITE)));
  fails(OP_ERR_ALIAS, op_par_loop(copy, "copy", near, op_arg_dat(a, 0, next, 1, "double", OP_READ),
                                  direct(a, 1, "double", OP_WRITE)));
  fails(OP_ERR_ALIAS,
        op_par_loop(copy, "copy", near, direct(a, 1, "double", OP_READ), direct(a, 1, "double", OP_WRITE)));
}

/* ---- freeing ---- */

static op_set made(int first, int n) {
  const op_set s = op_decl_subset_range(cells, first, n, "moving");
  assert_non_null(s);
  return s;
}

static void step(op_set s) {
  works(op_par_loop(set_to, "set_to", s, direct(a, 1, "double", OP_READ), direct(b, 2, "double", OP_WRITE)));
  works(op_par_loop(scatter, "scatter", s, direct(a, 1, "double", OP_READ), at(0, OP_INC), at(1, OP_INC),
                    at(2, OP_INC), at(3, OP_INC)));
}

MESH_TEST(the_same_subset_again_is_known) {
  op_set s = made(10, 50);
  step(s);
  works(op_fetch_data(b, vb)); /* nothing waits in a queue */
  const op_counters_t before = *op_counters();
  for (int i = 0; i < 400; i++) {
    works(op_free_set(s));
    fails(OP_ERR_HANDLE, op_free_set(s));
    s = made(10, 50);
    step(s);
  }
  assert_int_equal(op_counters()->records, before.records);
  assert_int_equal(op_counters()->plans, before.plans);
  assert_int_equal(op_counters()->compiles, before.compiles);
  assert_int_equal(op_counters()->loops, before.loops + 800);
}

static size_t in_use(void) {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/* Between them there may be lists that grow by halves. The stand-in for a GPU notes each of its allocations for good. */
static size_t little(void) {
  return (strcmp(getenv("OP2_BACKEND"), "cuda") == 0 ? 1024 : 64) * (size_t)1024;
}

static size_t count_of(const char *text, const char *word) {
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
    n++;
  return n;
}

MESH_TEST(four_hundred_subsets_take_no_more_than_ten) {
  static char report[1 << 20];
  size_t after_ten = 0;
  for (int i = 0; i < 400; i++) {
    const op_set s = made(i % 90, 50);
    step(s);
    works(op_free_set(s));
    works(op_fetch_data(b, vb));
    if (i == 19)
      after_ten = in_use();
  }
  assert_true(in_use() < after_ten + little());
  works(op_report_json(report, sizeof report));
  assert_int_equal(count_of(report, "\"name\":\"set_to\""), 1);
  assert_int_equal(count_of(report, "\"calls\":400"), 2);
}

MESH_TEST(subsets_of_one_name_are_one_row) {
  static char report[1 << 20];
  for (int i = 0; i < 12; i++)
    step(made(i, 40 + i));
  works(op_report_json(report, sizeof report));
  assert_int_equal(count_of(report, "\"calls\":12"), 2);
}

MESH_TEST(a_mesh_may_be_made_and_freed_again_and_again) {
  size_t after_ten = 0;
  for (int i = 0; i < 100; i++) {
    double values[40] = {0};
    int table[30];
    for (int e = 0; e < 30; e++)
      table[e] = (e * 3 + i) % 40;
    const op_set moving = op_decl_set(30, "particles"), boxes = op_decl_set(40, "boxes");
    const op_map in = op_decl_map(moving, boxes, 1, table, "in");
    const op_dat mass = op_decl_dat(moving, 1, "double", va, "mass"),
                 sum = op_decl_dat(boxes, 1, "double", NULL, "sum");
    static const char add[] = OP_KERNEL(void add(const double *m, double *s) { s[0] += m[0]; });
    if (strcmp(getenv("OP2_BACKEND"), "native") != 0) {
      works(op_par_loop(add, "add", moving, direct(mass, 1, "double", OP_READ),
                        op_arg_dat(sum, 0, in, 1, "double", OP_INC)));
      works(op_fetch_data(sum, values));
      for (int e = 0; e < 30; e++)
        values[table[e]] -= va[e];
      for (int e = 0; e < 40; e++)
        assert_true(values[e] == 0);
    }
    fails(OP_ERR_STATE, op_free_set(moving));
    assert_non_null(strstr(op_last_error()->message, "map \"in\", dat \"mass\""));
    works(op_free_map(in));
    fails(OP_ERR_HANDLE, op_free_map(in));
    fails(OP_ERR_HANDLE, op_par_loop(add, "add", moving, direct(mass, 1, "double", OP_READ),
                                     op_arg_dat(sum, 0, in, 1, "double", OP_INC)));
    works(op_free_dat(mass));
    works(op_free_dat(sum));
    fails(OP_ERR_HANDLE, op_free_dat(sum));
    works(op_free_set(boxes));
    works(op_free_set(moving));
    if (i == 19)
      after_ten = in_use();
  }
  assert_true(in_use() < after_ten + little());
}

MESH_TEST(a_map_is_freed_under_a_subset) {
  int elements[CELLS];
  const int n = every(5, elements);
  const op_set fifth = op_decl_subset(cells, n, elements, "fifth");
  run_all(fifth, n, elements);
  fails(OP_ERR_STATE, op_free_set(cells));
  works(op_free_map(corners));
  fails(OP_ERR_HANDLE,
        op_par_loop(gather, "gather", fifth, at(-4, OP_READ), direct(a, 1, "double", OP_WRITE)));
  corners = op_decl_map(cells, points, 4, corner, "corners");
  run_all(fifth, n, elements);
  works(op_renumber(corners));
  run_all(fifth, n, elements);
}
