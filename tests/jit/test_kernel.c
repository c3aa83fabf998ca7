/* Reading kernel texts and checking parameters against arguments; the messages are golden. */
#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/kernel/excerpt.h"
#include "jit/kernel/kernel.h"
#include "jit/prove.h"

static int parse(struct kernel *k, const char *text, const char *name, struct error *err) {
  return kernel_parse(k, text, strlen(text), name, err);
}

static void expect_parse_error(const char *text, const char *name, const char *message) {
  struct kernel k;
  struct error err = {0};
  assert_int_equal(parse(&k, text, name, &err), OP_ERR_KERNEL);
  assert_string_equal(error_message(&err), message);
  error_free(&err);
}

static void expect_found(const char *text, const char *name, int line, int parameters) {
  struct kernel k;
  struct error err = {0};
  int code = parse(&k, text, name, &err);
  if (code != OP_OK)
    print_error("%s\n", error_message(&err));
  assert_int_equal(code, OP_OK);
  assert_int_equal(k.functions[k.function].line, line);
  assert_int_equal(k.nparameters, parameters);
  kernel_free(&k);
  error_free(&err);
}

TEST(finds_the_function) {
  expect_found("void k(const double *x) {}", "k", 1, 1);
  expect_found("static inline void k(double *x, int *y) { x[0] = y[0]; }", "k", 1, 2);
  expect_found("/* void k() {} */\n// void k() {}\nvoid k(int *x);\nvoid k(int *x) {}", "k", 4, 1);
  expect_found("static void h(double *x) { *x = 1; }\nvoid k(double *x) { h(x); }", "k", 2, 1);
  expect_found("void k(double *x) { if (*x) { k_2(x); } } void k_2(double *a, double *b) {}", "k_2", 1, 2);
  expect_found("__attribute__((noinline)) void __attribute__((cold)) k(double *x) __attribute__((hot)) {}",
               "k", 1, 1);
  expect_found("#define k(x) nothing\n#undef k\nvoid k(int *x) {}", "k", 3, 1);
  expect_found("static const double t[] = {1, 2};\nstruct s { double a, b; };\nvoid k(double *x) {}", "k", 3,
               1);
  expect_found("const char *s = \"void k() {}\";\nvoid\nk (double x[3], const double *const y[2]) {}", "k", 3,
               2);
  expect_found("void k(void) {}", "k", 1, 0);
  expect_found("void k() {}", "k", 1, 0);
}

TEST(says_what_is_there) {
  expect_parse_error(
      "void res_calk(double *x) {}\nstatic double h(double x) { return x; }", "res_calc",
      "the kernel text has no function res_calc; it defines res_calk, h; did you mean res_calk?");
  expect_parse_error(
      "/* nothing */", "k",
      "the kernel text defines no function, so there is no kernel k in it; a kernel is the text "
      "of \"void k(...) {...}\"");
  expect_parse_error(
      "/* open void k(double *x) {}", "k",
      "the kernel text defines no function, so there is no kernel k in it; a kernel is the text "
      "of \"void k(...) {...}\" (a comment in it is not closed)");
  expect_parse_error(
      "void k(double *x);", "k",
      "the kernel text defines no function, so there is no kernel k in it; a kernel is the text "
      "of \"void k(...) {...}\"");
  expect_parse_error("\n\ndouble k(double *x) { return *x; }", "k",
                     "kernel k: the kernel function must be void; write \"void k(...)\"\n"
                     "kernel text:3:8:\n"
                     "     3 | double k(double *x) { return *x; }\n"
                     "       |        ^");
}

TEST(headers) {
  struct kernel k;
  struct error err = {0};
  const char *text = "#include <math.h>\n  #  include \"stdint.h\" // why\nvoid k(double *x) {}\n";
  assert_int_equal(parse(&k, text, "k", &err), OP_OK);
  assert_int_equal(k.length, strlen(text));
  assert_null(strstr(k.text, "include"));
  assert_int_equal(k.functions[0].line, 3);
  kernel_free(&k);
  expect_parse_error(
      "#include <vector>\nvoid k(double *x) {}", "k",
      "kernel k: the file \"vector\" cannot be included here: kernels have what math.h, stdint.h, "
      "limits.h, float.h, stdbool.h and stddef.h declare without any #include, and no other header of "
      "the system\nkernel text:1:1:\n     1 | #include <vector>\n       | ^");
}

