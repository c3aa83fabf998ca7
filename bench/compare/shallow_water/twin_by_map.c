#include "twin.h"

#include "common/report.h"
#include "common/touch.h"

#include <stdlib.h>
#include <string.h>

/* Arrays of one value for each point, and the numbers of each point's neighbours. */
struct arrays {
  int points;
  int *to;
  double *u, *v, *p, *unew, *vnew, *pnew, *uold, *vold, *pold, *cu, *cv, *z, *h;
};

static void fluxes(const struct arrays *a, const struct model_factors *f) {
  const double *restrict u = a->u, *restrict v = a->v, *restrict p = a->p;
  double *restrict cu = a->cu, *restrict cv = a->cv, *restrict z = a->z, *restrict h = a->h;
  double fsdx = f->fsdx, fsdy = f->fsdy;
#pragma omp for schedule(static)
  for (int c = 0; c < a->points; c++) {
    const int *to = a->to + NEIGHBOURS * (size_t)c;
    int e = to[EAST], w = to[WEST], n = to[NORTH], s = to[SOUTH], sw = to[SOUTH_WEST];
    cu[c] = 0.5 * (p[c] + p[w]) * u[c];
    cv[c] = 0.5 * (p[c] + p[s]) * v[c];
    z[c] = (fsdx * (v[c] - v[w]) - fsdy * (u[c] - u[s])) / (p[sw] + p[s] + p[c] + p[w]);
    h[c] = p[c] + 0.25 * (u[e] * u[e] + u[c] * u[c] + v[n] * v[n] + v[c] * v[c]);
  }
}

static void leap(const struct arrays *a, const struct model_factors *f) {
  const double *restrict cu = a->cu, *restrict cv = a->cv, *restrict z = a->z, *restrict h = a->h;
  const double *restrict uold = a->uold, *restrict vold = a->vold, *restrict pold = a->pold;
  double *restrict unew = a->unew, *restrict vnew = a->vnew, *restrict pnew = a->pnew;
  double tdts8 = f->tdts8, tdtsdx = f->tdtsdx, tdtsdy = f->tdtsdy;
#pragma omp for schedule(static)
  for (int c = 0; c < a->points; c++) {
    const int *to = a->to + NEIGHBOURS * (size_t)c;
    int e = to[EAST], w = to[WEST], n = to[NORTH], s = to[SOUTH], nw = to[NORTH_WEST], se = to[SOUTH_EAST];
    unew[c] = uold[c] + tdts8 * (z[n] + z[c]) * (cv[n] + cv[nw] + cv[w] + cv[c]) - tdtsdx * (h[c] - h[w]);
    vnew[c] = vold[c] - tdts8 * (z[e] + z[c]) * (cu[e] + cu[c] + cu[s] + cu[se]) - tdtsdy * (h[c] - h[s]);
    pnew[c] = pold[c] - tdtsdx * (cu[e] - cu[c]) - tdtsdy * (cv[n] - cv[c]);
  }
}

static void filter_one(double *restrict x, double *restrict old, const double *restrict fresh, double alpha,
                       int begin, int end) {
#pragma omp simd
  for (int c = begin; c < end; c++) {
    old[c] = x[c] + alpha * (fresh[c] - 2 * x[c] + old[c]);
    x[c] = fresh[c];
  }
}

static void filter(const struct arrays *a, double alpha) {
  enum { CHUNK = 4096 };
#pragma omp for schedule(static)
  for (int begin = 0; begin < a->points; begin += CHUNK) {
    int end = a->points - begin < CHUNK ? a->points : begin + CHUNK;
    filter_one(a->u, a->uold, a->unew, alpha, begin, end);
    filter_one(a->v, a->vold, a->vnew, alpha, begin, end);
    filter_one(a->p, a->pold, a->pnew, alpha, begin, end);
  }
}

double twin_run_by_map(const struct model *model, int steps, const int *neighbours, double *u, double *v,
                       double *p) {
  struct arrays a = {.points = model->m * model->n};
  struct {
    double **array;
    const double *start;
  } const fields[] = {{&a.u, u},    {&a.v, v},    {&a.p, p},    {&a.unew, u}, {&a.vnew, v},
                      {&a.pnew, p}, {&a.uold, u}, {&a.vold, v}, {&a.pold, p}, {&a.cu, u},
                      {&a.cv, u},   {&a.z, u},    {&a.h, u}};
  enum { FIELDS = sizeof fields / sizeof *fields };
  for (int k = 0; k < FIELDS; k++)
    *fields[k].array = touched_copy(fields[k].start, a.points, sizeof(double), 1);
  a.to = touched_copy(neighbours, a.points, NEIGHBOURS * sizeof *neighbours, 1);

  double start = clock_seconds();
#pragma omp parallel
  for (int s = 0; s < steps; s++) {
    struct model_factors factors = model_factors_of(model, s);
    fluxes(&a, &factors);
    leap(&a, &factors);
    filter(&a, factors.smoothing);
  }
  double seconds = (clock_seconds() - start) / steps;

  size_t bytes = (size_t)a.points * sizeof(double);
  memcpy(u, a.u, bytes);
  memcpy(v, a.v, bytes);
  memcpy(p, a.p, bytes);
  for (int k = 0; k < FIELDS; k++)
    touched_free(*fields[k].array);
  touched_free(a.to);
  return seconds;
}
