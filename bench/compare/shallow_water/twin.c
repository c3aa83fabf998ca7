#include "twin.h"

#include "common/report.h"
#include "common/touch.h"

#include <stdlib.h>
#include <string.h>

/* Arrays have m+1 rows of n+1: row m repeats row 0 or the other way round, as do the columns. */
struct arrays {
  int m, n;
  size_t row;
  double *u, *v, *p, *unew, *vnew, *pnew, *uold, *vold, *pold, *cu, *cv, *z, *h;
};

static void fluxes_row(const struct arrays *a, const struct model_factors *f, size_t i) {
  size_t w = a->row, n = (size_t)a->n;
  const double *restrict u = a->u + i * w, *restrict u1 = u + w, *restrict v = a->v + i * w,
                         *restrict v1 = v + w, *restrict p = a->p + i * w, *restrict p1 = p + w;
  double *restrict cu1 = a->cu + (i + 1) * w, *restrict cv = a->cv + i * w, *restrict z1 = a->z + (i + 1) * w,
                   *restrict h = a->h + i * w;
  double fsdx = f->fsdx, fsdy = f->fsdy;
#pragma omp simd
  for (size_t j = 0; j < n; j++) {
    cu1[j] = 0.5 * (p1[j] + p[j]) * u1[j];
    cv[j + 1] = 0.5 * (p[j + 1] + p[j]) * v[j + 1];
    z1[j + 1] =
        (fsdx * (v1[j + 1] - v[j + 1]) - fsdy * (u1[j + 1] - u1[j])) / (p[j] + p1[j] + p1[j + 1] + p[j + 1]);
    h[j] = p[j] + 0.25 * (u1[j] * u1[j] + u[j] * u[j] + v[j + 1] * v[j + 1] + v[j] * v[j]);
  }
}

static void leap_row(const struct arrays *a, const struct model_factors *f, size_t i) {
  size_t w = a->row, n = (size_t)a->n;
  const double *restrict cu = a->cu + i * w, *restrict cu1 = cu + w, *restrict cv = a->cv + i * w,
                         *restrict cv1 = cv + w, *restrict z = a->z + i * w, *restrict z1 = z + w,
                         *restrict h = a->h + i * w, *restrict h1 = h + w;
  const double *restrict uold1 = a->uold + (i + 1) * w, *restrict vold = a->vold + i * w,
                         *restrict pold = a->pold + i * w;
  double *restrict unew1 = a->unew + (i + 1) * w, *restrict vnew = a->vnew + i * w,
                   *restrict pnew = a->pnew + i * w;
  double tdts8 = f->tdts8, tdtsdx = f->tdtsdx, tdtsdy = f->tdtsdy;
#pragma omp simd
  for (size_t j = 0; j < n; j++) {
    unew1[j] = uold1[j] + tdts8 * (z1[j + 1] + z1[j]) * (cv1[j + 1] + cv[j + 1] + cv[j] + cv1[j]) -
               tdtsdx * (h1[j] - h[j]);
    vnew[j + 1] = vold[j + 1] - tdts8 * (z1[j + 1] + z[j + 1]) * (cu1[j + 1] + cu[j + 1] + cu[j] + cu1[j]) -
                  tdtsdy * (h[j + 1] - h[j]);
    pnew[j] = pold[j] - tdtsdx * (cu1[j] - cu[j]) - tdtsdy * (cv[j + 1] - cv[j]);
  }
}

static void filter_row(const struct arrays *a, const struct model_factors *f, size_t i) {
  size_t w = a->row;
  double alpha = f->smoothing;
  double *restrict u = a->u + i * w, *restrict v = a->v + i * w, *restrict p = a->p + i * w;
  double *restrict uold = a->uold + i * w, *restrict vold = a->vold + i * w, *restrict pold = a->pold + i * w;
  const double *restrict unew = a->unew + i * w, *restrict vnew = a->vnew + i * w,
                         *restrict pnew = a->pnew + i * w;
#pragma omp simd
  for (size_t j = 0; j < w; j++) {
    uold[j] = u[j] + alpha * (unew[j] - 2 * u[j] + uold[j]);
    vold[j] = v[j] + alpha * (vnew[j] - 2 * v[j] + vold[j]);
    pold[j] = p[j] + alpha * (pnew[j] - 2 * p[j] + pold[j]);
    u[j] = unew[j];
    v[j] = vnew[j];
    p[j] = pnew[j];
  }
}

