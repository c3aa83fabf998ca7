/* C in kernels is taken as C by a compiler for C++, or refused with a remedy; constants follow the program's. */
#include "backend.h"

/* ---- the language ---- */
static int one_kernel(const char *body, double *value) {
  struct text source = {0};
  double zero = 0;
  op_set one = op_decl_set(1, "one");
  op_dat d = op_decl_dat(one, 1, "double", &zero, "d");
  text_addf(&source, "%s", body);
  int code = op_par_loop(text_str(&source), "k", one, op_arg_dat(d, -1, OP_ID, 1, "double", OP_WRITE));
  text_free(&source);
  return code ? code : op_fetch_data(d, value);
}

TEST(language) {
  static const struct {
    const char *text;
    double value;
  } good[] = {
      {"#include <math.h>\n#include <stdint.h>\nvoid k(double *restrict v) { uint8_t a = UINT8_MAX; *v = a + "
       "(M_PI > 3) + (INFINITY > 1e300); }\n",
       257},
      {"#include <limits.h>\n#include <stdbool.h>\nvoid k(double *v) { _Bool b = 5; bool c = true; *v = b + "
       "c + (INT_MAX == 2147483647); }\n",
       3},
      {"static double twice(double new) { double class = 2 * new; return class; }\nvoid k(double *v) { "
       "register double this = twice(4); *v = this; }\n",
       8},
      {"struct pair { int a, b; };\nvoid k(double *v) { struct pair p = {.a = 1, .b = 2}; enum { N = 3 }; "
       "double t[N] = {0}; t[2] = p.a + p.b; *v = t[2]; }\n",
       3},
      {"static const double table[3] = {1, 2, 4};\nvoid k(double *v) { float x = 2.0f; *v = table[2] * "
       "(sqrt(x) != sqrtf(x)) + abs(-3) + fmin(1, 2.5f); }\n",
       8},
      {"void k(double *v) { switch (3) { case 3: *v = 1; return; default: break; } *v = 2; }\n", 1},
      {"struct ab { int a, b[2]; }; struct ba { int b, a; };\nvoid k(double *v) { struct ba q = {.b = 2, .a "
       "= 3}; *v = q.a "
       "- q.b; }\n",
       1},
      {"static double first(const double t[static 1]) { return t[0]; }\nvoid k(double v[const restrict 1]) { "
       "double t[1] = "
       "{6}; v[0] = first(t); }\n",
       6},
      {"#include <math.h>\nvoid k(double *v) { double i = INFINITY, n = NAN; float s = 1e-40f; *v = isnan(n) "
       "+ 2 * (isinf(-i) < 0) "
       "+ 4 * isfinite(i) + 8 * isnormal(2.0) + 16 * isnormal(s) + 32 * (signbit(-0.0) != 0) + 64 * "
       "(fpclassify(s) == "
       "FP_SUBNORMAL) + 128 * isgreater(i, 1.0) + 256 * isunordered(n, 1.0) + 512 * (HUGE_VAL == i); }\n",
       1 + 2 + 8 + 32 + 64 + 128 + 256 + 512},
      {"struct q { char c; double d; };\nvoid k(double *v) { *v = __builtin_offsetof(struct q, d) + "
       "(__builtin_isinf_sign("
       "__builtin_inff()) == 1) + (__builtin_nanf(\"\") != __builtin_nan(\"\")); }\n",
       10},
      {"typedef double real;\n#define SQUARE(x) ((x) * (x))\nvoid k(real v[1]) { v[0] = SQUARE(3.0); }\n", 9},
  };
  static const struct {
    const char *text, *line, *remedy;
  } bad[] = {
      {"void k(double *v) {\n  int n = 3;\n  double t[n];\n  t[0] = 1; *v = t[0];\n}\n",
       ":3:", "constant length"},
      {"static double f(int n, double x) {\n  double t[2 * n];\n  t[0] = x; return t[0];\n}\nvoid k(double "
       "*v) { *v = f(2, 1); }\n",
       ":2:", "constant length"},
      {"struct p { double a; };\nvoid k(double *v) {\n  struct p q;\n  q = (struct p){3};\n  *v = q.a;\n}\n",
       ":4:", "declare a variable"},
      {"void k(double *v) {\n  double t[3] = {[1] = 2};\n  *v = t[1];\n}\n", ":2:", "in their order"},
      {"struct p { double a, b; };\nvoid k(double *v) {\n  struct p q = {.a = 1,\n    .b = 2}, r = {.b = 2, "
       ".a = 1};\n  *v = "
       "q.a + r.b;\n}\n",
       ":4:28)", "in the order of the structure"},
      {"void k(double *v) {\n  *v = _Generic(*v, double: 1, default: 2);\n}\n", ":2:", "for each type"},
      {"void k(double *v) {\n  *v = undeclared;\n}\n", ":2", "undeclared"},
  };
  double value = 0;
  works(start(NULL, NULL));
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    works(one_kernel(good[i].text, &value));
    if (value != good[i].value)
      fail_msg("%s: %g, expected %g", good[i].text, value, good[i].value);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int code = one_kernel(bad[i].text, &value);
    if (code != OP_ERR_KERNEL && code != OP_ERR_COMPILE)
      fail_msg("%s: code %d", bad[i].text, code);
    says(bad[i].line);
    says(bad[i].remedy);
  }
  works(op_exit());
}

TEST(constants) {
  double factor = 1, table[2] = {0, 0}, value = 0;
  works(start(NULL, NULL));
  works(op_decl_const("factor", 1, "double", &factor));
  works(op_decl_const("table", 2, "double", table));
  op_set one = op_decl_set(1, "one");
  op_dat d = op_decl_dat(one, 1, "double", &value, "d");
  for (int i = 0; i < 12; i++) {
    factor = i;
    table[1] = 100 * i;
    works(op_update_const("factor", &factor));
    works(op_update_const("table", table));
    works(op_par_loop("void k(double *v) { *v = factor + table[1]; }", "k", one,
                      op_arg_dat(d, -1, OP_ID, 1, "double", OP_WRITE)));
    works(op_fetch_data(d, &value));
    assert_true(value == 101 * i);
  }
  assert_true(op_counters()->compiles < 12);
  works(op_exit());
}

int main(void) {
  begin_tests();
  return run_these(NULL, NULL);
}
