#include "twin.h"

enum { STRIP = 8 }; /* edges that are computed together, in vectors */

/* What one side adds to the adjoints of its state and of the edge's extent. */
struct side {
  double q0, q1, q2, q3, dx, dy;
};

/* The flux of one side, (through q + p normal), is linear in its pressure and in what goes through; this is its
 * adjoint, with w0 .. w3 the adjoint of the flux and half of it from each side. */
static inline struct side side_adjoint(double gm1, double q0, double q1, double q2, double q3, double dx,
                                       double dy, double w0, double w1, double w2, double w3) {
  double inverse = 1 / q0;
  double through = inverse * (q1 * dy - q2 * dx);
  double squares = q1 * q1 + q2 * q2;
  double p = gm1 * (q3 - 0.5 * inverse * squares);
  double through_bar = 0.5 * (w0 * q0 + w1 * q1 + w2 * q2 + w3 * (q3 + p)) * inverse;
  double part = 0.5 * gm1 * (w1 * dy - w2 * dx + w3 * through);
  return (struct side){
      .q0 = 0.5 * w0 * through - through_bar * through + part * 0.5 * inverse * inverse * squares,
      .q1 = 0.5 * w1 * through + through_bar * dy - part * inverse * q1,
      .q2 = 0.5 * w2 * through - through_bar * dx - part * inverse * q2,
      .q3 = 0.5 * w3 * through + part,
      .dx = -0.5 * w2 * p - through_bar * q2,
      .dy = 0.5 * w1 * p + through_bar * q1,
  };
}

struct strip {
  double q_bar1[4][STRIP], q_bar2[4][STRIP], mu_bar[STRIP], dx_bar[STRIP], dy_bar[STRIP];
};

static inline void compute_strip(const struct flux_adjoint *f, int edge, int count,
                                 struct strip *restrict s) {
  const int *restrict nodes = f->mesh->edge_nodes + 2 * edge, *restrict cells =
                                                                  f->mesh->edge_cells + 2 * edge;
  const double *restrict x = f->x, *restrict q = f->q, *restrict adt = f->adt, *restrict res_bar = f->res_bar;
  double gm1 = f->gm1, half_eps = 0.5 * f->eps;
#pragma omp simd
  for (int k = 0; k < count; k++) {
    int n1 = 2 * nodes[2 * k], n2 = 2 * nodes[2 * k + 1], c1 = 4 * cells[2 * k], c2 = 4 * cells[2 * k + 1];
    double dx = x[n1] - x[n2], dy = x[n1 + 1] - x[n2 + 1];
    double a0 = q[c1], a1 = q[c1 + 1], a2 = q[c1 + 2], a3 = q[c1 + 3];
    double b0 = q[c2], b1 = q[c2 + 1], b2 = q[c2 + 2], b3 = q[c2 + 3];
    double w0 = res_bar[c1] - res_bar[c2], w1 = res_bar[c1 + 1] - res_bar[c2 + 1];
    double w2 = res_bar[c1 + 2] - res_bar[c2 + 2], w3 = res_bar[c1 + 3] - res_bar[c2 + 3];
    double mu = half_eps * (adt[cells[2 * k]] + adt[cells[2 * k + 1]]);
    struct side one = side_adjoint(gm1, a0, a1, a2, a3, dx, dy, w0, w1, w2, w3);
    struct side two = side_adjoint(gm1, b0, b1, b2, b3, dx, dy, w0, w1, w2, w3);
    s->q_bar1[0][k] = one.q0 + mu * w0;
    s->q_bar1[1][k] = one.q1 + mu * w1;
    s->q_bar1[2][k] = one.q2 + mu * w2;
    s->q_bar1[3][k] = one.q3 + mu * w3;
    s->q_bar2[0][k] = two.q0 - mu * w0;
    s->q_bar2[1][k] = two.q1 - mu * w1;
    s->q_bar2[2][k] = two.q2 - mu * w2;
    s->q_bar2[3][k] = two.q3 - mu * w3;
    s->mu_bar[k] = half_eps * (w0 * (a0 - b0) + w1 * (a1 - b1) + w2 * (a2 - b2) + w3 * (a3 - b3));
    s->dx_bar[k] = one.dx + two.dx;
    s->dy_bar[k] = one.dy + two.dy;
  }
}

/* Edges add to cells and nodes one by one, since they may meet. */
static void flux_range(const struct flux_adjoint *f, int begin, int end) {
  double *restrict x_bar = f->x_bar, *restrict q_bar = f->q_bar, *restrict adt_bar = f->adt_bar;
  struct strip s;
  for (int edge = begin; edge < end; edge += STRIP) {
    int count = end - edge < STRIP ? end - edge : STRIP;
    if (count == STRIP)
      compute_strip(f, edge, STRIP, &s);
    else
      compute_strip(f, edge, count, &s);
    for (int k = 0; k < count; k++) {
      const int *nodes = f->mesh->edge_nodes + 2 * (edge + k), *cells = f->mesh->edge_cells + 2 * (edge + k);
      for (int n = 0; n < 4; n++)
        q_bar[4 * cells[0] + n] += s.q_bar1[n][k];
      for (int n = 0; n < 4; n++)
        q_bar[4 * cells[1] + n] += s.q_bar2[n][k];
      adt_bar[cells[0]] += s.mu_bar[k];
      adt_bar[cells[1]] += s.mu_bar[k];
      x_bar[2 * nodes[0]] += s.dx_bar[k];
      x_bar[2 * nodes[0] + 1] += s.dy_bar[k];
      x_bar[2 * nodes[1]] -= s.dx_bar[k];
      x_bar[2 * nodes[1] + 1] -= s.dy_bar[k];
    }
  }
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
