/* Recursive bisection without gathering: every level cuts all groups of points at once, and each cut is found by
 * counting, digit by digit, how many points lie below. Coordinates become integers that sort like them, so a cut
 * is exact and the same on every rank; points with the same coordinate are cut by their numbers. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "bisect.h"

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
  return ngroups <= 1 << 8 ? 8 : ngroups <= 1 << 12 ? 4 : 2;
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

/* Of some parts together; where all are as fast, how many they are. */
static long long speed_of(const struct part_request *r, int first, int parts) {
  long long sum = r->speeds ? 0 : parts;
  for (int p = first; r->speeds && p < first + parts; p++)
    sum += r->speeds[p];
  return sum;
}

static int weigh_groups(struct bisection *b, struct cut *cuts, struct error *err) {
  long long *weight = array_new((size_t)b->ngroups, sizeof *weight);
  if (!weight)
    return no_memory(err);
  for (long i = 0; i < b->request->count; i++)
    weight[b->group[i]] += weight_of(b->request, i);
  struct comm *comm = b->request->comm;
  int code = comm->table->reduce_all(comm, weight, b->ngroups, COMM_LLONG, COMM_SUM, err);
  for (int g = 0; g < b->ngroups; g++) {
    const struct group *group = &b->groups[g];
    const long long half = speed_of(b->request, group->first, group->parts / 2);
    const long long all = speed_of(b->request, group->first, group->parts);
    cuts[g] = (struct cut){.target = weight[g] / all * half + weight[g] % all * half / all};
  }
  free(weight);
  return code;
}

/* Both halves of a group take its place; a group of one part stays. */
static int divide(struct bisection *b, const struct cut *cuts, struct error *err) {
  struct group *halves = array_new(2 * (size_t)b->ngroups, sizeof *halves);
  int *left = array_new((size_t)b->ngroups, sizeof *left);
  if (!halves || !left) {
    free(halves);
    free(left);
    return no_memory(err);
  }
  int n = 0;
  for (int g = 0; g < b->ngroups; g++) {
    const struct group whole = b->groups[g];
    left[g] = n;
    if (whole.parts == 1)
      halves[n++] = whole;
    else {
      halves[n++] = (struct group){whole.first, whole.parts / 2};
      halves[n++] = (struct group){whole.first + whole.parts / 2, whole.parts - whole.parts / 2};
    }
  }
  for (long i = 0; i < b->request->count; i++) {
    const int g = b->group[i];
    const struct cut *cut = &cuts[g];
    const bool below =
        b->keys[i] < cut->key || (b->keys[i] == cut->key && (uint64_t)b->request->numbers[i] < cut->number);
    b->group[i] = left[g] + (b->groups[g].parts > 1 && !below);
  }
  free(left);
  free(b->groups);
  b->groups = halves;
  b->ngroups = n;
  return OP_OK;
}

static int cut_level(struct bisection *b, choose_direction *choose, struct error *err) {
  struct search s = {.b = b, .bits = bits_for(b->ngroups)};
  double *direction = array_new((size_t)b->ngroups, MOST_DIMS * sizeof *direction);
  s.cuts = array_new((size_t)b->ngroups, sizeof *s.cuts);
  s.left = array_new((size_t)b->request->count, sizeof *s.left);
  s.counts = array_new((size_t)b->ngroups << s.bits, sizeof *s.counts);
  int code = direction && s.cuts && s.left && s.counts ? OP_OK : no_memory(err);
  if (!code)
    code = choose(b, direction, err);
  const int dim = b->request->dim;
  for (long i = 0; !code && i < b->request->count; i++) {
    const double *axis = direction + (size_t)b->group[i] * MOST_DIMS;
    double along = 0;
    for (int d = 0; d < dim; d++)
      if (axis[d] != 0)
        along += axis[d] * b->request->coords[i * dim + d];
    b->keys[i] = sortable(along);
  }
  if (!code)
    code = weigh_groups(b, s.cuts, err);
  if (!code)
    code = find_cuts(&s, err);
  if (!code)
    code = divide(b, s.cuts, err);
  free(direction);
  free(s.cuts);
  free(s.left);
  free(s.counts);
  return code;
}

int bisect(const struct part_request *request, choose_direction *choose, int *part, struct error *err) {
  struct bisection b = {.request = request,
                        .ngroups = 1,
                        .groups = array_new(1, sizeof *b.groups),
                        .keys = array_new((size_t)request->count, sizeof *b.keys),
                        .group = part};
  int code = b.groups && b.keys ? OP_OK : no_memory(err);
  if (!code) {
    b.groups[0] = (struct group){0, request->parts};
    for (long i = 0; i < request->count; i++)
      part[i] = 0;
  }
  while (!code && cuttable(&b))
    code = cut_level(&b, choose, err);
  for (long i = 0; !code && i < request->count; i++)
    part[i] = b.groups[part[i]].first;
  free(b.groups);
  free(b.keys);
  return code;
}
