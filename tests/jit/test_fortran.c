/* Kernels in Fortran: what becomes of them, and what is said of mistakes. That they compute what a compiler's procedure does is shown by
 * tests/fortran/kernels.py. */
#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/kernel/fortran/fortran.h"
#include "jit/kernel/kernel.h"

/* The C text without blanks at its ends and without what its lines are from. */
static void plain(const struct text *made, struct text *out) {
  for (const char *at = text_str(made); *at;) {
    const size_t length = strcspn(at, "\n");
    const char *mark = memmem(at, length, "//!", 3);
    text_add_bytes(out, at, mark ? (size_t)(mark - at) : length);
    at += length + (at[length] == '\n');
    while (out->length && out->data[out->length - 1] == ' ')
      out->data[--out->length] = '\0';
    text_add(out, out->length && mark ? "\n" : "");
  }
}

static int translate(const char *source, const char *file, struct text *out, struct error *err) {
  struct shared shared = {0};
  struct fortran_made made;
  const struct fortran_source from = {
      .text = source, .length = strlen(source), .file = file, .line = 1, .kernel = "k"};
  const int code = fortran_translate(&shared, &from, &made, err);
  if (!code)
    plain(&made.text, out);
  fortran_free(&made);
  shared_free(&shared);
  return code;
}

static void expect_text(const char *source, const char *file, const char *wanted) {
  struct text out = {0};
  struct error err = {0};
  const int code = translate(source, file, &out, &err);
  if (code)
    print_error("%s\n", error_message(&err));
  assert_int_equal(code, OP_OK);
  assert_string_equal(text_str(&out), wanted);
  text_free(&out);
  error_free(&err);
}

/* Statements of a kernel with usual arguments. */
#define HEAD                                                                                                 \
  "subroutine k(q, r, n, m)\n"                                                                               \
  "  implicit none\n"                                                                                        \
  "  real(8), intent(in) :: q(4), m(2,0:2)\n"                                                                \
  "  real(8), intent(inout) :: r(4)\n"                                                                       \
  "  integer, intent(in) :: n\n"                                                                             \
  "  integer :: i, j\n"                                                                                      \
  "  real(8) :: w(3), x\n"
#define TAIL "\nend subroutine\n"

static void expect_body(const char *statements, const char *wanted) {
  struct text source = {0}, out = {0};
  struct error err = {0};
  text_addf(&source, HEAD "%s" TAIL, statements);
  if (translate(text_str(&source), "k.f90", &out, &err))
    print_error("%s\n", error_message(&err));
  assert_int_equal(err.code, OP_OK);
  const char *body = strstr(text_str(&out), ") {");
  assert_non_null(body);
  assert_non_null(strstr(body, wanted) ? body : (print_error("%s\n", text_str(&out)), NULL));
  text_free(&source);
  text_free(&out);
  error_free(&err);
}

/* `message` up to the place, "line:column", and the remedy's words. */
static void expect_refused(const char *source, const char *message, const char *place) {
  struct text out = {0}, at = {0};
  struct error err = {0};
  assert_int_equal(translate(source, "k.f90", &out, &err), OP_ERR_KERNEL);
  text_addf(&at, place ? "\nk.f90:%s:\n" : "%s", place ? place : "");
  const char *said = error_message(&err), *caret = strrchr(said, '\n');
  const bool good =
      strstr(said, message) && strstr(said, text_str(&at)) && (!place || (caret && strchr(caret, '^')));
  if (!good)
    print_error("%s\nwanted: %s%s\n", said, message, text_str(&at));
  assert_true(good);
  text_free(&out);
  text_free(&at);
  error_free(&err);
}

static void expect_refused_body(const char *statements, const char *message, const char *place) {
  struct text source = {0};
  text_addf(&source, HEAD "%s" TAIL, statements);
  expect_refused(text_str(&source), message, place);
  text_free(&source);
}

/* ---- what becomes of it ---- */

TEST(a_kernel) {
  expect_text(
      "subroutine k(a, b)\n  real(8), intent(in) :: a\n  real(8), intent(inout) :: b\n  b = b + 2*a\nend\n",
      "k.f90", "static void k(const double *a, double *b) {\n*b = *b + 2 * *a;\n}\n");
}

