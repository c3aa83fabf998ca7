#include "twin.h"

#include <string.h>

/* Four numbers side by side: a row of one edge, or one number of four edges. */
typedef double four __attribute__((vector_size(4 * sizeof(double))));

/* From four rows of four to their columns. */
static inline void transpose(four r[4]) {
  four even01 = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6);
  four odd01 = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
  four even23 = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
  four odd23 = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  r[0] = __builtin_shufflevector(even01, even23, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5);
  r[2] = __builtin_shufflevector(even01, even23, 2, 3, 6, 7);
  r[3] = __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
}

/* What one side adds to the adjoints of its state and of the edge's extent; `w` is the adjoint of the flux. The
 * flux of one side, (through q + p normal), is linear in its pressure and in what goes through; half of it comes
 * from each side. */
static inline void side_adjoint(double gm1, const four q[4], const four *dx, const four *dy, const four w[4],
                                four q_bar[4], four *dx_bar, four *dy_bar) {
  four inverse = 1 / q[0];
  four through = inverse * (q[1] * *dy - q[2] * *dx);
  four squares = q[1] * q[1] + q[2] * q[2];
  four p = gm1 * (q[3] - 0.5 * inverse * squares);
  four through_bar = 0.5 * (w[0] * q[0] + w[1] * q[1] + w[2] * q[2] + w[3] * (q[3] + p)) * inverse;
  four part = 0.5 * gm1 * (w[1] * *dy - w[2] * *dx + w[3] * through);
  q_bar[0] = 0.5 * w[0] * through - through_bar * through + part * 0.5 * inverse * inverse * squares;
  q_bar[1] = 0.5 * w[1] * through + through_bar * *dy - part * inverse * q[1];
  q_bar[2] = 0.5 * w[2] * through - through_bar * *dx - part * inverse * q[2];
  q_bar[3] = 0.5 * w[3] * through + part;
  *dx_bar -= 0.5 * w[2] * p + through_bar * q[2];
  *dy_bar += 0.5 * w[1] * p + through_bar * q[1];
}

static inline void add_row(double *to, const four *row) {
  four sum;
  memcpy(&sum, to, sizeof sum);
  sum += *row;
  memcpy(to, &sum, sizeof sum);
}

/* The edges of `edge`, of which the first `count` are added: states are read as the rows that they are, since
 * processors are slow at reading from many places, and edges add to cells and nodes one by one, since they may
 * meet. */
static inline void four_edges(const struct flux_adjoint *f, const int edge[4], int count) {
  const double *restrict x = f->x, *restrict q = f->q, *restrict adt = f->adt, *restrict res_bar = f->res_bar;
  double half_eps = 0.5 * f->eps;
  const int *nodes[4], *cells[4];
  four a[4], b[4], w[4], v[4], a_bar[4], b_bar[4], dx = {0}, dy = {0}, mu = {0}, dx_bar = {0}, dy_bar = {0};
  for (int k = 0; k < 4; k++) {
    nodes[k] = f->mesh->edge_nodes + 2 * edge[k];
    cells[k] = f->mesh->edge_cells + 2 * edge[k];
    memcpy(&a[k], q + 4 * cells[k][0], sizeof a[k]);
    memcpy(&b[k], q + 4 * cells[k][1], sizeof b[k]);
    memcpy(&w[k], res_bar + 4 * cells[k][0], sizeof w[k]);
    memcpy(&v[k], res_bar + 4 * cells[k][1], sizeof v[k]);
    w[k] -= v[k];
    dx[k] = x[2 * nodes[k][0]] - x[2 * nodes[k][1]];
    dy[k] = x[2 * nodes[k][0] + 1] - x[2 * nodes[k][1] + 1];
    mu[k] = half_eps * (adt[cells[k][0]] + adt[cells[k][1]]);
  }
  transpose(a);
  transpose(b);
  transpose(w);
  side_adjoint(f->gm1, a, &dx, &dy, w, a_bar, &dx_bar, &dy_bar);
  side_adjoint(f->gm1, b, &dx, &dy, w, b_bar, &dx_bar, &dy_bar);
  four mu_bar = {0};
  for (int n = 0; n < 4; n++) {
    a_bar[n] += mu * w[n];
    b_bar[n] -= mu * w[n];
    mu_bar += w[n] * (a[n] - b[n]);
  }
  mu_bar *= half_eps;
  transpose(a_bar);
  transpose(b_bar);
  for (int k = 0; k < count; k++) {
    add_row(f->q_bar + 4 * cells[k][0], &a_bar[k]);
    add_row(f->q_bar + 4 * cells[k][1], &b_bar[k]);
    f->adt_bar[cells[k][0]] += mu_bar[k];
    f->adt_bar[cells[k][1]] += mu_bar[k];
    f->x_bar[2 * nodes[k][0]] += dx_bar[k];
    f->x_bar[2 * nodes[k][0] + 1] += dy_bar[k];
    f->x_bar[2 * nodes[k][1]] -= dx_bar[k];
    f->x_bar[2 * nodes[k][1] + 1] -= dy_bar[k];
  }
}

/* The last edge again, where there are fewer than four. */
static void flux_range(const struct flux_adjoint *f, int begin, int end) {
  int edge = begin;
  for (; edge + 4 <= end; edge += 4)
    four_edges(f, (const int[4]){edge, edge + 1, edge + 2, edge + 3}, 4);
  if (edge < end)
    four_edges(f,
               (const int[4]){edge, edge + 1 < end ? edge + 1 : edge, edge + 2 < end ? edge + 2 : edge, edge},
               end - edge);
}

void flux_adjoint_serial(const struct flux_adjoint *f) {
  flux_range(f, 0, f->mesh->edges);
}

void flux_adjoint_openmp(const struct flux_adjoint *f, const struct colouring *blocks) {
#pragma omp parallel
  for (int colour = 0; colour < blocks->colours; colour++) {
#pragma omp for schedule(static)
    for (int i = blocks->first[colour]; i < blocks->first[colour + 1]; i++)
      flux_range(f, colouring_begin(blocks, blocks->order[i]), colouring_end(blocks, blocks->order[i]));
  }
}
