/* The plugin's promises of a compilation: an object that runs, messages with places, the same bytes for
 * the same text, nothing on stderr. */
#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin.h"

static const char vadd[] = "void vadd(void *const *frame, const int *list, long begin, long end) {\n"
                           "  const double *a = frame[0], *b = frame[1];\n"
                           "  double *c = frame[2];\n"
                           "  for (long i = begin; i < end; i++)\n"
                           "    c[i] = a[i] + b[i];\n"
                           "}\n";

/* Mistakes that the tests provoke go into messages: stderr stays empty. */
static int saved_stderr, capture[2];
FIXTURE(silence_starts) {
  fflush(stderr);
  saved_stderr = dup(2);
  if (pipe(capture))
    return 1;
  dup2(capture[1], 2);
  close(capture[1]);
  return 0;
}

FIXTURE(silence_ends) {
  char heard[4096];
  dup2(saved_stderr, 2);
  const ssize_t n = read(capture[0], heard, sizeof heard - 1);
  if (n > 0)
    fprintf(stderr, "on stderr: %.*s\n", (int)n, heard);
  return n != 0;
}

#define QUIET_TEST(name) TEST_BETWEEN(name, silence_starts, silence_ends)

QUIET_TEST(runs) {
  struct code *code = trial_load(&(struct trial){.text = vadd});
  double a[100], b[100], c[100] = {0};
  for (int i = 0; i < 100; i++) {
    a[i] = i;
    b[i] = 1000 * i;
  }
  range_of(code, "vadd")((void *[]){a, b, c}, NULL, 3, 100);
  for (int i = 0; i < 100; i++)
    assert_true(c[i] == (i < 3 ? 0 : 1001 * i));
  code_free(code);
}

QUIET_TEST(names_its_version) {
  assert_string_equal(plugin->name, "clang");
  assert_non_null(strstr(plugin->version(), "clang version "));
}

QUIET_TEST(errors_have_places) {
  struct compile_result result =
      trial_compile(&(struct trial){.text = "void f(double *x) {\n  x[0] = yy;\n}\n"});
  assert_int_equal(result.status, 1);
  assert_null(result.binary);
  const struct compile_message *m = find_message(&result, COMPILE_ERROR, "undeclared identifier 'yy'");
  assert_non_null(m);
  assert_string_equal(m->file, "kernel.c");
  assert_int_equal(m->line, 2);
  assert_int_equal(m->column, 10);
  plugin->release(&result);
}

QUIET_TEST(line_directives_hold) {
  struct compile_result result =
      trial_compile(&(struct trial){.text = "#line 77 \"/home/user/airfoil.c\"\nvoid f(void) { zz = 1; }\n"});
  const struct compile_message *m = find_message(&result, COMPILE_ERROR, "zz");
  assert_non_null(m);
  assert_string_equal(m->file, "/home/user/airfoil.c");
  assert_int_equal(m->line, 77);
  plugin->release(&result);
}

QUIET_TEST(errors_in_macros_are_where_they_are_used) {
  struct compile_result result = trial_compile(&(struct trial){
      .text = "#define TWICE(v) (v + v + missing)\nvoid f(double *x) {\n  *x = TWICE(1);\n}\n"});
  const struct compile_message *m = find_message(&result, COMPILE_ERROR, "missing");
  assert_non_null(m);
  assert_int_equal(m->line, 3);
  plugin->release(&result);
}

QUIET_TEST(warnings_only_if_asked) {
  struct trial trial = {.text = "void f(double *x) {\n  int unused;\n  if (*x = 1) *x = 2;\n}\n"};
  struct compile_result result = trial_compile(&trial);
  assert_int_equal(result.status, 0);
  assert_int_equal(result.nmessages, 0);
  plugin->release(&result);
  trial.warnings = 1;
  result = trial_compile(&trial);
  assert_int_equal(result.status, 0);
  assert_non_null(find_message(&result, COMPILE_WARNING, "unused variable 'unused'"));
  const struct compile_message *m =
      find_message(&result, COMPILE_WARNING, "using the result of an assignment");
  assert_non_null(m);
  assert_int_equal(m->line, 3);
  plugin->release(&result);
}

