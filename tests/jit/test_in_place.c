/* Which arguments through ragged maps a kernel uses in place, so that OpenCL needs no copies of their rows: a table of
 * kernels. In doubt there are copies. */
#include <stdio.h>

#include "build.h"
#include "jit/front/rows/in_place.h"

static int failures;

/* n, a: entries; x: targets, rows of 2; z: targets that are added to. */
static struct desc describe(const char *text) {
  struct desc d = build_loop("f", text);
  const int map = build_map(&d, 0, 1);
  d.maps[map].ragged = true;
  const int a = build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 2, false), map, -1, OP_READ);
  d.args[a].entry = d.args[a].counted = true;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 2, 1, false), map, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 1, false), map, -1, OP_INC);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_RW);
  d.nsets = 3;
  return d;
}

#define HEAD "void f(int n, const double **a, const double **x, double **z, double *y) {\n"
#define LOOP "  for (int k = 0; k < n; k++)\n"

static const struct row {
  const char *before, *body; /* functions; the kernel's body */
  const char *expected;      /* the arguments in place, and how many declarations of pointers there are */
} rows[] = {
    {"", LOOP "*y += *OP_ROW(a, k) * OP_ROW(x, k)[1];", "axz0"},
    {"", LOOP "*OP_ROW(z, k) += (*OP_ROW(a, (int)*OP_ROW(a, k)));", "axz0"},
    {"", "(void)a;\n" LOOP "++OP_ROW(z, k)[0];", "axz0"},
    {"double g(double v) { return v; }\n", LOOP "*y = g(*OP_ROW(a, k)) + g(OP_ROW(x, k)[0]);", "axz0"},
    {"", LOOP "if (n & 1 && *OP_ROW(a, k) > 0) *y = n & (int)*OP_ROW(a, k);", "axz0"},
    {"#define TWO 2\n", LOOP "*y += TWO * *OP_ROW(a, k);", "axz0"},
    {"double g(const double **v) { return *OP_ROW(v, 0); }\n", LOOP "*y += g(a) + *OP_ROW(x, k);", "xz0"},
    {"double g(const double *x) { return *x; }\n", LOOP "*y += g(OP_ROW(a, k)) + *OP_ROW(x, k);", "xz0"},
    /* pointers that a declaration gives */
    {"", LOOP "{ const double *r = OP_ROW(x, k); *y += r[0] + *r; }", "axz1"},
    {"", LOOP "{ const double *r = OP_ROW(x, k), *const q = OP_ROW(a, k + 1); *y += r[0] - q[0]; }", "axz1"},
    {"",
     LOOP "{ double *r = OP_ROW(z, k); const double *q = OP_ROW(a, 0); r[0] += *q; }\n" LOOP
          "{ double r = 2; *y += r; }",
     "axz2"},
    {"double g(const double *x) { return *x; }\n", LOOP "{ const double *r = OP_ROW(x, k); *y += g(r); }",
     "az0"},
    {"", LOOP "{ const double *r = OP_ROW(x, k); *y += *(r + 1); }", "az0"},
    {"", LOOP "{ const double *r = OP_ROW(x, k); r = y; *y += *r; }", "az0"},
    {"", LOOP "{ const double *r = OP_ROW(x, k), *q = y; *y += *r + *q; }", "az0"},
    {"", LOOP "{ const double *r = OP_ROW(x, k), v = *OP_ROW(a, k); *y += *r + v; }", "az0"},
    {"", LOOP "{ const double *r = n ? OP_ROW(x, k) : y; *y += *r; }", "az0"},
    {"", LOOP "{ const double *r[1] = {OP_ROW(x, k)}; *y += *r[0]; }", "az0"},
    {"",
     LOOP "{ const double *r = OP_ROW(x, k), *q = OP_ROW(a, k); *y += *r + *q; }\n" LOOP
          "{ const double *q = OP_ROW(a, k), *s = y; *y += *q + *s; }",
     "z0"},
    /* addresses, and what nobody can see */
    {"", LOOP "{ const double *r; r = &OP_ROW(x, k)[1]; *y += *r; }", "az0"},
    {"void g(const double *v) {}\n", LOOP "g(&*OP_ROW(x, k));", "az0"},
    {"void g(const double *v) {}\n", LOOP "g(&(OP_ROW(x, k)[1]));", "az0"},
    {"", "const double **q = x;\n" LOOP "*y += *OP_ROW(q, k);", "az0"},
    {"", LOOP "*y += *(OP_ROW(x, k) + 1) + *OP_ROW(a, k);", "az0"},
    {"#define AT(k) *OP_ROW(x, k)\n", LOOP "*y += AT(k);", "0"},
    {"", LOOP "{ __typeof__(*OP_ROW(x, k)) v = 1; *y += v; }", "0"},
    {"void f(int n, const double **a, const double **x, double **z, double *y);\n",
     LOOP "*y += *OP_ROW(x, k);", "0"},
    {"", "{ double x = 1; *y += x; }\n" LOOP "*y += *OP_ROW(a, k);", "az0"},
};

static void check(const char *text, struct desc *d, const char *expected) {
  static const char names[] = "axz";
  struct kernel k;
  struct in_place in_place;
  struct error err = {0};
  struct text got = {0};
  if (kernel_parse(&k, text, strlen(text), "f", &err) != OP_OK || !rows_in_place(&k, d, &in_place)) {
    fprintf(stderr, "%s\n%s\n", text, error_message(&err));
    failures++;
    return;
  }
  for (int i = 0; i < 3; i++)
    if (in_place.args[i])
      text_add_char(&got, names[i]);
  text_addf(&got, "%zu", in_place.ndeclared);
  if (strcmp(text_str(&got), expected) != 0) {
    fprintf(stderr, "%s\ngives \"%s\", not \"%s\"\n\n", text, text_str(&got), expected);
    failures++;
  }
  in_place_free(&in_place);
  text_free(&got);
  kernel_free(&k);
}

/* Of some types rows are more than values, or others in memory. */
static void check_types(void) {
  static const char text[] = HEAD LOOP "*y += *OP_ROW(a, k);\n}\n";
  struct desc d = describe(text);
  d.args[1].type = TYPE_BOOL;
  check(text, &d, "az0");
  d.args[1].present = false;
  d.args[1].type = TYPE_DOUBLE;
  check(text, &d, "az0");
  d.maps[0].ragged = false;
  check(text, &d, "0");
  desc_free(&d);
  static const char table[] =
      "void f(int n, const double **a, const double x[][2], double **z, double *y) {\n" LOOP
      "*y += OP_ROW(x, k)[0];\n}\n";
  d = describe(table);
  check(table, &d, "az0");
  desc_free(&d);
}

int main(void) {
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    struct text text = {0};
    text_addf(&text, "%s" HEAD "%s\n}\n", rows[r].before, rows[r].body);
    struct desc d = describe(text_str(&text));
    check(text_str(&text), &d, rows[r].expected);
    desc_free(&d);
    text_free(&text);
  }
  check_types();
  printf("%zu kernels, %d wrong\n", sizeof rows / sizeof *rows, failures);
  return failures != 0;
}
