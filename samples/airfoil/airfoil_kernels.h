/* The kernels of airfoil.c, which includes this file and gives it to the library. */
#include <math.h>

static void save_soln(const double *q, double *old) {
  for (int n = 0; n < 4; n++)
    old[n] = q[n];
}

/* Area over time step of a cell: the sum of the wave speeds through its four sides. */
static void adt_calc(const double *x[4], const double *q, double *adt) {
  double inverse = 1 / q[0];
  double u = inverse * q[1];
  double v = inverse * q[2];
  double c = sqrt(gam * gm1 * (inverse * q[3] - 0.5 * (u * u + v * v)));
  double sum = 0;
  for (int side = 0; side < 4; side++) {
    double dx = x[(side + 1) % 4][0] - x[side][0];
    double dy = x[(side + 1) % 4][1] - x[side][1];
    sum += fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
  }
  *adt = sum / cfl;
}

/* The flux through an edge: the mean of both sides, and smoothing in proportion to their difference. */
static void res_calc(const double *x1, const double *x2, const double *q1, const double *q2,
                     const double *adt1, const double *adt2, double *res1, double *res2) {
  double dx = x1[0] - x2[0];
  double dy = x1[1] - x2[1];
  double inverse1 = 1 / q1[0];
  double inverse2 = 1 / q2[0];
  double p1 = gm1 * (q1[3] - 0.5 * inverse1 * (q1[1] * q1[1] + q1[2] * q1[2]));
  double p2 = gm1 * (q2[3] - 0.5 * inverse2 * (q2[1] * q2[1] + q2[2] * q2[2]));
  double through1 = inverse1 * (q1[1] * dy - q1[2] * dx);
  double through2 = inverse2 * (q2[1] * dy - q2[2] * dx);
  double mu = 0.5 * (*adt1 + *adt2) * eps;
  double f;

  f = 0.5 * (through1 * q1[0] + through2 * q2[0]) + mu * (q1[0] - q2[0]);
  res1[0] += f;
  res2[0] -= f;
  f = 0.5 * (through1 * q1[1] + p1 * dy + through2 * q2[1] + p2 * dy) + mu * (q1[1] - q2[1]);
  res1[1] += f;
  res2[1] -= f;
  f = 0.5 * (through1 * q1[2] - p1 * dx + through2 * q2[2] - p2 * dx) + mu * (q1[2] - q2[2]);
  res1[2] += f;
  res2[2] -= f;
  f = 0.5 * (through1 * (q1[3] + p1) + through2 * (q2[3] + p2)) + mu * (q1[3] - q2[3]);
  res1[3] += f;
  res2[3] -= f;
}

/* A boundary edge: pressure only at the wall, else a flux against the free stream. */
static void bres_calc(const double *x1, const double *x2, const double *q, const double *adt, double *res,
                      const int *kind) {
  double dx = x1[0] - x2[0];
  double dy = x1[1] - x2[1];
  double inverse = 1 / q[0];
  double p = gm1 * (q[3] - 0.5 * inverse * (q[1] * q[1] + q[2] * q[2]));
  if (*kind == 1) {
    res[1] += p * dy;
    res[2] -= p * dx;
  } else {
    double inverse_far = 1 / qinf[0];
    double p_far = gm1 * (qinf[3] - 0.5 * inverse_far * (qinf[1] * qinf[1] + qinf[2] * qinf[2]));
    double through = inverse * (q[1] * dy - q[2] * dx);
    double through_far = inverse_far * (qinf[1] * dy - qinf[2] * dx);
    double mu = *adt * eps;
    res[0] += 0.5 * (through * q[0] + through_far * qinf[0]) + mu * (q[0] - qinf[0]);
    res[1] += 0.5 * (through * q[1] + p * dy + through_far * qinf[1] + p_far * dy) + mu * (q[1] - qinf[1]);
    res[2] += 0.5 * (through * q[2] - p * dx + through_far * qinf[2] - p_far * dx) + mu * (q[2] - qinf[2]);
    res[3] += 0.5 * (through * (q[3] + p) + through_far * (qinf[3] + p_far)) + mu * (q[3] - qinf[3]);
  }
}

static void update(const double *old, double *q, double *res, const double *adt, double *squares) {
  double inverse = 1 / *adt;
  for (int n = 0; n < 4; n++) {
    double step = inverse * res[n];
    q[n] = old[n] - step;
    res[n] = 0;
    *squares += step * step;
  }
}

/* What update will change most. */
static void find_largest(const double *res, const double *adt, double *largest, int *place, const int *cell) {
  double inverse = 1 / *adt;
  for (int n = 0; n < 4; n++) {
    double step = inverse * res[n];
    if (step * step > *largest) {
      *largest = step * step;
      *place = *cell;
    }
  }
}

/* The first boundary edge that is neither wall (1) nor far field (2), and its kind. */
static void find_strange(const int *kind, const int *edge, int *strange, int *found) {
  int is_strange = *kind != 1 && *kind != 2;
  if (is_strange > *strange) {
    *strange = is_strange;
    found[0] = *edge;
    found[1] = *kind;
  }
}
