/* The kernels of aero.c, which includes this file and gives it to the library. */
#include <math.h>

/* Element matrix and residual, by four integration points. */
static void assemble(const double *x[4], const double *phi[4], double *k, double *residual[4]) {
  static const double corner_s[4] = {-1, 1, 1, -1};
  static const double corner_t[4] = {-1, -1, 1, 1};
  const double pi = 3.14159265358979323846;
  const double gauss = 0.57735026918962576451;
  double sum[4] = {0, 0, 0, 0};
  for (int ij = 0; ij < 16; ij++)
    k[ij] = 0;
  for (int g = 0; g < 4; g++) {
    double s = gauss * corner_s[g];
    double t = gauss * corner_t[g];
    double shape[4], ds[4], dt[4], dx[4], dy[4];
    double xs = 0, xt = 0, ys = 0, yt = 0, px = 0, py = 0;
    for (int i = 0; i < 4; i++) {
      shape[i] = 0.25 * (1 + corner_s[i] * s) * (1 + corner_t[i] * t);
      ds[i] = 0.25 * corner_s[i] * (1 + corner_t[i] * t);
      dt[i] = 0.25 * corner_t[i] * (1 + corner_s[i] * s);
      xs += ds[i] * x[i][0];
      xt += dt[i] * x[i][0];
      ys += ds[i] * x[i][1];
      yt += dt[i] * x[i][1];
      px += shape[i] * x[i][0];
      py += shape[i] * x[i][1];
    }
    double det = xs * yt - xt * ys;
    double gx = 0, gy = 0;
    for (int i = 0; i < 4; i++) {
      dx[i] = (ds[i] * yt - dt[i] * ys) / det;
      dy[i] = (dt[i] * xs - ds[i] * xt) / det;
      gx += dx[i] * phi[i][0];
      gy += dy[i] * phi[i][0];
    }
    double base = 1 - 0.5 * gm1 * mach2 * (gx * gx + gy * gy - 1);
    double rho = pow(base, 1 / gm1);
    double slope = -0.5 * mach2 * rho / base;

    /* The source at this point, from the given potential x + a sin(pi x) sin(pi y). */
    double ux = 1 + amplitude * pi * cos(pi * px) * sin(pi * py);
    double uy = amplitude * pi * sin(pi * px) * cos(pi * py);
    double uxx = -amplitude * pi * pi * sin(pi * px) * sin(pi * py);
    double uxy = amplitude * pi * pi * cos(pi * px) * cos(pi * py);
    double given_base = 1 - 0.5 * gm1 * mach2 * (ux * ux + uy * uy - 1);
    double given_rho = pow(given_base, 1 / gm1);
    double given_slope = -0.5 * mach2 * given_rho / given_base;
    double load = -(given_rho * 2 * uxx + 2 * given_slope * ((ux * ux + uy * uy) * uxx + 2 * ux * uy * uxy));

    for (int i = 0; i < 4; i++) {
      double along = dx[i] * gx + dy[i] * gy;
      sum[i] += det * (rho * along - load * shape[i]);
      for (int j = 0; j < 4; j++)
        k[4 * i + j] +=
            det * (rho * (dx[i] * dx[j] + dy[i] * dy[j]) + 2 * slope * along * (dx[j] * gx + dy[j] * gy));
    }
  }
  for (int i = 0; i < 4; i++)
    residual[i][0] += sum[i];
}

static void fix(double *x) {
  *x = 0;
}

static void start_gradient(double *residual, double *u, double *v, double *p, double *r, double *rr) {
  *u = 0;
  *v = 0;
  *p = *residual;
  *r = *residual;
  *rr += *residual * *residual;
  *residual = 0;
}

static void multiply(const double *k, const double *p[4], double *v[4]) {
  for (int i = 0; i < 4; i++)
    v[i][0] += k[4 * i] * p[0][0] + k[4 * i + 1] * p[1][0] + k[4 * i + 2] * p[2][0] + k[4 * i + 3] * p[3][0];
}

static void product(const double *p, const double *v, double *pv) {
  *pv += *p * *v;
}

/* Over one element: what conjugate gradients divide need not come to the program. Sums begin anew. */
static void find_alpha(const double *rr, double *pv, double *alpha) {
  *alpha = *rr / *pv;
  *pv = 0;
}

static void find_beta(double *rr, double *next, double *beta) {
  *beta = *next / *rr;
  *rr = *next;
  *next = 0;
}

static void advance(const double *p, double *v, double *u, double *r, const double *alpha, double *rr) {
  *u += *alpha * *p;
  *r -= *alpha * *v;
  *v = 0;
  *rr += *r * *r;
}

static void turn(const double *r, double *p, const double *beta) {
  *p = *r + *beta * *p;
}

static void correct(const double *u, double *phi) {
  *phi -= *u;
}
