#include "planted.h"

const struct mistake planted[] = {
    /* 1 to 3: READ written, directly, through a copied pointer, through a helper */
    {"r2 i1", "void k(const double *a, double *b) {\n  *b += a[0];\n  ((double *)a)[1] = 0;\n}", 0, 3,
     "OP_READ", "OP_RW", "void k(const double *a, double *b) {\n  *b += a[0] + ((double *)a)[1];\n}"},
    {"r2 i1",
     "void k(const double *a, double *b) {\n  double *p = (double *)a + 1;\n  double *q = p;\n  *b += *q;\n  "
     "*q = 1;\n}",
     0, 5, "writes", "OP_RW",
     "void k(const double *a, double *b) {\n  const double *p = a + 1;\n  const double *q = p;\n  *b += "
     "*q;\n}"},
    {"r2 i1",
     "static void set(double *x) {\n  x[1] = 2;\n}\nvoid k(const double *a, double *b) {\n  *b += a[0];\n  "
     "set((double *)a);\n}",
     0, 2, "OP_READ", "OP_RW",
     "static double get(const double *x) { return x[1]; }\nvoid k(const double *a, double *b) { *b += "
     "get(a); }"},
    /* 4 to 6: WRITE with a component unset, unset on one branch, read first */
    {"r4 w4", "void k(const double *a, double *b) {\n  for (int i = 0; i < 3; i++) b[i] = a[i];\n}", 1, 1,
     "never writes component 3", "OP_RW",
     "void k(const double *a, double *b) {\n  for (int i = 0; i < 4; i++) b[i] = a[i];\n}"},
    {"r1 w2", "void k(const double *a, double *b) {\n  b[0] = 1;\n  if (*a > 0)\n    b[1] = *a;\n}", 1, 1,
     "does not always write component 1", "OP_RW",
     "void k(const double *a, double *b) {\n  b[0] = 1;\n  if (*a > 0)\n    b[1] = *a;\n  else\n    b[1] = "
     "0;\n}"},
    {"r1 w1", "void k(const double *a, double *b) {\n  if (*a < 0)\n    return;\n  *b = *a;\n}", 1, 1,
     "does not always write", "OP_RW",
     "void k(const double *a, double *b) {\n  if (*a < 0) {\n    *b = 0;\n    return;\n  }\n  *b = *a;\n}"},
    {"r1 w1", "void k(const double *a, double *b) {\n  *b = *b + *a;\n}", 1, 2, "before it is written",
     "OP_RW", "void k(const double *a, double *b) {\n  *b = *a;\n  *b = *b + *a;\n}"},
    {"r1 w1", "void k(const double *a, double *b) {\n  *b += *a;\n}", 1, 2, "before it is written", "OP_RW",
     "void k(const double *a, double *b) {\n  *b = 0;\n  *b += *a;\n}"},
    /* 7 and 8: INC assigned, INC read */
    {"r1 i2", "void k(const double *a, double *b) {\n  b[0] += *a;\n  b[1] = *a;\n}", 1, 3, "OP_INC",
     "use +=", "void k(const double *a, double *b) {\n  b[0] += *a;\n  b[1] -= *a;\n  b[0]++;\n  --b[1];\n}"},
    {"r1 i2", "void k(const double *a, double *b) {\n  b[0] += *a * b[1];\n}", 1, 2, "reads it", "OP_RW",
     "void k(const double *a, double *b) {\n  b[0] += *a * a[0];\n}"},
    {"r1 i1", "void k(const double *a, double *b) {\n  *b = 2 * *b + *a;\n}", 1, 2, "OP_INC", "",
     "static void add(double *x, double by) { *x += by; }\nvoid k(const double *a, double *b) { add(b, *a); "
     "}"},
    {"r1 i1", "void k(const double *a, double *b) {\n  *b *= *a;\n}", 1, 2, "other than by adding", "OP_RW",
     "void k(const double *a, double *b) {\n  double c = 0;\n  c += *a;\n  *b -= c;\n}"},
    /* 5 once more: several conditions, and one component that only one of them sets */
    {"r1 w1",
     "void k(const double *a, double *b) {\n  if (*a > 1)\n    *b = 1;\n  else if (*a < 0)\n    *b = 2;\n}",
     1, 1, "does not always write", "OP_RW",
     "void k(const double *a, double *b) {\n  if (*a > 1)\n    *b = 1;\n  else if (*a < 0)\n    *b = 2;\n  "
     "else\n   "
     " *b = 3;\n}"},
    {"r1 w2",
     "void k(const double *a, double *b) {\n  if (*a > 1)\n    b[0] = b[1] = 1;\n  if (*a <= 1)\n    b[0] = "
     "2;\n}",
     1, 1, "does not always write component 1", "OP_RW",
     "void k(const double *a, double *b) {\n  b[0] = b[1] = 2;\n  if (*a > 1)\n    b[0] = b[1] = 1;\n}"},
    /* 9: MIN or MAX assigned without comparing */
    {"r1 n1", "void k(const double *a, double *m) {\n  *m = *a;\n}", 1, 2, "OP_MIN", "if (v < *m)",
     "void k(const double *a, double *m) {\n  if (*a < *m) *m = *a;\n}"},
    {"r1 m1", "void k(const double *a, double *m) {\n  if (*a < *m)\n    *m = *a;\n}", 1, 3, "OP_MAX",
     "if (v > *m)", "void k(const double *a, double *m) {\n  *m = fmax(*m, *a);\n}"},
    {"r1 n1", "void k(const double *a, double *m) {\n  *m = fmax(*m, *a);\n}", 1, 2, "OP_MIN", "",
     "void k(const double *a, double *m) {\n  *m = *m < *a ? *m : *a;\n}"},
    /* 10 and 11: beyond dim, beyond arity */
    {"r4 i1", "void k(const double *a, double *b) {\n  for (int i = 0; i <= 4; i++)\n    *b += a[i];\n}", 0,
     3, "component 4", "0 to 3",
     "void k(const double *a, double *b) {\n  for (int i = 0; i < 4; i++)\n    *b += a[i];\n}"},
    {"r2 i1", "void k(const double *a, double *b) {\n  *b += *(a - 1);\n}", 0, 2, "component -1", "0 to 1",
     "void k(const double *a, double *b) {\n  *b += *(a + 2 - 1);\n}"},
    {"v3r2 i1", "void k(const double *x[3], double *b) {\n  *b += x[0][1] + x[3][0];\n}", 0, 2,
     "uses number 3", "0 to 2",
     "void k(const double *x[3], double *b) {\n  for (int j = 0; j < 3; j++)\n    for (int i = 0; i < 2; "
     "i++)\n      *b += x[j][i];\n}"},
    {"v2w2", "void k(double *x[2]) {\n  x[0][0] = x[0][1] = x[1][0] = 1;\n}", 0, 1,
     "component 1 of pointer 1", "OP_RW",
     "void k(double **x) {\n  for (int j = 0; j < 2; j++) {\n    double *p = x[j];\n    *p++ = 1;\n    *p = "
     "2;\n  }\n}"},
    /* 10 once more: constants, one with a value and one that is set at each call, and arrays on the stack */
    {"r1 i1", "void k(const double *a, double *b) {\n  for (int i = 0; i < 3; i++)\n    *b += *a * w[i];\n}",
     -1, 3, "constant w has dim 2, and the kernel uses component 2", "0 to 1, or declare",
     "void k(const double *a, double *b) {\n  for (int i = 0; i < 2; i++)\n    *b += *a * w[i];\n}"},
    {"r1 w1", "void k(const double *a, double *b) {\n  *b = *a * variable[3];\n}", -1, 2,
     "constant variable has dim 3, and the kernel uses component 3", "0 to 2",
     "void k(const double *a, double *b) {\n  *b = *a * variable[2];\n}"},
    {"r1 i1", "void k(const double *a, double *b) {\n  const double *p = &gam;\n  *b += *a * p[1];\n}", -1, 3,
     "constant gam has dim 1", "",
     "void k(const double *a, double *b) {\n  const double *p = &gam;\n  *b += *a * p[0];\n}"},
    {"r1 i1",
     "void k(const double *a, double *b) {\n  double z[3];\n  for (int i = 0; i < 4; i++)\n    z[i] = *a;\n  "
     "*b += "
     "z[0];\n}",
     -1, 4, "array z has 3 elements, and the kernel uses element 3", "0 to 2",
     "void k(const double *a, double *b) {\n  double z[3], *end = &z[3];\n  for (double *p = z; p < end; "
     "p++)\n    *p = "
     "*a;\n  *b += z[0];\n}"},
    {"r1 i1",
     "static double last(const double *x, int n) {\n  return x[n];\n}\nvoid k(const double *a, double *b) "
     "{\n  double "
     "z[2] = {*a, 1};\n  *b += last(z, 2);\n}",
     -1, 2, "array z has 2 elements, and the kernel uses element 2", "",
     "static double last(const double *x, int n) {\n  return x[n - 1];\n}\nvoid k(const double *a, double "
     "*b) {\n  "
     "double z[2] = {*a, 1};\n  *b += last(z, 2);\n}"},
    {"r1 i1",
     "void k(const double *a, double *b) {\n  double m[2][3] = {{*a, 1, 2}, {3, 4, 5}};\n  for (int i = 0; i "
     "< 3; i++)\n  "
     "  for (int j = 0; j < 2; j++)\n      *b += m[i][j];\n}",
     -1, 5, "array m has 2 elements, and the kernel uses element 2", "",
     "void k(const double *a, double *b) {\n  double m[2][3] = {{*a, 1, 2}, {3, 4, 5}}, *p = m[0];\n  for "
     "(int i = 0; i "
     "< 2; i++)\n    for (int j = 0; j < 3; j++)\n      *b += m[i][j];\n  *b += p[5];\n}"},
    {"r1 i1",
     "void k(const double *a, double *b) {\n  struct { double x; } s[2] = {{1}, {2}};\n  *b += *a * "
     "s[2].x;\n}",
     -1, 3, "array s has 2 elements", "",
     "void k(const double *a, double *b) {\n  struct { double x; } s[2] = {{1}, {2}};\n  *b += *a * "
     "s[1].x;\n}"},
    {"r1 i1", "void k(const double *a, double *b) {\n  double s = *a, *p = &s;\n  *b += p[-1];\n}", -1, 3,
     "variable s holds one value, and the kernel uses element -1", "",
     "void k(const double *a, double *b) {\n  double s[2] = {*a, 1};\n  const char *c = (const char *)(void "
     "*)s;\n  "
     "*b += c[15];\n}"},
    {"r1 i1", "void k(const double *a, double *b) {\n  const double *p = 0;\n  *b += *a + *p;\n}", -1, 3,
     "null pointer", "",
     "static double of(const double *p) { return p ? *p : 1; }\nvoid k(const double *a, double *b) {\n  "
     "double *p = "
     "NULL;\n  *b += of(a) + of(NULL);\n  if (p) *b += *p;\n}"},
    /* OP_INC for what keeps the smallest or largest */
    {"r1 i1", "void k(const double *a, double *m) {\n  if (*a < *m)\n    *m = *a;\n}", 1, 2, "OP_INC",
     "declare argument 2 (m) OP_MIN", "void k(const double *a, double *m) {\n  *m += *a;\n}"},
    {"r1 i1", "void k(const double *a, double *m) {\n  *m = fmax(*a, *m);\n}", 1, 2, "OP_INC",
     "declare argument 2 (m) OP_MAX", "void k(const double *a, double *m) {\n  *m -= *a;\n}"},
    {"r1 n1", "void k(const double *a, double *m) {\n  if (*a > *m)\n    *m = *a;\n}", 1, 3, "OP_MIN",
     "or declare it OP_MAX", "void k(const double *a, double *m) {\n  *m = fmin(*a, *m);\n}"},
    /* 12 to 14: number, type, const and order of the parameters */
    {"r1", "void k(const double *a, double *b) {\n  *b += *a;\n}", -1, 1, "2 parameters", "",
     "void k(const double *a) {}"},
    {"i1", "void k(float *b) {\n  *b += 1;\n}", -1, 1, "\"float *\"", "write \"double *b\"",
     "void k(double *b) {\n  *b += 1;\n}"},
    {"r1 i1", "void k(double *b, const double *a) {\n  *b += *a;\n}", -1, 1, "parameter 1 (b)", "const",
     "void k(const double *a, double *b) {\n  *b += *a;\n}"},
    /* 20: state kept between elements */
    {"r1 i1", "static int count;\nvoid k(const double *a, double *b) {\n  count++;\n  *b += *a * count;\n}",
     -1, 3, "'count'", "dat",
     "static const int count = 3;\nvoid k(const double *a, double *b) {\n  *b += *a * count;\n}"},
    {"r1 i1", "void k(const double *a, double *b) {\n  static double last;\n  *b += last;\n  last = *a;\n}",
     -1, 4, "'last'", "dat",
     "void k(const double *a, double *b) {\n  static const double table[2] = {1, 2};\n  *b += table[1] * "
     "*a;\n}"},
    /* 21: uninitialised local */
    {"r1 i1", "void k(const double *a, double *b) {\n  double s;\n  s += *a;\n  *b += s;\n}", -1, 3,
     "uninitialized", "value",
     "void k(const double *a, double *b) {\n  double s = 0;\n  s += *a;\n  *b += s;\n}"},
    /* recursion */
    {"i1",
     "static double f(int n) {\n  return n ? f(n - 1) : 1;\n}\nvoid k(double *b) {\n  *b += f((int)gam);\n}",
     -1, 2, "itself", "loop",
     "static double g(int n) { return n; }\nstatic double f(int n) { return g(n) + g(n + 1); }\nvoid "
     "k(double *b) { *b += f(2); }"},
    {"i1",
     "static double f(int n) {\n  double (*self)(int) = f;\n  return n ? self(n - 1) : 1;\n}\nvoid k(double "
     "*b) "
     "{\n  double (*p)(int) = f;\n  *b += p(2);\n}",
     -1, 2, "itself", "loop",
     "static double f(int n) { return n; }\nvoid k(double *b) { double (*p)(int) = f; *b += p(2) + f(3); }"},
};

const int planted_count = (int)(sizeof planted / sizeof *planted);