static struct compile_result compile_files(const struct compile_file *files, int n, int warnings) {
  const struct compile_request request = {.files = files,
                                          .nfiles = n,
                                          .cpu = "x86-64",
                                          .features = "+sse2",
                                          .fp = "strict",
                                          .warnings = warnings};
  struct compile_result result;
  plugin->compile(&request, &result);
  return result;
}
#define FILE_OF(name, text)                                                                                  \
  { name, text, sizeof(text) - 1 }

QUIET_TEST(files_include_each_other) {
  const struct compile_file files[] = {
      FILE_OF("loop.c",
              "static int unused_in_generated;\n#include \"/some/where/kernel.c\"\n#include \"near.c\"\n"
              "int g(void) { return f() + h(); }\n"),
      FILE_OF("/some/where/kernel.c", "int f(void) { int unused_in_kernel; return 1; }\n"),
      FILE_OF("near.c", "int h(void) { return 2; }\n"),
  };
  struct compile_result result = compile_files(files, 3, 1);
  assert_int_equal(result.status, 0);
  const struct compile_message *m = find_message(&result, COMPILE_WARNING, "unused_in_kernel");
  assert_non_null(m);
  assert_string_equal(m->file, "/some/where/kernel.c");
  assert_null(find_message(&result, COMPILE_WARNING, "unused_in_generated")); /* not the user's */
  plugin->release(&result);
}

QUIET_TEST(included_names_are_as_given) {
  const struct compile_file files[] = {FILE_OF("loop.c", "#include \"near.c\"\n"),
                                       FILE_OF("near.c", "int h = zz;\n")};
  struct compile_result result = compile_files(files, 2, 0);
  const struct compile_message *m = find_message(&result, COMPILE_ERROR, "zz");
  assert_non_null(m);
  assert_string_equal(m->file, "near.c");
  plugin->release(&result);
}

QUIET_TEST(headers) {
  struct code *code = trial_load(&(struct trial){
      .text =
          "#include <math.h>\n#include <stdint.h>\n#include <limits.h>\n#include <float.h>\n"
          "#include <stdbool.h>\n#include \"stddef.h\"\n"
          "_Static_assert(INT_MAX == 2147483647 && UINT_MAX == 4294967295u && LLONG_MIN < 0, \"limits\");\n"
          "_Static_assert(sizeof(int64_t) == 8 && UINT64_MAX == ULLONG_MAX && INT16_MIN == -32768, "
          "\"stdint\");\n"
          "_Static_assert(DBL_EPSILON == 0x1p-52 && FLT_EPSILON == 0x1p-23f && DBL_MAX > 1e308, \"float\");\n"
          "struct pair { int a, b; };\n"
          "_Static_assert(true && !false && sizeof(bool) == 1 && offsetof(struct pair, b) == 4, "
          "\"\");\n"
          "void f(void *const *frame, const int *list, long begin, long end) {\n"
          "  double *x = frame[0]; size_t n = 0; ptrdiff_t d = 1; uint8_t small = UINT8_MAX;\n"
          "  x[0] = isnan(NAN) + isinf(INFINITY) + signbit(-1.0) + isfinite(M_PI) + (x == NULL) + n + d + "
          "small;\n"
          "}\n"});
  double x[1] = {0};
  range_of(code, "f")((void *[]){x}, NULL, 0, 1);
  assert_true(x[0] == 4 + 0 + 0 + 1 + 255);
  code_free(code);
  static const char *const others[] = {"stdio.h", "stdlib.h", "immintrin.h", "/etc/passwd", "op2jit.h"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    char text[64];
    snprintf(text, sizeof text, "#include <%s>\n", others[i]);
    struct compile_result result = trial_compile(&(struct trial){.text = text});
    assert_int_equal(result.status, 1);
    assert_non_null(find_message(&result, COMPILE_ERROR, "only math.h, stdint.h"));
    plugin->release(&result);
  }
}

/* No embedding of, and no looking at, the machine's files. */
QUIET_TEST(sees_no_files) {
  struct compile_result result = trial_compile(&(struct trial){
      .text = "#if __has_include(<stdio.h>) || __has_include(\"/etc/passwd\")\n#error seen\n#endif\n"});
  assert_int_equal(result.status, 0);
  plugin->release(&result);
}

