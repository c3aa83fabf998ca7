#include "airfoil_loops.h"

#include "compare/airfoil/flow.h"

#include <math.h>

static double gam, gm1, cfl, eps, qinf[4];

/* ---- the loops themselves ------------------------------------------------------------------------------*/

OP_KERNEL_DEF(
    adt_calc, void adt_calc(const double *x[4], const double *q, double *adt) {
      double inv = 1 / q[0];
      double u = inv * q[1];
      double v = inv * q[2];
      double c = sqrt(gam * gm1 * (inv * q[3] - 0.5 * (u * u + v * v)));
      double sum = 0;
      for (int k = 0; k < 4; k++) {
        double dx = x[(k + 1) % 4][0] - x[k][0];
        double dy = x[(k + 1) % 4][1] - x[k][1];
        sum += fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
      }
      *adt = sum / cfl;
    })

OP_KERNEL_DEF(
    res_calc, void res_calc(const double *x1, const double *x2, const double *q1, const double *q2,
                            const double *adt1, const double *adt2, double *res1, double *res2) {
      double dx = x1[0] - x2[0];
      double dy = x1[1] - x2[1];
      double mu = 0.5 * (*adt1 + *adt2) * eps;
      double f[4];
      for (int n = 0; n < 4; n++)
        f[n] = mu * (q1[n] - q2[n]);
      for (int side = 0; side < 2; side++) {
        const double *q = side ? q2 : q1;
        double inv = 1 / q[0];
        double p = gm1 * (q[3] - 0.5 * inv * (q[1] * q[1] + q[2] * q[2]));
        double th = inv * (q[1] * dy - q[2] * dx);
        f[0] += 0.5 * th * q[0];
        f[1] += 0.5 * (th * q[1] + p * dy);
        f[2] += 0.5 * (th * q[2] - p * dx);
        f[3] += 0.5 * th * (q[3] + p);
      }
      for (int n = 0; n < 4; n++) {
        res1[n] += f[n];
        res2[n] -= f[n];
      }
    })

OP_KERNEL_DEF(
    bres_calc, void bres_calc(const double *x1, const double *x2, const double *q, const double *adt,
                              double *res, const int *kind) {
      double dx = x1[0] - x2[0];
      double dy = x1[1] - x2[1];
      double inv = 1 / q[0];
      double p = gm1 * (q[3] - 0.5 * inv * (q[1] * q[1] + q[2] * q[2]));
      if (*kind == 1) {
        res[1] += p * dy;
        res[2] -= p * dx;
      } else {
        double far_p = gm1 * (qinf[3] - 0.5 / qinf[0] * (qinf[1] * qinf[1] + qinf[2] * qinf[2]));
        double th = inv * (q[1] * dy - q[2] * dx);
        double far_th = (qinf[1] * dy - qinf[2] * dx) / qinf[0];
        double mu = *adt * eps;
        res[0] += 0.5 * (th * q[0] + far_th * qinf[0]) + mu * (q[0] - qinf[0]);
        res[1] += 0.5 * (th * q[1] + far_th * qinf[1] + (p + far_p) * dy) + mu * (q[1] - qinf[1]);
        res[2] += 0.5 * (th * q[2] + far_th * qinf[2] - (p + far_p) * dx) + mu * (q[2] - qinf[2]);
        res[3] += 0.5 * (th * (q[3] + p) + far_th * (qinf[3] + far_p)) + mu * (q[3] - qinf[3]);
      }
    })

/* ---- tangents ---------------------------------------------------------------------------------------------*/

