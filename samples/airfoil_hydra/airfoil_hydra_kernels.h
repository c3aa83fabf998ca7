/* The kernels of airfoil_hydra.c, which includes this file and gives it to the library. */
#include <math.h>

static void gradient(const double *normal, const double *q1, const double *q2, double *g1, double *g2) {
  for (int v = 0; v < 7; v++) {
    double mean = 0.5 * (q1[v] + q2[v]);
    for (int d = 0; d < 3; d++) {
      g1[3 * v + d] += mean * normal[d];
      g2[3 * v + d] -= mean * normal[d];
    }
  }
}

static void close_gradient(const double *normal, const double *q, double *g) {
  for (int v = 0; v < 7; v++)
    for (int d = 0; d < 3; d++)
      g[3 * v + d] += q[v] * normal[d];
}

static void divide(const double *volume, double *g) {
  for (int k = 0; k < 21; k++)
    g[k] /= *volume;
}

static void flux(const double *x1, const double *x2, const double *normal, const double *volume1,
                 const double *volume2, const double *q1, const double *q2, const double *g1,
                 const double *g2, double *res1, double *res2) {
  double dx[3];
  double left[7];
  double right[7];
  double f[7];
  double length2 = 0;
  double area2 = 0;
  for (int d = 0; d < 3; d++) {
    dx[d] = x2[d] - x1[d];
    length2 += dx[d] * dx[d];
    area2 += normal[d] * normal[d];
  }
  for (int v = 0; v < 7; v++) {
    left[v] = q1[v] + 0.5 * (g1[3 * v] * dx[0] + g1[3 * v + 1] * dx[1] + g1[3 * v + 2] * dx[2]);
    right[v] = q2[v] - 0.5 * (g2[3 * v] * dx[0] + g2[3 * v + 1] * dx[1] + g2[3 * v + 2] * dx[2]);
  }
  double il = 1 / left[0];
  double ir = 1 / right[0];
  double ul = il * (left[1] * normal[0] + left[2] * normal[1] + left[3] * normal[2]);
  double ur = ir * (right[1] * normal[0] + right[2] * normal[1] + right[3] * normal[2]);
  double pl = (gam - 1) * (left[4] - 0.5 * il * (left[1] * left[1] + left[2] * left[2] + left[3] * left[3]));
  double pr =
      (gam - 1) * (right[4] - 0.5 * ir * (right[1] * right[1] + right[2] * right[2] + right[3] * right[3]));
  double wave = 0.5 * (fabs(ul) + fabs(ur) + sqrt(area2) * (sqrt(gam * pl * il) + sqrt(gam * pr * ir)));
  for (int v = 0; v < 7; v++)
    f[v] = 0.5 * (left[v] * ul + right[v] * ur) - 0.5 * wave * (right[v] - left[v]);
  for (int d = 0; d < 3; d++)
    f[1 + d] += 0.5 * (pl + pr) * normal[d];
  f[4] += 0.5 * (pl * ul + pr * ur);

  double share1 = *volume2 / (*volume1 + *volume2);
  double share2 = 1 - share1;
  double mu = viscosity * (1 + q1[5] + q2[5]);
  for (int v = 1; v < 7; v++) {
    double mean[3];
    double along = q2[v] - q1[v];
    double through = 0;
    for (int d = 0; d < 3; d++) {
      mean[d] = share1 * g1[3 * v + d] + share2 * g2[3 * v + d];
      along -= mean[d] * dx[d];
    }
    for (int d = 0; d < 3; d++)
      through += (mean[d] + along / length2 * dx[d]) * normal[d];
    f[v] -= mu * through;
  }
  for (int v = 0; v < 7; v++) {
    res1[v] += f[v];
    res2[v] -= f[v];
  }
}

static void total(const double *res, double *sum, double *size) {
  for (int v = 0; v < 7; v++) {
    *sum += res[v];
    *size += fabs(res[v]);
  }
}

static void hold(double *res) {
  for (int v = 0; v < 7; v++)
    res[v] = 0;
}

static void advance(const double *volume, const double *dt, double *q, double *res, double *g, double *sum) {
  for (int v = 0; v < 7; v++) {
    *sum += res[v] * res[v];
    q[v] -= *dt / *volume * res[v];
    res[v] = 0;
  }
  for (int k = 0; k < 21; k++)
    g[k] = 0;
}
