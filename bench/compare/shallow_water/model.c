#include "model.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>

struct model model_make(int m, int n) {
  return (struct model){.m = m, .n = n, .dt = 90, .dx = 1e5, .dy = 1e5, .smoothing = 0.001};
}

/* Velocities are differences of a stream function. The benchmark's pi is a single-precision number. */
void model_initial(const struct model *model, double *u, double *v, double *p) {
  const double a = 1e6, pi = 4.0 * (double)atanf(1.0f);
  int m = model->m, n = model->n;
  double length = n * model->dx, di = (pi + pi) / m, dj = (pi + pi) / n;
  double pcf = pi * pi * a * a / (length * length);
  double *psi = room((m + 1LL) * (n + 1), sizeof *psi);
  for (int i = 0; i <= m; i++)
    for (int j = 0; j <= n; j++)
      psi[(size_t)i * (size_t)(n + 1) + (size_t)j] = a * sin((i + 0.5) * di) * sin((j + 0.5) * dj);
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      const double *here = psi + (size_t)i * (size_t)(n + 1) + (size_t)j, *east = here + n + 1;
      size_t right = (size_t)((i + 1) % m) * (size_t)n + (size_t)j;
      size_t above = (size_t)i * (size_t)n + (size_t)((j + 1) % n);
      p[(size_t)i * (size_t)n + (size_t)j] =
          pcf * (cos(2.0 * i * di) + cos(2.0 * j * dj)) + (double)MODEL_MEAN_PRESSURE;
      u[right] = -(east[1] - east[0]) / model->dy;
      v[above] = (east[1] - here[1]) / model->dx;
    }
  }
  free(psi);
}

struct model_factors model_factors_of(const struct model *model, int step) {
  double leap = step == 0 ? model->dt : model->dt + model->dt;
  return (struct model_factors){
      .fsdx = 4 / model->dx,
      .fsdy = 4 / model->dy,
      .tdts8 = leap / 8,
      .tdtsdx = leap / model->dx,
      .tdtsdy = leap / model->dy,
      .smoothing = step == 0 ? 0 : model->smoothing,
  };
}

double model_rms(const struct model *model, const double *x, double from) {
  double sum = 0;
  for (long long i = 0; i < (long long)model->m * model->n; i++)
    sum += (x[i] - from) * (x[i] - from);
  return sqrt(sum / ((double)model->m * model->n));
}

double model_mean(const struct model *model, const double *x) {
  double sum = 0;
  for (long long i = 0; i < (long long)model->m * model->n; i++)
    sum += x[i] - (double)MODEL_MEAN_PRESSURE;
  return (double)MODEL_MEAN_PRESSURE + sum / ((double)model->m * model->n);
}