OP_KERNEL_DEF(
    adt_calc_d, void adt_calc_d(const double *x[4], const double *x_d[4], const double *q, const double *q_d,
                                double *adt_d) {
      double inv = 1 / q[0];
      double inv_d = -inv * inv * q_d[0];
      double u = inv * q[1];
      double u_d = inv_d * q[1] + inv * q_d[1];
      double v = inv * q[2];
      double v_d = inv_d * q[2] + inv * q_d[2];
      double c = sqrt(gam * gm1 * (inv * q[3] - 0.5 * (u * u + v * v)));
      double c_d = 0.5 * gam * gm1 * (inv_d * q[3] + inv * q_d[3] - u * u_d - v * v_d) / c;
      double sum_d = 0;
      for (int k = 0; k < 4; k++) {
        double dx = x[(k + 1) % 4][0] - x[k][0];
        double dy = x[(k + 1) % 4][1] - x[k][1];
        double dx_d = x_d[(k + 1) % 4][0] - x_d[k][0];
        double dy_d = x_d[(k + 1) % 4][1] - x_d[k][1];
        double t = u * dy - v * dx;
        double t_d = u_d * dy + u * dy_d - v_d * dx - v * dx_d;
        double length = sqrt(dx * dx + dy * dy);
        double length_d = (dx * dx_d + dy * dy_d) / length;
        sum_d += (t < 0 ? -t_d : t_d) + c_d * length + c * length_d;
      }
      *adt_d = sum_d / cfl;
    })

OP_KERNEL_DEF(
    res_calc_d, void res_calc_d(const double *x1, const double *x1_d, const double *x2, const double *x2_d,
                                const double *q1, const double *q1_d, const double *q2, const double *q2_d,
                                const double *adt1, const double *adt1_d, const double *adt2,
                                const double *adt2_d, double *res1_d, double *res2_d) {
      double dx = x1[0] - x2[0];
      double dx_d = x1_d[0] - x2_d[0];
      double dy = x1[1] - x2[1];
      double dy_d = x1_d[1] - x2_d[1];
      double mu = 0.5 * (*adt1 + *adt2) * eps;
      double mu_d = 0.5 * (*adt1_d + *adt2_d) * eps;
      double f_d[4];
      for (int n = 0; n < 4; n++)
        f_d[n] = mu_d * (q1[n] - q2[n]) + mu * (q1_d[n] - q2_d[n]);
      for (int side = 0; side < 2; side++) {
        const double *q = side ? q2 : q1;
        const double *q_d = side ? q2_d : q1_d;
        double inv = 1 / q[0];
        double inv_d = -inv * inv * q_d[0];
        double squares = q[1] * q[1] + q[2] * q[2];
        double squares_d = 2 * (q[1] * q_d[1] + q[2] * q_d[2]);
        double p = gm1 * (q[3] - 0.5 * inv * squares);
        double p_d = gm1 * (q_d[3] - 0.5 * (inv_d * squares + inv * squares_d));
        double flow = q[1] * dy - q[2] * dx;
        double flow_d = q_d[1] * dy + q[1] * dy_d - q_d[2] * dx - q[2] * dx_d;
        double th = inv * flow;
        double th_d = inv_d * flow + inv * flow_d;
        f_d[0] += 0.5 * (th_d * q[0] + th * q_d[0]);
        f_d[1] += 0.5 * (th_d * q[1] + th * q_d[1] + p_d * dy + p * dy_d);
        f_d[2] += 0.5 * (th_d * q[2] + th * q_d[2] - p_d * dx - p * dx_d);
        f_d[3] += 0.5 * (th_d * (q[3] + p) + th * (q_d[3] + p_d));
      }
      for (int n = 0; n < 4; n++) {
        res1_d[n] += f_d[n];
        res2_d[n] -= f_d[n];
      }
    })

