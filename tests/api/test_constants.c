/* Constants and other names of a kernel's text: what C makes of them, on every backend, and also when a constant has
 * changed so often that its value is passed to loops. */
#include "support.h"

enum { N = 3, STEPS = 6 };

struct par {
  double scale, shift[2];
  int add;
};
/* Words of GPUs' languages, which are names in C. */
typedef struct {
  double new, local;
} half;

static op_set set;
static op_dat dat;

/* The values 1, 2, 3, and what the kernel k makes of them. */
static void run(const char *text, double expected[N]) {
  double values[N] = {1, 2, 3};
  works(op_put_data(dat, values));
  works(op_par_loop(text, "k", set, direct(dat, 1, "double", OP_RW)));
  works(op_fetch_data(dat, values));
  for (int i = 0; i < N; i++)
    if (values[i] != expected[i])
      fail_msg("value %d is %g, expected %g, of\n%s", i, values[i], expected[i], text);
}

/* a + b * value */
static void run_linear(const char *text, double a, double b) {
  double expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = a + b * (i + 1);
  run(text, expected);
}

static void declare(void) {
  double zero[N] = {0};
  set = op_decl_set(N, "s");
  dat = op_decl_dat(set, 1, "double", zero, "b");
}

LIBRARY_TEST(structs) {
  struct par p = {3, {4, 5}, 6}, row[2] = {{7, {8, 9}, 10}, {11, {12, 13}, 14}};
  declare();
  works(op_decl_prelude("struct par { double scale, shift[2]; int add; };\n"
                        "typedef struct { double new, local; } half;\n"));
  OP_TYPE(struct par, scale, shift, add);
  OP_TYPE(half, new, local);
  half word = {2, 0.5};
  works(op_decl_const("p", 1, "struct par", &p));
  works(op_decl_const("row", 2, "struct par", row));
  works(op_decl_const("quad", 1, "half", &word));
  run_linear("void k(double *b) { *b = *b * p.scale + p.shift[1] + p.add; }", 11, 3);
  run_linear("static double of(const struct par *q) { return q->scale + q->shift[0]; }\n"
             "void k(double *b) { *b = *b * of(&row[1]) + of(&p); }",
             7, 23);
  run_linear("void k(double *b) { *b = *b * row[1].add + (double)sizeof row / sizeof row[0]; }", 2, 14);
  run_linear("void k(double *b) { struct par p = {1, {2, 3}, 4}; *b = *b * p.add + row[0].scale; }", 7, 4);
  run_linear("void k(double *b) { *b = *b * quad.new + quad.local; }", 0.5, 2);
  p.scale = 1;
  works(op_update_const("p", &p));
  run_linear("void k(double *b) { *b = *b * p.scale + p.shift[1] + p.add; }", 11, 1);
}

/* Each text in which the name is something else as well, with gam and tab of four values, which change. */
LIBRARY_TEST(the_same_name) {
  double gam = 0, tab[4] = {0, 1, 2, 3};
  _Bool flag = 1, flags[2] = {0, 1};
  declare();
  works(op_decl_const("gam", 1, "double", &gam));
  works(op_decl_const("tab", 4, "double", tab));
  works(op_decl_const("flag", 1, "bool", &flag));
  works(op_decl_const("flags", 2, "bool", flags));
  works(op_decl_const("local", 1, "double", &gam));
  for (int step = 1; step <= STEPS; step++) {
    gam = step;
    tab[3] = 10 * step;
    flag = step % 2;
    flags[1] = step % 2;
    works(op_update_const("gam", &gam));
    works(op_update_const("tab", tab));
    works(op_update_const("flag", &flag));
    works(op_update_const("flags", flags));
    works(op_update_const("local", &gam));
    if (step > 1 && step < STEPS - 1) /* compiled in, as before */
      continue;
    run_linear("static double f(double x) { return x + gam; }\n"
               "void k(double *b) { double y = f(*b); double gam = 2; *b = y * gam; }",
               2 * step, 2);
    run_linear("static double f(double x, double gam) { return x + gam; }\nvoid k(double *b) { *b = f(*b, 3) "
               "+ gam; }",
               3 + step, 1);
    run_linear("static double f(const double gam[1], double tab) { return tab + gam[0]; }\n"
               "void k(double *b) { double t[1] = {5}; *b = f(t, *b) + gam + tab[3]; }",
               5 + step + 10 * step, 1);
    run_linear("struct s { double gam; };\n"
               "void k(double *b) { struct s s = {*b}, *q = &s; q->gam += 1; *b = s.gam + gam; }",
               1 + step, 1);
    run_linear("void k(double *b) { if (*b > 0) goto gam; *b = 0;\ngam:\n  *b += gam; }", step, 1);
    run_linear(
        "#define TWICE (2 * gam)\n#define AT(i) tab[i]\nvoid k(double *b) { *b = *b * TWICE + AT(3); }",
        10 * step, 2 * step);
    run_linear("void k(double *b) { for (int gam = 0; gam < 2; gam++) *b += gam; { double tab = 1; *b += "
               "tab; } *b += gam + tab[1]; }",
               3 + step, 1);
    run_linear("void k(double *b) { *b += tab[3] + sizeof(tab) / sizeof(tab[0]); }", 4 + 10 * step, 1);
    run_linear("void k(double *b) { *b += sizeof tab + sizeof gam + (*(&gam)) + (&tab[2])[1]; }",
               40 + 11 * step, 1);
    run_linear("#define gam 4\n#define SQUARE(tab) ((tab) * (tab))\nvoid k(double *b) { *b = *b * gam + "
               "SQUARE(gam) + tab[3]; }",
               16 + 10 * step, 4);
    run_linear(
        "#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))\nvoid k(double *b) { *b += LENGTH(tab) + tab[3]; }",
        4 + 10 * step, 1);
    run_linear("void k(double *b) { *b += flag + 2 * flags[1] + local; }", 3 * (step % 2) + step, 1);
    run_linear("static double twice(double);\nstatic double twice(double x) { return 2 * x * gam; }\n"
               "void k(double *b) { *b = twice(*b); }",
               0, 2 * step);
  }
}

LIBRARY_TEST(pointers_of_the_file) {
  declare();
  run_linear("static const char *unused = \"x\";\nvoid k(double *b) { *b *= 2; }", 0, 2);
  run_linear("static const char *const names[] = {\"a\", \"bcd\"};\nvoid k(double *b) { *b += names[1][1] - "
             "names[0][0]; }",
             2, 1);
  run_linear("static const double t[3] = {1, 2, 4}, *last = t + 2, two = 1 * 2;\n"
             "static const double *const rows[2] = {t, t + 1};\n"
             "void k(double *b) { *b = *b * *last + rows[1][0] + two; }",
             4, 4);
  run_linear(
      "static const char word[] = \"abc\";\nstatic const struct { double x, y[2 * 2]; } s = {1, {2, 3}};\n"
      "void k(double *b) { *b = *b * s.y[1] + word[2] - \"abc\"[1]; }",
      1, 3);
}
