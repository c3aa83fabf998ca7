/* Loops that wait (OP2_LAZY): nobody can tell, but for the counter of loops that wait. */
#include "support.h"
#include <unistd.h>

enum { N = 100 };

static const char add[] = OP_KERNEL(void add(const int *by, int *x) { x[0] += by[0]; });
static const char sum[] = OP_KERNEL(void sum(const int *x, long long *s) { s[0] += x[0]; });

static void works_nothing(void) {
}

static op_set cells;
static op_dat x;

FIXTURE(open_lazily) {
  char program[] = "lazy", lazy[] = "OP2_LAZY=on";
  char *argv[] = {program, lazy, NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (op_init(2, argv, 0))
    return -1;
  cells = op_decl_set(N, "cells");
  x = op_decl_dat(cells, 1, "int", NULL, "x");
  return x ? 0 : -1;
}

static void add_to_all(int by) {
  works(op_par_loop(add, "add", cells, op_arg_gbl(&by, 1, "int", OP_READ), direct(x, 1, "int", OP_RW)));
}

/* That ran. */
static long long loops(void) {
  return op_counters()->loops - op_counters()->waiting;
}

#define LAZY_TEST(name) TEST_BETWEEN(name, open_lazily, stop)

LAZY_TEST(a_loop_waits_until_somebody_looks) {
  int values[N];
  for (int by = 1; by <= 4; by++)
    add_to_all(by); /* of a variable that is gone when the loop runs */
  assert_int_equal(loops(), 0);
  works(op_fetch_data(x, values));
  assert_int_equal(loops(), 4);
  for (int i = 0; i < N; i++)
    assert_int_equal(values[i], 10);
}

LAZY_TEST(a_result_in_a_variable_is_there_when_the_call_returns) {
  long long s = 5;
  add_to_all(3);
  assert_int_equal(loops(), 0);
  works(op_par_loop(sum, "sum", cells, direct(x, 1, "int", OP_READ), op_arg_gbl(&s, 1, "long long", OP_INC)));
  assert_int_equal(loops(), 2);
  assert_int_equal(s, 5 + 3 * N);
}

LAZY_TEST(a_result_in_a_handle_ends_no_chain) {
  long long s = 0;
  op_gbl kept = op_decl_gbl(1, "long long", NULL, "kept");
  for (int i = 1; i <= 3; i++) {
    add_to_all(1);
    works(op_par_loop(sum, "sum", cells, direct(x, 1, "int", OP_READ), op_arg_global(kept, OP_INC)));
  }
  assert_int_equal(loops(), 0);
  works(op_get_gbl(kept, &s));
  assert_int_equal(loops(), 6);
  assert_int_equal(s, N + 2 * N + 3 * N);
}

LAZY_TEST(the_queue_is_bounded) {
  enum { MOST = 256 };
  int values[N];
  for (int i = 0; i < MOST - 1; i++)
    add_to_all(1);
  assert_int_equal(loops(), 0);
  add_to_all(1);
  assert_int_equal(loops(), MOST);
  add_to_all(1);
  assert_int_equal(loops(), MOST);
  works(op_fetch_data(x, values));
  assert_int_equal(values[N - 1], MOST + 1);
}

LAZY_TEST(what_is_refused_is_refused_at_the_call) {
  int values[N], by = 1;
  add_to_all(2);
  fails(OP_ERR_ARGUMENT,
        op_par_loop(add, "add", cells, op_arg_gbl(NULL, 1, "int", OP_READ), direct(x, 1, "int", OP_RW)));
  fails(OP_ERR_DIM,
        op_par_loop(add, "add", cells, op_arg_gbl(&by, 1, "int", OP_READ), direct(x, 2, "int", OP_RW)));
  fails(OP_ERR_COMPILE, op_par_loop("void odd(const int *by, int *x) { x[0] = unknown + by[0]; }", "odd",
                                    cells, op_arg_gbl(&by, 1, "int", OP_READ), direct(x, 1, "int", OP_RW)));
  assert_int_equal(loops(), 0);
  works(op_fetch_data(x, values));
  assert_int_equal(values[0], 2);
}

LAZY_TEST(what_no_chain_can_hold_runs_at_once) {
  char program[] = "lazy", lazy[] = "OP2_LAZY=on", check[] = "OP2_CHECK=add";
  char *argv[] = {program, lazy, check, NULL};
  works(op_exit());
  works(op_init(3, argv, 0));
  cells = op_decl_set(N, "cells");
  x = op_decl_dat(cells, 1, "int", NULL, "x");
  add_to_all(1);
  assert_int_equal(loops(), 1);
}

/* ---- which calls run what waits: all calls of the header, see flushes.sh ---- */

/* A loop waits before the call, which need not be `good`: files may be missing, or the plugin. */
#define WAITING(runs, call, good)                                                                            \
  do {                                                                                                       \
    add_to_all(1);                                                                                           \
    const long long ran = loops(), flushes = op_counters()->flushes;                                         \
    call;                                                                                                    \
    if ((good) && op_last_error()->code)                                                                     \
      fail_msg("%s: %s", #call, op_last_error()->message);                                                   \
    if ((loops() > ran) != (runs) || op_counters()->flushes != flushes + (runs))                             \
      fail_msg("%s: %lld loops ran, %lld flushes", #call, loops() - ran, op_counters()->flushes - flushes);  \
  } while (0)
#define FLUSHES(call) WAITING(1, call, 1)
#define FLUSHES_ANYHOW(call) WAITING(1, call, 0)
#define KEEPS(call) WAITING(0, call, 1)
/* Calls that know nothing of the library's state, or that begin it. */
static const char *const never_wait[] = {
    "op_init",         "op_arg_dat", "op_opt_arg_dat", "op_arg_gbl",
    "op_opt_arg_gbl",  "op_arg_idx", "op_arg_info",    "op_arg_global",
    "op_arg_may_meet", "op_rank",    "op_rank_count",  "op_is_root",
    "op_printf",       "op_timers",  "op_last_error",  "op_set_error_handler",
    "op_arg_mat",      "op_assert"};

LAZY_TEST(each_call_runs_what_waits_or_leaves_it) {
  static const char text[] = "/tmp/op2jit-flush-XXXXXX", none[] = "/tmp/op2jit-flush-none/none";
  char path[sizeof text];
  strcpy(path, text);
  close(mkstemp(path));
  static int array[N]; /* stays until op_exit */
  int values[N] = {0}, value = 3;
  int turned[N];
  long long turned_long[N];
  for (int i = 0; i < N; i++)
    turned_long[i] = turned[i] = N - 1 - i;
  op_map map = NULL;
  op_dat temporary = NULL, viewed = NULL;
  op_gbl kept = NULL;
  FLUSHES(op_decl_set(5, "s"));
  FLUSHES(map = op_decl_map(cells, cells, 1, turned, "m"));
  FLUSHES(op_decl_map_long(cells, cells, 1, turned_long, "l"));
  const long long offsets[] = {0, 1, 1};
  op_set two = op_decl_set(2, "two");
  op_map ragged = NULL;
  FLUSHES(ragged = op_decl_map_ragged(two, cells, offsets, turned, "r"));
  KEEPS(op_map_entries(ragged));
  KEEPS(op_decl_dat(cells, 1, "int", values, "other"));
  KEEPS(temporary = op_decl_dat_temp(cells, 1, "int", NULL, "t"));
  KEEPS(op_free_dat_temp(temporary));
  op_set some = NULL;
  KEEPS(some = op_decl_subset_range(cells, 2, 3, "some"));
  FLUSHES(op_free_set(some));
  KEEPS(op_decl_subset(cells, 3, turned, "others"));
  KEEPS(temporary = op_decl_dat(cells, 1, "int", NULL, "u"));
  FLUSHES(op_free_dat(temporary));
  op_map gone = op_decl_map(cells, cells, 1, turned, "n");
  FLUSHES(op_free_map(gone));
  KEEPS(viewed = op_decl_dat_view(cells, 1, "int", array, "v"));
  FLUSHES(op_acquire(viewed, OP_READ));
  KEEPS(op_release(viewed));
  op_mat mat = NULL;
  KEEPS(mat = op_decl_mat(1, &map, &map, 1, 1, "double", "mat"));
  KEEPS(op_zero_mat(mat));
  FLUSHES_ANYHOW(op_fix_mat(mat, NULL, NULL, 1));
  FLUSHES_ANYHOW(op_fetch_mat(mat, NULL, NULL, NULL, NULL));
  FLUSHES_ANYHOW(op_solve(mat, NULL, NULL, ""));
  FLUSHES(op_free_mat(mat));
  FLUSHES(op_decl_const("flushed", 1, "int", &value));
  FLUSHES(op_update_const("flushed", &value));
  FLUSHES(op_decl_prelude("enum { FLUSHED };"));
  FLUSHES(op_prelude_file("/dev/null"));
  KEEPS(kept = op_decl_gbl(1, "int", &value, "kept"));
  FLUSHES(op_get_gbl(kept, &value));
  FLUSHES(op_put_gbl(kept, &value));
  KEEPS(add_to_all(1)); /* calls op_par_loop_array */
  FLUSHES(op_fetch_data(x, values));
  FLUSHES(op_fetch_data_idx(x, values, 1, 2));
  FLUSHES(op_put_data(x, values));
  FLUSHES(op_print_dat_to_txtfile(x, path));
  FLUSHES(op_print_dat_to_binfile(x, path));
  FLUSHES(op_renumber(map));
  FLUSHES(op_renumber_by("rcm", map, NULL));
  FLUSHES(op_partition("block", "", cells, NULL, NULL));
  FLUSHES(op_barrier());
  FLUSHES(op_plan_check(0));
  FLUSHES(op_timing_output());
  FLUSHES(op_diagnostic_output());
  op_arg unsaid[] = {op_arg_dat(x, -1, OP_ID, 1, "int", OP_UNSAID)};
  FLUSHES_ANYHOW(op_find_accesses("void k(const int *v) {}", "other", cells, 1, unsaid, NULL, 0));
  char report[8192];
  FLUSHES(op_report_json(report, sizeof report));
  KEEPS(op_get_size(cells));
  KEEPS(op_get_global_size(cells));
  KEEPS(op_counters());
  KEEPS(op_wtime());
  KEEPS(op_kernel_native(add, (op_kernel_function)works_nothing));
  FLUSHES_ANYHOW(op_decl_set_hdf5(none, "s"));
  FLUSHES_ANYHOW(op_decl_set_hdf5_infer_size(none, "s", "x"));
  FLUSHES_ANYHOW(op_decl_map_hdf5(cells, cells, 1, none, "m"));
  FLUSHES_ANYHOW(op_decl_map_ragged_hdf5(cells, cells, none, "m"));
  FLUSHES_ANYHOW(op_decl_dat_hdf5(cells, 1, "int", none, "x"));
  FLUSHES_ANYHOW(op_get_const_hdf5("c", 1, "int", &value, none));
  FLUSHES_ANYHOW(op_write_const_hdf5("c", 1, "int", &value, none));
  FLUSHES_ANYHOW(op_dump_to_hdf5(none));
  FLUSHES_ANYHOW(op_fetch_data_hdf5_file(x, none));
  FLUSHES_ANYHOW(op_fetch_data_hdf5_file_path(x, none, "x"));
  FLUSHES_ANYHOW(op_write_vtk(none, -1, 1, &x));
  FLUSHES_ANYHOW(op_write_vtk_at(none, -1, 0, 1, &x));
  WAITING(0, op_open_hdf5(), 0);
  WAITING(0, op_kernel_file(none), 0);
  WAITING(0, (void)never_wait, 0);
  unlink(path);
}

/* Loops that wait at the end run, too. */
LAZY_TEST(op_exit_runs_what_waits) {
  char path[] = "/tmp/op2jit-exit-XXXXXX", timing[64], text[4096] = "";
  const int made = mkstemp(path);
  assert_int_equal(close(made), 0);
  snprintf(timing, sizeof timing, "OP2_TIMING=json:%s", path);
  char program[] = "lazy", lazy[] = "OP2_LAZY=on";
  char *argv[] = {program, lazy, timing, NULL};
  works(op_exit());
  works(op_init(3, argv, 0));
  cells = op_decl_set(N, "cells");
  x = op_decl_dat(cells, 1, "int", NULL, "x");
  for (int i = 0; i < 3; i++)
    add_to_all(1);
  assert_int_equal(loops(), 0);
  works(op_exit());
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  remove(path);
  assert_non_null(strstr(text, "\"calls\":3"));
  works(op_init(2, argv, 0));
}
