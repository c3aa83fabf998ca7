#include "twin.h"

/* The flux of one side, (through q + p normal), is linear in its pressure and in what goes through; its
 * adjoint, with w the adjoint of the flux and half of it from each side. */
static inline void side_adjoint(double gm1, const double *restrict q, double dx, double dy,
                                const double *restrict w, double *restrict q_bar, double *dx_bar,
                                double *dy_bar) {
  double inverse = 1 / q[0];
  double through = inverse * (q[1] * dy - q[2] * dx);
  double squares = q[1] * q[1] + q[2] * q[2];
  double p = gm1 * (q[3] - 0.5 * inverse * squares);
  double through_bar = 0.5 * (w[0] * q[0] + w[1] * q[1] + w[2] * q[2] + w[3] * (q[3] + p));
  double p_bar = 0.5 * (w[1] * dy - w[2] * dx + w[3] * through);
  double part = gm1 * p_bar;
  *dy_bar += 0.5 * w[1] * p + through_bar * inverse * q[1];
  *dx_bar -= 0.5 * w[2] * p + through_bar * inverse * q[2];
  q_bar[0] +=
      0.5 * w[0] * through - through_bar * through * inverse + part * 0.5 * inverse * inverse * squares;
  q_bar[1] += 0.5 * w[1] * through + through_bar * inverse * dy - part * inverse * q[1];
  q_bar[2] += 0.5 * w[2] * through - through_bar * inverse * dx - part * inverse * q[2];
  q_bar[3] += 0.5 * w[3] * through + part;
}

static void flux_range(const struct flux_adjoint *f, int begin, int end) {
  const double *restrict x = f->x, *restrict q = f->q, *restrict adt = f->adt, *restrict res_bar = f->res_bar;
  double *restrict x_bar = f->x_bar, *restrict q_bar = f->q_bar, *restrict adt_bar = f->adt_bar;
  for (int e = begin; e < end; e++) {
    int node1 = f->mesh->edge_nodes[2 * e], node2 = f->mesh->edge_nodes[2 * e + 1];
    int cell1 = f->mesh->edge_cells[2 * e], cell2 = f->mesh->edge_cells[2 * e + 1];
    double dx = x[2 * node1] - x[2 * node2], dy = x[2 * node1 + 1] - x[2 * node2 + 1];
    double w[4], dx_bar = 0, dy_bar = 0, mu = 0.5 * (adt[cell1] + adt[cell2]) * f->eps, mu_bar = 0;
    double bar1[4] = {0}, bar2[4] = {0};
    for (int n = 0; n < 4; n++) {
      w[n] = res_bar[4 * cell1 + n] - res_bar[4 * cell2 + n];
      mu_bar += w[n] * (q[4 * cell1 + n] - q[4 * cell2 + n]);
      bar1[n] = mu * w[n];
      bar2[n] = -mu * w[n];
    }
    side_adjoint(f->gm1, q + 4 * cell1, dx, dy, w, bar1, &dx_bar, &dy_bar);
    side_adjoint(f->gm1, q + 4 * cell2, dx, dy, w, bar2, &dx_bar, &dy_bar);
    for (int n = 0; n < 4; n++) {
      q_bar[4 * cell1 + n] += bar1[n];
      q_bar[4 * cell2 + n] += bar2[n];
    }
    adt_bar[cell1] += 0.5 * f->eps * mu_bar;
    adt_bar[cell2] += 0.5 * f->eps * mu_bar;
    x_bar[2 * node1] += dx_bar;
    x_bar[2 * node1 + 1] += dy_bar;
    x_bar[2 * node2] -= dx_bar;
    x_bar[2 * node2 + 1] -= dy_bar;
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