TEST(fixed_form) {
  expect_text(
      "      SUBROUTINE K(A, N)\nC     words\n      REAL*8 A(N)\n      INTEGER N, I\n      DO 10 I = 1, N\n"
      "        A(I) = A(I)\n     &         + 1.D0\n   10 CONTINUE\n      END\n",
      "k.f",
      "static void k(double *a, const int *n) {\nint i;\n{ const int b1_ = *n; for (i = 1; i <= b1_; i++) {\n"
      "a[i - 1] = a[i - 1] + 1.e0;\n} }\n}\n");
}

TEST(columns_and_bounds) {
  expect_body("r(1) = m(2, 0) + m(i, 2) + m(1, j)", "r[0] = m[1] + m[i + 3] + m[j * 2];");
}

TEST(kinds_of_literals) {
  expect_body("x = 0.1 + 0.1d0 + 1.5_8 + 2", "x = 0.1f + 0.1e0 + 1.5 + 2;");
}

TEST(powers) {
  expect_body("x = q(1)**2 + x**3 + x**(-1) + x**0.5d0",
              "x = ((q[0] * q[0])) + (f_pow_r8_3(x)) + (1. / x) + pow(x, 0.5e0);");
}

TEST(whole_arrays) {
  expect_body("w = [1d0, 2d0, x]\nr(1:3) = w*2",
              "w[0] = 1e0; w[1] = 2e0; w[2] = x;\nr[0] = w[0] * 2; r[1] = w[1] * 2; r[2] = w[2] * 2;");
}

TEST(overlap_goes_through_a_copy) {
  expect_body("r(::3) = w(1::2)", "r[0] = w[0]; r[3] = w[2];");
  expect_body("r(2:3) = r(1:2)",
              "{ double t1_[2]; t1_[0] = r[0]; t1_[1] = r[1]; r[1] = t1_[0]; r[2] = t1_[1]; }");
}

TEST(select_case) {
  expect_body("select case (n)\ncase default\n x = 0\ncase (1, 3:4)\n x = 1\nend select",
              "{ const int v1_ = *n;\nif (v1_ == 1 || (v1_ >= 3 && v1_ <= 4)) {\nx = 1;\n} else {\n");
}

TEST(masks_are_known_before_the_loop) {
  expect_body("do concurrent (i = 1:2, r(i) > r(1))\n r(i) = 0\nend do",
              "{ int m1_[2], q1_ = 0; { int i2_; for (i2_ = 1; i2_ <= 2; i2_++) { m1_[q1_++] = r[i2_ - 1] > "
              "r[0]; } } q1_ = 0; "
              "{ int i2_; for (i2_ = 1; i2_ <= 2; i2_++) { if (m1_[q1_++]) {\nr[i2_ - 1] = 0;\n} } } }");
}

TEST(products_of_matrices) {
  expect_body("if (n > 1) print *, 'it''s 5%', \"a\"\"\\\", n + 1, x*2, 1.5, x < 1 .and. n > 2\nprint *",
              "printf(\" it's 5%% a\\\"\\\\ %lld %.17g %.9g %c\\n\", (long long)(*n + 1), (double)(x * 2), "
              "(double)1.5f, x < 1 && *n > 2 ? 'T' : 'F');");
  expect_body("print *, x", "{ printf(\" %.17g\\n\", (double)x); }");
  expect_body("w = matmul(transpose(m), q(1:2))", "w[0] = (m[0] * q[0] + m[1] * q[1]); w[1] = (m[2] * q[0] + "
                                                  "m[3] * q[1]); w[2] = (m[4] * q[0] + m[5] * q[1]);");
}

TEST(preprocessor) {
  expect_body("#define TWO 2\n#ifdef TWO\nx = TWO\n#else\nx = 'never'\n#endif\n#if defined(TWO) && "
              "!defined(THREE)\nx = x + 1\n#endif",
              "x = 2;\nx = x + 1;");
}

