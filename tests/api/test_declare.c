/* Declarations: what is copied, what may be NULL, what names mean. */
#include <stdbool.h>

#include "support.h"

OP_KERNEL_DEF(
    twice, void twice(const double *x, double *y) { y[0] = 2 * x[0]; })
extern double api_factor;
OP_KERNEL_DEF(
    scaled, void scaled(const double *x, double *y) { y[0] = api_factor * x[0]; })
extern int api_offsets[3];
OP_KERNEL_DEF(
    shifted, void shifted(int *y) {
      y[0] = api_offsets[0];
      y[1] = api_offsets[2];
    })
/* A native kernel reads the program's own variables. */
double api_factor = 3;
int api_offsets[3] = {10, 20, 30};

LIBRARY_TEST(sets_have_the_size_they_were_given) {
  static const int sizes[] = {0, 1, 7, 1000, 2147483647};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    op_set set = op_decl_set(sizes[i], i % 2 ? "same name" : NULL);
    assert_non_null(set);
    assert_int_equal(op_get_size(set), sizes[i]);
    assert_int_equal(op_get_global_size(set), sizes[i]);
  }
}

LIBRARY_TEST(data_tables_names_and_values_are_copied) {
  char name[] = "height";
  double *values = malloc(3 * sizeof *values), y[3];
  int *table = malloc(3 * sizeof *table);
  for (int i = 0; i < 3; i++) {
    values[i] = i + 1;
    table[i] = 2 - i;
  }
  op_set set = op_decl_set(3, name);
  op_map map = op_decl_map(set, set, 1, table, name);
  op_dat dat = op_decl_dat(set, 1, "double", values, name), out = op_decl_dat(set, 1, "double", NULL, "out");
  memset(name, 'x', sizeof name - 1);
  memset(values, 0, 3 * sizeof *values);
  memset(table, 0, 3 * sizeof *table);
  free(values);
  free(table);
  works(op_par_loop(OP_KERNEL_OF(twice), "twice", set, op_arg_dat(dat, 0, map, 1, "double", OP_READ),
                    direct(out, 1, "double", OP_WRITE)));
  works(op_fetch_data(out, y));
  assert_true(y[0] == 6 && y[1] == 4 && y[2] == 2);
  fails(OP_ERR_DIM, op_par_loop(OP_KERNEL_OF(twice), "twice", set, direct(dat, 2, "double", OP_READ),
                                direct(out, 1, "double", OP_WRITE)));
  assert_non_null(strstr(op_last_error()->message, "\"height\""));
}

LIBRARY_TEST(null_data_means_zeros) {
  op_set set = op_decl_set(100, "s");
  static const char *const types[] = {"double", "float:soa", "int",  "uint", "ll:soa",
                                      "ull",    "bool",      "char", "short"};
  unsigned char out[100 * 3 * 8], zeros[sizeof out] = {0};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int temporary = 0; temporary < 2; temporary++) {
      op_dat dat = temporary ? op_decl_dat_temp(set, 3, types[t], NULL, "d")
                             : op_decl_dat(set, 3, types[t], NULL, "d");
      assert_non_null(dat);
      memset(out, 0, sizeof out);
      works(op_fetch_data(dat, out));
      assert_memory_equal(out, zeros, sizeof out);
    }
}

LIBRARY_TEST(type_names_have_spellings) {
  static const struct {
    const char *declared, *argument;
    size_t size;
  } same[] = {
      {"double", "double", 8},
      {" double", "double ", 8},
      {"double:soa", "double", 8},
      {"double :soa", "double", 8},
      {"unsigned int", "uint", 4},
      {"uint", "unsigned  int", 4},
      {"unsigned\tint:soa", "uint", 4},
      {"long long", "ll", 8},
      {"ll:soa", "long long", 8},
      {"unsigned long long", "ull", 8},
      {"ull", "unsigned  long   long", 8},
      {"bool", "bool", 1},
      {"char", "char", 1},
      {"short:soa", "short", 2},
      {"float", "float", 4},
      {"int", "int", 4},
  };
  op_set set = op_decl_set(2, "s");
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    op_dat dat = op_decl_dat(set, 2, same[i].declared, NULL, "d");
    if (!dat)
      fail_msg("\"%s\": %s", same[i].declared, op_last_error()->message);
    /* The kernel has the wrong number of parameters: that this is found says that the types agreed. */
    fails(OP_ERR_KERNEL,
          op_par_loop(OP_KERNEL_OF(twice), "twice", set, direct(dat, 2, same[i].argument, OP_READ)));
  }
}

