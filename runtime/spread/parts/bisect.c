/* Recursive bisection without gathering: every level cuts all groups of points at once, and each cut is found by
 * counting, digit by digit, how many points lie below. Coordinates become integers that sort like them, so a cut
 * is exact and the same on every rank; points with the same coordinate are cut by their numbers. */
#include "bisect.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "ranks/agree.h"

/* ---- what a cut works on ---- */

static int no_memory(struct error *err) {
  return error_memory(err, "the bisection of a set", 0);
}

static long long weight_of(const struct part_request *r, long i) {
  return r->weights ? r->weights[i] : 1;
}

/* Integers in the order of the doubles; NaN last. */
static uint64_t sortable(double x) {
  if (isnan(x))
    return UINT64_MAX;
  x += 0.0; /* one zero */
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* ---- finding all cuts of a level ---- */

struct cut {
  uint64_t key, number; /* points below go to the left half */
  long long below;      /* weight below what is known of the cut */
  long long target;
};

struct search {
  struct bisection *b;
  struct cut *cuts;
  long *left; /* points that may still be at the cut */
  long nleft;
  long long *counts;
  int bits;
};

static int digit_of(const struct search *s, long i, int shift, bool by_number) {
  const uint64_t value = by_number ? (uint64_t)s->b->request->numbers[i] : s->b->keys[i];
  return (int)(value >> shift & ((UINT64_C(1) << s->bits) - 1));
}

/* One digit more of each cut: the bin in which the weight passes the target. */
static int next_digit(struct search *s, int shift, bool by_number, struct error *err) {
  struct bisection *b = s->b;
  const int bins = 1 << s->bits;
  memset(s->counts, 0, (size_t)b->ngroups * (size_t)bins * sizeof *s->counts);
  for (long k = 0; k < s->nleft; k++) {
    const long i = s->left[k];
    s->counts[(long)b->group[i] * bins + digit_of(s, i, shift, by_number)] += weight_of(b->request, i);
  }
  struct comm *comm = b->request->comm;
  int code = comm->table->reduce_all(comm, s->counts, b->ngroups * bins, COMM_LLONG, COMM_SUM, err);
  if (code)
    return code;
  for (int g = 0; g < b->ngroups; g++) {
    struct cut *cut = &s->cuts[g];
    const long long *counts = s->counts + (long)g * bins;
    int digit = 0;
    while (digit < bins - 1 && cut->below + counts[digit] <= cut->target)
      cut->below += counts[digit++];
    *(by_number ? &cut->number : &cut->key) |= (uint64_t)digit << shift;
  }
  long kept = 0;
  for (long k = 0; k < s->nleft; k++) {
    const long i = s->left[k];
    const struct cut *cut = &s->cuts[b->group[i]];
    const uint64_t wanted = (by_number ? cut->number : cut->key) >> shift & (uint64_t)(bins - 1);
    if ((uint64_t)digit_of(s, i, shift, by_number) == wanted)
      s->left[kept++] = i;
  }
  s->nleft = kept;
  return OP_OK;
}

/* Many groups take small digits: the counts of a level are never many. */
static int bits_for(int ngroups) {
  return ngroups <= 1 << 4 ? 8 : ngroups <= 1 << 12 ? 4 : 2;
}

static int find_cuts(struct search *s, struct error *err) {
  struct bisection *b = s->b;
  s->nleft = 0;
  for (long i = 0; i < b->request->count; i++)
    if (b->groups[b->group[i]].parts > 1)
      s->left[s->nleft++] = i;
  int code = OP_OK;
  for (int shift = 64 - s->bits; !code && shift >= 0; shift -= s->bits)
    code = next_digit(s, shift, false, err);
  int top = 0;
  while (top < 64 && (uint64_t)b->request->total >> top)
    top += s->bits;
  for (int shift = top - s->bits; !code && shift >= 0; shift -= s->bits)
    code = next_digit(s, shift, true, err);
  return code;
}

/* ---- levels ---- */

static bool cuttable(const struct bisection *b) {
  for (int g = 0; g < b->ngroups; g++)
    if (b->groups[g].parts > 1)
      return true;
  return false;
}

/* The memory of a level. All ranks have it before any of them goes on: groups may have ranks of their own. */
struct level {
  struct arrays arrays; /* but for the halves */
  double *direction;
  long long *weight;
  struct group *halves;
  int *left; /* of each group: its left half among the halves */
  struct search search;
};

static int level_new(struct level *l, struct bisection *b, struct error *err) {
  const size_t groups = (size_t)b->ngroups;
  struct search *s = &l->search;
  *s = (struct search){.b = b, .bits = bits_for(b->ngroups)};
  l->direction = arrays_add(&l->arrays, groups, MOST_DIMS * sizeof *l->direction);
  l->weight = arrays_add(&l->arrays, groups, sizeof *l->weight);
  l->halves = array_new(2 * groups, sizeof *l->halves);
  l->left = arrays_add(&l->arrays, groups, sizeof *l->left);
  s->cuts = arrays_add(&l->arrays, groups, sizeof *s->cuts);
  s->left = arrays_add(&l->arrays, (size_t)b->request->count, sizeof *s->left);
  s->counts = arrays_add(&l->arrays, groups << s->bits, sizeof *s->counts);
  b->room = arrays_add(&l->arrays, groups, DIRECTION_ROOM * sizeof *b->room);
  const bool good = l->halves && !l->arrays.failed;
  return agree_on_success(b->request->comm, good ? OP_OK : no_memory(err), err);
}

/* The speed of some parts together; where all are as fast, their number. */
static long long speed_of(const struct part_request *r, int first, int parts) {
  long long sum = r->speeds ? 0 : parts;
  for (int p = first; r->speeds && p < first + parts; p++)
    sum += r->speeds[p];
  return sum;
}

static int weigh_groups(const struct bisection *b, struct level *l, struct error *err) {
  for (long i = 0; i < b->request->count; i++)
    l->weight[b->group[i]] += weight_of(b->request, i);
  struct comm *comm = b->request->comm;
  int code = comm->table->reduce_all(comm, l->weight, b->ngroups, COMM_LLONG, COMM_SUM, err);
  for (int g = 0; g < b->ngroups; g++) {
    const struct group *group = &b->groups[g];
    const long long half = speed_of(b->request, group->first, group->parts / 2);
    const long long all = speed_of(b->request, group->first, group->parts), weight = l->weight[g];
    l->search.cuts[g] = (struct cut){.target = weight / all * half + weight % all * half / all};
  }
  return code;
}

/* Both halves of a group take its place; a group of one part stays. */
static void divide(struct bisection *b, struct level *l) {
  int n = 0;
  for (int g = 0; g < b->ngroups; g++) {
    const struct group whole = b->groups[g];
    l->left[g] = n;
    if (whole.parts == 1)
      l->halves[n++] = whole;
    else {
      l->halves[n++] = (struct group){whole.first, whole.parts / 2};
      l->halves[n++] = (struct group){whole.first + whole.parts / 2, whole.parts - whole.parts / 2};
    }
  }
  for (long i = 0; i < b->request->count; i++) {
    const int g = b->group[i];
    const struct cut *cut = &l->search.cuts[g];
    const bool below =
        b->keys[i] < cut->key || (b->keys[i] == cut->key && (uint64_t)b->request->numbers[i] < cut->number);
    b->group[i] = l->left[g] + (b->groups[g].parts > 1 && !below);
  }
  free(b->groups);
  b->groups = l->halves;
  b->ngroups = n;
  l->halves = NULL;
}

static void find_keys(struct bisection *b, const double *direction) {
  const int dim = b->request->dim;
  for (long i = 0; i < b->request->count; i++) {
    const double *axis = direction + (size_t)b->group[i] * MOST_DIMS;
    double along = 0;
    for (int d = 0; d < dim; d++)
      if (axis[d] != 0)
        along += axis[d] * b->request->coords[i * dim + d];
    b->keys[i] = sortable(along);
  }
}

static int cut_level(struct bisection *b, choose_direction *choose, struct error *err) {
  struct level l = {0};
  int code = level_new(&l, b, err);
  if (!code)
    code = choose(b, l.direction, err);
  if (!code)
    find_keys(b, l.direction);
  if (!code)
    code = weigh_groups(b, &l, err);
  if (!code)
    code = find_cuts(&l.search, err);
  if (!code)
    divide(b, &l);
  free(l.halves);
  arrays_free(&l.arrays);
  b->room = NULL;
  return code;
}

/* True if there are enough groups to go on with each by itself. */
static bool goes_apart(const struct bisection *b) {
  return b->ngroups >= GROUPS_APART && b->request->parts == b->request->comm->size;
}

int bisect(const struct part_request *request, choose_direction *choose, int *part, struct error *err) {
  struct bisection b = {.request = request,
                        .ngroups = 1,
                        .groups = array_new(1, sizeof *b.groups),
                        .keys = array_new((size_t)request->count, sizeof *b.keys),
                        .group = part};
  int code = agree_on_success(request->comm, b.groups && b.keys ? OP_OK : no_memory(err), err);
  if (!code) {
    b.groups[0] = (struct group){0, request->parts};
    for (long i = 0; i < request->count; i++)
      part[i] = 0;
  }
  while (!code && cuttable(&b) && !goes_apart(&b))
    code = cut_level(&b, choose, err);
  if (!code && cuttable(&b))
    code = bisect_apart(&b, choose, err);
  else
    for (long i = 0; !code && i < request->count; i++)
      part[i] = b.groups[part[i]].first;
  free(b.groups);
  free(b.keys);
  return code;
}

/* ---- the directions in which recursive bisection cuts ---- */
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
