/* Kernel texts: where they come from, and when two of them are one. */
#include <stdbool.h>
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

LIBRARY_TEST(two_texts_under_one_name_are_two_kernels) {
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

LIBRARY_TEST(a_text_changed_in_place_is_another_kernel) {
  make_data();
  char text[sizeof text_one];
  for (int i = 0; i < 6; i++) {
    memcpy(text, i % 2 ? text_two : text_one, sizeof text);
    works(run(known(text)));
    assert_true(result() == (i % 2 ? 12 : 11));
  }
}

LIBRARY_TEST(equal_texts_are_one_kernel_wherever_they_are) {
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

LIBRARY_TEST(a_text_may_define_several_kernels) {
  make_data();
  static const char both[] = "void other(const double *x, double *y) { *y = *x + 1; }\n"
                             "void plus(const double *x, double *y) { *y = *x + 2; }\n";
  op_kernel_native(both, (op_kernel_function)plus_two);
  works(run(both));
  assert_true(result() == 12);
}

LIBRARY_TEST(a_native_form_may_be_named_after_the_first_call) {
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

LIBRARY_TEST(kernels_come_from_files) {
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
  /* A name that was not found is told where it is used. */
  assert_null(text = op_kernel_file("no/such/kernel.c"));
  fails(OP_ERR_ARGUMENT, run(text));
  assert_non_null(strstr(op_last_error()->message,
                         "is NULL, as a declaration that failed leaves it (\"kernel file no/such/kernel.c "));
}

OP_KERNEL_DEF(
    shadowed, inline void shadowed(double const *restrict x, double y[1]) { y[0] = x[0] * 2; })

LIBRARY_TEST(parameters_have_many_spellings) {
  make_data();
  works(op_par_loop(OP_KERNEL_OF(shadowed), "shadowed", set, direct(in, 1, "double", OP_READ),
                    direct(out, 1, "double", OP_WRITE)));
  double y[3];
  works(op_fetch_data(out, y));
  assert_true(y[0] == 20 && y[2] == 60);
}

LIBRARY_TEST(messages_of_op_kernel_point_into_the_source) {
  make_data();
  const int line = __LINE__ + 1;
  const char *text = OP_KERNEL(void plus(const double *x, float *y) { *y = *x + 1; });
  fails(OP_ERR_KERNEL, run(text));
  char place[256];
  snprintf(place, sizeof place, "test_kernels.c:%d:", line);
  if (!strstr(op_last_error()->message, place))
    fail_msg("no %s in: %s", place, op_last_error()->message);
}

/* A loop over so many elements, or over none of a set of 3; what is said of it, up to the remedy. */
static int over(int elements, const char *text, op_access access, char said[600]) {
  double values[3] = {1, 2, 3};
  works(op_exit());
  works(op_init(0, NULL, 0));
  if (access == OP_RW)
    op_kernel_native(text, (op_kernel_function)plus_one);
  op_set all = op_decl_set(elements < 0 ? 3 : elements, "all"),
         some = elements < 0 ? op_decl_subset_range(all, 0, 0, "none") : all;
  op_dat x = op_decl_dat(all, 1, "double", values, "x");
  const int code = op_par_loop(text, "k", some, direct(x, 1, "double", access));
  const char *message = code ? op_last_error()->message : "loop k";
  snprintf(said, 600, "%.*s", (int)strcspn(strstr(message, "loop k"), ";"), strstr(message, "loop k"));
  if (elements <= 0) /* it stays so, and is known */
    fails(code, op_par_loop(text, "k", some, direct(x, 1, "double", access)));
  return code;
}

/* Another mesh may have such elements. What is wrong is said all the same; what is right gets code where a compiler may run. */
LIBRARY_TEST(a_text_is_read_over_an_empty_set_too) {
  static const struct {
    const char *text;
    op_access access;
    int code;
  } bad[] = {{"void k(double *x) { *x += undeclared + 1; }", OP_INC, OP_ERR_COMPILE},
             {"void k(double *x) { double q = *x; (void)q; }", OP_WRITE, OP_ERR_VIOLATION}};
  char expected[600], said[600];
  const bool native = strcmp(getenv("OP2_BACKEND") ? getenv("OP2_BACKEND") : "", "native") == 0;
  for (int t = 0; t < 2; t++) {
    const int code = native ? OP_ERR_BACKEND : bad[t].code;
    assert_int_equal(over(3, bad[t].text, bad[t].access, expected), code);
    for (int none = -1; none <= 0; none++) {
      assert_int_equal(over(none, bad[t].text, bad[t].access, said), code);
      if (native || t == 1)
        assert_string_equal(said, expected);
      else /* the words are the compiler's */
        assert_non_null(strstr(said, "undeclared"));
    }
  }
  for (int none = -1; none <= 0; none++) {
    assert_int_equal(over(none, "void k(double *x) { *x += 1; }", OP_RW, said), OP_OK);
    assert_int_equal(op_counters()->compiles + op_counters()->cache_hits, !native);
  }
  if (native)
    return;
  /* A later run that only loads code finds it, though the mesh that was compiled for had no such element and this one has. */
  char folder[] = "/tmp/op2jit-kernels-XXXXXX", store[64];
  static const char *const tails[] = {"", "-wal", "-shm"};
  const char *given = getenv("OP2_CACHE");
  char usual[512];
  snprintf(usual, sizeof usual, "%s", given ? given : "off");
  assert_non_null(mkdtemp(folder));
  snprintf(store, sizeof store, "%s/kernels.db", folder);
  setenv("OP2_CACHE", store, 1);
  assert_int_equal(over(0, "void k(double *x) { *x += 1; }", OP_RW, said), OP_OK);
  setenv("OP2_JIT", "load", 1);
  const int code = over(3, "void k(double *x) { *x += 1; }", OP_RW, said);
  const long long hits = op_counters()->cache_hits;
  const int unknown = over(0, "void k(double *x) { *x += 2; }", OP_RW, expected);
  unsetenv("OP2_JIT");
  works(op_exit());
  setenv("OP2_CACHE", usual, 1);
  works(op_init(0, NULL, 0));
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
    snprintf(said, sizeof said, "%s%s", store, tails[i]);
    unlink(said);
  }
  assert_int_equal(rmdir(folder), 0);
  assert_int_equal(unknown, OP_OK);
  assert_int_equal(code, OP_OK);
  assert_int_equal(hits, 1);
}

/* The warnings that a text asks for are its own matter: it does not hold for what is written around it. GPUs' compilers know other
 * warnings. */
LIBRARY_TEST(warnings_that_a_text_makes_errors_are_its_own) {
  static const char text[] = "#pragma GCC diagnostic error \"-Wmissing-prototypes\"\n"
                             "#pragma clang diagnostic error \"-Weverything\"\n"
                             "void plus(const double *x, double *y) { *y = *x + 1; }";
  if (strcmp(getenv("OP2_BACKEND") ? getenv("OP2_BACKEND") : "", "cuda") == 0)
    skip_since("compilers of GPUs know other warnings than this text names");
  make_data();
  works(run(op_kernel_native(text, (op_kernel_function)plus_one)));
  assert_true(result() == 11);
}