/* What repeats is copied by the thread that computed it, while it is in its cache: no loop waits for one that only
 * copies. Fields computed at [i+1][j] lack row 0 and column n, those at [i][j+1] row m and column 0, those at
 * [i+1][j+1] row 0 and column 0, the others row m and column n. */
static void copy_row(const struct arrays *a, double *x, size_t to, size_t from) {
  memcpy(x + to * a->row, x + from * a->row, a->row * sizeof *x);
}

static void fluxes(const struct arrays *a, const struct model_factors *f, size_t i) {
  size_t m = (size_t)a->m, n = (size_t)a->n, here = i * a->row, above = here + a->row;
  fluxes_row(a, f, i);
  a->cu[above + n] = a->cu[above];
  a->cv[here] = a->cv[here + n];
  a->z[above] = a->z[above + n];
  a->h[here + n] = a->h[here];
  if (i == 0) {
    copy_row(a, a->cv, m, 0);
    copy_row(a, a->h, m, 0);
  }
  if (i == m - 1) {
    copy_row(a, a->cu, 0, m);
    copy_row(a, a->z, 0, m);
  }
}

static void leap(const struct arrays *a, const struct model_factors *f, size_t i) {
  size_t m = (size_t)a->m, n = (size_t)a->n, here = i * a->row, above = here + a->row;
  leap_row(a, f, i);
  a->unew[above + n] = a->unew[above];
  a->vnew[here] = a->vnew[here + n];
  a->pnew[here + n] = a->pnew[here];
  if (i == 0) {
    copy_row(a, a->vnew, m, 0);
    copy_row(a, a->pnew, m, 0);
  }
  if (i == m - 1)
    copy_row(a, a->unew, 0, m);
}

/* A thread has the same rows in every loop; row m goes with the one before it. */
static void step(const struct arrays *a, const struct model_factors *f) {
  int m = a->m;
#pragma omp for schedule(static)
  for (int i = 0; i < m; i++)
    fluxes(a, f, (size_t)i);
#pragma omp for schedule(static)
  for (int i = 0; i < m; i++)
    leap(a, f, (size_t)i);
#pragma omp for schedule(static)
  for (int i = 0; i < m; i++) {
    filter_row(a, f, (size_t)i);
    if (i == m - 1)
      filter_row(a, f, (size_t)m);
  }
}

static double *field(const struct arrays *a, int parallel) {
  return touched_zeros(a->m + 1, a->row * sizeof(double), parallel);
}

/* From m x n to the array with its repeated rows and columns, and back. */
static void spread(const struct arrays *a, const double *inner, double *x) {
  for (int i = 0; i <= a->m; i++)
    for (int j = 0; j <= a->n; j++)
      x[(size_t)i * a->row + (size_t)j] = inner[(size_t)(i % a->m) * (size_t)a->n + (size_t)(j % a->n)];
}

static void cut(const struct arrays *a, const double *x, double *inner) {
  for (int i = 0; i < a->m; i++)
    memcpy(inner + (size_t)i * (size_t)a->n, x + (size_t)i * a->row, (size_t)a->n * sizeof *inner);
}

double twin_run(const struct model *model, int steps, int parallel, double *u, double *v, double *p) {
  struct arrays a = {.m = model->m, .n = model->n, .row = (size_t)model->n + 1};
  double **const fields[] = {&a.u,    &a.v,    &a.p,  &a.unew, &a.vnew, &a.pnew, &a.uold,
                             &a.vold, &a.pold, &a.cu, &a.cv,   &a.z,    &a.h};
  enum { FIELDS = sizeof fields / sizeof *fields };
  for (int k = 0; k < FIELDS; k++)
    *fields[k] = field(&a, parallel);
  model_initial(model, u, v, p);
  spread(&a, u, a.u);
  spread(&a, v, a.v);
  spread(&a, p, a.p);
  size_t bytes = a.row * (size_t)(a.m + 1) * sizeof(double);
  memcpy(a.uold, a.u, bytes);
  memcpy(a.vold, a.v, bytes);
  memcpy(a.pold, a.p, bytes);

  double start = clock_seconds();
#pragma omp parallel if (parallel)
  for (int s = 0; s < steps; s++) {
    struct model_factors factors = model_factors_of(model, s);
    step(&a, &factors);
  }
  double seconds = (clock_seconds() - start) / steps;

  cut(&a, a.u, u);
  cut(&a, a.v, v);
  cut(&a, a.p, p);
  for (int k = 0; k < FIELDS; k++)
    touched_free(*fields[k]);
  return seconds;
}
