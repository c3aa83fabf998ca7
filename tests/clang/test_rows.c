/* The prover's tree shows rows of ragged maps, a table of kernels each: which loops over targets several threads may
 * share, and why not; which arguments' rows stay where they are. In doubt a loop stays whole, and there are copies. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "jit/kernel/prelude.h"
#include "jit/prover.h"

static const struct prover *prover;
static int failures;

struct loop {
  const struct prove_argument *arguments;
  int count;
  bool any_order;
};

/* NULL: the text does not compile, or nothing is known. */
static const struct row_facts *look(const char *text, const struct loop *loop, struct prove_result *result) {
  struct text all = {0};
  text_addf(&all, "%s#define op2jit_assert(c, words) ((void)0)\n#include \"kernel.c\"\n", jit_prelude());
  const struct compile_file files[] = {{"loop.c", text_str(&all), all.length},
                                       {"kernel.c", text, strlen(text)}};
  const struct prove_request request = {.files = files,
                                        .nfiles = 2,
                                        .kernel = "f",
                                        .arguments = loop->arguments,
                                        .narguments = loop->count,
                                        .any_order = loop->any_order};
  prover->prove(&request, result);
  text_free(&all);
  if (!result->rows)
    fprintf(stderr, "%s\n%s\n", text, result->nmessages ? result->messages[0].text : "no facts");
  return result->rows;
}

static void compare(const char *text, const char *got, const char *expected) {
  if (strcmp(got, expected) != 0) {
    fprintf(stderr, "%s\ngives \"%s\", not \"%s\"\n\n", text, got, expected);
    failures++;
  }
}

static void add(const char *text, const struct row_range *at, struct text *out) {
  text_add_bytes(out, text + at->begin, (size_t)(at->end - at->begin));
}

/* The store has the same. */
static void comes_back(const struct row_facts *rows, const char *text) {
  struct text words = {0};
  struct row_facts read;
  row_facts_print(rows, &words);
  if (!row_facts_parse(text_str(&words), strlen(text), &read) || memcmp(&read, rows, sizeof read) != 0 ||
      (rows->nloops && row_facts_parse(text_str(&words), (size_t)rows->loops[0].all.begin, &read)))
    compare(text, text_str(&words), "as it was");
  text_free(&words);
}

/* ---- loops that are shared ---- */

#define RAGGED(type_, access_)                                                                               \
  .form = PROVE_VECTOR, .access = access_, .type = type_, .arity = 4, .ragged = true
#define ROW(type_, access_, dim_)                                                                            \
  .form = PROVE_DATA, .access = access_, .type = type_, .dim = dim_, .arity = 1, .adds = true

/* n, a: entries; x: targets, rows of 2; e: entries that are written; c: entries, whole numbers; y: the element's own
 * three values; s, t: sums of the loop; m: its largest. */
static const struct prove_argument shared_arguments[] = {
    {RAGGED("double", OP_READ), .dim = 1, .counted = true},
    {RAGGED("double", OP_READ), .dim = 2},
    {RAGGED("double", OP_RW), .dim = 2, .own = true},
    {RAGGED("int", OP_READ), .dim = 1},
    {ROW("double", OP_RW, 3)},
    {ROW("double", OP_INC, 1)},
    {ROW("int", OP_INC, 1)},
    {ROW("double", OP_MAX, 1)},
};

#define HEAD                                                                                                 \
  "void f(int n, const double **a, const double **x, double **e, const int **c, double *y, double *s, int "  \
  "*t, "                                                                                                     \
  "double *m) {\n"
#define LOOP "  OP_ANY_ORDER\n  for (int k = 0; k < n; k++)\n"

#define SHARED WHY_NOT_LOOKED_AT