QUIET_TEST(same_text_same_bytes) {
  struct trial trial = {.text = vadd, .debug = 1};
  struct compile_result first = trial_compile(&trial);
  struct compile_result other = trial_compile(&(struct trial){.text = "int g(int x) { return x; }\n"});
  struct compile_result second = trial_compile(&trial);
  assert_int_equal(first.size, second.size);
  assert_memory_equal(first.binary, second.binary, first.size);
  plugin->release(&first);
  plugin->release(&other);
  plugin->release(&second);
}

QUIET_TEST(remarks_have_places) {
  struct trial trial = {.text = "void f(double *x, const int *map, long n) {\n"
                                "  for (long i = 1; i < n; i++)\n"
                                "    x[i] = x[i - 1] * 2;\n"
                                "}\n"
                                "void g(double *restrict x, const double *y, long n) {\n"
                                "  for (long i = 0; i < n; i++)\n"
                                "    x[i] = y[i] * 2;\n"
                                "}\n"};
  struct compile_result result = trial_compile(&trial);
  assert_int_equal(result.nmessages, 0);
  plugin->release(&result);
  trial.remarks = 1;
  result = trial_compile(&trial);
  const struct compile_message *no = find_message(&result, COMPILE_REMARK, "loop not vectorized");
  const struct compile_message *yes = find_message(&result, COMPILE_REMARK, "vectorized loop");
  assert_non_null(no);
  assert_non_null(yes);
  assert_string_equal(no->file, "kernel.c");
  assert_true(no->line == 2 || no->line == 3);
  assert_int_equal(yes->line, 6);
  plugin->release(&result);
}

QUIET_TEST(openmp_simd_needs_no_runtime) {
  struct compile_result result = trial_compile(&(struct trial){.text = "double f(const double *x, long n) {\n"
                                                                       "  double sum = 0;\n"
                                                                       "#pragma omp simd reduction(+ : sum)\n"
                                                                       "  for (long i = 0; i < n; i++)\n"
                                                                       "    sum += x[i];\n"
                                                                       "#pragma omp parallel for\n"
                                                                       "  for (int i = 0; i < 2; i++)\n"
                                                                       "    sum += 1;\n"
                                                                       "  return sum;\n"
                                                                       "}\n"});
  assert_int_equal(result.status, 0);
  assert_false(refers_to(&result, "__kmpc"));
  plugin->release(&result);
}

QUIET_TEST(features_decide) {
  /* The processor's name has it, the second list has not. */
#ifdef __aarch64__
  struct trial trial = {.text = "int f(int *x) { return __atomic_fetch_add(x, 1, 5); }\n",
                        .cpu = "neoverse-n1"};
  static const char *const features[] = {"+neon,+lse", "+neon,-lse"};
  static const unsigned char instruction[] = {0x00, 0x00, 0xe8, 0xb8}; /* ldaddal w8, w0, [x0] */
#else
  struct trial trial = {.text = "double f(double a, double b, double c) { return a * b + c; }\n",
                        .cpu = "znver4"};
  static const char *const features[] = {"+sse2,+avx,+fma", "+sse2,+avx,-fma"};
  static const unsigned char instruction[] = {0xc4, 0xe2, 0xf1, 0xa9}; /* vfmadd213sd */
#endif
  for (int i = 0; i < 2; i++) {
    trial.features = features[i];
    struct compile_result result = trial_compile(&trial);
    assert_int_equal(result.status, 0);
    assert_int_equal(count_bytes(&result, instruction, 4), i == 0);
    plugin->release(&result);
  }
}

/* The newest names and features do not disturb an older clang. */
QUIET_TEST(unknown_processors_are_tuned_for_none) {
  struct compile_result result =
      trial_compile(&(struct trial){.text = vadd, .cpu = "znver99", .features = "+sse2,+avx1024,-sse99"});
  assert_int_equal(result.status, 0);
  plugin->release(&result);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  plugin_open(argv[1]);
  return run_these(NULL, NULL);
}
