/* Which loops over targets several threads may share, and why not: a table of kernels. In doubt a loop stays whole. */
#include <stdio.h>

#include "build.h"
#include "jit/front/rows/split.h"

static int failures;

/* n, a: entries; x: targets, rows of 2; e: entries that are written; c: entries, whole numbers; y: the element's own
 * three values; s, t: sums of the loop; m: its largest. */
static struct desc describe(const char *text) {
  struct desc d = build_loop("f", text);
  const int map = build_map(&d, 0, 1);
  d.maps[map].ragged = true;
  const int a = build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 2, false), map, -1, OP_READ);
  d.args[a].entry = d.args[a].counted = true;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 2, 1, false), map, -1, OP_READ);
  d.args[build_arg(&d, build_dat(&d, TYPE_DOUBLE, 2, 2, false), map, -1, OP_RW)].entry = true;
  d.args[build_arg(&d, build_dat(&d, TYPE_INT, 1, 2, false), map, -1, OP_READ)].entry = true;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 3, 0, false), -1, -1, OP_RW);
  build_gbl(&d, TYPE_DOUBLE, 1, OP_INC);
  build_gbl(&d, TYPE_INT, 1, OP_INC);
  build_gbl(&d, TYPE_DOUBLE, 1, OP_MAX);
  d.nsets = 3;
  return d;
}

#define HEAD                                                                                                 \
  "void f(int n, const double **a, const double **x, double **e, const int **c, double *y, double *s, int "  \
  "*t, "                                                                                                     \
  "double *m) {\n"
#define LOOP "  OP_ANY_ORDER\n  for (int k = 0; k < n; k++)\n"

struct row {
  const char *before, *body; /* functions; the kernel's body */
  const char *expected;      /* results by loop, or the reason */
};

static const char whole[] = "neither its own nor a sum", order[] = "in a way that depends on the order",
                  form[] = "does not have the form", fractions[] = "fractions to whole numbers",
                  uses[] = "uses its sum", pointer[] = "a pointer may lead",
                  leaves[] = "a break, a return or a switch", changes[] = "could change what it is passed",
                  unknown[] = "that is not known", address[] = "takes an address",
                  entries[] = "rows of entries that it writes otherwise",
                  part[] = "a part of another expression", name[] = "a name that is not known here",
                  own[] = "a type that may hold a pointer", label[] = "a goto, or a label";

