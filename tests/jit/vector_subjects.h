/* Kernels that are to be vector code in strips: those of the flow solver, and some with branches. */
#ifndef OP2JIT_TESTS_JIT_VECTOR_SUBJECTS_H
#define OP2JIT_TESTS_JIT_VECTOR_SUBJECTS_H

#include "build.h"

struct subject {
  const char *name, *text;
  int divisions, roots;
  int reads[4], through_map[4];        /* dims of what is read directly and through the map; ends with 0 */
  int increments;                      /* dim of what is incremented through the map, twice; 0: none */
  int writes;                          /* dim of what is written directly */
  enum { NONE, SUM, EXTREMUM } result; /* EXTREMUM: a sum, the largest of something and where it is */
  enum type_code type;
};

static const struct subject subjects[] = {
    {"res_calc",
     "void res_calc(const double *adt1, const double *x1, const double *q1, const double *q2, double *res1, "
     "double *res2) {"
     "double r1 = 1.0 / q1[0], r2 = 1.0 / q2[0];"
     "double p1 = 0.4 * (q1[3] - 0.5 * r1 * (q1[1] * q1[1] + q1[2] * q1[2]));"
     "double p2 = 0.4 * (q2[3] - 0.5 * r2 * (q2[1] * q2[1] + q2[2] * q2[2]));"
     "for (int n = 0; n < 4; n++) { double f = r1 * q1[n] * x1[0] + p1 * x1[1] + r2 * q2[n] + p2 + *adt1;"
     "res1[n] += f; res2[n] -= f; } }",
     2,
     0,
     {1},
     {2, 4, 4},
     4,
     0,
     NONE,
     TYPE_DOUBLE},
    {"adt_calc",
     "void adt_calc(const double *q, const double *x1, const double *x2, double *adt) {"
     "double ri = 1.0 / q[0], u = ri * q[1], v = ri * q[2], c = sqrt(1.4 * 0.4 * (ri * q[3] - 0.5 * (u * u + "
     "v * v)));"
     "double dx = x2[0] - x1[0], dy = x2[1] - x1[1]; *adt = fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * "
     "dy); }",
     1,
     2,
     {4},
     {2, 2},
     0,
     1,
     NONE,
     TYPE_DOUBLE},
    {"update",
     "void update(const double *old, const double *res, const double *adt, double *q, double *rms) {"
     "double a = 1.0 / *adt; for (int n = 0; n < 4; n++) { double d = a * res[n]; q[n] = old[n] - d; *rms += "
     "d * d; } }",
     1,
     0,
     {4, 4, 1},
     {0},
     0,
     4,
     SUM,
     TYPE_DOUBLE},
    {"extreme",
     "void extreme(const double *res, const double *adt, double *q, double *rms, const int *cell, double "
     "*most, int *place) {"
     "double a = 1.0 / *adt; for (int n = 0; n < 4; n++) { double d = a * res[n]; q[n] = d; *rms += d * d;"
     "if (d * d > *most) { *most = d * d; *place = *cell; } } }",
     1,
     0,
     {4, 1},
     {0},
     0,
     4,
     EXTREMUM,
     TYPE_DOUBLE},
    {"relax",
     "void relax(const double *a, const double *u0, const double *u1, const double *u2, const double *u3, "
     "double *next) { *next = (u0[0] + u1[0] + u2[0] + u3[0]) / *a; }",
     1,
     0,
     {1},
     {1, 1, 1, 1},
     0,
     1,
     NONE,
     TYPE_DOUBLE},
    {"branch1",
     "void branch1(const double *a, double *b) { if (a[0] > 1) b[0] = a[1] / a[0]; else b[0] = a[1]; }",
     1,
     0,
     {2},
     {0},
     0,
     1,
     NONE,
     TYPE_DOUBLE},
    {"branch2",
     "void branch2(const double *a, double *b) { double t = a[0]; if (t < 0) t = -t; b[0] = sqrt(t) / (1 + "
     "t); }",
     1,
     1,
     {2},
     {0},
     0,
     1,
     NONE,
     TYPE_DOUBLE},
    {"branch3",
     "void branch3(const double *a, const double *x, double *b, double *c) { double w = a[0] / x[1]; if "
     "(x[0] > a[0]) { b[0] += w; c[1] -= w; } else { b[1] += 2 * w; } }",
     1,
     0,
     {1},
     {2},
     2,
     0,
     NONE,
     TYPE_DOUBLE},
    {"branch4",
     "void branch4(const double *a, double *b) { switch ((int)a[0] & 3) { case 0: b[0] = a[1]; break; case "
     "1: b[0] = sqrt(a[1]); break; default: b[0] = 1 / a[1]; } }",
     1,
     1,
     {2},
     {0},
     0,
     1,
     NONE,
     TYPE_DOUBLE},
    {"branch5",
     "void branch5(const double *a, const double *x, double *b) { b[0] = x[0] > 0.5 ? sqrt(x[0] * a[0]) : "
     "a[0] / x[1]; b[1] = a[0]; }",
     1,
     1,
     {1},
     {3},
     0,
     2,
     NONE,
     TYPE_DOUBLE},
    {"branch6",
     "void branch6(const double *a, const double *b, double *c) { if (a[0] > 0 && b[0] > 0) { double s = "
     "a[0] + b[0]; c[0] = s / (a[0] * b[0]); if (s > 2) c[0] = sqrt(s); } else c[0] = 0; }",
     1,
     1,
     {1, 1},
     {0},
     0,
     1,
     NONE,
     TYPE_DOUBLE},
    {"branch7",
     "static double limit(double r) { if (r < 0) return 0; if (r > 1) return 1; return r; } void "
     "branch7(const double *a, const double *x, double *p, double *q) { double f = limit(x[0] / a[0]); p[0] "
     "+= f; q[0] -= f; }",
     1,
     0,
     {1},
     {1},
     1,
     0,
     NONE,
     TYPE_DOUBLE},
    {"branch8",
     "void branch8(const double *a, double *b) { double s = 0; for (int i = 0; i < 3; i++) if (a[i] > 1) s "
     "+= a[i]; b[0] = s / (a[0] + 3.5); }",
     1,
     0,
     {3},
     {0},
     0,
     1,
     NONE,
     TYPE_DOUBLE},
    {"branch9",
     "void branch9(const double *a, double *b) { b[0] = 0; if (a[0] < 0.5) return; b[0] = sqrt(a[0]) / a[1]; "
     "}",
     1,
     1,
     {2},
     {0},
     0,
     1,
     NONE,
     TYPE_DOUBLE},
    {"branch10",
     "void branch10(const double *a, const double *x, double *b) { double m = x[0]; if (x[1] > m) m = x[1]; "
     "if (x[2] > m) m = x[2]; b[0] = a[0] / (m > 1e-3 ? m : 1e-3); }",
     1,
     0,
     {1},
     {3},
     0,
     1,
     NONE,
     TYPE_DOUBLE},
    {"single_flux",
     "void single_flux(const float *w, const float *q1, const float *q2, float *res1, float *res2) {"
     "float r = 1.0f / q1[0], c = sqrtf(q2[1] * r);"
     "for (int n = 0; n < 4; n++) { float f = *w * (r * q1[n] - c * q2[n]); res1[n] += f; res2[n] -= f; } }",
     1,
     1,
     {1},
     {4, 4},
     4,
     0,
     NONE,
     TYPE_FLOAT},
    {"single_sum",
     "void single_sum(const float *a, float *b, float *s) { float t = a[0] > 1.0f ? a[1] / a[0] : "
     "sqrtf(a[2]);"
     "b[0] = t; b[1] = -t; *s += t; }",
     1,
     1,
     {3},
     {0},
     0,
     2,
     SUM,
     TYPE_FLOAT},
};

static inline struct desc describe(const struct subject *s) {
  struct desc d = build_loop(s->name, s->text);
  int map = build_map(&d, 4, 1);
  for (int i = 0; i < 4 && s->reads[i]; i++)
    build_arg(&d, build_dat(&d, s->type, s->reads[i], 0, false), -1, -1, OP_READ);
  for (int i = 0; i < 4 && s->through_map[i]; i++)
    build_arg(&d, build_dat(&d, s->type, s->through_map[i], 1, false), map, i, OP_READ);
  if (s->increments) {
    int dat = build_dat(&d, s->type, s->increments, 1, false);
    build_arg(&d, dat, map, 0, OP_INC);
    build_arg(&d, dat, map, 1, OP_INC);
  }
  if (s->writes)
    build_arg(&d, build_dat(&d, s->type, s->writes, 0, false), -1, -1, OP_WRITE);
  if (s->result)
    build_gbl(&d, s->type, 1, OP_INC);
  if (s->result == EXTREMUM) {
    build_idx(&d, -1, -1);
    build_info(&d, TYPE_INT, 1, build_gbl(&d, s->type, 1, OP_MAX));
  }
  return d;
}

#endif