OP_KERNEL_DEF(
    bres_calc_d, void bres_calc_d(const double *x1, const double *x1_d, const double *x2, const double *x2_d,
                                  const double *q, const double *q_d, const double *adt, const double *adt_d,
                                  double *res_d, const int *kind) {
      double dx = x1[0] - x2[0];
      double dx_d = x1_d[0] - x2_d[0];
      double dy = x1[1] - x2[1];
      double dy_d = x1_d[1] - x2_d[1];
      double inv = 1 / q[0];
      double inv_d = -inv * inv * q_d[0];
      double squares = q[1] * q[1] + q[2] * q[2];
      double squares_d = 2 * (q[1] * q_d[1] + q[2] * q_d[2]);
      double p = gm1 * (q[3] - 0.5 * inv * squares);
      double p_d = gm1 * (q_d[3] - 0.5 * (inv_d * squares + inv * squares_d));
      if (*kind == 1) {
        res_d[1] += p_d * dy + p * dy_d;
        res_d[2] -= p_d * dx + p * dx_d;
      } else {
        double far_p = gm1 * (qinf[3] - 0.5 / qinf[0] * (qinf[1] * qinf[1] + qinf[2] * qinf[2]));
        double flow = q[1] * dy - q[2] * dx;
        double th = inv * flow;
        double th_d = inv_d * flow + inv * (q_d[1] * dy + q[1] * dy_d - q_d[2] * dx - q[2] * dx_d);
        double far_th_d = (qinf[1] * dy_d - qinf[2] * dx_d) / qinf[0];
        double f_d[4];
        for (int n = 0; n < 4; n++)
          f_d[n] = 0.5 * (th_d * q[n] + th * q_d[n] + far_th_d * qinf[n]) + *adt_d * eps * (q[n] - qinf[n]) +
                   *adt * eps * q_d[n];
        f_d[1] += 0.5 * (p_d * dy + (p + far_p) * dy_d);
        f_d[2] -= 0.5 * (p_d * dx + (p + far_p) * dx_d);
        f_d[3] += 0.5 * (th_d * p + th * p_d + far_th_d * far_p);
        for (int n = 0; n < 4; n++)
          res_d[n] += f_d[n];
      }
    })

/* ---- adjoints ---------------------------------------------------------------------------------------------*/

/* What was written is read and ends as zero. */
OP_KERNEL_DEF(
    adt_calc_b,
    void adt_calc_b(const double *x[4], double *x_b[4], const double *q, double *q_b, double *adt_b) {
      double inv = 1 / q[0];
      double u = inv * q[1];
      double v = inv * q[2];
      double c = sqrt(gam * gm1 * (inv * q[3] - 0.5 * (u * u + v * v)));
      double sum_b = *adt_b / cfl;
      double u_b = 0;
      double v_b = 0;
      double c_b = 0;
      for (int k = 3; k >= 0; k--) {
        double dx = x[(k + 1) % 4][0] - x[k][0];
        double dy = x[(k + 1) % 4][1] - x[k][1];
        double t_b = u * dy - v * dx < 0 ? -sum_b : sum_b;
        double length = sqrt(dx * dx + dy * dy);
        double dx_b = c * sum_b * dx / length - v * t_b;
        double dy_b = c * sum_b * dy / length + u * t_b;
        c_b += length * sum_b;
        u_b += dy * t_b;
        v_b -= dx * t_b;
        x_b[(k + 1) % 4][0] += dx_b;
        x_b[(k + 1) % 4][1] += dy_b;
        x_b[k][0] -= dx_b;
        x_b[k][1] -= dy_b;
      }
      double inner_b = 0.5 * gam * gm1 * c_b / c;
      u_b -= u * inner_b;
      v_b -= v * inner_b;
      q_b[0] -= inv * inv * (q[3] * inner_b + q[1] * u_b + q[2] * v_b);
      q_b[1] += inv * u_b;
      q_b[2] += inv * v_b;
      q_b[3] += inv * inner_b;
      *adt_b = 0;
    })

