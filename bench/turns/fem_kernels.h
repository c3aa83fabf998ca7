/* The kernels of fem.c: what an element of eight nodes adds to the residual of -div grad u = 0, by trilinear functions and
 * two points of Gauss in each direction, from the places of its nodes alone; and a step towards where it is zero. */
#include <math.h>

static void hexahedron(const double *x[8], const double *u[8], double *r[8]) {
  double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int g = 0; g < 8; g++) {
    double at[3];
    double jacobian[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    double du[3] = {0, 0, 0};
    double slope[8][3];
    at[0] = g & 1 ? 0.57735026918962576 : -0.57735026918962576;
    at[1] = g & 2 ? 0.57735026918962576 : -0.57735026918962576;
    at[2] = g & 4 ? 0.57735026918962576 : -0.57735026918962576;
    for (int k = 0; k < 8; k++) {
      double s = (k & 3) == 1 || (k & 3) == 2 ? 1 : -1;
      double t = k & 2 ? 1 : -1;
      double w = k & 4 ? 1 : -1;
      slope[k][0] = 0.125 * s * (1 + t * at[1]) * (1 + w * at[2]);
      slope[k][1] = 0.125 * t * (1 + s * at[0]) * (1 + w * at[2]);
      slope[k][2] = 0.125 * w * (1 + s * at[0]) * (1 + t * at[1]);
      for (int i = 0; i < 3; i++) {
        du[i] += slope[k][i] * u[k][0];
        for (int j = 0; j < 3; j++)
          jacobian[i][j] += slope[k][i] * x[k][j];
      }
    }
    double c[3][3]; /* cofactors, of which the inverse is made */
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        c[i][j] = jacobian[(i + 1) % 3][(j + 1) % 3] * jacobian[(i + 2) % 3][(j + 2) % 3] -
                  jacobian[(i + 1) % 3][(j + 2) % 3] * jacobian[(i + 2) % 3][(j + 1) % 3];
    double volume = jacobian[0][0] * c[0][0] + jacobian[0][1] * c[0][1] + jacobian[0][2] * c[0][2];
    double grad[3];
    double back[3];
    for (int j = 0; j < 3; j++)
      grad[j] = (c[0][j] * du[0] + c[1][j] * du[1] + c[2][j] * du[2]) / volume;
    for (int i = 0; i < 3; i++)
      back[i] = c[i][0] * grad[0] + c[i][1] * grad[1] + c[i][2] * grad[2];
    for (int k = 0; k < 8; k++)
      sum[k] += slope[k][0] * back[0] + slope[k][1] * back[1] + slope[k][2] * back[2];
  }
  for (int k = 0; k < 8; k++)
    r[k][0] += sum[k];
}

static void relax(const double *share, double *r, double *u) {
  *u -= *share * *r;
  *r = 0;
}