static const struct sharing {
  const char *before, *body; /* functions; the kernel's body */
  const char *expected;      /* results by loop */
  enum split_why why;
} shared[] = {
    /* what can be shared */
    {"", "double sum = 0;\n" LOOP "sum += *OP_ROW(a, k) * OP_ROW(x, k)[1];\n*y = sum;", "[+sum]", SHARED},
    {"", "y[0] = 0;\n" LOOP "{ const double v = *OP_ROW(a, k); y[0] += v; y[1] -= v * v; }", "[+y*3]",
     SHARED},
    {"", "float p = 1;\nlong long b = 0;\n" LOOP "{ p *= *OP_ROW(a, k); b += *OP_ROW(c, k) - 2; b++; }",
     "[*p +b]", SHARED},
    {"", LOOP "*s += *OP_ROW(a, k);\n", "[+s*1]", SHARED},
    {"", LOOP "*m = fmax(*m, *OP_ROW(a, k));\n", "[>m*1]", SHARED},
    {"", "float l = 1e30f;\n" LOOP "l = fminf(*OP_ROW(a, k) + 1, l);\ny[0] = l;", "[<l]", SHARED},
    {"",
     "OP_ANY_ORDER for (size_t k = 0; k < n; ++k) { OP_ROW(e, k)[0] = 2; OP_ROW(e, k)[1] += *OP_ROW(a, k); }",
     "[]", SHARED},
    {"", "const int many = n;\nOP_ANY_ORDER for (long k = 0; k < many; k += 1) *t += 1;", "[+t*1]", SHARED},
    {"", "double w[2] = {0, 0};\n" LOOP "for (int i = 0; i < 2; i++) w[i] += OP_ROW(x, k)[i];\n*y = w[0];",
     "[+w*2]", SHARED},
    {"",
     "double u = 0, v = 0;\n" LOOP "if (*OP_ROW(a, k) > 0) u += 1; else { v -= 1; continue; }\ny[0] = u - v;",
     "[+u +v]", SHARED},
    {"", "if (n == 0) return;\ndouble u = 0;\n" LOOP "u += 1;\n" LOOP "*OP_ROW(e, k) /= u;", "[+u][]",
     SHARED},
    {"double g(const double *v, int i) { return v[i]; }\n",
     "double u = 0;\n" LOOP "u += g(OP_ROW(x, k), 1);\ny[0] = u;", "[+u]", SHARED},
    {"",
     "double u = 0;\n" LOOP
     "{ int i; double v[2]; v[1] = sqrt(*OP_ROW(a, k)); i = 1; i++; u += v[i - 1]; }\n*y = u;",
     "[+u]", SHARED},
    {"", "double u = 0;\n" LOOP "{ const double *r = OP_ROW(x, k); u += r[0] * y[1]; }\n*y = u;", "[+u]",
     SHARED},
    {"", "int u = 0;\n" LOOP "u += (int)(*OP_ROW(a, k) * 2.5);\n*t += u;", "[+u]", SHARED},
    {"#define TWO 2\n", "double u = 0;\n" LOOP "u += TWO;\n*y = u;", "[+u]", SHARED},
    /* names that mean something else elsewhere */
    {"",
     "{ int u = 3; *t += u; }\ndouble u = 0;\n" LOOP "{ const double v = *OP_ROW(a, k); u += v; }\n" LOOP
     "{ double v = 2; v *= u; *s += v; }",
     "[+u][+s*1]", SHARED},
    {"", "double u = 0;\n" LOOP "{ for (int k = 0; k < 3; k++) u += k; }\n*y = u;", "[+u]", SHARED},
    {"", "double u = 0;\n" LOOP "{ u += 1; { double u = 1; u *= 2; } }", "[+u]", SHARED},
    /* the second stays whole */
    {"",
     "double u = 0, v = 0;\n" LOOP
     "u += 1;\nfor (int k = 0; k < n; k++) v = v / 2 + *OP_ROW(a, k);\n*y = u + v;",
     "[+u]", SHARED},
    /* what depends on the order */
    {"", "double u = 0;\n" LOOP "u = u / 2 + *OP_ROW(a, k);", NULL, WHY_ORDER},
    {"", "double u = 0;\n" LOOP "u = *OP_ROW(a, k);", NULL, WHY_ORDER},
    {"", "double u = 1;\n" LOOP "u /= *OP_ROW(a, k);", NULL, WHY_ORDER},
    {"", "double u = 0, v = 0;\n" LOOP "{ u += *OP_ROW(a, k); v += u; }", NULL, WHY_USED},
    {"", "double u = 0;\n" LOOP "{ u += *OP_ROW(a, k); if (u > 3) *t += 1; }", NULL, WHY_USED},
    {"", "double u = 0;\n" LOOP "u += u;", NULL, WHY_USED},
    {"", "double u = 0;\n" LOOP "{ u += 1; u *= 2; }", NULL, WHY_SEVERAL},
    {"", "int u = 0;\n" LOOP "u += *OP_ROW(a, k);", NULL, WHY_FRACTIONS},
    {"", LOOP "*t += 0.5;", NULL, WHY_FRACTIONS},
    {"", LOOP "*t += (int)(2.5) * 0.5;", NULL, WHY_FRACTIONS},
    {"", LOOP "*t += (double)(2);", NULL, WHY_FRACTIONS},
    {"", LOOP "y[k] = *OP_ROW(a, k);", NULL, WHY_ORDER},
    {"", "double u = 0;\n" LOOP "*OP_ROW(e, k) = u += 1;", NULL, WHY_PART},
    {"", "double u = 0;\n" LOOP "for (int i = 0; u += 1; i++) *s += 1;", NULL, WHY_PART},
    {"", "double u = 0, v = 0;\n" LOOP "*OP_ROW(e, k) = u++;", NULL, WHY_PART},
    {"", "double u = 0;\n" LOOP "*s += 1, u += 1;", NULL, WHY_PART},
    {"", "bool u = 0;\n" LOOP "u += 1;", NULL, WHY_OTHER},
    {"", "int last = 0;\n" LOOP "last = k;\n*t += last;", NULL, WHY_ORDER},
    /* what leads elsewhere */
    {"", "double u = 0, *p = &u;\n" LOOP "u += *OP_ROW(a, k) + *p;", NULL, WHY_POINTER},
    {"", "double w[2] = {0}; double *p = w;\n" LOOP "w[0] += p[0];", NULL, WHY_POINTER},
    {"", "double *p = y;\n" LOOP "p[0] += *OP_ROW(a, k);", NULL, WHY_OTHER},
    {"", "double w[2];\n" LOOP "{ double *p = w; p[0] += 1; }", NULL, WHY_OTHER},
    {"", "double u = 0;\n" LOOP "{ double *p = &u; *p += 1; }", NULL, WHY_ADDRESS},
    {"", "double u = 0;\n" LOOP "{ double *p = (double *)&u; *p += 1; }", NULL, WHY_ADDRESS},
    {"", LOOP "*s++;", NULL, WHY_OTHER},
    {"", LOOP "++*t;", "[+t*1]", SHARED},
    {"", LOOP "s++;", NULL, WHY_OTHER},
    {"", LOOP "(*s)++;", "[+s*1]", SHARED},
    {"", "double w[2] = {0};\n" LOOP "*w += 1;", NULL, WHY_OTHER},
    {"", "double w[2] = {0};\n" LOOP "*(double *)w += 1;", NULL, WHY_OTHER},
    {"", "struct { double v; } w = {0};\n" LOOP "w.v += 1;", NULL, WHY_OTHER},
    {"void g(double *v) { *v += 1; }\n", "double u[1] = {0};\n" LOOP "g(u);", NULL, WHY_CHANGES},
    {"void g(const double *v) { *(double *)v += 1; }\n", "double u[1] = {0};\n" LOOP "g(u);", NULL, WHY_MADE},
    {"double g(void) { static double v; return v += 1; }\n", "double u = 0;\n" LOOP "u += g();", NULL,
     WHY_STATIC},
    {"void absf(double *v) { *v += 1; }\n", "double u[1] = {0};\n" LOOP "absf(u);", NULL, WHY_CHANGES},
    {"struct b { double *v; };\nvoid g(struct b v) { *v.v += 1; }\n",
     "double u[1] = {0};\nstruct b b = {u};\n" LOOP "g(b);", NULL, WHY_TYPE},
    {"typedef double *p;\nvoid g(p v) { *v += 1; }\n", "double u[1] = {0};\n" LOOP "g(u);", NULL,
     WHY_CHANGES},
    {"#define ADD(v) (v += 1)\n", "double u = 0;\n" LOOP "ADD(u);", NULL, WHY_MACRO},
    {"#define LAST y[0] = k;\n", "double u = 0;\n" LOOP "{ u += 1; LAST }", NULL, WHY_MACRO},
    {"", "double u = 0;\n" LOOP "u += modf(2.5, y);", NULL, WHY_NAME},
    {"", "double u = 0;\n" LOOP "{ memcpy(y, OP_ROW(a, k), 8); u += 1; }", NULL, WHY_NAME},
    {"", LOOP "printf(\"%d\", k);", NULL, WHY_NAME},
    /* what tokens do not explain */
    {"", "*y++ = 7;\n*y = 0;\n" LOOP "*y += *OP_ROW(a, k);\ny[1] = 3;", NULL, WHY_POINTER},
    {"", "*--y = 7;\n" LOOP "*y += *OP_ROW(a, k);", NULL, WHY_POINTER},
    {"", "const double *p = &*y;\n" LOOP "{ *y += 1; *s += *p > 4; }", NULL, WHY_POINTER},
    {"", "const double *p = 1 ? &*y : s;\n" LOOP "{ y[0] += 1; *s += p[0]; }", NULL, WHY_POINTER},
    {"", "double *const q = &(*y);\n" LOOP "{ y[0] += 1; *s += q[0]; }", NULL, WHY_POINTER},
    {"", "double u = 0;\ndouble *const q = (&u);\n" LOOP "{ u += 1; *s += q[0]; }", NULL, WHY_POINTER},
    {"", "double w[2] = {0}; double *r = &*w;\n" LOOP "{ w[0] += 1; *s += r[0]; }", NULL, WHY_POINTER},
    {"", LOOP "0[y] += *OP_ROW(a, k);", "[+y*3]", SHARED},
    {"struct b { double *v; int at; };\nstatic inline double g(struct b v, double w) { return v.v[v.at] += "
     "w; }\n",
     "struct b b = {s, 0};\n" LOOP "y[0] += g(b, 1);", NULL, WHY_TYPE},
    {"struct b { double *v; };\n", "struct b b; b.v = &*y;\n" LOOP "{ y[0] += 1; *s += *b.v; }", NULL,
     WHY_TYPE},
    {"typedef double *ptr;\n", LOOP "{ ptr p[2] = {s, s}; p[0][0] = 1; y[0] += 1; }", NULL, WHY_OTHER},
    {"static inline void absf(double *v, double w) { *v += w; }\n", LOOP "absf(s, 1);", NULL, WHY_CHANGES},
    {"double fmax(double v, double w) { return v + 2 * w; }\n", "double u = 0;\n" LOOP "u = fmax(u, 2);",
     NULL, WHY_ORDER},
    {"float fminf(float v, float w) { return v - w; }\n", "float u = 0;\n" LOOP "u = fminf(u, 2);", NULL,
     WHY_ORDER},
    {"", "double u = 0, (*g)(double, double) = fmax;\n" LOOP "u = g(u, 2);", NULL, WHY_NAME},
    {"#define fmax(v, w) ((v) + (w))\n", "double u = 0;\n" LOOP "u = fmax(u, 2);", NULL, WHY_MACRO},
    {"static void g(double *v) { *v += 1; }\n", "double u = 0;\n" LOOP "{ u += 1; (g)(s); }", NULL,
     WHY_CHANGES},
    {"double memo;\nstatic double g(double v) { memo = memo * 0.5 + v; return memo; }\n",
     "double u = 0;\nmemo = 0;\n" LOOP "u += g(2);", NULL, WHY_NAME},
    {"static double memo;\nstatic double g(double v) { memo = v; return memo; }\n",
     "double u = 0;\n" LOOP "u += g(2);", NULL, WHY_NAME},
    {"static const double memo[2] = {1, 2};\nstatic double g(double v) { return memo[0] * v; }\n",
     "double u = 0;\n" LOOP "u += g(memo[1]);", "[+u]", SHARED},
    {"static const double *memo = 0;\n", "double u = 0;\n" LOOP "u += memo[0];", NULL, WHY_NAME},
    {"static void g(const double **p) { (*p)++; }\n",
     "const double *q[1] = {y};\n" LOOP "{ *s += *q[0]; g(q); }", NULL, WHY_CHANGES},
    {"static void g(const double *const v) { *(double *const)v += 1; }\n", LOOP "{ *s += 1; g(y); }", NULL,
     WHY_MADE},
    {"static double g(double, double v) { return v; }\n", LOOP "*s += g(1, 2);", "[+s*1]", SHARED},
    {"struct b { double v[2]; int i, j; };\nstatic double g(struct b v, const struct b *w) { return "
     "v.v[w->i]; }\n",
     "double u = 0;\n" LOOP "{ struct b v = {{1, 2}, 0, 1}; v.j += 1; u += g(v, &v); }", "[+u]", SHARED},
    {"struct b { int i; double *v; };\nstatic double g(const struct b *w) { return w->v[0]; }\n",
     "double u = 0;\nstruct b v = {1, y};" LOOP "u += g(&v);", NULL, WHY_TYPE},
    {"struct b { double v; };\nstatic void g(struct b *w) { w->v += 1; }\n",
     "struct b v = {1};\n" LOOP "g(&v);", NULL, WHY_CHANGES},
    {"enum { ONE = 1, MORE };\n", LOOP "{ *s += MORE; *t += k > 1 ? (int)k : 0; }", "[+s*1 +t*1]", SHARED},
    {"", LOOP "here: for (int i = 0; i < 2; i++) { y[i] += *OP_ROW(a, k); }", NULL, WHY_GOTO},
    {"", LOOP "k: *s += 1;", NULL, WHY_GOTO},
    {"#define V double *v\nstatic void g(V) { *v += 1; }\n", LOOP "{ y[0] += 1; g(s); }", NULL, WHY_CHANGES},
    {"#define STATIC static double memo; static\nSTATIC double g(double v) { return v; }\n",
     LOOP "*s += g(1);", "[+s*1]", SHARED},
    {"#define SAY(...) printf(__VA_ARGS__)\nstatic void g(int v) { if (v == 7) SAY(\"7\"); }\n",
     LOOP "*s += 1;\ng(n);", NULL, WHY_MACRO},
    {"int puts(const char *);\n", LOOP "*s += 1;\nputs(\"x\");", NULL, WHY_NAME},
    {"", "int u = 0;\n" LOOP "{ *s += 1; u+\\\n+; }", "[+s*1 +u]", SHARED},
    {"", LOOP "<% double *q<:1:> = <%y%>; *q<:0:> = 1; *s += 1; %>", NULL, WHY_OTHER},
    {"", "double u = 0.1;\n" LOOP "u = fminf(u, *OP_ROW(a, k));", NULL, WHY_ORDER},
    {"", "long long u = 9007199254740993;\n" LOOP "u = fmax(u, *OP_ROW(c, k));", NULL, WHY_ORDER},
    {"", "int u = 0;\n" LOOP "u = fmax(u, *OP_ROW(c, k));", "[>u]", SHARED},
    {"", "double h[16] = {0};\n" LOOP "h[*OP_ROW(c, k) & 15] += *OP_ROW(a, k);", "[+h*16]", SHARED},
    /* what leaves the loop, and other loops */
    {"", "double u = 0;\n" LOOP "{ if (k > 2) break; u += 1; }", NULL, WHY_LEAVES},
    {"", "double u = 0;\n" LOOP "{ if (k > 2) return; u += 1; }", NULL, WHY_LEAVES},
    {"", "double u = 0;\n" LOOP "{ if (k > 2) goto end; u += 1; }\nend: *y = u;", NULL, WHY_GOTO},
    {"", "double u = 0;\n" LOOP "switch (k) { case 0: u += 1; }", NULL, WHY_LEAVES},
    {"", "double u = 0;\nint k;\nOP_ANY_ORDER for (k = 0; k < n; k++) u += 1;\n*y = u + k;", NULL, WHY_FORM},
    {"", "double u = 0;\nOP_ANY_ORDER for (int k = 1; k < n; k++) u += 1;", NULL, WHY_FORM},
    {"", "double u = 0;\nOP_ANY_ORDER for (int k = 0; k < n; k += 2) u += 1;", NULL, WHY_FORM},
    {"", "double u = 0;\nOP_ANY_ORDER for (int k = 0; k != n; k++) u += 1;", NULL, WHY_FORM},
    {"", "double u = 0;\nOP_ANY_ORDER for (short k = 0; k < n; k++) u += 1;", NULL, WHY_FORM},
    {"", "double u = 0;\nOP_ANY_ORDER for (int k = 0; k < n - 1; k++) u += 1;", NULL, WHY_FORM},
    {"", "double u = 0;\nOP_ANY_ORDER for (int k = 0; k < 3; k++) u += y[k];", NULL, WHY_FORM},
    {"", "double u = 0;\nn -= 1;\n" LOOP "u += 1;", NULL, WHY_FORM},
    {"", "double u = 0;\nint *p = &n;\n" LOOP "{ u += 1; *p -= 1; }", NULL, WHY_FORM},
    {"", "double u = 0;\nint l = n;\nOP_ANY_ORDER for (int k = 0; k < l; k++) u += l--;", NULL, WHY_FORM},
    {"", "double u = 0;\n" LOOP "{ u += 1; k++; }", NULL, WHY_OTHER},
    {"", "double u = 0;\n" LOOP "{ int *p = &k; u += *p; }", NULL, WHY_ADDRESS},
    {"", "double u = 0;\n" LOOP "{ { double u = 1; u += 2; } u = 3; }", NULL, WHY_ORDER},
    {"", "double u = 0;\n" LOOP "{ int n = 3; u += n; n++; }", "[+u]", SHARED},
    {"", "double u = 0;\nfor (int k = 0; k < n; k++) u += 1;", NULL, WHY_UNMARKED},
    /* rows that are written: each by the thread that has its step */
    {"", LOOP "OP_ROW(e, 0)[0] += *OP_ROW(a, k);", NULL, WHY_OTHER},
    {"", LOOP "OP_ROW(e, n - 1 - k)[0] = 1;", NULL, WHY_OTHER},
    {"", "double u = 0;\n" LOOP "u += *OP_ROW(e, k + 1);", NULL, WHY_ENTRIES},
    {"", "double u = 0;\n" LOOP "{ *OP_ROW(e, k) = 1; u += *OP_ROW(e, 0); }", NULL, WHY_ENTRIES},
    {"", LOOP "*OP_ROW(e, k) = 1;\nfor (int k = 0; k < n; k++) *OP_ROW(e, k) += 1;", NULL, WHY_ENTRIES},
    {"void g(double **v) { *OP_ROW(v, 0) = 1; }\n", LOOP "*OP_ROW(e, k) = 1;\ng(e);", NULL, WHY_ENTRIES},
    {"", LOOP "{ double *r = OP_ROW(e, k); r[0] = 1; }", NULL, WHY_OTHER},
    {"", LOOP "for (int k = 0; k < 2; k++) *OP_ROW(e, k) = 1;", NULL, WHY_OTHER},
    {"", "double u = 0;\n" LOOP "{ u += *OP_ROW(e, k); { int k = 0; u += *OP_ROW(e, k); } }", NULL,
     WHY_ENTRIES},
    /* what the compiler sees, and what it does not */
    {"", "double u = 0;\nOP_ANY_ORDER /* or not */\n// here\nfor (int k = 0; k < n; k++) u += exp(k);",
     "[+u]", SHARED},
    {"", "double u = 0;\n/* OP_ANY_ORDER */ for (int k = 0; k < n; k++) u += 1;", NULL, WHY_UNMARKED},
    {"", "double u = 0;\n" LOOP "{ op_assert(k < n); if (!isnan(*OP_ROW(a, k))) u += 1; }", "[+u]", SHARED},
    {"#define ID(x) x\n#define HALF (1.0 / 2)\n", LOOP "ID(y[0] += HALF * *OP_ROW(a, k));", "[+y*3]", SHARED},
    {"#define ID(x) x\n", LOOP "ID(for (int i = 0; i < 2; i++) y[i] += 1;)", NULL, WHY_FORM},
    {"#define ID(x) x\n", "ID(OP_ANY_ORDER for (int k = 0; k < n; k++) y[0] += 1;)", NULL, WHY_UNMARKED},
    {"#define NEXT (k + 1)\n", LOOP "y[0] += NEXT;", NULL, WHY_MACRO},
    {"typedef double real;\ntypedef struct { real v[2]; } pair;\n",
     "real u = 0;\n" LOOP "{ pair p = {{1, 2}}; p.v[1] *= 2; u += p.v[1]; }", "[+u]", SHARED},
    {"", "double u = 0;\n" LOOP "*OP_ROW(e, k) = ({ u += 1; u; });", NULL, WHY_NOT_C},
    {"", "double u = 0;\n" LOOP "{ u += 1; __asm__ volatile(\"\"); }", NULL, WHY_NOT_C},
    {"static void g(double *v) { *v += 1; }\n",
     "double u = 0;\n" LOOP "{ __attribute__((cleanup(g))) double v = 0; u += v; }", NULL, WHY_NOT_C},
    {"", LOOP "__sync_fetch_and_add(t, 1);", NULL, WHY_NAME},
    {"static void g(const double *v) { double *w = v; *w += 1; }\n", LOOP "{ *s += 1; g(y); }", NULL,
     WHY_MADE},
    {"union u { double v; double *p; };\n", "union u u = {0};\n" LOOP "*s += u.v;", NULL, WHY_TYPE},
    {"static double g(double v) {\n#ifdef A\n  v = 2;\n#endif\n  return v;\n}\n", LOOP "*s += g(1);", NULL,
     WHY_DIRECTIVE},
    {"static double g(double v) { static const double t[2] = {1, 2}; return t[v > 1]; }\n",
     LOOP "*s += g(1);", "[+s*1]", SHARED},
    {"", "long double u = 0;\n" LOOP "u += 1;", NULL, WHY_OTHER},
    {"", "double u[17] = {0};\n" LOOP "u[0] += 1;", NULL, WHY_MANY},
    {"", "double u = 0;\n" LOOP "do u += 1; while (0);", NULL, WHY_PART},
    {"", "double u = 0;\n" LOOP "while (0) { if (k) u += 1; else u += 2; }", "[+u]", SHARED},
    /* what is not read */
    {"#ifdef A\n#endif\n", "double u = 0;\n#ifdef A\n" LOOP "u += 1;\n#endif\n", NULL, WHY_DIRECTIVE},
    {"", "double (*p)[2] = 0;\n" LOOP "*s += 1;", "[+s*1]", SHARED},
    {"", "static double v;\n" LOOP "*s += 1;", NULL, WHY_STATIC},
    {"", "volatile double u = 0;\n" LOOP "u += 1;", NULL, WHY_STATIC},
};

