/* The kernels of flux.c: the flux of the Euler equations in three dimensions over an edge, the mean of both ends and a
 * smoothing by the fastest waves, as MG-CFD's program has it (Owenson et al., written anew here); and a step in time. */
#include <math.h>

/* q: density, momentum, energy of a volume. */
static void flux(const double *normal, const double *q1, const double *q2, double *f1, double *f2) {
  double i1 = 1 / q1[0];
  double i2 = 1 / q2[0];
  double squared1 = i1 * i1 * (q1[1] * q1[1] + q1[2] * q1[2] + q1[3] * q1[3]);
  double squared2 = i2 * i2 * (q2[1] * q2[1] + q2[2] * q2[2] + q2[3] * q2[3]);
  double p1 = 0.4 * (q1[4] - 0.5 * q1[0] * squared1);
  double p2 = 0.4 * (q2[4] - 0.5 * q2[0] * squared2);
  double area = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
  double waves = sqrt(squared1) + sqrt(squared2) + sqrt(1.4 * p1 * i1) + sqrt(1.4 * p2 * i2);
  double smooth = 0.1 * area * waves;
  double through1 = 0.5 * i1 * (q1[1] * normal[0] + q1[2] * normal[1] + q1[3] * normal[2]);
  double through2 = 0.5 * i2 * (q2[1] * normal[0] + q2[2] * normal[1] + q2[3] * normal[2]);
  double push = 0.5 * (p1 + p2);
  double f[5];
  for (int v = 0; v < 5; v++)
    f[v] = through1 * q1[v] + through2 * q2[v] + smooth * (q1[v] - q2[v]);
  f[1] += push * normal[0];
  f[2] += push * normal[1];
  f[3] += push * normal[2];
  f[4] += through1 * p1 + through2 * p2;
  for (int v = 0; v < 5; v++) {
    f1[v] += f[v];
    f2[v] -= f[v];
  }
}

static void march(double *q, double *f) {
  for (int v = 0; v < 5; v++) {
    q[v] -= 1e-4 * f[v];
    f[v] = 0;
  }
}
