/* Views: the program's arrays stay its own, and answers are those of dats. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

enum { N = 37 };

OP_KERNEL_DEF(
    twice, void twice(const double *x, double *y) { *y = 2 * *x; })
OP_KERNEL_DEF(
    more, void more(double *x) { *x += 1; })
OP_KERNEL_DEF(
    spread, void spread(const double *x, double *a, double *b) {
      *a += *x;
      *b += 2 * *x;
    })
OP_KERNEL_DEF(
    rows_of_three, void rows_of_three(const double *x, const double *y, double *z) {
      for (int c = 0; c < 3; c++)
        z[c] = x[c] + 2 * y[c];
    })

OP_KERNEL_DEF(
    rows_of_five, void rows_of_five(const double *x, const double *y, double *z) {
      for (int c = 0; c < 5; c++)
        z[c] = x[c] + 2 * y[c];
    })
OP_KERNEL_DEF(
    rows_of_seven, void rows_of_seven(const double *x, const double *y, double *z) {
      for (int c = 0; c < 7; c++)
        z[c] = x[c] + 2 * y[c];
    })

static double in[N], out[N];

static long long copied(void) {
  return op_counters()->bytes_of_views;
}

static void fill(double *array, double first) {
  for (int i = 0; i < N; i++)
    array[i] = first + i;
}

static void run_twice(op_set set, op_dat x, op_dat y) {
  works(op_par_loop(OP_KERNEL_OF(twice), "twice", set, direct(x, 1, "double", OP_READ),
                    direct(y, 1, "double", OP_WRITE)));
}

LIBRARY_TEST(the_library_works_in_the_array) {
  op_set set = op_decl_set(N, "set");
  fill(in, 1);
  fill(out, 0);
  op_dat x = op_decl_dat_view(set, 1, "double", in, "x"), y = op_decl_dat_view(set, 1, "double", out, "y");
  run_twice(set, x, y);
  assert_ptr_equal(op_acquire(y, OP_READ), out);
  for (int i = 0; i < N; i++)
    assert_true(out[i] == 2.0 * (1 + i));
  works(op_release(y));
  double *array = op_acquire(x, OP_WRITE);
  assert_ptr_equal(array, in);
  fill(array, 100);
  works(op_release(x));
  run_twice(set, x, y);
  assert_non_null(op_acquire(y, OP_RW));
  for (int i = 0; i < N; i++)
    assert_true(out[i] == 2.0 * (100 + i));
  works(op_release(y));
  assert_int_equal(copied(), 0);
}

/* A map, turned round, so that renumbering moves what it can. */
static op_map chain(op_set from, op_set to) {
  int table[2 * N];
  for (int i = 0; i < N; i++) {
    table[2 * i] = (i * 7) % N;
    table[2 * i + 1] = (i * 7 + 7) % N;
  }
  return op_decl_map(from, to, 2, table, "map");
}

/* The values that one program computes of a dat on `array`, as a view or as a plain dat. */
static void compute(void *array, const char *type, bool view, bool renumbers, double *result) {
  double *rows = array;
  op_set cells = op_decl_set(N, "cells"), edges = op_decl_set(N, "edges");
  op_map map = chain(edges, cells);
  double weights[N];
  fill(rows, 0);
  fill(weights, 5);
  op_dat x = view ? op_decl_dat_view(cells, 1, type, rows, "x") : op_decl_dat(cells, 1, type, rows, "x");
  op_dat w = op_decl_dat(edges, 1, "double", weights, "w");
  for (int step = 0; step < 3; step++) {
    works(op_par_loop(OP_KERNEL_OF(spread), "spread", edges, direct(w, 1, "double", OP_READ),
                      op_arg_dat(x, 0, map, 1, "double", OP_INC),
                      op_arg_dat(x, 1, map, 1, "double", OP_INC)));
    if (renumbers && step == 0)
      works(op_renumber(map));
    if (view) {
      double *now = op_acquire(x, OP_RW);
      assert_ptr_equal(now, array);
      now[3] *= 2;
      works(op_release(x));
    } else {
      works(op_fetch_data(x, result));
      result[3] *= 2;
      works(op_put_data(x, result));
    }
    works(op_par_loop(OP_KERNEL_OF(more), "more", cells, direct(x, 1, "double", OP_RW)));
  }
  if (view) {
    memset(result, 0, N * sizeof *result);
    works(op_free_dat_temp(x)); /* leaves the values in the array */
    memcpy(result, rows, N * sizeof *result);
  } else
    works(op_fetch_data(x, result));
}

