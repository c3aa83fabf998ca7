/* Kernel texts: where they come from, and when two of them are one. */
#include <unistd.h>

#include "support.h"

static void plus_one(const double *x, double *y) {
  *y = *x + 1;
}
static void plus_two(const double *x, double *y) {
  *y = *x + 2;
}
static const char text_one[] = "void plus(const double *x, double *y) { *y = *x + 1; }";
static const char text_two[] = "void plus(const double *x, double *y) { *y = *x + 2; }";

/* On every backend the text decides; the native one is told what it means. */
static const char *known(const char *text) {
  return op_kernel_native(text, (op_kernel_function)(strcmp(text, text_one) == 0 ? plus_one : plus_two));
}

static op_set set;
static op_dat in, out;

static void make_data(void) {
  double x[3] = {10, 20, 30};
  set = op_decl_set(3, "s");
  in = op_decl_dat(set, 1, "double", x, "x");
  out = op_decl_dat(set, 1, "double", NULL, "y");
}

static int run(const char *text) {
  return op_par_loop(text, "plus", set, direct(in, 1, "double", OP_READ), direct(out, 1, "double", OP_WRITE));
}

static double result(void) {
  double y[3];
  works(op_fetch_data(out, y));
  assert_true(y[1] == y[0] + 10 && y[2] == y[0] + 20);
  return y[0];
}

CASE(two_texts_under_one_name_are_two_kernels) {
  make_data();
  const char *one = known(text_one), *two = known(text_two);
  assert_ptr_equal(one, text_one);
  for (int i = 0; i < 5; i++) {
    works(run(one));
    assert_true(result() == 11);
    works(run(two));
    assert_true(result() == 12);
  }
  assert_int_equal(op_counters()->records, 2);
}

CASE(a_text_changed_in_place_is_another_kernel) {
  make_data();
  char text[sizeof text_one];
  for (int i = 0; i < 6; i++) {
    memcpy(text, i % 2 ? text_two : text_one, sizeof text);
    works(run(known(text)));
    assert_true(result() == (i % 2 ? 12 : 11));
  }
}

CASE(equal_texts_are_one_kernel_wherever_they_are) {
  make_data();
  for (int i = 0; i < 20; i++) {
    char *text = strdup(text_one), *name = strdup("plus");
    known(text);
    works(op_par_loop(text, name, set, direct(in, 1, "double", OP_READ), direct(out, 1, "double", OP_WRITE)));
    memset(text, '?', strlen(text)); /* the library must not look at it any more */
    memset(name, '?', strlen(name));
    free(text);
    free(name);
  }
  assert_true(result() == 11);
  assert_int_equal(op_counters()->records, 1);
}

CASE(a_text_may_define_several_kernels) {
  make_data();
  static const char both[] = "void other(const double *x, double *y) { *y = *x + 1; }\n"
                             "void plus(const double *x, double *y) { *y = *x + 2; }\n";
  op_kernel_native(both, (op_kernel_function)plus_two);
  works(run(both));
  assert_true(result() == 12);
}

CASE(a_native_form_may_be_named_after_the_first_call) {
  make_data();
  static const char text[] = "void plus(const double *x, double *y) { *y = *x + 2; /* later */ }";
  int code = run(text);
  const char *backend = getenv("OP2_BACKEND");
  if (backend && strcmp(backend, "native") == 0)
    assert_int_equal(code, OP_ERR_BACKEND);
  else
    assert_int_equal(code, OP_OK);
  op_kernel_native(text, (op_kernel_function)plus_two);
  works(run(text));
  assert_true(result() == 12);
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

CASE(kernels_come_from_files) {
  make_data();
  char path[] = "/tmp/op2jit-kernel-XXXXXX";
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  close(descriptor);
  write_file(path, "#include <math.h>\n\nvoid plus(const double *x, double *y) {\n  *y = *x + 1;\n}\n");
  const char *text = op_kernel_file(path);
  assert_non_null(text);
  /* Read once, and kept though the file has changed. */
  write_file(path, "void plus(const double *x) {\n}\n");
  assert_ptr_equal(op_kernel_file(path), text);
  op_kernel_native(text, (op_kernel_function)plus_one);
  works(run(text));
  assert_true(result() == 11);
  /* Messages name the file and its line. */
  fails(OP_ERR_KERNEL, op_par_loop(text, "plus", set, direct(in, 1, "double", OP_READ)));
  char place[64];
  snprintf(place, sizeof place, "%s:3:", path);
  assert_non_null(strstr(op_last_error()->message, place));
  unlink(path);
  assert_ptr_equal(op_kernel_file(path), text);
  /* What was not found is told where it is used. */
  assert_null(text = op_kernel_file("no/such/kernel.c"));
  fails(OP_ERR_ARGUMENT, run(text));
  assert_non_null(strstr(op_last_error()->message,
                         "is NULL, as a declaration that failed leaves it (\"kernel file no/such/kernel.c "));
}

OP_KERNEL_DEF(
    shadowed, inline void shadowed(double const *restrict x, double y[1]) { y[0] = x[0] * 2; })

CASE(parameters_have_many_spellings) {
  make_data();
  works(op_par_loop(OP_KERNEL_OF(shadowed), "shadowed", set, direct(in, 1, "double", OP_READ),
                    direct(out, 1, "double", OP_WRITE)));
  double y[3];
  works(op_fetch_data(out, y));
  assert_true(y[0] == 20 && y[2] == 60);
}

CASE(messages_of_op_kernel_point_into_the_source) {
  make_data();
  const int line = __LINE__ + 1;
  const char *text = OP_KERNEL(void plus(const double *x, float *y) { *y = *x + 1; });
  fails(OP_ERR_KERNEL, run(text));
  char place[256];
  snprintf(place, sizeof place, "test_kernels.c:%d:", line);
  if (!strstr(op_last_error()->message, place))
    fail_msg("no %s in: %s", place, op_last_error()->message);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      test_in_library(two_texts_under_one_name_are_two_kernels),
      test_in_library(a_text_changed_in_place_is_another_kernel),
      test_in_library(equal_texts_are_one_kernel_wherever_they_are),
      test_in_library(a_text_may_define_several_kernels),
      test_in_library(a_native_form_may_be_named_after_the_first_call),
      test_in_library(kernels_come_from_files),
      test_in_library(parameters_have_many_spellings),
      test_in_library(messages_of_op_kernel_point_into_the_source),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
