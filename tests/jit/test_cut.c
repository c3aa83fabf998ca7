/* The text of a kernel is without what the kernel does not use; what may count stays, and so do the lines of messages. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "jit/kernel/excerpt.h"
#include "jit/kernel/kernel.h"
#include "jit/kernel/parameters.h"
#include "jit/kernel/unit.h"

static char *text_of(const char *prelude, const char *text) {
  struct shared shared = {0};
  struct kernel k;
  struct error err = {0};
  bool again;
  if (prelude)
    assert_int_equal(shared_add_text(&shared, prelude, &again, &err), OP_OK);
  if (kernel_parse_unit(&k, &shared, text, "k", &err) != OP_OK)
    fail_msg("%s", error_message(&err));
  char *out = strdup(k.text);
  assert_non_null(out);
  kernel_free(&k);
  shared_free(&shared);
  return out;
}

static void becomes(const char *text, const char *expected) {
  char *out = text_of(NULL, text);
  assert_string_equal(out, expected);
  free(out);
}

static void stays(const char *text) {
  becomes(text, text);
}

#define KERNEL "void k(double *x) { *x = 1; }\n"

TEST(what_is_not_used_goes) {
  becomes("// about k\n" KERNEL, KERNEL);
  becomes(KERNEL "/* the end */\n", KERNEL);
  becomes("void other(double *x) { *x = 2; }\n" KERNEL, KERNEL);
  becomes("static const double gam = 1.4, cfl = 2;\n" KERNEL, KERNEL);
  becomes("static double table[3] = {1, 2, 3};\n" KERNEL, KERNEL);
  becomes("#define GAM 1.4\n#define F(a) \\\n  ((a) + 1)\n" KERNEL, KERNEL);
  becomes("enum { A, B };\nenum kind { C };\n" KERNEL, KERNEL);
  becomes("static double f(double);\n" KERNEL "static double f(double a) { return a; }\n", KERNEL);
  becomes("static double f(double x) { return x; }\nstatic double g(double k) { return f(k); }\n" KERNEL,
          KERNEL);
  becomes("static __attribute__((noinline)) double f(double a) { return a; }\n" KERNEL, KERNEL);
}

TEST(what_is_used_stays) {
  stays("static double g(double a) { return a; }\nvoid k(double *x) { *x = g(1); }\n");
  stays("static double f(double);\nstatic double g(double a) { return f(a); }\n"
        "void k(double *x) { *x = g(1); }\nstatic double f(double a) { return a; }\n");
  stays("#define TWO 2\n#define DOUBLE(a) (TWO * (a))\nvoid k(double *x) { *x = DOUBLE(1); }\n");
  stays("enum { A, B };\nvoid k(double *x) { *x = B; }\n");
  stays("static const enum { A, B = 3 } kind = B;\nvoid k(double *x) { *x = A; }\n");
  stays("static const double gam = 1.4, cfl = 2;\nvoid k(double *x) { *x = cfl; }\n");
  stays("#define N 3\nstatic const double t[N] = {1, 2, 3};\nvoid k(double *x) { *x = t[0]; }\n");
  stays("#define real double\nvoid k(real *x) { *x = 1; }\n");
  stays("#define T real\n#define real double\nvoid k(T *x) { *x = 1; }\n");
  stays("static double f(double a) { return a; }\n#define F f\nvoid k(double *x) { *x = F(2); }\n");
  stays("static const double gam __attribute__((unused)) = 1.4;\nvoid k(double *x) { *x = gam; }\n");
  stays("static double f __attribute__((noinline)) (double a) { return a; }\nvoid k(double *x) { *x = f(1); "
        "}\n");
  stays("static double one(double a) { return a; }\nstatic double (*const pick[1])(double) = {one};\n"
        "void k(double *x) { *x = pick[0](2); }\n");
  stays("#define UNUSED\nstatic const double gam UNUSED = 1.4;\nvoid k(double *x) { *x = gam; }\n");
  stays("enum kind { A, B };\nstatic enum kind pick(double a, double b) { return a < b ? A : B; }\n"
        "void k(double *x) { *x = pick(x[0], 1); }\n");
  stays("#define NAME foo\ndouble NAME(double);\nvoid k(double *x) { *x = foo(1); }\n");
  becomes("static enum kind { C } pick(double a, double b) { return C; }\n" KERNEL, KERNEL);
  becomes("#define GAM 1.4\n#define GAM_1 0.4\nvoid k(double *x) { *x = GAM_1; }\n",
          "#define GAM_1 0.4\nvoid k(double *x) { *x = GAM_1; }\n");
}