static void print_loop(const char *text, const struct split_loop *l, struct text *out) {
  text_add_char(out, '[');
  for (int r = 0; r < l->nresults; r++) {
    const struct split_result *result = &l->results[r];
    text_addf(out, "%s%c", r ? " " : "", "+*<>"[result->kind]);
    add(text, &result->name, out);
    if (result->address)
      text_addf(out, "*%d", result->count);
  }
  text_add_char(out, ']');
}

/* A generator replaces what it should. */
static void check_places(const char *text, const struct split_loop *l) {
  struct text words = {0};
  add(text, &l->zero, &words);
  add(text, &l->counter, &words);
  compare(text, text_str(&words), "0k");
  text_clear(&words);
  add(text, &l->step, &words);
  if (!strchr(text_str(&words), 'k') || strpbrk(text_str(&words), "();"))
    compare(text, text_str(&words), "a step");
  text_clear(&words);
  add(text, &l->all, &words);
  const char first = *text_str(&words), last = words.length ? words.data[words.length - 1] : ' ';
  if ((first != 'O' && first != 'f') || (last != ';' && last != '}'))
    compare(text, text_str(&words), "a loop");
  text_free(&words);
}

static void check_shared(const struct sharing *r, bool any_order) {
  const struct loop loop = {shared_arguments, sizeof shared_arguments / sizeof *shared_arguments, any_order};
  struct text text = {0}, got = {0}, expected = {0};
  struct prove_result result;
  text_addf(&text, "%s" HEAD "%s\n}\n", r->before, r->body);
  const struct row_facts *rows = look(text_str(&text), &loop, &result);
  for (int l = 0; rows && l < rows->nloops; l++) {
    print_loop(text_str(&text), &rows->loops[l], &got);
    check_places(text_str(&text), &rows->loops[l]);
  }
  if (rows && (!rows->nloops || rows->why))
    text_addf(&got, "reason %d", rows->why);
  if (rows)
    comes_back(rows, text_str(&text));
  if (r->expected)
    text_add(&expected, r->expected);
  else
    text_addf(&expected, "reason %d", r->why);
  compare(text_str(&text), text_str(&got), text_str(&expected));
  prover->release(&result);
  text_free(&text);
  text_free(&got);
  text_free(&expected);
}