static const struct row rows[] = {
    /* what can be shared */
    {"", "double sum = 0;\n" LOOP "sum += *OP_ROW(a, k) * OP_ROW(x, k)[1];\n*y = sum;", "[+sum]"},
    {"", "y[0] = 0;\n" LOOP "{ const double v = *OP_ROW(a, k); y[0] += v; y[1] -= v * v; }", "[+y*3]"},
    {"", "float p = 1;\nlong long b = 0;\n" LOOP "{ p *= *OP_ROW(a, k); b += *OP_ROW(c, k) - 2; b++; }",
     "[*p +b]"},
    {"", LOOP "*s += *OP_ROW(a, k);\n", "[+s*1]"},
    {"", LOOP "*m = fmax(*m, *OP_ROW(a, k));\n", "[>m*1]"},
    {"", "float l = 1e30f;\n" LOOP "l = fminf(*OP_ROW(a, k) + 1, l);\ny[0] = l;", "[<l]"},
    {"",
     "OP_ANY_ORDER for (size_t k = 0; k < n; ++k) { OP_ROW(e, k)[0] = 2; OP_ROW(e, k)[1] += *OP_ROW(a, k); }",
     "[]"},
    {"", "const int many = n;\nOP_ANY_ORDER for (long k = 0; k < many; k += 1) *t += 1;", "[+t*1]"},
    {"", "double w[2] = {0, 0};\n" LOOP "for (int i = 0; i < 2; i++) w[i] += OP_ROW(x, k)[i];\n*y = w[0];",
     "[+w*2]"},
    {"",
     "double u = 0, v = 0;\n" LOOP "if (*OP_ROW(a, k) > 0) u += 1; else { v -= 1; continue; }\ny[0] = u - v;",
     "[+u +v]"},
    {"", "if (n == 0) return;\ndouble u = 0;\n" LOOP "u += 1;\n" LOOP "*OP_ROW(e, k) /= u;", "[+u][]"},
    {"double g(const double *v, int i) { return v[i]; }\n",
     "double u = 0;\n" LOOP "u += g(OP_ROW(x, k), 1);\ny[0] = u;", "[+u]"},
    {"",
     "double u = 0;\n" LOOP
     "{ int i; double v[2]; v[1] = sqrt(*OP_ROW(a, k)); i = 1; i++; u += v[i - 1]; }\n*y = u;",
     "[+u]"},
    {"", "double u = 0;\n" LOOP "{ const double *r = OP_ROW(x, k); u += r[0] * y[1]; }\n*y = u;", "[+u]"},
    {"", "int u = 0;\n" LOOP "u += (int)(*OP_ROW(a, k) * 2.5);\n*t += u;", "[+u]"},
    {"#define TWO 2\n", "double u = 0;\n" LOOP "u += TWO;\n*y = u;", "[+u]"},
    /* names that mean something else elsewhere */
    {"",
     "{ int u = 3; *t += u; }\ndouble u = 0;\n" LOOP "{ const double v = *OP_ROW(a, k); u += v; }\n" LOOP
     "{ double v = 2; v *= u; *s += v; }",
     "[+u][+s*1]"},
    {"", "double u = 0;\n" LOOP "{ for (int k = 0; k < 3; k++) u += k; }\n*y = u;", "[+u]"},
    {"", "double u = 0;\n" LOOP "{ u += 1; { double u = 1; u *= 2; } }", "[+u]"},
    /* the second stays whole */
    {"",
     "double u = 0, v = 0;\n" LOOP
     "u += 1;\nfor (int k = 0; k < n; k++) v = v / 2 + *OP_ROW(a, k);\n*y = u + v;",
     "[+u]"},
    /* what depends on the order */
    {"", "double u = 0;\n" LOOP "u = u / 2 + *OP_ROW(a, k);", order},
    {"", "double u = 0;\n" LOOP "u = *OP_ROW(a, k);", order},
    {"", "double u = 1;\n" LOOP "u /= *OP_ROW(a, k);", order},
    {"", "double u = 0, v = 0;\n" LOOP "{ u += *OP_ROW(a, k); v += u; }", uses},
    {"", "double u = 0;\n" LOOP "{ u += *OP_ROW(a, k); if (u > 3) *t += 1; }", uses},
    {"", "double u = 0;\n" LOOP "u += u;", uses},
    {"", "double u = 0;\n" LOOP "{ u += 1; u *= 2; }", "in several ways"},
    {"", "int u = 0;\n" LOOP "u += *OP_ROW(a, k);", fractions},
    {"", LOOP "*t += 0.5;", fractions},
    {"", LOOP "*t += (int)(2.5) * 0.5;", fractions},
    {"", LOOP "*t += (double)(2);", fractions},
    {"", LOOP "y[k] = *OP_ROW(a, k);", order},
    {"", "double u = 0;\n" LOOP "*OP_ROW(e, k) = u += 1;", part},
    {"", "double u = 0;\n" LOOP "for (int i = 0; u += 1; i++) *s += 1;", part},
    {"", "double u = 0, v = 0;\n" LOOP "*OP_ROW(e, k) = u++;", part},
    {"", "double u = 0;\n" LOOP "*s += 1, u += 1;", part},
    {"", "bool u = 0;\n" LOOP "u += 1;", whole},
    {"", "int last = 0;\n" LOOP "last = k;\n*t += last;", order},
    /* what leads elsewhere */
    {"", "double u = 0, *p = &u;\n" LOOP "u += *OP_ROW(a, k) + *p;", pointer},
    {"", "double w[2] = {0}; double *p = w;\n" LOOP "w[0] += p[0];", pointer},
    {"", "double *p = y;\n" LOOP "p[0] += *OP_ROW(a, k);", whole},
    {"", "double w[2];\n" LOOP "{ double *p = w; p[0] += 1; }", whole},
    {"", "double u = 0;\n" LOOP "{ double *p = &u; *p += 1; }", address},
    {"", "double u = 0;\n" LOOP "{ double *p = (double *)&u; *p += 1; }", address},
    {"", LOOP "*s++;", whole},
    {"", LOOP "++*t;", "[+t*1]"},
    {"", LOOP "s++;", whole},
    {"", LOOP "(*s)++;", whole},
    {"", "double w[2] = {0};\n" LOOP "*w += 1;", whole},
    {"", "double w[2] = {0};\n" LOOP "*(double *)w += 1;", whole},
    {"", "struct { double v; } w = {0};\n" LOOP "w.v += 1;", own},
    {"void g(double *v) { *v += 1; }\n", "double u[1] = {0};\n" LOOP "g(u);", changes},
    {"void g(const double *v) { *(double *)v += 1; }\n", "double u[1] = {0};\n" LOOP "g(u);",
     "makes a pointer"},
    {"double g(void) { static double v; return v += 1; }\n", "double u = 0;\n" LOOP "u += g();",
     "static or volatile"},
    {"void absf(double *v) { *v += 1; }\n", "double u[1] = {0};\n" LOOP "absf(u);", changes},
    {"struct b { double *v; };\nvoid g(struct b v) { *v.v += 1; }\n",
     "double u[1] = {0};\nstruct b b = {u};\n" LOOP "g(b);", own},
    {"typedef double *p;\nvoid g(p v) { *v += 1; }\n", "double u[1] = {0};\n" LOOP "g(u);", name},
    {"#define ADD(v) (v += 1)\n", "double u = 0;\n" LOOP "ADD(u);", "macro"},
    {"#define LAST y[0] = k;\n", "double u = 0;\n" LOOP "{ u += 1; LAST }", "macro"},
    {"", "double u = 0;\n" LOOP "u += modf(2.5, y);", unknown},
    {"", "double u = 0;\n" LOOP "{ memcpy(y, OP_ROW(a, k), 8); u += 1; }", unknown},
    {"", LOOP "printf(\"%d\", k);", name},
    /* what tokens do not explain */
    {"", "*y++ = 7;\n*y = 0;\n" LOOP "*y += *OP_ROW(a, k);\ny[1] = 3;", pointer},
    {"", "*--y = 7;\n" LOOP "*y += *OP_ROW(a, k);", pointer},
    {"", "const double *p = &*y;\n" LOOP "{ *y += 1; *s += *p > 4; }", pointer},
    {"", "const double *p = 1 ? &*y : s;\n" LOOP "{ y[0] += 1; *s += p[0]; }", pointer},
    {"", "double *const q = &(*y);\n" LOOP "{ y[0] += 1; *s += q[0]; }", pointer},
    {"", "double u = 0;\ndouble *const q = (&u);\n" LOOP "{ u += 1; *s += q[0]; }", pointer},
    {"", "double w[2] = {0}; double *r = &*w;\n" LOOP "{ w[0] += 1; *s += r[0]; }", pointer},
    {"", LOOP "0[y] += *OP_ROW(a, k);", whole},
    {"struct b { double *v; int at; };\nstatic inline double g(struct b v, double w) { return v.v[v.at] += "
     "w; }\n",
     "struct b b = {s, 0};\n" LOOP "y[0] += g(b, 1);", own},
    {"struct b { double *v; };\n", "struct b b; b.v = &*y;\n" LOOP "{ y[0] += 1; *s += *b.v; }", own},
    {"typedef double *ptr;\n", LOOP "{ ptr p[2] = {s, s}; p[0][0] = 1; y[0] += 1; }", name},
    {"static inline void absf(double *v, double w) { *v += w; }\n", LOOP "absf(s, 1);", changes},
    {"static double fmax(double v, double w) { return v + 2 * w; }\n",
     "double u = 0;\n" LOOP "u = fmax(u, 2);", order},
    {"static double fminf(double v, double w) { return v - w; }\n", "float u = 0;\n" LOOP "u = fminf(u, 2);",
     order},
    {"static double (*fmax)(double, double);\n", "double u = 0;\n" LOOP "u = fmax(u, 2);", name},
    {"#define fmax(v, w) ((v) + (w))\n", "double u = 0;\n" LOOP "u = fmax(u, 2);", "macro"},
    {"static void g(double *v) { *v += 1; }\n", "double u = 0;\n" LOOP "{ u += 1; (g)(s); }", name},
    {"double memo;\nstatic double g(double v) { memo = memo * 0.5 + v; return memo; }\n",
     "double u = 0;\nmemo = 0;\n" LOOP "u += g(2);", name},
    {"static double memo;\nstatic double g(double v) { memo = v; return memo; }\n",
     "double u = 0;\n" LOOP "u += g(2);", name},
    {"static const double memo[2] = {1, 2};\nstatic double g(double v) { return memo[0] * v; }\n",
     "double u = 0;\n" LOOP "u += g(memo[1]);", "[+u]"},
    {"static const double *memo = 0;\n", "double u = 0;\n" LOOP "u += memo[0];", name},
    {"static void g(const double **p) { (*p)++; }\n",
     "const double *q[1] = {y};\n" LOOP "{ *s += *q[0]; g(q); }", changes},
    {"static void g(const double *const v) { *(double *const)v += 1; }\n", LOOP "{ *s += 1; g(y); }",
     "makes a pointer"},
    {"static double g(double, double v) { return v; }\n", LOOP "*s += g(1, 2);", "[+s*1]"},
    {"struct b { double v[2]; int i, j; };\nstatic double g(struct b v, const struct b *w) { return "
     "v.v[w->i]; }\n",
     "double u = 0;\n" LOOP "{ struct b v = {{1, 2}, 0, 1}; v.j += 1; u += g(v, &v); }", "[+u]"},
    {"struct b { int i; double *v; };\nstatic double g(const struct b *w) { return w->v[0]; }\n",
     "double u = 0;\nstruct b v = {1, y};" LOOP "u += g(&v);", own},
    {"struct b { double v; };\nstatic void g(struct b *w) { w->v += 1; }\n",
     "struct b v = {1};\n" LOOP "g(&v);", changes},
    {"enum { ONE = 1, MORE };\n", LOOP "{ *s += MORE; *t += k > 1 ? (int)k : 0; }", "[+s*1 +t*1]"},
    {"", LOOP "here: for (int i = 0; i < 2; i++) { y[i] += *OP_ROW(a, k); }", label},
    {"", LOOP "k: *s += 1;", label},
    {"#define V double *v\nstatic void g(V) { *v += 1; }\n", LOOP "{ y[0] += 1; g(s); }", "macro"},
    {"#define STATIC static double memo; static\nSTATIC double g(double v) { return v; }\n",
     LOOP "*s += g(1);", "macro"},
    {"#define SAY(...) printf(__VA_ARGS__)\nstatic void g(int v) { if (v == 7) SAY(\"7\"); }\n",
     LOOP "*s += 1;\ng(n);", "macro"},
    {"", LOOP "*s += 1;\nputs(\"x\");", name},
    {"", "int u = 0;\n" LOOP "{ *s += 1; u+\\\n+; }", "two lines"},
    {"", LOOP "<% double *q<:1:> = <%y%>; *q<:0:> = 1; *s += 1; %>", "digraphs"},
    {"", "double u = 0.1;\n" LOOP "u = fminf(u, *OP_ROW(a, k));", order},
    {"", "long long u = 9007199254740993;\n" LOOP "u = fmax(u, *OP_ROW(c, k));", order},
    {"", "int u = 0;\n" LOOP "u = fmax(u, *OP_ROW(c, k));", "[>u]"},
    {"", "double h[16] = {0};\n" LOOP "h[*OP_ROW(c, k) & 15] += *OP_ROW(a, k);", "[+h*16]"},
    /* what leaves the loop, and other loops */
    {"", "double u = 0;\n" LOOP "{ if (k > 2) break; u += 1; }", leaves},
    {"", "double u = 0;\n" LOOP "{ if (k > 2) return; u += 1; }", leaves},
    {"", "double u = 0;\n" LOOP "{ if (k > 2) goto end; u += 1; }\nend: *y = u;", "goto"},
    {"", "double u = 0;\n" LOOP "switch (k) { case 0: u += 1; }", leaves},
    {"", "double u = 0;\nint k;\nOP_ANY_ORDER for (k = 0; k < n; k++) u += 1;\n*y = u + k;", form},
    {"", "double u = 0;\nOP_ANY_ORDER for (int k = 1; k < n; k++) u += 1;", form},
    {"", "double u = 0;\nOP_ANY_ORDER for (int k = 0; k < n; k += 2) u += 1;", form},
    {"", "double u = 0;\nOP_ANY_ORDER for (int k = 0; k != n; k++) u += 1;", form},
    {"", "double u = 0;\nOP_ANY_ORDER for (short k = 0; k < n; k++) u += 1;", form},
    {"", "double u = 0;\nOP_ANY_ORDER for (int k = 0; k < n - 1; k++) u += 1;", form},
    {"", "double u = 0;\nOP_ANY_ORDER for (int k = 0; k < 3; k++) u += y[k];", form},
    {"", "double u = 0;\nn -= 1;\n" LOOP "u += 1;", form},
    {"", "double u = 0;\nint *p = &n;\n" LOOP "{ u += 1; *p -= 1; }", form},
    {"", "double u = 0;\nint m = n;\nOP_ANY_ORDER for (int k = 0; k < m; k++) u += m--;", form},
    {"", "double u = 0;\n" LOOP "{ u += 1; k++; }", whole},
    {"", "double u = 0;\n" LOOP "{ int *p = &k; u += *p; }", address},
    {"", "double u = 0;\n" LOOP "{ { double u = 1; u += 2; } u = 3; }", order},
    {"", "double u = 0;\n" LOOP "{ int n = 3; u += n; n++; }", form},
    {"", "double u = 0;\nfor (int k = 0; k < n; k++) u += 1;", "before none of its loops"},
    /* rows that are written: each by the thread that has its step */
    {"", LOOP "OP_ROW(e, 0)[0] += *OP_ROW(a, k);", whole},
    {"", LOOP "OP_ROW(e, n - 1 - k)[0] = 1;", whole},
    {"", "double u = 0;\n" LOOP "u += *OP_ROW(e, k + 1);", entries},
    {"", "double u = 0;\n" LOOP "{ *OP_ROW(e, k) = 1; u += *OP_ROW(e, 0); }", entries},
    {"", LOOP "*OP_ROW(e, k) = 1;\nfor (int k = 0; k < n; k++) *OP_ROW(e, k) += 1;", entries},
    {"void g(double **v) { *OP_ROW(v, 0) = 1; }\n", LOOP "*OP_ROW(e, k) = 1;\ng(e);", entries},
    {"", LOOP "{ double *r = OP_ROW(e, k); r[0] = 1; }", whole},
    {"", LOOP "for (int k = 0; k < 2; k++) *OP_ROW(e, k) = 1;", whole},
    {"", "double u = 0;\n" LOOP "{ u += *OP_ROW(e, k); { int k = 0; u += *OP_ROW(e, k); } }", entries},
    /* what is not read */
    {"#ifdef A\n#endif\n", "double u = 0;\n#ifdef A\n" LOOP "u += 1;\n#endif\n", "preprocessor line"},
    {"", "double (*p)[2] = 0;\n" LOOP "*s += 1;", "not understood"},
    {"", "static double v;\n" LOOP "*s += 1;", "static or volatile"},
    {"", "volatile double u = 0;\n" LOOP "u += 1;", "static or volatile"},
};

