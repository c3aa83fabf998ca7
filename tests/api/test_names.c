/* A kernel means the same on every backend: each name of the headers that kernels have, each word that another
 * language takes for itself, and what a compiler of C++ would read in another way. */
#include "support.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include "base/text.h"

static const double argument = 0.5;

static bool on_gpu(void) {
  const char *backend = getenv("OP2_BACKEND");
  return backend && (strcmp(backend, "cuda") == 0 || strcmp(backend, "hip") == 0);
}

/* The values that `text`, whose kernel is k(x, v), leaves in v. */
static int run(const char *text, int count, double *values) {
  op_set one = op_decl_set(1, "one");
  op_dat x = op_decl_dat(one, 1, "double", &argument, "x");
  op_dat v = op_decl_dat(one, count, "double", NULL, "v");
  const int code =
      op_par_loop(text, "k", one, direct(x, 1, "double", OP_READ), direct(v, count, "double", OP_WRITE));
  return code ? code : op_fetch_data(v, values);
}

static double value_of(const char *text) {
  double value = 0;
  works(run(text, 1, &value));
  return value;
}

/* ---- the headers' names ---- */
struct row {
  const char *text;
  double value, relative;
};
#define IS(name)                                                                                             \
  {#name, (double)(name), 0}, {                                                                              \
    "sizeof(" #name ")", (double)sizeof(name), 0                                                             \
  }
#define TYPE(name)                                                                                           \
  {"sizeof(" #name ")", (double)sizeof(name), 0}, {                                                          \
    "(" #name ")-1 < (" #name ")1", (name)-1 < (name)1, 0                                                    \
  }
#define F1(name, x)                                                                                          \
  {#name "(*x + " #x ")", name(argument + x), 1e-14}, {                                                      \
#name "f((float)*x + " #x ")", (double)name##f((float)argument + x), 1e-6                                \
  }
#define F2(name, y)                                                                                          \
  {#name "(*x, " #y ")", (double)name(argument, y), 1e-14}, {                                                \
#name "f((float)*x, " #y ")", (double)name##f((float)argument, y), 1e-6                                  \
  }
#define TO(name)                                                                                             \
  {#name "(*x)", (double)name(argument), 0}, {                                                               \
#name "f((float)*x)", (double)name##f((float)argument), 0                                                \
  }
#define OF(text, value)                                                                                      \
  { text, value, 0 }