/* ---- rows that stay ---- */

/* n, a: entries; x: targets, rows of 2; z: targets that are added to. */
static const struct prove_argument staying_arguments[] = {
    {RAGGED("double", OP_READ), .dim = 1, .counted = true, .stays = true},
    {RAGGED("double", OP_READ), .dim = 2, .stays = true},
    {RAGGED("double", OP_INC), .dim = 1, .stays = true},
    {ROW("double", OP_RW, 1)},
};

#define PARAMETERS "void f(int n, const double **a, const double **x, double **z, double *y) {\n"
#define EACH "  for (int k = 0; k < n; k++)\n"

static const struct staying {
  const char *before, *body; /* functions; the kernel's body */
  const char *expected;      /* the arguments in place, and how many declarations of pointers there are */
} staying[] = {
    {"", EACH "*y += *OP_ROW(a, k) * OP_ROW(x, k)[1];", "axz0"},
    {"", EACH "*OP_ROW(z, k) += (*OP_ROW(a, (int)*OP_ROW(a, k)));", "axz0"},
    {"", "(void)a;\n" EACH "++OP_ROW(z, k)[0];", "axz0"},
    {"double g(double v) { return v; }\n", EACH "*y = g(*OP_ROW(a, k)) + g(OP_ROW(x, k)[0]);", "axz0"},
    {"", EACH "if (n & 1 && *OP_ROW(a, k) > 0) *y = n & (int)*OP_ROW(a, k);", "axz0"},
    {"#define TWO 2\n", EACH "*y += TWO * *OP_ROW(a, k);", "axz0"},
    {"double g(const double **v) { return *OP_ROW(v, 0); }\n", EACH "*y += g(a) + *OP_ROW(x, k);", "xz0"},
    {"double g(const double *x) { return *x; }\n", EACH "*y += g(OP_ROW(a, k)) + *OP_ROW(x, k);", "xz0"},
    /* pointers that a declaration gives */
    {"", EACH "{ const double *r = OP_ROW(x, k); *y += r[0] + *r; }", "axz1"},
    {"", EACH "{ const double *r = OP_ROW(x, k), *const q = OP_ROW(a, k + 1); *y += r[0] - q[0]; }", "axz1"},
    {"",
     EACH "{ double *r = OP_ROW(z, k); const double *q = OP_ROW(a, 0); r[0] += *q; }\n" EACH
          "{ double r = 2; *y += r; }",
     "axz2"},
    {"double g(const double *x) { return *x; }\n", EACH "{ const double *r = OP_ROW(x, k); *y += g(r); }",
     "az0"},
    {"", EACH "{ const double *r = OP_ROW(x, k); *y += *(r + 1); }", "az0"},
    {"", EACH "{ const double *r = OP_ROW(x, k); r = y; *y += *r; }", "az0"},
    {"", EACH "{ const double *r = OP_ROW(x, k), *q = y; *y += *r + *q; }", "az0"},
    {"", EACH "{ const double *r = OP_ROW(x, k), v = *OP_ROW(a, k); *y += *r + v; }", "az0"},
    {"", EACH "{ const double *r = n ? OP_ROW(x, k) : y; *y += *r; }", "az0"},
    {"", EACH "{ const double *r[1] = {OP_ROW(x, k)}; *y += *r[0]; }", "az0"},
    {"",
     EACH "{ const double *r = OP_ROW(x, k), *q = OP_ROW(a, k); *y += *r + *q; }\n" EACH
          "{ const double *q = OP_ROW(a, k), *s = y; *y += *q + *s; }",
     "z0"},
    /* addresses, and what nobody can see */
    {"", EACH "{ const double *r; r = &OP_ROW(x, k)[1]; *y += *r; }", "az0"},
    {"void g(const double *v) {}\n", EACH "g(&*OP_ROW(x, k));", "az0"},
    {"void g(const double *v) {}\n", EACH "g(&(OP_ROW(x, k)[1]));", "az0"},
    {"", EACH "*y += *(OP_ROW(x, k) + 1) + *OP_ROW(a, k);", "az0"},
    {"#define AT(k) *OP_ROW(x, k)\n", EACH "*y += AT(k);", "az0"},
    {"#define ID(x) x\n", EACH "*y += ID(*OP_ROW(x, k));", "axz0"},
    {"", EACH "*y += sizeof(*OP_ROW(x, k)) + *OP_ROW(a, (int)*OP_ROW(x, (int)*OP_ROW(a, k)));", "axz0"},
    {"#define GIVE(x, k) OP_ROW(x, k)\n", EACH "*y += *GIVE(x, k);", "az0"},
    {"", "\n#ifdef OP2JIT_KERNEL\n" EACH "*y += *OP_ROW(x, k);\n#endif\n", "0"},
    {"", EACH "{ __typeof__(*OP_ROW(x, k)) v = 1; *y += v; }", "0"},
    {"void f(int n, const double **a, const double **x, double **z, double *y);\n",
     EACH "*y += *OP_ROW(x, k);", "0"},
    {"", "{ double x = 1; *y += x; }\n" EACH "*y += *OP_ROW(a, k);", "axz0"},
};