TEST(parameters_and_constants) {
  expect_text("module c\n implicit none\n integer, parameter :: wp = kind(1d0)\n real(wp), parameter :: half "
              "= 0.5_wp\n"
              " real(wp) :: gam, far(4)\n real(wp), parameter :: table(2) = [half, 2*half]\ncontains\n "
              "subroutine k(x, i)\n"
              "  real(wp), intent(inout) :: x\n  integer, intent(in) :: i\n  x = half*gam + far(2) + "
              "table(2) + table(i)\n"
              " end subroutine\nend module\n",
              "k.f90",
              "static void k(double *x, const int *i) { const double table[] = {0.5, 2 * 0.5};\n*x = 0.5 * "
              "gam + far[1] + "
              "2 * 0.5 + table[*i - 1];\n}\n");
}

/* The text that the rest of the library sees says where its lines are from. */
TEST(messages_show_the_source) {
  struct kernel k = {0};
  struct shared shared = {0};
  struct error err = {0};
  static const char source[] =
      "#line 1 \"flux.f90\"\nsubroutine k(a)\n  real(8) :: a\n  a = 1 + &\n    gam\nend\n";
  assert_int_equal(kernel_parse_unit(&k, &shared, source, "k", &err), OP_OK);
  assert_int_equal(k.nparameters, 1);
  assert_non_null(strstr(k.text, "//!  a = 1 + &"));
  kernel_free(&k);
  shared_free(&shared);
  error_free(&err);
}

/* In a text in C these are comments. */
TEST(comments_of_c_are_shown) {
  struct kernel k = {0};
  struct shared shared = {0};
  struct error err = {0};
  assert_int_equal(kernel_parse_unit(&k, &shared, "static void k(double *a) { //! sets a\n", "k", &err),
                   OP_ERR_KERNEL);
  assert_non_null(strstr(error_message(&err), "1 | static void k(double *a) { //! sets a"));
  shared_free(&shared);
  error_free(&err);
}

/* ---- a newcomer's mistakes ---- */

TEST(mistakes) {
  expect_refused_body("x = q(1) + qq(2)", "qq is not declared; it is neither an array nor a function",
                      "8:12");
  expect_refused_body("y = 1", "y is not declared; write its declaration, as", "8:1");
  expect_refused_body("x = q(1, 2)", "q has 1 dimension, and this is 2 subscripts", "8:5");
  expect_refused("subroutine k(q)\n  real(8), intent(inout) :: q(:)\n  q(1) = 0\nend\n",
                 "q has an assumed shape; kernels get "
                 "addresses alone: write its extents",
                 "2:29");
  expect_refused_body("x = max(q(1), 0.0)",
                      "the arguments of max are of one type and kind; this is real(4), and the first "
                      "real(8): write 1d0 for 1.0",
                      "8:15");
  expect_refused_body("q(1) = 0", "q is intent(in) and cannot be assigned; declare it intent(inout)", "8:1");
  expect_refused_body("x = sqr(q(1))", "did you mean sqrt?", "8:5");
  expect_refused("subroutine k(q)\n  real(8) :: q\n  call k(q)\nend\n",
                 "k calls itself, or is called by what it calls; "
                 "recursion is not in the subset: write a loop",
                 "3:8");
  expect_refused_body("print '(a)', x", "write `print *, ...`", "8:7");
  expect_refused_body("print *, n, q", "`print` has scalars and texts", "8:13");
  expect_refused_body("print *, 'half of&\n  &it'", "a text ends in the line in which it begins", "8:10");
  expect_refused_body("write (*, *) x", "`write` is not in the subset", "8:1");
  expect_refused("subroutine k(q)\n  real(8) :: q\n  real(8), allocatable :: w(:)\n  q = 0\nend\n",
                 "w is allocatable; kernels "
                 "allocate nothing: give it constant bounds",
                 "3:27");
  expect_refused("subroutine k(q)\n  real(8) :: q, gam\n  common /c/ gam\n  q = gam\nend\n",
                 "`common` is not in the subset; "
                 "declare what the kernel reads as a constant of the library (op_decl_const)",
                 "3:3");
  expect_refused_body("10 continue\nif (x > 0) goto 10", "`go to` is in the subset only to the end of a loop",
                      "9:12");
  expect_refused_body("x = q(5)", "index 5 of q is above the bound 4", "8:7");
}