OP_KERNEL_DEF(
    res_calc_b,
    void res_calc_b(const double *x1, double *x1_b, const double *x2, double *x2_b, const double *q1,
                    double *q1_b, const double *q2, double *q2_b, const double *adt1, double *adt1_b,
                    const double *adt2, double *adt2_b, const double *res1_b, const double *res2_b) {
      double dx = x1[0] - x2[0];
      double dy = x1[1] - x2[1];
      double mu = 0.5 * (*adt1 + *adt2) * eps;
      double f_b[4];
      double side_b[2][4];
      double mu_b = 0;
      double dx_b = 0;
      double dy_b = 0;
      for (int n = 0; n < 4; n++) {
        f_b[n] = res1_b[n] - res2_b[n];
        mu_b += (q1[n] - q2[n]) * f_b[n];
        side_b[0][n] = mu * f_b[n];
        side_b[1][n] = -mu * f_b[n];
      }
      for (int side = 1; side >= 0; side--) {
        const double *q = side ? q2 : q1;
        double inv = 1 / q[0];
        double squares = q[1] * q[1] + q[2] * q[2];
        double p = gm1 * (q[3] - 0.5 * inv * squares);
        double flow = q[1] * dy - q[2] * dx;
        double th = inv * flow;
        double th_b = 0.5 * (q[0] * f_b[0] + q[1] * f_b[1] + q[2] * f_b[2] + (q[3] + p) * f_b[3]);
        double p_b = 0.5 * (dy * f_b[1] - dx * f_b[2] + th * f_b[3]);
        dy_b += 0.5 * p * f_b[1] + inv * q[1] * th_b;
        dx_b -= 0.5 * p * f_b[2] + inv * q[2] * th_b;
        double inv_b = flow * th_b - 0.5 * gm1 * squares * p_b;
        double squares_b = -0.5 * gm1 * inv * p_b;
        side_b[side][0] += 0.5 * th * f_b[0] - inv * inv * inv_b;
        side_b[side][1] += 0.5 * th * f_b[1] + inv * dy * th_b + 2 * q[1] * squares_b;
        side_b[side][2] += 0.5 * th * f_b[2] - inv * dx * th_b + 2 * q[2] * squares_b;
        side_b[side][3] += 0.5 * th * f_b[3] + gm1 * p_b;
      }
      for (int n = 0; n < 4; n++) {
        q1_b[n] += side_b[0][n];
        q2_b[n] += side_b[1][n];
      }
      *adt1_b += 0.5 * eps * mu_b;
      *adt2_b += 0.5 * eps * mu_b;
      x1_b[0] += dx_b;
      x1_b[1] += dy_b;
      x2_b[0] -= dx_b;
      x2_b[1] -= dy_b;
    })

OP_KERNEL_DEF(
    bres_calc_b,
    void bres_calc_b(const double *x1, double *x1_b, const double *x2, double *x2_b, const double *q,
                     double *q_b, const double *adt, double *adt_b, const double *res_b, const int *kind) {
      double dx = x1[0] - x2[0];
      double dy = x1[1] - x2[1];
      double inv = 1 / q[0];
      double squares = q[1] * q[1] + q[2] * q[2];
      double p = gm1 * (q[3] - 0.5 * inv * squares);
      double p_b;
      double inv_b = 0;
      double dx_b;
      double dy_b;
      if (*kind == 1) {
        p_b = dy * res_b[1] - dx * res_b[2];
        dy_b = p * res_b[1];
        dx_b = -p * res_b[2];
      } else {
        double far_p = gm1 * (qinf[3] - 0.5 / qinf[0] * (qinf[1] * qinf[1] + qinf[2] * qinf[2]));
        double flow = q[1] * dy - q[2] * dx;
        double th = inv * flow;
        double th_b = 0.5 * p * res_b[3];
        double far_th_b = 0.5 * far_p * res_b[3];
        double mu_b = 0;
        for (int n = 0; n < 4; n++) {
          th_b += 0.5 * q[n] * res_b[n];
          far_th_b += 0.5 * qinf[n] * res_b[n];
          mu_b += (q[n] - qinf[n]) * res_b[n];
          q_b[n] += (0.5 * th + *adt * eps) * res_b[n];
        }
        *adt_b += eps * mu_b;
        p_b = 0.5 * (dy * res_b[1] - dx * res_b[2] + th * res_b[3]);
        dy_b = 0.5 * (p + far_p) * res_b[1] + inv * q[1] * th_b + qinf[1] / qinf[0] * far_th_b;
        dx_b = -0.5 * (p + far_p) * res_b[2] - inv * q[2] * th_b - qinf[2] / qinf[0] * far_th_b;
        inv_b = flow * th_b;
        q_b[1] += inv * dy * th_b;
        q_b[2] -= inv * dx * th_b;
      }
      inv_b -= 0.5 * gm1 * squares * p_b;
      q_b[0] -= inv * inv * inv_b;
      q_b[1] -= gm1 * inv * q[1] * p_b;
      q_b[2] -= gm1 * inv * q[2] * p_b;
      q_b[3] += gm1 * p_b;
      x1_b[0] += dx_b;
      x1_b[1] += dy_b;
      x2_b[0] -= dx_b;
      x2_b[1] -= dy_b;
    })