static void check_staying(const char *text, const struct prove_argument *arguments, const char *expected) {
  const struct loop loop = {arguments, 4, false};
  struct text got = {0};
  struct prove_result result;
  const struct row_facts *rows = look(text, &loop, &result);
  int declared = 0;
  for (int i = 0; rows && i < 3; i++) {
    const bool stays = row_facts_stay(rows, i);
    declared -= stays;
    if (stays)
      text_add_char(&got, "axz"[i]);
  }
  for (int i = 0; rows && i < rows->nstays; i++) {
    const struct stay *s = &rows->stays[i];
    const int length = s->at.end - s->at.begin;
    declared += s->kind == STAY_DECLARES;
    if (s->kind == STAY_DECLARES    ? length != 0
        : s->kind == STAY_PARAMETER ? text[s->at.begin] != '*' || text[s->at.end - 1] != "axz"[s->arg]
                                    : length != 6 || memcmp(text + s->at.begin, "OP_ROW", 6) != 0)
      compare(text, text + s->at.begin, "a place");
  }
  if (rows)
    comes_back(rows, text);
  text_addf(&got, "%d", declared);
  compare(text, text_str(&got), expected);
  prover->release(&result);
  text_free(&got);
}

/* Rows of some types are more than values, or others in memory; and a parameter may be written in another way. */
static void check_parameters(void) {
  struct prove_argument arguments[4];
  memcpy(arguments, staying_arguments, sizeof arguments);
  arguments[1].stays = false;
  check_staying(PARAMETERS EACH "*y += *OP_ROW(a, k);\n}\n", arguments, "az0");
  check_staying("void f(int n, const double **a, const double *x[], double **z, double *y) {\n" EACH
                "*y += OP_ROW(x, k)[0];\n}\n",
                staying_arguments, "az0");
  check_staying("typedef const double **rows;\nvoid f(int n, const double\n *\n*a, rows x, double * * z, "
                "double *y) {\n" EACH "*y += OP_ROW(x, k)[0];\n}\n",
                staying_arguments, "az0");
}

