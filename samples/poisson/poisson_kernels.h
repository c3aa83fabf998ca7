/* The kernels of poisson.c, which includes this file and gives it to the library. */
#include <math.h>

/* The solution that is known: -laplace u = 4 u, and du/dz = u. */
static double solution(const double *x) {
  return sin(2 * x[0]) * cos(x[1]) * exp(x[2]);
}

/* Values where u is given, zeros elsewhere: the first guess, too. */
static void start(const double *x, const int *fixed, double *given, double *b, double *u) {
  *given = *fixed ? solution(x) : 0;
  *u = *given;
  *b = 0;
}

/* A tetrahedron's matrix and right-hand side, linear functions. What given values contribute is on the right. */
static void assemble(const double *x[4], const double *given[4], double *k, double *b[4]) {
  double edge[3][3], slope[4][3];
  for (int i = 0; i < 3; i++)
    for (int d = 0; d < 3; d++)
      edge[i][d] = x[i + 1][d] - x[0][d];
  for (int i = 0; i < 3; i++) {
    const double *p = edge[(i + 1) % 3], *q = edge[(i + 2) % 3];
    slope[i + 1][0] = p[1] * q[2] - p[2] * q[1];
    slope[i + 1][1] = p[2] * q[0] - p[0] * q[2];
    slope[i + 1][2] = p[0] * q[1] - p[1] * q[0];
  }
  double det = edge[0][0] * slope[1][0] + edge[0][1] * slope[1][1] + edge[0][2] * slope[1][2];
  double volume = fabs(det) / 6;
  for (int d = 0; d < 3; d++) {
    for (int i = 1; i < 4; i++)
      slope[i][d] /= det;
    slope[0][d] = -slope[1][d] - slope[2][d] - slope[3][d];
  }
  double load[4], sum = 0;
  for (int i = 0; i < 4; i++) {
    load[i] = 4 * solution(x[i]);
    sum += load[i];
  }
  for (int i = 0; i < 4; i++) {
    double right = volume / 20 * (sum + load[i]);
    for (int j = 0; j < 4; j++) {
      k[4 * i + j] =
          volume * (slope[i][0] * slope[j][0] + slope[i][1] * slope[j][1] + slope[i][2] * slope[j][2]);
      right -= k[4 * i + j] * given[j][0];
    }
    b[i][0] += right;
  }
}

/* What flows in through a triangle of the floor or the ceiling. */
static void flow(const double *x[3], double *b[3]) {
  double a[3], c[3], normal = 0, flux[3], sum = 0;
  for (int d = 0; d < 3; d++) {
    a[d] = x[1][d] - x[0][d];
    c[d] = x[2][d] - x[0][d];
  }
  normal = fabs(a[0] * c[1] - a[1] * c[0]); /* triangles lie flat */
  for (int i = 0; i < 3; i++) {
    flux[i] = x[i][2] > 0.5 ? solution(x[i]) : -solution(x[i]);
    sum += flux[i];
  }
  for (int i = 0; i < 3; i++)
    b[i][0] += normal / 24 * (sum + flux[i]);
}

static void put_given(const int *fixed, const double *given, double *b) {
  if (*fixed)
    *b = *given;
}

static void compare(const double *x, const double *u, double *error) {
  double e = fabs(*u - solution(x));
  *error = *error >= e ? *error : e; /* a NaN stays */
}