LIBRARY_TEST(layout_changes_nothing_that_is_seen) {
  enum { N = 37, DIM = 5 };
  float values[N * DIM], out[N * DIM], range[3 * DIM];
  for (int i = 0; i < N * DIM; i++)
    values[i] = (float)i;
  op_set set = op_decl_set(N, "s");
  op_dat soa = op_decl_dat(set, DIM, "float:soa", values, "soa");
  works(op_fetch_data(soa, out));
  assert_memory_equal(out, values, sizeof values);
  works(op_fetch_data_idx(soa, range, 30, 32));
  assert_memory_equal(range, values + 30 * DIM, sizeof range);
  for (int i = 0; i < N * DIM; i++)
    values[i] = (float)-i;
  works(op_put_data(soa, values));
  works(op_fetch_data(soa, out));
  assert_memory_equal(out, values, sizeof values);
}

LIBRARY_TEST(maps_of_int_and_of_long_are_the_same) {
  int narrow[] = {2, 0, 1};
  long long wide[] = {2, 0, 1};
  double x[] = {1, 2, 3}, a[3], b[3];
  op_set set = op_decl_set(3, "s");
  op_map maps[] = {op_decl_map(set, set, 1, narrow, "narrow"), op_decl_map_long(set, set, 1, wide, "wide")};
  op_dat dat = op_decl_dat(set, 1, "double", x, "x");
  op_dat out[] = {op_decl_dat(set, 1, "double", NULL, "a"), op_decl_dat(set, 1, "double", NULL, "b")};
  for (int i = 0; i < 2; i++)
    works(op_par_loop(OP_KERNEL_OF(twice), "twice", set, op_arg_dat(dat, 0, maps[i], 1, "double", OP_READ),
                      direct(out[i], 1, "double", OP_WRITE)));
  works(op_fetch_data(out[0], a));
  works(op_fetch_data(out[1], b));
  assert_memory_equal(a, b, sizeof a);
  assert_true(a[0] == 6 && a[1] == 2 && a[2] == 4);
}

LIBRARY_TEST(empty_sets_need_no_memory) {
  op_set none = op_decl_set(0, "none"), some = op_decl_set(4, "some");
  op_map to_some = op_decl_map(none, some, 3, NULL, "to some"),
         to_none = op_decl_map(none, none, 1, NULL, "to none");
  op_dat x = op_decl_dat(none, 1, "double", NULL, "x"), y = op_decl_dat(some, 1, "double", NULL, "y");
  assert_true(to_some && to_none && x && y);
  assert_null(op_decl_map(some, none, 1, (int[]){0, 0, 0, 0}, "no"));
  works(op_fetch_data(x, NULL));
  works(op_put_data(x, NULL));
  works(op_par_loop(OP_KERNEL_OF(twice), "twice", none, op_arg_dat(y, 2, to_some, 1, "double", OP_READ),
                    direct(x, 1, "double", OP_WRITE)));
  works(op_fetch_data(x, NULL));
}

