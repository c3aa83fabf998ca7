/* A cube of n x n x n nodes, for the loops of flux.c and fem.c: edges between
 * neighbours with the area vector between their volumes, or hexahedra with their eight corners. Nothing in its tables
 * says that it is a grid. */
#ifndef BENCH_TURNS_BOX_H
#define BENCH_TURNS_BOX_H

#include <math.h>
#include <stdlib.h>

struct box {
  int n, nodes, edges, cells;
  int *ends;      /* edges x 2 */
  double *normal; /* edges x 3 */
  int *corners;   /* cells x 8, anticlockwise below and then above */
  double *x;      /* nodes x 3 */
};

static inline void *box_room(size_t count, size_t size) {
  void *made = calloc(count + 1, size);
  if (!made)
    exit(EXIT_FAILURE);
  return made;
}

static inline void box_edges(struct box *box) {
  const int n = box->n, apart[3] = {1, n, n * n};
  box->edges = 0;
  box->ends = (int *)box_room(6 * (size_t)box->nodes, sizeof *box->ends);
  box->normal = (double *)box_room(9 * (size_t)box->nodes, sizeof *box->normal);
  for (int k = 0; k < box->nodes; k++) {
    const int at[3] = {k % n, k / n % n, k / (n * n)};
    for (int d = 0; d < 3; d++) {
      if (at[d] == n - 1)
        continue;
      box->ends[2 * box->edges] = k;
      box->ends[2 * box->edges + 1] = k + apart[d];
      for (int c = 0; c < 3; c++)
        box->normal[3 * box->edges + c] = c == d ? 1 : 0.05 * ((k + c) % 5 - 2);
      box->edges++;
    }
  }
}

static inline void box_cells(struct box *box) {
  const int n = box->n, around[8] = {0, 1, n + 1, n, n * n, n * n + 1, n * n + n + 1, n * n + n};
  box->cells = 0;
  box->corners = (int *)box_room(8 * (size_t)box->nodes, sizeof *box->corners);
  for (int k = 0; k < box->nodes; k++)
    if (k % n < n - 1 && k / n % n < n - 1 && k / (n * n) < n - 1) {
      for (int c = 0; c < 8; c++)
        box->corners[8 * box->cells + c] = k + around[c];
      box->cells++;
    }
}

static inline struct box box_make(int n) {
  struct box box;
  box.n = n;
  box.nodes = n * n * n;
  box.x = (double *)box_room(3 * (size_t)box.nodes, sizeof *box.x);
  for (int k = 0; k < box.nodes; k++) {
    const int at[3] = {k % n, k / n % n, k / (n * n)};
    for (int d = 0; d < 3; d++)
      box.x[3 * k + d] = (at[d] + 0.1 * sin(1.0 * k + d)) / (n - 1);
  }
  box_edges(&box);
  box_cells(&box);
  return box;
}

static inline void box_free(struct box *box) {
  free(box->ends);
  free(box->normal);
  free(box->corners);
  free(box->x);
}

/* Where flux begins: five values of each node. */
static inline double *box_flow(const struct box *box) {
  double *q = (double *)box_room(5 * (size_t)box->nodes, sizeof *q);
  for (int k = 0; k < box->nodes; k++) {
    const double *x = box->x + 3 * k, bump = 0.1 * sin(6 * x[0]) * sin(5 * x[1]) * sin(4 * x[2]);
    double *row = q + 5 * k;
    row[0] = 1 + bump;
    row[1] = 0.3;
    row[2] = 0.1 * bump;
    row[3] = -0.1 * bump;
    row[4] = 2.5 + bump;
  }
  return q;
}

/* Where fem begins: a value of each node, and by how much of what reaches it a node moves: none of the surface. */
static inline double *box_field(const struct box *box) {
  double *u = (double *)box_room((size_t)box->nodes, sizeof *u);
  for (int k = 0; k < box->nodes; k++)
    u[k] = sin(3 * box->x[3 * k]) * cos(2 * box->x[3 * k + 1]) + box->x[3 * k + 2];
  return u;
}
static inline double *box_shares(const struct box *box) {
  const int n = box->n;
  double *share = (double *)box_room((size_t)box->nodes, sizeof *share);
  for (int k = 0; k < box->nodes; k++) {
    const int at[3] = {k % n, k / n % n, k / (n * n)};
    int inside = 1;
    for (int d = 0; d < 3; d++)
      inside = inside && at[d] > 0 && at[d] < n - 1;
    share[k] = inside ? 0.2 * (n - 1) : 0;
  }
  return share;
}

#endif
