/* The directions in which recursive bisection cuts. */
#include <math.h>
#include <string.h>

#include "bisect.h"

static const double *point_of(const struct bisection *b, long i) {
  return b->request->coords + i * b->request->dim;
}

static bool is_finite_point(const struct bisection *b, long i) {
  bool finite = true;
  for (int d = 0; d < b->request->dim; d++)
    finite &= isfinite(point_of(b, i)[d]) != 0;
  return finite;
}

/* ---- the longest side of the bounding box ---- */

static int longest_side(const struct bisection *b, double *direction, struct error *err) {
  const int dim = b->request->dim;
  const long ends = 2L * dim;
  struct comm *comm = b->request->comm;
  double *box = b->room; /* low, and minus high */
  for (long i = 0; i < b->ngroups * ends; i++)
    box[i] = INFINITY;
  for (long i = 0; i < b->request->count; i++)
    for (int d = 0; d < dim; d++) {
      double *low = box + b->group[i] * ends + 2 * d;
      const double x = point_of(b, i)[d];
      low[0] = x < low[0] ? x : low[0];
      low[1] = -x < low[1] ? -x : low[1];
    }
  int code = comm->table->reduce_all(comm, box, (int)(b->ngroups * ends), COMM_DOUBLE, COMM_MIN, err);
  for (int g = 0; g < b->ngroups; g++) {
    int widest = 0;
    double most = -1;
    for (int d = 0; d < dim; d++) {
      const double width = -box[g * ends + 2 * d + 1] - box[g * ends + 2 * d];
      if (width > most) {
        most = width;
        widest = d;
      }
    }
    direction[(long)g * MOST_DIMS + widest] = 1;
  }
  return code;
}

int parts_rcb(const struct part_request *request, int *part, struct error *err) {
  return bisect(request, longest_side, part, err);
}

/* ---- the principal axis of inertia ---- */

/* The eigenvector of the largest eigenvalue of a symmetric matrix, by Jacobi's rotations. */
static void principal_axis(double a[MOST_DIMS][MOST_DIMS], double axis[MOST_DIMS]) {
  double v[MOST_DIMS][MOST_DIMS] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  enum { SWEEPS = 20 };
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int p = 0; p < MOST_DIMS; p++)
      for (int q = p + 1; q < MOST_DIMS; q++) {
        if (a[p][q] == 0)
          continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
        const double c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < MOST_DIMS; k++) {
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y;
          a[k][q] = s * x + c * y;
        }
        for (int k = 0; k < MOST_DIMS; k++) {
          const double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y;
          a[q][k] = s * x + c * y;
        }
        for (int k = 0; k < MOST_DIMS; k++) {
          const double x = v[k][p], y = v[k][q];
          v[k][p] = c * x - s * y;
          v[k][q] = s * x + c * y;
        }
      }
  int best = 0;
  for (int d = 1; d < MOST_DIMS; d++)
    if (a[d][d] > a[best][best])
      best = d;
  for (int d = 0; d < MOST_DIMS; d++)
    axis[d] = v[d][best];
}

/* Weight and centre of each group: 1 + MOST_DIMS values. */
enum { CENTRE = 1 + MOST_DIMS, INERTIA = MOST_DIMS * MOST_DIMS };

static int centres(const struct bisection *b, double *centre, struct error *err) {
  struct comm *comm = b->request->comm;
  for (long i = 0; i < b->request->count; i++) {
    if (!is_finite_point(b, i))
      continue;
    const double w = b->request->weights ? (double)b->request->weights[i] : 1;
    double *c = centre + (long)b->group[i] * CENTRE;
    c[0] += w;
    for (int d = 0; d < b->request->dim; d++)
      c[1 + d] += w * point_of(b, i)[d];
  }
  int code = comm->table->reduce_all(comm, centre, b->ngroups * CENTRE, COMM_DOUBLE, COMM_SUM, err);
  for (long g = 0; g < b->ngroups; g++)
    for (int d = 0; d < MOST_DIMS && centre[g * CENTRE] > 0; d++)
      centre[g * CENTRE + 1 + d] /= centre[g * CENTRE];
  return code;
}

static int inertias(const struct bisection *b, const double *centre, double *inertia, struct error *err) {
  struct comm *comm = b->request->comm;
  for (long i = 0; i < b->request->count; i++) {
    if (!is_finite_point(b, i))
      continue;
    const double w = b->request->weights ? (double)b->request->weights[i] : 1;
    const double *c = centre + (long)b->group[i] * CENTRE + 1;
    double *sum = inertia + (long)b->group[i] * INERTIA;
    for (int d = 0; d < b->request->dim; d++)
      for (int e = 0; e < b->request->dim; e++)
        sum[d * MOST_DIMS + e] += w * (point_of(b, i)[d] - c[d]) * (point_of(b, i)[e] - c[e]);
  }
  return comm->table->reduce_all(comm, inertia, b->ngroups * INERTIA, COMM_DOUBLE, COMM_SUM, err);
}

static int longest_axis(const struct bisection *b, double *direction, struct error *err) {
  struct comm *comm = b->request->comm;
  double *centre = b->room, *inertia = b->room + (size_t)b->ngroups * CENTRE;
  int code = centres(b, centre, err);
  if (!code)
    code = inertias(b, centre, inertia, err);
  for (long g = 0; !code && g < b->ngroups; g++) {
    double matrix[MOST_DIMS][MOST_DIMS];
    memcpy(matrix, inertia + g * INERTIA, sizeof matrix);
    principal_axis(matrix, direction + g * MOST_DIMS);
  }
  /* Sums may differ in their last bits between ranks; a cut may not. */
  if (!code)
    code =
        comm->table->broadcast(comm, direction, (size_t)b->ngroups * MOST_DIMS * sizeof *direction, 0, err);
  return code;
}

int parts_inertial(const struct part_request *request, int *part, struct error *err) {
  return bisect(request, longest_axis, part, err);
}