/* The text that is compiled, where what need not be said is blank. */
static void expect_text(const char *text, const char *left) {
  struct kernel k;
  struct error err = {0};
  assert_int_equal(parse(&k, text, "k", &err), OP_OK);
  assert_string_equal(k.text, left);
  kernel_free(&k);
}

TEST(prototypes_of_functions_that_are_there) {
  expect_text("double fabs(double);\nvoid k(double *x) {}", "                    \nvoid k(double *x) {}");
  expect_text(
      "extern double\npow(double x, double y); int abs(int i);void k(double *x) { *x = pow(*x, 2); }",
      "             \n                                        void k(double *x) { *x = pow(*x, 2); }");
  expect_text("void k(double *x) {}\nvoid *memcpy(void *, const void *, unsigned long);",
              "void k(double *x) {}\n                                                  ");
  /* Names of the kernel's own, and lines that declare nothing. */
  static const char *const own[] = {"double fab(double);\nvoid k(double *x) {}",
                                    "static double fabs(double x) { return x; }\nvoid k(double *x) {}",
                                    "void k(double *x) { fabs(*x); }",
                                    "void k(double *x) { double fabs(double); *x = fabs(*x); }",
                                    "double (*fabs)(double);\nvoid k(double *x) {}"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    expect_text(own[i], own[i]);
}

TEST(byte_order_mark) {
  expect_text("\xEF\xBB\xBFvoid k(double *x) {}", "void k(double *x) {}");
  expect_text("#line 7 \"a.c\"\n\xEF\xBB\xBFvoid k(double *x) {}", "void k(double *x) {}");
  expect_parse_error("\xEF\xBB\xBFint k(double *x) {}", "k",
                     "kernel k: the kernel function must be void; write \"void k(...)\"\n"
                     "kernel text:1:5:\n"
                     "     1 | int k(double *x) {}\n"
                     "       |     ^");
}

TEST(origin) {
  struct kernel k;
  struct error err = {0};
  assert_int_equal(parse(&k, "#line 17 \"dir/mesh.c\"\nvoid k(double *x) { *x = 1; }", "k", &err), OP_OK);
  assert_string_equal(k.origins.items->file, "dir/mesh.c");
  assert_int_equal(k.origins.items->file_line, 17);
  assert_true(k.origins.items->one_line);
  assert_string_equal(k.text, "void k(double *x) { *x = 1; }");
  kernel_free(&k);
  assert_int_equal(parse(&k, "#line 3 \"k.c\"\nvoid k(double *x) {\n}\n", "k", &err), OP_OK);
  assert_false(k.origins.items->one_line);
  kernel_free(&k);
  assert_int_equal(parse(&k, "void k(double *x) { *x = 1; }", "k", &err), OP_OK);
  assert_null(k.origins.items->file);
  assert_false(k.origins.items->one_line);
  kernel_free(&k);
}

TEST(names_that_occur) {
  struct kernel k;
  struct error err = {0};
  const char *text = "#define EPS eps\nvoid k(double *x) { *x = gam; /* cfl */ \"mach\"; }";
  assert_int_equal(parse(&k, text, "k", &err), OP_OK);
  assert_true(kernel_uses(&k, "gam"));
  assert_true(kernel_uses(&k, "eps"));
  assert_false(kernel_uses(&k, "cfl"));
  assert_false(kernel_uses(&k, "mach"));
  assert_false(kernel_uses(&k, "ga"));
  kernel_free(&k);
}

/* ---- parameters --------------------------------------------------------------------------------*/

struct expected_parameter {
  const char *spelling, *name;
  bool understood;
  enum type_code type;
  bool is_const;
  int depth;
};

static void one_parameter(const char *before, struct expected_parameter e) {
  struct kernel k;
  struct error err = {0};
  char text[512];
  snprintf(text, sizeof text, "%s\nvoid k(%s) {}", before, e.spelling);
  assert_int_equal(parse(&k, text, "k", &err), OP_OK);
  assert_int_equal(k.nparameters, 1);
  const struct kernel_parameter *p = &k.parameters[0];
  if (strcmp(p->name, e.name) != 0 || p->understood != e.understood ||
      (e.understood && (p->type != e.type || p->is_const != e.is_const || p->depth != e.depth)))
    fail_msg("%s: name %s, understood %d, type %s, const %d, depth %d", e.spelling, p->name, p->understood,
             type_info(p->type)->name, p->is_const, p->depth);
  kernel_free(&k);
}

TEST(parameters) {
  static const struct expected_parameter plain[] = {
      {"const double *x", "x", true, TYPE_DOUBLE, true, 1},
      {"double const *x", "x", true, TYPE_DOUBLE, true, 1},
      {"double *const x", "x", true, TYPE_DOUBLE, false, 1},
      {"const double *restrict const x", "x", true, TYPE_DOUBLE, true, 1},
      {"const double * __restrict__ x", "x", true, TYPE_DOUBLE, true, 1},
      {"float x[4]", "x", true, TYPE_FLOAT, false, 1},
      {"const float x[static 4]", "x", true, TYPE_FLOAT, true, 1},
      {"double *x[2]", "x", true, TYPE_DOUBLE, false, 2},
      {"const double **x", "x", true, TYPE_DOUBLE, true, 2},
      {"const double *const x[(2)]", "x", true, TYPE_DOUBLE, true, 2},
      {"double *", "", true, TYPE_DOUBLE, false, 1},
      {"double x", "x", true, TYPE_DOUBLE, false, 0},
      {"unsigned *x", "x", true, TYPE_UINT, false, 1},
      {"long long int *x", "x", true, TYPE_LONGLONG, false, 1},
      {"unsigned long *x", "x", true, TYPE_ULONGLONG, false, 1},
      {"long double *x", "x", true, TYPE_NONE, false, 1},
      {"signed int *x", "x", true, TYPE_INT, false, 1},
      {"short int *x", "x", true, TYPE_SHORT, false, 1},
      {"unsigned char *x", "x", true, TYPE_NONE, false, 1},
      {"char *x", "x", true, TYPE_CHAR, false, 1},
      {"_Bool *x", "x", true, TYPE_BOOL, false, 1},
      {"const bool *x", "x", true, TYPE_BOOL, true, 1},
      {"int32_t *x", "x", true, TYPE_INT, false, 1},
      {"const uint64_t *x", "x", true, TYPE_ULONGLONG, true, 1},
      {"void *x", "x", true, TYPE_NONE, false, 1},
      {"real *x", "x", false, TYPE_NONE, false, 0},
      {"struct s *x", "x", false, TYPE_NONE, false, 0},
      {"double (*x)[4]", "", false, TYPE_NONE, false, 0},
      {"__attribute__((unused)) double *x", "x", true, TYPE_DOUBLE, false, 1},
      {"double *x __attribute__((unused))", "x", true, TYPE_DOUBLE, false, 1},
  };
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    one_parameter("", plain[i]);
  one_parameter("typedef float real;",
                (struct expected_parameter){"const real *x", "x", true, TYPE_FLOAT, true, 1});
  one_parameter("typedef const real2 real; typedef double real2;",
                (struct expected_parameter){"real *x", "x", true, TYPE_DOUBLE, true, 1});
  one_parameter("#define REAL unsigned long long",
                (struct expected_parameter){"REAL *x", "x", true, TYPE_ULONGLONG, false, 1});
  one_parameter("typedef double *real;",
                (struct expected_parameter){"real x", "x", false, TYPE_NONE, false, 0});
  one_parameter("typedef real real;",
                (struct expected_parameter){"real *x", "x", false, TYPE_NONE, false, 0});
}

/* Structs are found where they are written and behind names, so that they can be refused in words. */
TEST(structs) {
  static const char *const yes[] = {
      "void k(struct s *x) {}",
      "void k(const union u *x) {}",
      "void k(struct { double a; int b[2]; } *x) {}",
      "typedef struct { double a, b; } s; void k(s *x) {}",
      "typedef const struct s { double a; } t; typedef t s; void k(s *x) {}",
      "struct __attribute__((packed)) s { char a; }; typedef struct s t; void k(t *x) {}"};
  static const char *const no[] = {"void k(enum e *x) {}", "struct s { int a; }; void k(double *x) {}",
                                   "typedef struct { int a; } s; typedef double t; void k(t *x) {}",
                                   "void k(s *x) {}"};
  struct kernel k;
  struct error err = {0};
  for (size_t i = 0; i < sizeof yes / sizeof *yes + sizeof no / sizeof *no; i++) {
    const bool is = i < sizeof yes / sizeof *yes;
    const char *text = is ? yes[i] : no[i - sizeof yes / sizeof *yes];
    assert_int_equal(parse(&k, text, "k", &err), OP_OK);
    if (k.nparameters != 1 || k.parameters[0].is_struct != is)
      fail_msg("%s: %d parameters", text, k.nparameters);
    kernel_free(&k);
  }
}

/* ---- against arguments -------------------------------------------------------------------------*/

static struct desc loop(int nargs, const struct desc_arg *args) {
  struct desc d = {.nargs = nargs, .nmaps = 1, .ndats = 1, .nsets = 2};
  d.maps[0] = (struct desc_map){.arity = 3, .to = 1};
  for (int i = 0; i < nargs; i++)
    d.args[i] = args[i];
  return d;
}

static struct desc_arg dat(enum type_code type, int access, int map, int idx) {
  return (struct desc_arg){.form = DESC_DAT,
                           .type = type,
                           .dim = 4,
                           .access = access,
                           .map = map,
                           .idx = idx,
                           .ref = -1,
                           .info = -1,
                           .present = true};
}

static struct desc_arg gbl(enum type_code type, int access) {
  return (struct desc_arg){.form = DESC_GBL,
                           .type = type,
                           .dim = 1,
                           .access = access,
                           .map = -1,
                           .idx = -1,
                           .dat = -1,
                           .ref = -1,
                           .info = -1,
                           .present = true};
}

static void check(const char *text, struct desc d, const char *message) {
  struct kernel k;
  struct error err = {0};
  assert_int_equal(parse(&k, text, "k", &err), OP_OK);
  int code = kernel_check(&k, &d, &err);
  assert_string_equal(error_message(&err), message ? message : "");
  assert_int_equal(code, message ? OP_ERR_KERNEL : OP_OK);
  kernel_free(&k);
  error_free(&err);
}

#define ARGS(...)                                                                                            \
  (int)(sizeof((struct desc_arg[]){__VA_ARGS__}) / sizeof(struct desc_arg)), (struct desc_arg[]) {           \
    __VA_ARGS__                                                                                              \
  }

TEST(fits) {
  struct desc d = loop(ARGS(dat(TYPE_DOUBLE, OP_READ, -1, -1), dat(TYPE_DOUBLE, OP_INC, 0, 1),
                            dat(TYPE_DOUBLE, OP_READ, 0, -3), gbl(TYPE_INT, OP_INC)));
  check("void k(const double *q, double res[4], const double **x, int *n) {}", d, NULL);
  check("void k(const double q[4], double *restrict res, const double *const x[3], int *n) {}", d, NULL);
  check("typedef double T;\nvoid k(const T *q, T *res, const T *x[3], int n[1]) {}", d, NULL);
  check("void k(const what *q, enum e *res, who x[3], int n[1]) {}", d, NULL);
  check("#if A\nvoid k(double *q) {}\n#else\nvoid k(const double *q, double *r, const double **x, int *n) "
        "{}\n#endif",
        d, NULL);
}

TEST(does_not_fit) {
  struct desc d = loop(ARGS(dat(TYPE_DOUBLE, OP_READ, -1, -1), dat(TYPE_DOUBLE, OP_INC, 0, 1)));
  check("#line 12 \"a.c\"\nvoid k(const double *q,\n       double *res, int *more) {}", d,
        "kernel k: the kernel has 3 parameters, but the call has 2 arguments; pass one for each parameter, "
        "or write \"void k(const double "
        "*q, double "
        "*res)\"\na.c:12:6:\n"
        "    12 | void k(const double *q,\n"
        "       |      ^");
  check("#line 12 \"a.c\"\nvoid k(double *q,\n       double *res) {}", d,
        "kernel k: parameter 1 (q) is \"double *q\", but argument 1 is a dat of type double, OP_READ: what "
        "is only "
        "read must be const; write \"const double *q\", or declare the argument OP_RW if the kernel changes "
        "it\n"
        "a.c:12:16:\n"
        "    12 | void k(double *q,\n"
        "       |                ^");
  check("void k(const double *q,\n\tfloat *res) {}", d,
        "kernel k: parameter 2 (res) is \"float *res\", but argument 2 is a dat of type double, OP_INC: its "
        "type "
        "differs; write \"double *res\"\n"
        "kernel text:2:9:\n"
        "     2 | \tfloat *res) {}\n"
        "       | \t       ^");
  check("void k(const double *q, double **) {}", d,
        "kernel k: parameter 2 (without a name) is \"double **\", but argument 2 is a dat of type double, "
        "OP_INC: it "
        "has a pointer or bracket too many; write \"double *x\"\n"
        "kernel text:1:25:\n"
        "     1 | void k(const double *q, double **) {}\n"
        "       |                         ^");
  check("void k(const double q, double *r) {}", d,
        "kernel k: parameter 1 (q) is \"const double q\", but argument 1 is a dat of type double, OP_READ: "
        "it must be a "
        "pointer; write \"const double *q\"\n"
        "kernel text:1:21:\n"
        "     1 | void k(const double q, double *r) {}\n"
        "       |                     ^");
  d = loop(ARGS(dat(TYPE_FLOAT, OP_READ, 0, -3)));
  check("void k(const float *x) {}", d,
        "kernel k: parameter 1 (x) is \"const float *x\", but argument 1 is a dat of type float, OP_READ, "
        "passed as a "
        "vector of 3: it must be a vector of pointers; write \"const float *x[3]\"\n"
        "kernel text:1:21:\n"
        "     1 | void k(const float *x) {}\n"
        "       |                     ^");
  d = loop(ARGS(gbl(TYPE_LONGLONG, OP_READ)));
  check("void k(long *x) {}", d,
        "kernel k: parameter 1 (x) is \"long *x\", but argument 1 is a global of type long long, OP_READ: "
        "what is only "
        "read must be const; write \"const long long *x\"\n"
        "kernel text:1:14:\n"
        "     1 | void k(long *x) {}\n"
        "       |              ^");
}

TEST(one_line_is_laid_out) {
  struct desc d = loop(ARGS(dat(TYPE_DOUBLE, OP_READ, -1, -1)));
  check("#line 7 \"a.c\"\nstatic int h(int a) { static const int t[2] = {1, 2}; if (a) { return t[0]; } else "
        "return a; } void k(double *q) { for (int i = 0; i < 2; i++) h(i); }",
        d,
        "kernel k: parameter 1 (q) is \"double *q\", but argument 1 is a dat of type double, OP_READ: what "
        "is only "
        "read must be const; write \"const double *q\", or declare the argument OP_RW if the kernel changes "
        "it\n"
        "a.c:7:\n"
        "       |   } else return a;\n"
        "       | }\n"
        "       | void k(double *q) {\n"
        "       |                ^\n"
        "       |   for (int i = 0; i < 2; i++) h(i);\n"
        "       | }");
}

/* Every text that is cut short or has a byte changed is read or refused, and nothing else happens. */
TEST(any_text) {
  static const char text[] = "#line 1 \"f.c\"\n#include <math.h>\ntypedef double real;\n#define R real\n"
                             "static real h(real a[2]) { return \"}\"[0] + a[0]; }\n"
                             "void k(const R *x, struct { int a; } *y, real (*z)(int)) { *y = h(x); }\n";
  static const char strange[] = "{}()[]\"'/*\\\n#;,\0x";
  char changed[sizeof text];
  struct desc d = loop(ARGS(dat(TYPE_DOUBLE, OP_READ, -1, -1)));
  for (size_t at = 0; at < sizeof text; at++)
    for (size_t s = 0; s < sizeof strange; s++) {
      struct kernel k;
      struct error err = {0};
      memcpy(changed, text, sizeof text);
      changed[at] = strange[s];
      size_t length = s + 1 == sizeof strange ? at : sizeof text - 1;
      if (kernel_parse(&k, changed, length, "k", &err) == OP_OK) {
        int code = kernel_check(&k, &d, &err);
        assert_true(code == OP_OK || code == OP_ERR_KERNEL);
        kernel_free(&k);
      } else
        assert_int_equal(err.code, OP_ERR_KERNEL);
      error_free(&err);
    }
}