/* ---- in their order ------------------------------------------------------------------------------------*/

void airfoil_constants(void) {
  gam = FLOW_GAMMA;
  gm1 = FLOW_GAMMA - 1;
  cfl = FLOW_CFL;
  eps = FLOW_EPS;
  flow_free_stream(qinf);
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("gm1", 1, "double", &gm1);
  op_decl_const("cfl", 1, "double", &cfl);
  op_decl_const("eps", 1, "double", &eps);
  op_decl_const("qinf", 4, "double", qinf);
}

static op_arg own(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static op_arg via(op_map map, int end, op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, end, map, dim, "double", access);
}

void airfoil_residual(const struct airfoil *a) {
  op_map en = a->edge_nodes, ec = a->edge_cells, bn = a->boundary_nodes, bc = a->boundary_cell;
  op_par_loop(OP_KERNEL_OF(adt_calc), "adt_calc", a->cells, via(a->cell_nodes, -4, a->x, 2, OP_READ),
              own(a->q, 4, OP_READ), own(a->adt, 1, OP_WRITE));
  op_par_loop(OP_KERNEL_OF(res_calc), "res_calc", a->edges, via(en, 0, a->x, 2, OP_READ),
              via(en, 1, a->x, 2, OP_READ), via(ec, 0, a->q, 4, OP_READ), via(ec, 1, a->q, 4, OP_READ),
              via(ec, 0, a->adt, 1, OP_READ), via(ec, 1, a->adt, 1, OP_READ), via(ec, 0, a->res, 4, OP_INC),
              via(ec, 1, a->res, 4, OP_INC));
  op_par_loop(OP_KERNEL_OF(bres_calc), "bres_calc", a->boundary, via(bn, 0, a->x, 2, OP_READ),
              via(bn, 1, a->x, 2, OP_READ), via(bc, 0, a->q, 4, OP_READ), via(bc, 0, a->adt, 1, OP_READ),
              via(bc, 0, a->res, 4, OP_INC), op_arg_dat(a->kind, -1, OP_ID, 1, "int", OP_READ));
}