/* A constant of the program may be of such a type. */
TEST(types_stay) {
  stays("struct gas { double gam; };\n" KERNEL);
  stays("typedef struct { double gam; } gas;\n" KERNEL);
  stays("#define N 2\ntypedef double pair[N];\n" KERNEL);
  stays("_Static_assert(sizeof(double) == 8, \"a double\");\n" KERNEL);
}

/* Nobody can say by names alone what is used. */
TEST(texts_that_are_left_as_they_are) {
  static const char *const before[] = {
      "#if 1\n#define A 1\n#endif\n",
      "#define JOIN(a, b) a##b\n",
      "#define A 1\n#undef A\n",
      "#define A 1\n#define A 1\n",
      "#pragma STDC FP_CONTRACT OFF\n",
      "#define DEFINE(name) static double name(double a) { return a; }\nDEFINE(f)\n",
      "#define HIDDEN static double f(double a) { return a; }\nHIDDEN\n",
      "#define OTHER static const double o = 1;\nOTHER static const double p = 1;\n",
      "static double f(double a) {\n#define B 2\n  return a; }\n",
      "static double f(double a) {\n#if 1\n  return a;\n#endif\n}\n",
      "static double f\\\noo(double a) { return a; }\n",
      "static double f(double a) <% return a; %>\n",
      "static double t?\?(3?\?);\n"};
  for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
    struct text whole = {0};
    text_addf(&whole, "%s/* k */ %s", before[i], KERNEL);
    stays(text_str(&whole));
    text_free(&whole);
  }
}

TEST(a_pragma_in_a_function) {
  static const char text[] = "void k(double *x) {\n#pragma clang loop unroll(disable)\n  for (int i = 0; i < "
                             "3; i++)\n    *x += i;\n}\n";
  stays(text);
}

TEST(what_is_shared_goes_too) {
  char *out = text_of("static const double gam = 1.4;\nstatic double f(double a) { return a; }\n",
                      "// k\nvoid k(double *x) { *x = gam; }\n");
  assert_string_equal(out, "static const double gam = 1.4;\nvoid k(double *x) { *x = gam; }\n");
  free(out);
}

static void error_is(const char *text, const char *expected) {
  struct shared shared = {0};
  struct kernel k;
  struct error err = {0};
  assert_int_equal(kernel_parse_unit(&k, &shared, text, "k", &err), OP_OK);
  const struct kernel_function *f = &k.functions[k.function];
  kernel_error(&k, f->line, f->column, &err, "here");
  assert_string_equal(error_message(&err), expected);
  error_free(&err);
  kernel_free(&k);
}

TEST(lines_and_columns_stay) {
  error_is("#line 7 \"flow.c\"\n/* one\n   two */\nvoid other(void) {}\n\n  void k(double *x) { *x = 1; }\n",
           "kernel k: here\nflow.c:11:8:\n    11 |   void k(double *x) { *x = 1; }\n       |        ^");
  error_is(
      "/* one */\nstatic void other(void) {} void k(double *x) { *x = 1; }\n",
      "kernel k: here\nkernel text:2:33:\n     2 |                            void k(double *x) { *x = 1; "
      "}\n       |                                 ^");
}