TEST(more_mistakes) {
  expect_refused_body("if (n) then\nend if", "a condition is one logical value, and this is integer(4)",
                      "8:5");
  expect_refused_body("do i = 1, 3\nx = 1", "this is not ended", "8:1");
  expect_refused_body("x = w", "x is one value, and gets an array of 3", "8:5");
  expect_refused_body("w = q", "arrays of 3 and 4 elements meet here", "8:5");
  expect_refused_body("call flux(x)", "flux is not declared; put the subroutine into this file", "8:6");
  expect_refused_body("i = n .and. j", "`.and.` stands between logical values, and one is integer(4)", "8:7");
  expect_refused_body("x = (q(1)", "the statement ends where `)` is expected", "8:10");
  expect_refused_body("allocate(w(3))",
                      "`allocate` is not in the subset; declare the array with constant bounds", "8:1");
  expect_refused("subroutine k(q)\n  real(8) :: q, s = 0\n  q = s\nend\n", "makes it saved", "2:19");
  expect_refused("subroutine k(q)\n  implicit none\n  real(8) :: p\n  p = 0\nend\n",
                 "q is not declared; write its declaration", "1:14");
  expect_refused_body("x = n(1)", "n is declared as one value; write its extents there, as n(3)", "8:5");
  expect_refused(
      "module m\n integer, parameter :: wp = 16\n real(wp) :: g\ncontains\n subroutine k(q)\n"
      "  real(wp) :: q\n  q = 1\n end\nend\n",
      "wp has a declaration that kernels cannot have: kernels have no kind 16 here; use kind 4 or 8", "6:8");
  expect_refused("subroutine k(q)\n real(8) :: q\n q = waves(q)\ncontains\n real(8) function wave(q)\n"
                 "  real(8) :: q\n  wave = q\n end\nend\n",
                 "waves is not declared; did you mean wave?", "3:6");
  expect_refused("subroutine f(q)\nend\n", "the text in Fortran has no subroutine k; it has f\nk.f90:1",
                 NULL);
}

/* ---- where C means something else ---- */

TEST(powers_of_whole_numbers) {
  expect_body("i = n**(-2)", "if (n < 0) return x == 1 ? 1 : x == -1 ? (k % 2 ? -1 : 1) : 0;");
  expect_body("x = i**2_8", "((long long)i * (long long)i)");
}

TEST(bounds_that_the_run_knows) {
  expect_text("subroutine k(a, n)\n  real(8), intent(inout) :: a(n)\n  integer, intent(in) :: n\n"
              "  a(1) = ubound(a, 1) - lbound(a, 1)\nend\n",
              "k.f90", "static void k(double *a, const int *n) {\na[0] = *n - 1;\n}\n");
}

TEST(bounds_that_the_text_knows) {
  expect_text("subroutine k(r)\n  real(8) :: a(2), b(size(a)), r(2)\n  a = 1\n  b = a\n  r = b\nend\n",
              "k.f90",
              "static void k(double *r) {\ndouble a[2]; double b[2];\na[0] = 1; a[1] = 1;\nb[0] = a[0]; b[1] "
              "= a[1];\n"
              "r[0] = b[0]; r[1] = b[1];\n}\n");
}

TEST(masks_of_copies) {
  expect_body("where (q /= 0) r(1:4) = 1/r(4:1:-1)", "if (t2_[0]) t4_[0] = 1 / r[3];");
}

TEST(macros_in_macros) {
  expect_body("#define ONE 1\n#define TWO (ONE + ONE)\n#define LIKE ONE\n#if LIKE == 1\nx = TWO\n#endif",
              "x = 2;");
}

#define NEXT                                                                                                 \
  "subroutine k(r)\n  real(8) :: r(3)\n  integer :: s\n  s = 0\n  %s\ncontains\n  function next(s)\n"        \
  "    integer, intent(inout) :: s\n    integer :: next\n    s = s + 1\n    next = s\n  end\nend\n"

static void expect_next(const char *statement, bool good) {
  struct text source = {0};
  const char *sign = strstr(NEXT, "%s");
  text_add_bytes(&source, NEXT, (size_t)(sign - NEXT));
  text_addf(&source, "%s%s", statement, sign + 2);
  if (good) {
    struct text out = {0};
    struct error err = {0};
    assert_int_equal(translate(text_str(&source), "k.f90", &out, &err), OP_OK);
    text_free(&out);
    error_free(&err);
  } else
    expect_refused(text_str(&source), "next changes its arguments, and stands in an operation on arrays",
                   NULL);
  text_free(&source);
}