void airfoil_tangent(const struct airfoil *a) {
  op_map en = a->edge_nodes, ec = a->edge_cells, bn = a->boundary_nodes, bc = a->boundary_cell;
  op_par_loop(OP_KERNEL_OF(adt_calc_d), "adt_calc_d", a->cells, via(a->cell_nodes, -4, a->x, 2, OP_READ),
              via(a->cell_nodes, -4, a->x_d, 2, OP_READ), own(a->q, 4, OP_READ), own(a->q_d, 4, OP_READ),
              own(a->adt_d, 1, OP_WRITE));
  op_par_loop(OP_KERNEL_OF(res_calc_d), "res_calc_d", a->edges, via(en, 0, a->x, 2, OP_READ),
              via(en, 0, a->x_d, 2, OP_READ), via(en, 1, a->x, 2, OP_READ), via(en, 1, a->x_d, 2, OP_READ),
              via(ec, 0, a->q, 4, OP_READ), via(ec, 0, a->q_d, 4, OP_READ), via(ec, 1, a->q, 4, OP_READ),
              via(ec, 1, a->q_d, 4, OP_READ), via(ec, 0, a->adt, 1, OP_READ),
              via(ec, 0, a->adt_d, 1, OP_READ), via(ec, 1, a->adt, 1, OP_READ),
              via(ec, 1, a->adt_d, 1, OP_READ), via(ec, 0, a->res_d, 4, OP_INC),
              via(ec, 1, a->res_d, 4, OP_INC));
  op_par_loop(OP_KERNEL_OF(bres_calc_d), "bres_calc_d", a->boundary, via(bn, 0, a->x, 2, OP_READ),
              via(bn, 0, a->x_d, 2, OP_READ), via(bn, 1, a->x, 2, OP_READ), via(bn, 1, a->x_d, 2, OP_READ),
              via(bc, 0, a->q, 4, OP_READ), via(bc, 0, a->q_d, 4, OP_READ), via(bc, 0, a->adt, 1, OP_READ),
              via(bc, 0, a->adt_d, 1, OP_READ), via(bc, 0, a->res_d, 4, OP_INC),
              op_arg_dat(a->kind, -1, OP_ID, 1, "int", OP_READ));
}

void airfoil_fluxes_backward(const struct airfoil *a) {
  op_map en = a->edge_nodes, ec = a->edge_cells;
  op_par_loop(OP_KERNEL_OF(res_calc_b), "res_calc_b", a->edges, via(en, 0, a->x, 2, OP_READ),
              via(en, 0, a->x_b, 2, OP_INC), via(en, 1, a->x, 2, OP_READ), via(en, 1, a->x_b, 2, OP_INC),
              via(ec, 0, a->q, 4, OP_READ), via(ec, 0, a->q_b, 4, OP_INC), via(ec, 1, a->q, 4, OP_READ),
              via(ec, 1, a->q_b, 4, OP_INC), via(ec, 0, a->adt, 1, OP_READ), via(ec, 0, a->adt_b, 1, OP_INC),
              via(ec, 1, a->adt, 1, OP_READ), via(ec, 1, a->adt_b, 1, OP_INC),
              via(ec, 0, a->res_b, 4, OP_READ), via(ec, 1, a->res_b, 4, OP_READ));
}

void airfoil_adjoint(const struct airfoil *a) {
  op_map bn = a->boundary_nodes, bc = a->boundary_cell;
  op_par_loop(OP_KERNEL_OF(bres_calc_b), "bres_calc_b", a->boundary, via(bn, 0, a->x, 2, OP_READ),
              via(bn, 0, a->x_b, 2, OP_INC), via(bn, 1, a->x, 2, OP_READ), via(bn, 1, a->x_b, 2, OP_INC),
              via(bc, 0, a->q, 4, OP_READ), via(bc, 0, a->q_b, 4, OP_INC), via(bc, 0, a->adt, 1, OP_READ),
              via(bc, 0, a->adt_b, 1, OP_INC), via(bc, 0, a->res_b, 4, OP_READ),
              op_arg_dat(a->kind, -1, OP_ID, 1, "int", OP_READ));
  airfoil_fluxes_backward(a);
  op_par_loop(OP_KERNEL_OF(adt_calc_b), "adt_calc_b", a->cells, via(a->cell_nodes, -4, a->x, 2, OP_READ),
              via(a->cell_nodes, -4, a->x_b, 2, OP_INC), own(a->q, 4, OP_READ), own(a->q_b, 4, OP_INC),
              own(a->adt_b, 1, OP_RW));
}
