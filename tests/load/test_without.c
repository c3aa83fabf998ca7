/* On a processor whose objects the library cannot load the native forms run, and what is missing is said: this program
 * has a table of processors in which its own is not. */
#include "../api/support.h"
#include "base/error.h"
#include "jit/load/load.h"
#include "jit/load/load_machine.h"

static void plus_one(const double *x, double *y) {
  *y = *x + 1;
}

static int run_loop(void) {
  const double x[3] = {10, 20, 30};
  double y[3];
  op_set set = op_decl_set(3, "s");
  op_dat in = op_decl_dat(set, 1, "double", x, "x"), out = op_decl_dat(set, 1, "double", NULL, "y");
  const char *text = op_kernel_native("void plus_one(const double *x, double *y) { *y = *x + 1; }",
                                      (op_kernel_function)plus_one);
  const int code = op_par_loop(text, "plus_one", set, direct(in, 1, "double", OP_READ),
                               direct(out, 1, "double", OP_WRITE));
  if (code == OP_OK) {
    works(op_fetch_data(out, y));
    assert_true(y[0] == 11 && y[2] == 31);
  }
  return code;
}

TEST(the_native_forms_run) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  unsetenv("OP2_BACKEND");
  works(op_init(0, NULL, 0));
  works(run_loop());
  works(op_exit());
}

TEST(who_asks_for_more_is_told_what_is_missing) {
  static const char *const backends[] = {"seq", "openmp"};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  for (int i = 0; i < 2; i++) {
    setenv("OP2_BACKEND", backends[i], 1);
    works(op_init(0, NULL, 0));
    fails(OP_ERR_NOT_BUILT, run_loop());
    assert_non_null(strstr(op_last_error()->message, "no loader for VAX processors"));
    assert_non_null(strstr(op_last_error()->message, "OP2_BACKEND=native"));
    works(op_exit());
  }
  unsetenv("OP2_BACKEND");
}

TEST(no_object_is_loaded) {
  struct error err = {0};
  struct code *code = NULL;
  assert_null(load_machine_here());
  assert_int_equal(code_load(&code, "", 0, "loop", false, &err), OP_ERR_NOT_BUILT);
  assert_null(code);
  error_free(&err);
}