static void compare(void *array, bool renumbers, bool in_place) {
  static double plain[N], viewed[N];
  compute(array, "double", false, renumbers, plain);
  const long long before = copied();
  compute(array, "double", true, renumbers, viewed);
  assert_memory_equal(viewed, plain, sizeof plain);
  assert_int_equal(copied() == before, in_place);
}

LIBRARY_TEST(answers_are_those_of_a_dat) {
  static double array[N];
  compare(array, false, true);
}

LIBRARY_TEST(answers_are_those_of_a_dat_after_renumbering) {
  static double array[N];
  compare(array, true, false);
}

LIBRARY_TEST(an_array_that_is_not_aligned_is_copied) {
  static unsigned char bytes[N * sizeof(double) + 1];
  double values[N], got[N];
  op_set set = op_decl_set(N, "set");
  fill(values, 3);
  memcpy(bytes + 1, values, sizeof values);
  op_dat x = op_decl_dat_view(set, 1, "double", (void *)(bytes + 1), "x");
  assert_non_null(x);
  works(op_par_loop(OP_KERNEL_OF(more), "more", set, direct(x, 1, "double", OP_RW)));
  assert_ptr_equal(op_acquire(x, OP_READ), bytes + 1);
  memcpy(got, bytes + 1, sizeof got);
  for (int i = 0; i < N; i++)
    assert_true(got[i] == values[i] + 1);
  works(op_release(x));
  assert_int_equal(copied(), sizeof values);
  /* Nothing has changed since. */
  assert_non_null(op_acquire(x, OP_READ));
  works(op_release(x));
  assert_int_equal(copied(), sizeof values);
}

/* An array that ends where memory ends. */
static double *at_the_end(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
  unsigned char *memory =
      mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  assert_int_equal(mprotect(memory + whole, page, PROT_NONE), 0);
  return (double *)(void *)(memory + whole - bytes);
}

/* Rows that vectors do not fill: where what follows the array is the same page's, the library works in the array. */
static void add_rows(int dim, const char *kernel, const char *name, double *x, double *z) {
  op_set cells = op_decl_set(N, "cells"), edges = op_decl_set(N, "edges");
  op_map map = chain(edges, cells);
  for (int i = 0; i < dim * N; i++)
    x[i] = i;
  op_dat on_cells = op_decl_dat_view(cells, dim, "double", x, "x");
  op_dat on_edges = op_decl_dat_view(edges, dim, "double", z, "z");
  works(op_par_loop(kernel, name, edges, op_arg_dat(on_cells, 0, map, dim, "double", OP_READ),
                    op_arg_dat(on_cells, 1, map, dim, "double", OP_READ),
                    direct(on_edges, dim, "double", OP_WRITE)));
  assert_non_null(op_acquire(on_edges, OP_READ));
  for (int e = 0; e < N; e++)
    for (int c = 0; c < dim; c++)
      assert_true(z[dim * e + c] == (e * 7) % N * dim + c + 2 * ((e * 7 + 7) % N * dim + c));
  works(op_release(on_edges));
}

LIBRARY_TEST(rows_of_any_length_stay_in_the_array) {
  enum { PAGE = 4096, MOST = 7 };
  static _Alignas(PAGE) double x[MOST * N + 1], z[MOST * N + 1];
  _Static_assert(MOST * N * sizeof(double) < PAGE, "one page");
  add_rows(3, OP_KERNEL_OF(rows_of_three), "rows_of_three", x, z);
  assert_int_equal(copied(), 0);
  works(op_exit()); /* views of one array must not overlap */
  works(op_init(0, NULL, 0));
  add_rows(5, OP_KERNEL_OF(rows_of_five), "rows_of_five", x, z);
  assert_int_equal(copied(), 0);
  works(op_exit());
  works(op_init(0, NULL, 0));
  add_rows(7, OP_KERNEL_OF(rows_of_seven), "rows_of_seven", x, z);
  assert_int_equal(copied(), 0);
}

LIBRARY_TEST(nothing_behind_the_array_is_touched) {
  double *one = at_the_end(N * sizeof *one);
  fill(one, 1);
  add_rows(3, OP_KERNEL_OF(rows_of_three), "rows_of_three", at_the_end(3 * N * sizeof *one),
           at_the_end(3 * N * sizeof *one));
  assert_int_equal(copied(), 3 * N * sizeof *one);
  op_set cells = op_decl_set(N, "cells");
  op_dat ones = op_decl_dat_view(cells, 1, "double", one, "one");
  works(op_par_loop(OP_KERNEL_OF(more), "more", cells, direct(ones, 1, "double", OP_RW)));
  assert_non_null(op_acquire(ones, OP_READ));
  for (int i = 0; i < N; i++)
    assert_true(one[i] == 2 + i);
  assert_int_equal(copied(), 3 * N * sizeof *one);
}