#define WIDTH(n)                                                                                             \
  TYPE(int##n##_t), TYPE(uint##n##_t), TYPE(int_least##n##_t), TYPE(uint_least##n##_t),                      \
      TYPE(int_fast##n##_t), TYPE(uint_fast##n##_t), IS(INT##n##_MIN), IS(INT##n##_MAX), IS(UINT##n##_MAX),  \
      IS(INT_LEAST##n##_MIN), IS(INT_LEAST##n##_MAX), IS(UINT_LEAST##n##_MAX), IS(INT_FAST##n##_MIN),        \
      IS(INT_FAST##n##_MAX), IS(UINT_FAST##n##_MAX), IS(INT##n##_C(1)), IS(UINT##n##_C(1))
#define FLOAT(p)                                                                                             \
  IS(p##_HAS_SUBNORM), IS(p##_MANT_DIG), IS(p##_DECIMAL_DIG), IS(p##_DIG), IS(p##_MIN_EXP),                  \
      IS(p##_MIN_10_EXP), IS(p##_MAX_EXP), IS(p##_MAX_10_EXP), IS(p##_MAX), IS(p##_EPSILON), IS(p##_MIN),    \
      IS(p##_TRUE_MIN)

static const struct row integers[] = {WIDTH(8),
                                      WIDTH(16),
                                      WIDTH(32),
                                      WIDTH(64),
                                      TYPE(intptr_t),
                                      TYPE(uintptr_t),
                                      TYPE(intmax_t),
                                      TYPE(uintmax_t),
                                      IS(INTPTR_MIN),
                                      IS(INTPTR_MAX),
                                      IS(UINTPTR_MAX),
                                      IS(INTMAX_MIN),
                                      IS(INTMAX_MAX),
                                      IS(UINTMAX_MAX),
                                      IS(INTMAX_C(1)),
                                      IS(UINTMAX_C(1)),
                                      IS(PTRDIFF_MIN),
                                      IS(PTRDIFF_MAX),
                                      IS(SIZE_MAX),
                                      IS(WCHAR_MIN),
                                      IS(WCHAR_MAX),
                                      IS(WINT_MIN),
                                      IS(WINT_MAX),
                                      IS(SIG_ATOMIC_MIN),
                                      IS(SIG_ATOMIC_MAX),
                                      IS(CHAR_BIT),
                                      IS(SCHAR_MIN),
                                      IS(SCHAR_MAX),
                                      IS(UCHAR_MAX),
                                      IS(CHAR_MIN),
                                      IS(CHAR_MAX),
                                      IS(MB_LEN_MAX),
                                      IS(SHRT_MIN),
                                      IS(SHRT_MAX),
                                      IS(USHRT_MAX),
                                      IS(INT_MIN),
                                      IS(INT_MAX),
                                      IS(UINT_MAX),
                                      IS(LONG_MIN),
                                      IS(LONG_MAX),
                                      IS(ULONG_MAX),
                                      IS(LLONG_MIN),
                                      IS(LLONG_MAX),
                                      IS(ULLONG_MAX),
                                      TYPE(size_t),
                                      TYPE(ptrdiff_t),
                                      TYPE(wchar_t),
                                      OF("sizeof(max_align_t)", sizeof(max_align_t)),
                                      OF("_Alignof(max_align_t)", _Alignof(max_align_t)),
                                      OF("sizeof(NULL)", sizeof(NULL)),
                                      OF("NULL == 0", 1),
                                      OF("offsetof(struct pair, second)", 8),
                                      TYPE(bool),
                                      IS(true),
                                      IS(false),
                                      IS(__bool_true_false_are_defined)};
static const struct row floats[] = {IS(FLT_RADIX),
                                    IS(FLT_ROUNDS),
                                    IS(FLT_EVAL_METHOD),
                                    FLOAT(FLT),
                                    FLOAT(DBL),
                                    TYPE(float_t),
                                    TYPE(double_t),
                                    IS(HUGE_VAL),
                                    IS(HUGE_VALF),
                                    IS(INFINITY),
                                    OF("sizeof(NAN)", sizeof(NAN)),
                                    OF("NAN != NAN", 1),
                                    IS(FP_INFINITE),
                                    IS(FP_NAN),
                                    IS(FP_NORMAL),
                                    IS(FP_SUBNORMAL),
                                    IS(FP_ZERO),
                                    IS(FP_ILOGB0),
                                    IS(FP_ILOGBNAN),
                                    IS(MATH_ERRNO),
                                    IS(MATH_ERREXCEPT),
                                    OF("math_errhandling", 0),
                                    IS(M_E),
                                    IS(M_LOG2E),
                                    IS(M_LOG10E),
                                    IS(M_LN2),
                                    IS(M_LN10),
                                    IS(M_PI),
                                    IS(M_PI_2),
                                    IS(M_PI_4),
                                    IS(M_1_PI),
                                    IS(M_2_PI),
                                    IS(M_2_SQRTPI),
                                    IS(M_SQRT2),
                                    IS(M_SQRT1_2),
                                    OF("sizeof(HUGE_VALL)", sizeof(HUGE_VALL)),
                                    OF("fpclassify(*x) == FP_NORMAL", 1),
                                    OF("isfinite(*x)", 1),
                                    OF("isinf(*x / 0.0) != 0", 1),
                                    OF("isnan(NAN * *x)", 1),
                                    OF("isnormal(*x)", 1),
                                    OF("signbit(-*x) != 0", 1),
                                    OF("isgreater(*x, 0.25)", 1),
                                    OF("isgreaterequal(*x, 0.5)", 1),
                                    OF("isless(*x, 0.25)", 0),
                                    OF("islessequal(*x, 0.5)", 1),
                                    OF("islessgreater(*x, 0.5)", 0),
                                    OF("isunordered(*x, NAN)", 1)};
/* A GPU has no other long double than double. */
static const struct row longer[] = {FLOAT(LDBL), IS(DECIMAL_DIG)},
                        as_double[] = {FLOAT(DBL), IS(DBL_DECIMAL_DIG)};

static void compare(const char *header, const struct row *rows, const struct row *wanted, int count) {
  struct text text = {0};
  double *values = calloc((size_t)count, sizeof *values);
  text_addf(&text, "#include <%s>\nstruct pair { int first; double second; };\n", header);
  text_add(&text, "void k(const double *x, double *v) {\nint n = 0; float f = 0; double d = *x;\n"
                  "v[0] = n + f + d;\n");
  for (int i = 0; i < count; i++)
    text_addf(&text, "v[%d] = (double)(%s);\n", i, rows[i].text);
  text_add(&text, "}\n");
  works(run(text_str(&text), count, values));
  for (int i = 0; i < count; i++) {
    const double off = fabs(values[i] - wanted[i].value),
                 allowed = wanted[i].relative * fabs(wanted[i].value);
    if (values[i] != wanted[i].value && !(off <= allowed))
      fail_msg("%s is %.17g, expected %.17g", rows[i].text, values[i], wanted[i].value);
  }
  text_free(&text);
  free(values);
}
#define COUNT(rows) (int)(sizeof rows / sizeof *rows)

LIBRARY_TEST(names_of_headers_mean_what_they_mean_in_C) {
  const struct row functions[] = {F1(acos, 0),
                                  F1(asin, 0),
                                  F1(atan, 0),
                                  F2(atan2, 2),
                                  F1(cos, 0),
                                  F1(sin, 0),
                                  F1(tan, 0),
                                  F1(acosh, 1),
                                  F1(asinh, 0),
                                  F1(atanh, 0),
                                  F1(cosh, 0),
                                  F1(sinh, 0),
                                  F1(tanh, 0),
                                  F1(exp, 0),
                                  F1(exp2, 0),
                                  F1(expm1, 0),
                                  F2(ldexp, 3),
                                  F1(log, 0),
                                  F1(log10, 0),
                                  F1(log1p, 0),
                                  F1(log2, 0),
                                  F1(logb, 0),
                                  F2(scalbn, 3),
                                  F2(scalbln, 3),
                                  F1(cbrt, 0),
                                  F1(fabs, -1),
                                  F2(hypot, 2),
                                  F2(pow, 3),
                                  F1(sqrt, 0),
                                  F1(erf, 0),
                                  F1(erfc, 0),
                                  F1(lgamma, 0),
                                  F1(tgamma, 0),
                                  F1(ceil, 0),
                                  F1(floor, 0),
                                  F1(nearbyint, 1),
                                  F1(rint, 1),
                                  F1(round, 0),
                                  F1(trunc, 1),
                                  F2(fmod, 0.2f),
                                  F2(remainder, 0.2f),
                                  F2(copysign, -2),
                                  F2(nextafter, 1),
                                  F2(nexttoward, 1),
                                  F2(fdim, 0.25f),
                                  F2(fmax, 2),
                                  F2(fmin, 2),
                                  TO(ilogb),
                                  TO(lrint),
                                  TO(llrint),
                                  TO(lround),
                                  TO(llround),
                                  OF("fma(*x, 3, 1)", 2.5),
                                  OF("fmaf((float)*x, 3, 1)", 2.5),
                                  OF("isnan(nan(\"\"))", 1),
                                  OF("isnan(nanf(\"\"))", 1),
                                  OF("(frexp(8 * *x, &n), n)", 3),
                                  OF("(frexpf(8, &n), n)", 4),
                                  OF("(modf(*x + 3, &d), d)", 3),
                                  OF("(modff((float)*x + 3, &f), f)", 3),
                                  OF("(remquo(*x + 3, 1, &n), n & 7)", 4),
                                  OF("(remquof((float)*x + 3, 1, &n), n & 7)", 4)};
  compare("stdint.h", integers, integers, COUNT(integers));
  compare("float.h", floats, floats, COUNT(floats));
  compare("math.h", functions, functions, COUNT(functions));
  assert_int_equal(COUNT(longer), COUNT(as_double));
  if (on_gpu())
    for (int i = 0; i < COUNT(longer); i += 2) /* their sizes are C's */
      compare("float.h", longer + i, as_double + i, 1);
  else
    compare("float.h", longer, longer, COUNT(longer));
}

/* ---- words of others ---- */
static const char *const others[] = {"alignas",     "alignof",       "and",          "and_eq",
                                     "bitand",      "bitor",         "catch",        "char16_t",
                                     "char32_t",    "char8_t",       "class",        "co_await",
                                     "co_return",   "co_yield",      "compl",        "concept",
                                     "const_cast",  "consteval",     "constexpr",    "constinit",
                                     "decltype",    "delete",        "dynamic_cast", "explicit",
                                     "export",      "friend",        "mutable",      "namespace",
                                     "new",         "noexcept",      "not",          "not_eq",
                                     "nullptr",     "operator",      "or",           "or_eq",
                                     "private",     "protected",     "public",       "reinterpret_cast",
                                     "requires",    "static_assert", "static_cast",  "template",
                                     "this",        "thread_local",  "throw",        "try",
                                     "typeid",      "typename",      "using",        "virtual",
                                     "xor",         "xor_eq",        "final",        "override",
                                     "import",      "module",        "std",          "min",
                                     "max",         "norm",          "rsqrt",        "clock",
                                     "dot",         "cross",         "puts",         "malloc",
                                     "asserts",     "trap",          "saturate",     "double2",
                                     "double4",     "dim3",          "uint",         "ulong",
                                     "threadfence", "surface",       "texture",      "half",
                                     "index",       "gamma",         "j0",           "y0",
                                     "y1",          "exp10",         "pow10",        "sincos",
                                     "sinpi",       "erfinv",        "linux",        "unix",
                                     "i386",        "kernel",        "global",       "local",
                                     "constant",    "restricted",    "in",           "out",
                                     "signal",      "time",          "exit",         "div",
                                     "dat",         "stride",        "first",        "entries",
                                     "apart",       "target",        "sum",          "to",
                                     "from",        "mine",          "count"};

LIBRARY_TEST(words_of_other_languages_are_names) {
  struct text text = {0};
  double value = 0;
  for (int i = 0; i < COUNT(others); i++)
    text_addf(&text, "struct s_%s { double %s; };\nstatic double f_%s(double %s) { return %s; }\n", others[i],
              others[i], others[i], others[i], others[i]);
  text_add(&text, "void k(const double *x, double *v) {\n*v = 0;\n");
  for (int i = 0; i < COUNT(others); i++)
    text_addf(&text, "{ double %s = 2 * *x; struct s_%s s; s.%s = f_%s(%s); *v += s.%s; }\n", others[i],
              others[i], others[i], others[i], others[i], others[i]);
  text_add(&text, "}\n");
  works(run(text_str(&text), 1, &value));
  assert_true(value == COUNT(others));
  text_free(&text);
}

LIBRARY_TEST(words_of_other_languages_are_functions_and_macros) {
  assert_true(value_of("#define and(a, b) ((a) * (b))\n#ifdef and\nstatic double new(double this) { return "
                       "this; }\n#endif\n"
                       "void k(const double *x, double *v) { *v = and(new(*x), 4); }") == 2);
  assert_true(value_of("static double max(double a, double b) { return a > b ? a : b; }\n"
                       "void k(const double *x, double *v) { *v = max(*x, 4); }") == 4);
}

/* A name is taken only where every kernel can use it: as it is, and after so many changes that it is none that is
 * folded. */
LIBRARY_TEST(constants_have_names_that_kernels_can_use) {
  struct text text = {0};
  double one = 1, value = 0;
  int taken = 0;
  text_add(&text, "void k(const double *x, double *v) { *v = 0 * *x");
  for (int i = 0; i < COUNT(others); i++) {
    works(op_decl_const(others[i], 1, "double", &one));
    text_addf(&text, " + %s", others[i]);
    taken++;
  }
  text_add(&text, "; }");
  for (int round = 1; round <= 8; round++) {
    one = round;
    for (int i = 0; i < COUNT(others); i++)
      works(op_update_const(others[i], &one));
    works(run(text_str(&text), 1, &value));
    assert_true(value == taken * one);
  }
  text_free(&text);
}

LIBRARY_TEST(constants_have_no_names_that_kernels_have) {
  static const char *const names[] = {
      "int",        "restrict",    "typeof",       "asm",       "_Bool",          "_Generic",
      "__FILE__",   "sin",         "isnan",        "M_PI",      "INT_LEAST8_MAX", "UINT64_C",
      "size_t",     "max_align_t", "double_t",     "WCHAR_MAX", "NULL",           "LDBL_MAX",
      "abs",        "memcpy",      "op2_anything", "bool",      "wchar_t",        "HUGE_VALL",
      "int_fast8_t"};
  const double one = 1;
  for (int i = 0; i < COUNT(names); i++)
    fails(OP_ERR_CONST, op_decl_const(names[i], 1, "double", &one));
}

/* ---- what another language reads in another way ---- */
LIBRARY_TEST(a_text_is_C17_to_its_conditions) {
  assert_true(
      value_of("#if __STDC_VERSION__ != 201710L || defined __cplusplus || !__STDC__\n#error no C17\n#endif\n"
               "void k(const double *x, double *v) { *v = 2 * *x; }") == 1);
}

LIBRARY_TEST(truth_is_an_int) {
  assert_true(
      value_of("void k(const double *x, double *v) { *v = sizeof true + 10 * sizeof(isgreater(*x, 1)) + "
               "100 * sizeof isnan(*x) + 1000 * sizeof(signbit(*x)); }") == 4444);
}

LIBRARY_TEST(constructs_of_C_alone) {
  assert_true(value_of("static _Noreturn void forever(void) { for (;;) ; }\n"
                       "void k(const double *x, double *v) { if (*x > 1) forever(); *v = 1; }") == 1);
  assert_true(
      value_of(
          "void k(const double *x, double *v) { auto double y = *x; register int i = 2; *v = i * y; }") == 1);
  assert_true(value_of("static double last(int n, const double w[n], const double z[static n - 1]);\n"
                       "static double last(int n, const double w[n], const double z[static n - 1]) { return "
                       "w[n - 1] + z[0]; }\n"
                       "void k(const double *x, double *v) { double w[2] = {*x, 3}; *v = last(2, w, w); }") ==
              3.5);
  /* as OP_KERNEL leaves it */
  assert_true(value_of("void k(const double *x, double *v) { const double *p = ((void *)0), *q = (void*)0; "
                       "*v = p == q && p != x; }") == 1);
}

LIBRARY_TEST(arguments_of_macros_are_computed_once) {
  assert_true(value_of("void k(const double *x, double *v) { double y[3] = {0, *x, 0}; int i = 0; "
                       "*v = islessgreater(y[i++], 0.25); *v += 10 * i; }") == 11);
}

/* Names that C++ would take for something else without a word: refused where that is the language, else C's. */
LIBRARY_TEST(what_only_C_means_is_refused_elsewhere) {
  static const struct {
    const char *before, *expression;
    double value;
  } rows[] = {{"", "sizeof 'a'", 4},
              {"", "sizeof('\\xff')", 4},
              {"", "sizeof(*x < 1)", 4},
              {"", "sizeof(!*x)", 4},
              {"", "sizeof(*x && 1)", 4},
              {"", "sizeof(*x > 1 ? 'a' : 'b')", 4},
              {"", "sizeof(*x > 1 ? s : s)", 4},
              {"", "sizeof(0, s < 1)", 4},
              {"", "sizeof(0, t)", 8},
              {"#define LETTER 'a'\n", "sizeof LETTER", 4},
              {"struct none {};\n", "sizeof(struct none)", 0},
              {"", "e - 1 < 0", 0},
              {"", "e > -1", 0},
              {"", "(e - 1) / 2 > 9", 1},
              {"", "e - 1", 4294967295.0}};
  struct text text = {0};
  double value = 0;
  for (int i = 0; i < COUNT(rows); i++) {
    text_clear(&text);
    text_addf(
        &text,
        "%senum letter { A, B };\nvoid k(const double *x, double *v) { enum letter e = A; short s = 1; char "
        "t[3] = {0};\n(void)e, (void)s, (void)t; *v = %s; }\n",
        rows[i].before, rows[i].expression);
    const int code = run(text_str(&text), 1, &value);
    if (on_gpu() && HAS_PROVER) {
      if (code != OP_ERR_KERNEL || !strstr(op_last_error()->message, "C++"))
        fail_msg("%s: code %d, %s", rows[i].expression, code, op_last_error()->message);
      assert_non_null(strchr(op_last_error()->message, '^'));
    } else if (!on_gpu() && (code || value != rows[i].value))
      fail_msg("%s is %g, expected %g: %s", rows[i].expression, value, rows[i].value,
               op_last_error()->message);
  }
  text_free(&text);
}

LIBRARY_TEST(what_both_languages_mean_is_not_refused) {
  static const struct {
    const char *expression;
    double value;
  } rows[] = {{"sizeof('a' + 0)", 4},
              {"sizeof L'a'", 4},
              {"sizeof \"ab\"", 3},
              {"sizeof((char)'a')", 1},
              {"sizeof(s)", 2},
              {"sizeof(s = 1)", 2},
              {"sizeof(*x > 1 ? 'a' : 2)", 4},
              {"sizeof(*x > 1 ? s : 1.0)", 8},
              {"sizeof(0, s)", 2},
              {"sizeof t", 3},
              {"sizeof(e)", 4},
              {"(*x < 1) + (*x > 0) + 'a'", 99},
              {"(e == A) + (e < B) + (e != B)", 3},
              {"(int)e - 1 < 0", 1},
              {"e + 1", 1},
              {"t[B - 1]", 0}};
  struct text text = {0};
  for (int i = 0; i < COUNT(rows); i++) {
    text_clear(&text);
    text_addf(
        &text,
        "enum letter { A, B };\nvoid k(const double *x, double *v) { enum letter e = A; short s = 1; char "
        "t[3] = {0};\n(void)e, (void)s, (void)t; *v = %s; }\n",
        rows[i].expression);
    const double value = value_of(text_str(&text));
    if (value != rows[i].value)
      fail_msg("%s is %g, expected %g", rows[i].expression, value, rows[i].value);
  }
  text_free(&text);
}
