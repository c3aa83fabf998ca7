/* Subsets over ranks: each rank says which of its elements belong to one, and loops over it do on all ranks together
 * what one process does, whoever owns the elements. What is freed is forgotten on all ranks. */
#include <stdbool.h>

#include "check.h"

enum { NX = 12, NY = 9, CELLS = NX * NY, POINTS = (NX + 1) * (NY + 1) };

static int rank, size;

OP_KERNEL_DEF(
    set_to, void set_to(const double *a, double *b) { b[0] = 2 * a[0] + 1; })
OP_KERNEL_DEF(
    scatter, void scatter(const double *a, double *p0, double *p1) {
      p0[0] += a[0];
      p1[0] += 2 * a[0];
    })
OP_KERNEL_DEF(
    gather, void gather(const double *p[2], double *a) { a[0] += p[0][0] + 3 * p[1][0]; })
OP_KERNEL_DEF(
    both, void both(double *a, double *p0, double *p1) {
      a[0] += 1;
      p0[0] += a[0];
      p1[0] -= a[0];
    })
OP_KERNEL_DEF(
    add, void add(const double *a, const int *n, double *sum, long long *numbers) {
      *sum += a[0];
      *numbers += *n;
    })

/* The whole mesh, as one process sees it; and the part that this rank declares. */
static int ends[2 * CELLS];
static double va[CELLS], vb[CELLS], vp[POINTS];
static int first_cell, ncells, first_point, npoints;
static op_set cells, points;
static op_map map;
static op_dat a, b, p, xy;

static int share_of(int all, int r) {
  return (int)((long long)all * r / size);
}

static op_map declare_map(void) {
  return op_decl_map(cells, points, 2, ends + (size_t)first_cell * 2, "ends");
}

static void declare(void) {
  double coords[2 * CELLS];
  for (int e = 0; e < CELLS; e++) {
    ends[2 * e] = e / NX * (NX + 1) + e % NX;
    ends[2 * e + 1] = ends[2 * e] + NX + 2;
    va[e] = e % 7;
    vb[e] = e % 5;
    coords[2 * e] = e % NX;
    coords[2 * e + 1] = e / NX;
  }
  for (int i = 0; i < POINTS; i++)
    vp[i] = i % 11;
  first_cell = share_of(CELLS, rank);
  ncells = share_of(CELLS, rank + 1) - first_cell;
  first_point = share_of(POINTS, rank);
  npoints = share_of(POINTS, rank + 1) - first_point;
  cells = op_decl_set(ncells, "cells");
  points = op_decl_set(npoints, "points");
  map = declare_map();
  a = op_decl_dat(cells, 1, "double", va + first_cell, "a");
  b = op_decl_dat(cells, 1, "double:soa", vb + first_cell, "b");
  p = op_decl_dat(points, 1, "double", vp + first_point, "p");
  xy = op_decl_dat(cells, 2, "double", coords + 2 * (size_t)first_cell, "xy");
  check(map && a && b && p && xy);
}

/* Which elements: a rule that all ranks know. */
struct rule {
  int step, from, to;
};

static bool has(const struct rule *r, int e) {
  return e >= r->from && e < r->to && e % r->step == 0;
}

/* Last element first: the order does not matter. */
static op_set subset(const struct rule *r, const char *name) {
  int elements[CELLS], n = 0, all = 0;
  for (int e = first_cell + ncells - 1; e >= first_cell; e--)
    if (has(r, e))
      elements[n++] = e - first_cell;
  const op_set s = op_decl_subset(cells, n, elements, name);
  for (int e = 0; e < CELLS; e++)
    all += has(r, e);
  check(s && op_get_size(s) == n && op_get_global_size(s) == all);
  return s;
}

static void compare(void) {
  double got[POINTS];
  check(!op_fetch_data(a, got));
  check(!memcmp(got, va + first_cell, (size_t)ncells * sizeof *got));
  check(!op_fetch_data(b, got));
  check(!memcmp(got, vb + first_cell, (size_t)ncells * sizeof *got));
  check(!op_fetch_data(p, got));
  check(!memcmp(got, vp + first_point, (size_t)npoints * sizeof *got));
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}
static op_arg end(int i, op_access access) {
  return op_arg_dat(p, i, map, 1, "double", access);
}

static void scatter_over(op_set s, const struct rule *r) {
  check(!op_par_loop(OP_KERNEL_OF(scatter), "scatter", s, own(a, OP_READ), end(0, OP_INC), end(1, OP_INC)));
  for (int e = 0; e < CELLS; e++)
    if (has(r, e)) {
      vp[ends[2 * e]] += va[e];
      vp[ends[2 * e + 1]] += 2 * va[e];
    }
}

static void both_over(op_set s, const struct rule *r) {
  check(!op_par_loop(OP_KERNEL_OF(both), "both", s, own(a, OP_RW), end(0, OP_INC), end(1, OP_INC)));
  for (int e = 0; e < CELLS; e++)
    if (has(r, e)) {
      va[e]++;
      vp[ends[2 * e]] += va[e];
      vp[ends[2 * e + 1]] -= va[e];
    }
}