LIBRARY_TEST(constants_are_copied_and_updated) {
  double x[] = {1, 2}, y[2], passed = 3;
  op_set set = op_decl_set(2, "s");
  op_dat in = op_decl_dat(set, 1, "double", x, "x"), out = op_decl_dat(set, 1, "double", NULL, "y");
  api_factor = 3;
  works(op_decl_const("api_factor", 1, "double", &passed));
  passed = 99;
  enum {
    FOLDED = 4
  }; /* a value compiled in makes a kernel of its own; what keeps changing is passed from then on */
  long long compiles = 0;
  for (int round = 0; round < 8; round++) {
    if (round) {
      api_factor = passed = 3 + round;
      works(round % 2 ? op_update_const("api_factor", &passed)
                      : op_decl_const("api_factor", 1, " double ", &passed));
      passed = 99;
    }
    works(op_par_loop(OP_KERNEL_OF(scaled), "scaled", set, direct(in, 1, "double", OP_READ),
                      direct(out, 1, "double", OP_WRITE)));
    works(op_fetch_data(out, y));
    assert_true(y[0] == 3 + round && y[1] == 2 * (3 + round));
    const long long more = op_counters()->compiles - compiles;
    compiles += more;
    if (compiles > 0) /* no native form */
      assert_int_equal(more, round <= FOLDED);
  }
}

LIBRARY_TEST(constants_of_more_than_one_value_are_arrays) {
  int y[4];
  op_set set = op_decl_set(2, "s");
  op_dat out = op_decl_dat(set, 2, "int", NULL, "y");
  works(op_decl_const("api_offsets", 3, "int", api_offsets));
  works(op_par_loop(OP_KERNEL_OF(shifted), "shifted", set, direct(out, 2, "int", OP_WRITE)));
  works(op_fetch_data(out, y));
  assert_true(y[0] == 10 && y[1] == 30 && y[2] == 10 && y[3] == 30);
  fails(OP_ERR_CONST, op_decl_const("api_offsets", 1, "int", api_offsets));
  fails(OP_ERR_CONST, op_decl_const("api_offsets", 3, "uint", api_offsets));
}

/* Names in the text that every kernel starts with. */
LIBRARY_TEST(names_that_kernels_have_are_no_constants) {
  static const char *const refused[] = {"sin",      "sinf",       "pow",    "ldexp",  "modff",    "memcpy",
                                        "llabs",    "isnan",      "M_PI",   "NULL",   "offsetof", "DBL_MAX",
                                        "INFINITY", "UINT8_C",    "size_t", "int8_t", "double_t", "uintmax_t",
                                        "op2",      "op2jit_exp", "remquo"},
                           *const allowed[] = {"y0",      "sine",  "x", "c", "t",  "m",
                                               "double2", "M_PI_", "_", "n", "si", "OP2_"};
  double v = 1;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (op_decl_const(refused[i], 1, "double", &v) != OP_ERR_CONST)
      fail_msg("%s", refused[i]);
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
    works(op_decl_const(allowed[i], 1, "double", &v));
}

LIBRARY_TEST(a_value_has_the_constants_type) {
  double real = 1;
  unsigned long whole[] = {1, 2};
  fails(OP_ERR_TYPE, op_decl_const("api_kappa", 1, "float", &real));
  fails(OP_ERR_TYPE, op_decl_const("api_kappa", 1, "ll", &real));
  fails(OP_ERR_TYPE, op_decl_const("api_kappa", 2, "int", whole));
  works(op_decl_const("api_kappa", 1, "float", (const void *)&real));
  works(op_decl_const("api_kappa2", 2, "long long", whole));
  works(op_decl_const("api_kappa3", 2, "float", ((const float[]){1, 2})));
  fails(OP_ERR_TYPE, op_update_const("api_kappa2", &real));
  works(op_update_const("api_kappa2", whole));
}

