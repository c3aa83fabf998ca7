/* The kernels of multigrid.c, which includes this file and gives it to the library. */
#include <math.h>

static void exchange(const double *weight, const double *u1, const double *u2, double *flow1, double *flow2) {
  double through = *weight * (*u2 - *u1);
  *flow1 += through;
  *flow2 -= through;
}

static void relax(const double *right, const double *outer, const double *diagonal, const double *damping,
                  double *flow, double *u) {
  *u += *damping * (*right + *flow - *outer * *u) / *diagonal;
  *flow = 0;
}

static void measure(const double *right, const double *outer, const double *u, double *flow, double *sum) {
  double defect = *right + *flow - *outer * *u;
  *sum += defect * defect;
  *flow = 0;
}

static void clear(double *u, double *right) {
  *u = 0;
  *right = 0;
}

/* What is left over goes to the cell of the next level that holds this one. */
static void descend(const double *right, const double *outer, const double *u, double *flow,
                    double *coarse_right) {
  *coarse_right += *right + *flow - *outer * *u;
  *flow = 0;
}

static void ascend(const double *share, const double *coarse[4], double *u) {
  for (int k = 0; k < 4; k++)
    *u += share[k] * coarse[k][0];
}