static void print_split(const struct kernel *k, const struct split *split, struct text *out) {
  for (int l = 0; l < split->count; l++) {
    text_add_char(out, '[');
    for (int r = 0; r < split->loops[l].nresults; r++) {
      const struct split_result *result = &split->loops[l].results[r];
      const struct token *name = &k->tokens.items[result->name];
      text_addf(out, "%s%c%.*s", r ? " " : "", "+*<>"[result->kind], (int)(name->end - name->begin),
                k -> text + name -> begin);
      if (result->address)
        text_addf(out, "*%d", result->count);
    }
    text_add_char(out, ']');
  }
}

static void check(const char *text, struct desc *d, bool unmarked, const char *expected) {
  struct kernel k;
  struct split split;
  struct error err = {0};
  struct text got = {0};
  if (kernel_parse(&k, text, strlen(text), "f", &err) != OP_OK) {
    fprintf(stderr, "%s\n%s\n", text, error_message(&err));
    failures++;
    return;
  }
  if (rows_split(&k, d, unmarked, &split))
    print_split(&k, &split, &got);
  else
    text_add(&got, split.why);
  if (*expected == '[' ? strcmp(text_str(&got), expected) != 0
                       : split.count || !strstr(text_str(&got), expected)) {
    fprintf(stderr, "%s\ngives \"%s\", not \"%s\"\n\n", text, text_str(&got), expected);
    failures++;
  }
  text_free(&got);
  kernel_free(&k);
}