int main(int argc, char **argv) {
  static const struct sharing any[] = {
      {"", "double u = 0;\nfor (int k = 0; k < n; k++) u += *OP_ROW(a, k);\n*y = u;", "[+u]", SHARED},
      {"", "double u = 0;\nfor (int k = 0; k < n; k++) u = 2 * u;", NULL, WHY_ORDER},
      {"", "*y = n;", NULL, WHY_NO_LOOP}};
  void *handle = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void *entry = handle ? dlsym(handle, "op2jit_compiler") : NULL;
  compiler_entry *get;
  if (!entry)
    return 2;
  memcpy(&get, &entry, sizeof get);
  prover = get()->prover;
  for (size_t r = 0; r < sizeof shared / sizeof *shared; r++)
    check_shared(&shared[r], false);
  for (size_t r = 0; r < sizeof any / sizeof *any; r++)
    check_shared(&any[r], true);
  for (size_t r = 0; r < sizeof staying / sizeof *staying; r++) {
    struct text text = {0};
    text_addf(&text, "%s" PARAMETERS "%s\n}\n", staying[r].before, staying[r].body);
    check_staying(text_str(&text), staying_arguments, staying[r].expected);
    text_free(&text);
  }
  check_parameters();
  printf("%zu kernels, %d wrong\n", sizeof shared / sizeof *shared + sizeof staying / sizeof *staying,
         failures);
  return failures != 0;
}