LIBRARY_TEST(every_layout_gives_the_same) {
  static double array[4 * N], got[4 * N];
  op_set set = op_decl_set(N, "set");
  for (int i = 0; i < 4 * N; i++)
    array[i] = i;
  op_dat x = op_decl_dat_view(set, 4, "double:soa", array, "x");
  works(op_fetch_data(x, got));
  assert_memory_equal(got, array, sizeof got);
  double *now = op_acquire(x, OP_RW);
  for (int i = 0; i < 4 * N; i++)
    now[i] = -i;
  works(op_release(x));
  works(op_fetch_data(x, got));
  for (int i = 0; i < 4 * N; i++)
    assert_true(got[i] == -i);
}

LIBRARY_TEST(fetch_and_put_know_views) {
  static double array[N];
  double other[N];
  op_set set = op_decl_set(N, "set");
  fill(array, 0);
  op_dat x = op_decl_dat_view(set, 1, "double", array, "x");
  fill(other, 50);
  works(op_put_data(x, other));
  works(op_par_loop(OP_KERNEL_OF(more), "more", set, direct(x, 1, "double", OP_RW)));
  works(op_fetch_data(x, array)); /* into itself */
  works(op_fetch_data(x, other));
  for (int i = 0; i < N; i++)
    assert_true(other[i] == 51 + i);
}

LIBRARY_TEST(op_exit_leaves_the_values_in_the_array) {
  static double array[N];
  static double odd[3 * N];
  op_set set = op_decl_set(N, "set");
  fill(array, 0);
  memset(odd, 0, sizeof odd);
  op_dat x = op_decl_dat_view(set, 1, "double", array, "x");
  op_dat y = op_decl_dat_view(set, 3, "double:soa", odd, "y");
  works(op_par_loop(OP_KERNEL_OF(more), "more", set, direct(x, 1, "double", OP_RW)));
  works(op_par_loop(OP_KERNEL_OF(rows_of_three), "rows_of_three", set,
                    op_arg_dat(op_decl_dat(set, 3, "double", NULL, "a"), -1, OP_ID, 3, "double", OP_READ),
                    op_arg_dat(op_decl_dat(set, 3, "double", NULL, "b"), -1, OP_ID, 3, "double", OP_READ),
                    direct(y, 3, "double", OP_WRITE)));
  memset(odd, -1, sizeof odd);
  works(op_exit());
  for (int i = 0; i < N; i++)
    assert_true(array[i] == i + 1);
  for (int i = 0; i < 3 * N; i++)
    assert_true(odd[i] == 0);
  works(op_init(0, NULL, 0));
}

LIBRARY_TEST(what_is_acquired_is_the_programs) {
  static double array[N];
  double other[N];
  op_set set = op_decl_set(N, "set");
  op_dat x = op_decl_dat_view(set, 1, "double", array, "x");
  op_map self = chain(set, set);
  run_twice(set, x, op_decl_dat(set, 1, "double", NULL, "y"));
  for (op_access access = OP_READ; access <= OP_RW; access++) {
    assert_non_null(op_acquire(x, access));
    assert_null(op_acquire(x, OP_READ));
    assert_int_equal(op_last_error()->code, OP_ERR_STATE);
    fails(OP_ERR_STATE, op_par_loop(OP_KERNEL_OF(more), "more", set, direct(x, 1, "double", OP_RW)));
    fails(OP_ERR_STATE, op_fetch_data(x, other));
    fails(OP_ERR_STATE, op_put_data(x, other));
    fails(OP_ERR_STATE, op_renumber(self));
    fails(OP_ERR_STATE, op_free_dat_temp(x));
    works(op_release(x));
    fails(OP_ERR_STATE, op_release(x));
  }
  works(op_par_loop(OP_KERNEL_OF(more), "more", set, direct(x, 1, "double", OP_RW)));
}

LIBRARY_TEST(an_empty_view_has_an_address) {
  op_set set = op_decl_set(0, "set");
  op_dat x = op_decl_dat_view(set, 2, "double", NULL, "x");
  assert_non_null(x);
  assert_non_null(op_acquire(x, OP_RW));
  works(op_release(x));
}