static void gather_over(op_set s, const struct rule *r) {
  check(!op_par_loop(OP_KERNEL_OF(gather), "gather", s, end(-2, OP_READ), own(a, OP_RW)));
  for (int e = 0; e < CELLS; e++)
    if (has(r, e))
      va[e] += vp[ends[2 * e]] + 3 * vp[ends[2 * e + 1]];
}

static void set_over(op_set s, const struct rule *r) {
  check(!op_par_loop(OP_KERNEL_OF(set_to), "set_to", s, own(a, OP_READ), own(b, OP_WRITE)));
  for (int e = 0; e < CELLS; e++)
    if (has(r, e))
      vb[e] = 2 * va[e] + 1;
}

static void add_over(op_set s, const struct rule *r) {
  double sum = 0.5, wanted = 0.5;
  long long numbers = 0, all = 0;
  check(!op_par_loop(OP_KERNEL_OF(add), "add", s, own(a, OP_READ), op_arg_idx(-1, OP_ID),
                     op_arg_gbl(&sum, 1, "double", OP_INC), op_arg_gbl(&numbers, 1, "long long", OP_INC)));
  for (int e = 0; e < CELLS; e++)
    if (has(r, e)) {
      wanted += va[e];
      all += e;
    }
  check(sum >= wanted && sum <= wanted && numbers == all);
}

/* Values stay small whole numbers, so that sums are exact in any order. */
static void tame(void) {
  for (int e = 0; e < CELLS; e++)
    va[e] = e % 7;
  for (int i = 0; i < POINTS; i++)
    vp[i] = i % 11;
  check(!op_put_data(a, va + first_cell) && !op_put_data(p, vp + first_point));
}

static const struct rule all_cells = {1, 0, CELLS};

/* Over the subset and over all in turn: each finds what the other left in its halos. */
static void run(op_set s, const struct rule *r) {
  scatter_over(s, r);
  gather_over(cells, &all_cells);
  set_over(s, r);
  both_over(s, r);
  gather_over(s, r);
  scatter_over(cells, &all_cells);
  add_over(s, r);
  gather_over(s, r);
  compare();
  both_over(cells, &all_cells);
  gather_over(s, r);
  both_over(s, r);
  scatter_over(s, r);
  compare();
  tame();
}

/* Each rank changes its copies of a subset's elements as their owners do: they stay the newest. */
static void change_copies_alike(op_set s, const struct rule *r) {
  both_over(cells, &all_cells);
  const long long before = op_counters()->exchanges;
  both_over(s, r);
  scatter_over(s, r);
  both_over(s, r);
  check(op_counters()->exchanges == before);
  compare();
  tame();
}

int main(int argc, char **argv) {
  static const struct rule third = {3, 0, CELLS}, band = {1, 30, 60}, few = {40, 1, 90}, none = {1, 5, 5};
  check(!op_init(argc, argv, 0));
  rank = op_rank();
  size = op_rank_count();
  declare();
  op_set every = subset(&third, "third"), middle = subset(&band, "band");
  const op_set nothing = subset(&none, "none");
  run(every, &third);
  run(middle, &band);
  run(nothing, &none);
  change_copies_alike(every, &third);
  check(!op_partition("rcb", "", cells, NULL, xy));
  run(every, &third);
  run(middle, &band);
  const op_set late = subset(&few, "few");
  run(late, &few);
  check(!op_renumber(map));
  run(every, &third);
  run(late, &few);
  check(!op_partition("random", "", cells, NULL, NULL));
  run(every, &third);
  run(nothing, &none);
  run(middle, &band);
  const long long records = op_counters()->records;
  for (int i = 0; i < 5; i++) {
    check(!op_free_set(every) && !op_free_set(middle));
    middle = subset(&band, "band");
    every = subset(&third, "third");
    run(every, &third);
  }
  check(op_counters()->records == records);
  for (int i = 0; i < 20 && size > 1; i++) {
    run(every, &third);
    check(op_counters()->tiled == 0);
  }
  check(!op_partition("block", "", cells, NULL, NULL));
  run(every, &third);
  /* Other elements on one rank alone: then it is another subset on all. */
  check(!op_free_set(every));
  const struct rule changed = {3, 0, CELLS - 2};
  every = subset(&changed, "third");
  run(every, &changed);
  for (int i = 0; i < 3; i++) {
    check(!op_free_map(map));
    map = declare_map();
    check(map);
    run(every, &changed);
    run(middle, &band);
  }
  const op_set other = op_decl_set(rank + 1, "other");
  const op_set behind = op_decl_set(4, "behind");
  const op_dat value = op_decl_dat(behind, 1, "double", NULL, "value");
  check(other && value);
  run(middle, &band);
  check(!op_free_set(other));
  check(!op_partition("random", "", cells, NULL, NULL));
  run(middle, &band);
  check(!op_free_dat(value) && !op_free_set(behind));
  run(middle, &band);
  check(!op_exit());
  return 0;
}
