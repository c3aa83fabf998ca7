#include "profile.h"

#include <complex.h>
#include <math.h>

enum { SIDE = 100, POINTS = 2 * SIDE - 1 };

/* The points of the bump: the upper side of the section, moved so that the branch point of the root
 * lies inside its nose, and its mirror image. Abscissae ascend. */
static void bump(double x[POINTS], double y[POINTS]) {
  for (int k = 0; k < SIDE; k++) {
    double s = sin(k * M_PI / (2 * (SIDE - 1)));
    double along = s * s;
    double thickness =
        0.594689181 * (0.298222773 * sqrt(along) - 0.127125232 * along - 0.357907906 * pow(along, 2) +
                       0.291984971 * pow(along, 3) - 0.105174696 * pow(along, 4));
    if (k == SIDE - 1)
      thickness = 0;
    double complex z = csqrt(along + I * thickness - 0.0077);
    x[SIDE - 1 + k] = creal(z);
    y[SIDE - 1 + k] = cimag(z);
    x[SIDE - 1 - k] = -creal(z);
    y[SIDE - 1 - k] = cimag(z);
  }
}

/* The second derivatives at the points of a cubic spline whose third derivative is continuous at the
 * second point and at the last but one ("not a knot"). These conditions give the end values from their
 * neighbours and leave a tridiagonal system for the inner ones. */
static void spline_curvatures(int n, const double x[], const double y[], double curvature[]) {
  double diagonal[POINTS], upper[POINTS], right[POINTS];
  double h_first = x[1] - x[0], h_second = x[2] - x[1];
  double h_last = x[n - 1] - x[n - 2], h_before = x[n - 2] - x[n - 3];
  for (int k = 1; k < n - 1; k++) {
    double h = x[k] - x[k - 1], h_next = x[k + 1] - x[k];
    double lower = k > 1 ? h : 0;
    diagonal[k] = 2 * (h + h_next);
    upper[k] = k < n - 2 ? h_next : 0;
    right[k] = 6 * ((y[k + 1] - y[k]) / h_next - (y[k] - y[k - 1]) / h);
    if (k == 1) {
      diagonal[k] += h_first + h_first * h_first / h_second;
      upper[k] -= h_first * h_first / h_second;
    }
    if (k == n - 2) {
      diagonal[k] += h_last + h_last * h_last / h_before;
      lower -= h_last * h_last / h_before;
    }
    if (k > 1) {
      double factor = lower / diagonal[k - 1];
      diagonal[k] -= factor * upper[k - 1];
      right[k] -= factor * right[k - 1];
    }
  }
  double after = 0;
  for (int k = n - 2; k >= 1; k--)
    after = curvature[k] = (right[k] - upper[k] * after) / diagonal[k];
  curvature[0] = curvature[1] + (curvature[1] - curvature[2]) * h_first / h_second;
  curvature[n - 1] = curvature[n - 2] + (curvature[n - 2] - curvature[n - 3]) * h_last / h_before;
}

void profile_heights(int count, const double x[], double y[]) {
  double px[POINTS], py[POINTS], curvature[POINTS];
  bump(px, py);
  spline_curvatures(POINTS, px, py, curvature);
  for (int k = 0; k < count; k++) {
    int piece = 0;
    while (piece < POINTS - 2 && x[k] > px[piece + 1])
      piece++;
    double h = px[piece + 1] - px[piece];
    double left = (px[piece + 1] - x[k]) / h, right = (x[k] - px[piece]) / h;
    y[k] = left * py[piece] + right * py[piece + 1] +
           ((left * left * left - left) * curvature[piece] +
            (right * right * right - right) * curvature[piece + 1]) *
               h * h / 6;
  }
}