static void check_row(const struct row *r, bool unmarked) {
  struct text text = {0};
  text_addf(&text, "%s" HEAD "%s\n}\n", r->before, r->body);
  struct desc d = describe(text_str(&text));
  check(text_str(&text), &d, unmarked, r->expected);
  desc_free(&d);
  text_free(&text);
}

/* Arguments that a loop's threads cannot have together. */
static void check_arguments(void) {
  static const char text[] = HEAD LOOP "*s += 1;\n}\n";
  struct desc d = describe(text);
  d.args[1].access = OP_INC;
  check(text, &d, false, "rows of targets");
  d.args[1].access = OP_READ;
  d.args[4].access = OP_MIN;
  check(text, &d, false, "extrema of a dat");
  d.args[4].access = OP_RW;
  d.args[4].dim = 33;
  check(text, &d, false, "more than 32 values");
  d.args[4].dim = 3;
  d.args[4].dat = d.args[1].dat;
  check(text, &d, false, "another of its arguments");
  d.args[4].dat = 4;
  check(text, &d, false, "[+s*1]");
  desc_free(&d);
}

int main(void) {
  static const struct row
      unmarked = {"", "double u = 0;\nfor (int k = 0; k < n; k++) u += *OP_ROW(a, k);\n*y = u;", "[+u]"},
      recurrent = {"", "double u = 0;\nfor (int k = 0; k < n; k++) u = 2 * u;", order};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
    check_row(&rows[r], false);
  check_row(&unmarked, true);
  check_row(&recurrent, true);
  check_arguments();
  printf("%zu kernels, %d wrong\n", sizeof rows / sizeof *rows, failures);
  return failures != 0;
}