LIBRARY_TEST(pointers_have_the_types_that_are_said) {
  op_set set = op_decl_set(2, "s");
  double real[2] = {1, 2}, table[1][2] = {{3, 4}};
  unsigned long whole[] = {5, 6};
  void *memory = real;
  fails(OP_ERR_TYPE, op_decl_dat(set, 1, "float:soa", real, "x") ? OP_OK : op_last_error()->code);
  fails(OP_ERR_TYPE, op_decl_dat_temp(set, 1, "int", whole, "x") ? OP_OK : op_last_error()->code);
  assert_non_null(op_decl_dat(set, 1, "float", memory, "any"));
  assert_non_null((op_decl_dat)(set, 1, "float", real, "any"));
  assert_non_null(op_decl_dat(set, 1, "ll", whole, "w"));
  op_dat x = op_decl_dat_temp(set, 1, "double", ((const double[]){7, 8}), "x");
  op_dat y = op_decl_dat(set, 1, "double", (const double[]){7, 8}, "y");
  float small[2] = {0};
  fails(OP_ERR_TYPE, op_fetch_data(x, small));
  fails(OP_ERR_TYPE, op_fetch_data_idx(x, whole, 0, 1));
  fails(OP_ERR_TYPE, op_put_data(x, small));
  works(op_fetch_data(x, real));
  assert_true(real[0] == 7 && real[1] == 8);
  works(op_put_data(y, table));
  works((op_fetch_data)(y, table));
  works(op_fetch_data(y, memory));
  works(op_fetch_data_idx(y, real, 0, 1));
  assert_true(table[0][1] == 4 && real[0] == 3 && real[1] == 4);
}

/* As everywhere in C, memory of char and unsigned char may hold anything: a buffer of a file, of a network. */
LIBRARY_TEST(bytes_hold_any_type) {
  op_set set = op_decl_set(2, "s");
  double real[2] = {1, 2}, out[2] = {0};
  unsigned char bytes[sizeof real];
  char *chars = (char *)real;
  memcpy(bytes, real, sizeof real);
  op_dat a = op_decl_dat(set, 1, "double", chars, "a"), b = op_decl_dat(set, 1, "double", bytes, "b");
  works(op_fetch_data(a, (char *)out));
  assert_true(out[0] == 1 && out[1] == 2);
  works(op_put_data(b, (const char *)real));
  works(op_fetch_data_idx(b, bytes, 1, 1));
  assert_memory_equal(bytes, &real[1], sizeof *real);
  works(op_decl_const("api_bytes", 1, "double", chars));
  works(op_update_const("api_bytes", bytes));
  works(op_par_loop(OP_KERNEL_OF(twice), "twice", set, op_arg_gbl(chars, 1, "double", OP_READ),
                    direct(b, 1, "double", OP_WRITE)));
  fails(OP_ERR_TYPE, op_decl_dat(set, 1, "char", real, "c") ? OP_OK : op_last_error()->code);
}

LIBRARY_TEST(temporaries_come_and_go) {
  op_set set = op_decl_set(3, "s");
  double x[] = {1, 2, 3}, y[3];
  op_dat out = op_decl_dat(set, 1, "double", NULL, "y");
  for (int round = 0; round < 3000; round++) {
    x[0] = round;
    op_dat t = op_decl_dat_temp(set, 1, round % 2 ? "double:soa" : "double", x, "t");
    assert_non_null(t);
    works(op_par_loop(OP_KERNEL_OF(twice), "twice", set, direct(t, 1, "double", OP_READ),
                      direct(out, 1, "double", OP_WRITE)));
    works(op_fetch_data(out, y));
    assert_true(y[0] == 2 * round && y[2] == 6);
    works(op_free_dat_temp(t));
    fails(OP_ERR_HANDLE, op_free_dat_temp(t));
  }
}

LIBRARY_TEST(declarations_may_come_after_loops) {
  op_set set = op_decl_set(1, "s");
  double x = 4, y;
  op_dat in = op_decl_dat(set, 1, "double", &x, "x");
  for (int i = 0; i < 5; i++) {
    op_dat out = op_decl_dat(set, 1, "double", NULL, "y");
    works(op_par_loop(OP_KERNEL_OF(twice), "twice", set, direct(in, 1, "double", OP_READ),
                      direct(out, 1, "double", OP_WRITE)));
    works(op_fetch_data(out, &y));
    assert_true(y == 8 * (1 << i));
    in = out;
  }
}