TEST(calls_that_change_something_are_once) {
  expect_next("r(1) = next(s) + 1", true);
  expect_next("r = [next(s), next(s), 3]", true);
  expect_next("r = next(s)", false);
  expect_next("r = r*next(s)", false);
  expect_next("r(1) = sum(r*next(s))", false);
  expect_next("if (any(r > next(s))) r(1) = 0", false);
}

TEST(names_of_modules) {
  expect_text("module a\n implicit none\n private\n real(8), parameter :: e = 1d0\n public :: f\ncontains\n"
              " function h(x)\n  real(8), intent(in) :: x\n  real(8) :: h\n  h = x\n end\n"
              " function f(x)\n  real(8), intent(in) :: x\n  real(8) :: f\n  f = h(x)\n end\nend\n"
              "module b\n implicit none\n real(8), parameter :: e = 2d0\ncontains\n"
              " function h(x)\n  real(8), intent(in) :: x\n  real(8) :: h\n  h = x + 1\n end\nend\n"
              "subroutine k(x)\n use b\n use a\n implicit none\n real(8) :: x\n x = f(x) + h(x) + e\nend\n",
              "k.f90",
              "static double h(double x) {\ndouble result_;\nresult_ = x;\nreturn result_; }\n"
              "static double f(double x) {\ndouble result_;\nresult_ = h(x);\nreturn result_; }\n"
              "static double h1_(double x) {\ndouble result_;\nresult_ = x + 1;\nreturn result_; }\n"
              "static void k(double *x) {\n*x = f(*x) + h1_(*x) + 2e0;\n}\n");
  expect_refused(
      "module m\n real(8) :: x\nend\nsubroutine k(r)\n use m, only: y => x\n real(8) :: r, x\n x = 2\n"
      " r = x*y\nend\n",
      "x of module m and a variable of this procedure have one name; rename the variable", "8:8");
  expect_refused("subroutine k(r)\n real(8) :: r, w\n w = 1\n r = g(r)\ncontains\n real(8) function g(x)\n"
                 "  real(8) :: x\n  g = x*w\n end\nend\n",
                 "w is a variable of k, which is around this procedure; pass it as an argument", "8:9");
}

TEST(types_in_modules) {
  expect_text(
      "module m\n implicit none\n type t\n  real(8) :: x\n contains\n  procedure :: p\n end type\n"
      " real(8), parameter :: e = 2d0\ncontains\n type(t) function mk(a)\n  real(8), intent(in) :: a\n"
      "  mk%x = a\n end\n subroutine k(r)\n  real(8) :: r\n  r = e\n end\nend\n",
      "k.f90", "static void k(double *r) {\n*r = 2e0;\n}\n");
}

TEST(other_meanings_are_refused) {
  expect_refused("subroutine k(a, n)\n integer :: n\n real(8) :: a(n, 2)\n n = n + 1\n a(1, 2) = 0\nend\n",
                 "n is in the bounds of a and cannot be assigned; use another variable", "4:2");
  expect_refused("subroutine k(v)\n integer :: v(3)\n v(v) = [1, 2, 3]\nend\n",
                 "v changes here, and chooses its own elements; copy the subscript", "3:4");
  expect_refused_body("where (q > 0)\nwhere (r > 0)\nr = 1\nend where\nend where",
                      "only assignments stand in a `where`", "9:1");
  expect_refused_body("do 10 i = 1, 3\nif (i == 2) go to 10\n10 r(i) = 1",
                      "`go to` is in the subset only to a `continue`; write `10 continue`", "9:13");
  expect_refused("subroutine k(r)\n real(8) :: r\n integer :: s\n save\n s = 1\n r = s\nend\n",
                 "`save` is not in the subset", "4:2");
  expect_refused("subroutine k(r)\n real(selected_real_kind(18)) :: r\n r = 1\nend\n",
                 "kernels have no such kind", "2:7");
  expect_refused_body(
      "w = [(sum(g(i)), i = 1, 3)]\ncontains\nfunction g(i)\ninteger, intent(in) :: i\nreal(8) :: g(2)\n"
      "g = i\nend",
      "g gives an array; call it in an assignment of its own", "8:11");
}
