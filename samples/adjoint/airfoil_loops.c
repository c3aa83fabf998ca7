/* The residual of airfoil, from the coordinates of the nodes and the state of the cells through the time
 * steps to the residual, with its tangent (names end in _d) and its adjoint (_b) as differentiation tools
 * write them. In the adjoint the loops run in the opposite order; coordinates and states, which were read
 * through maps, are incremented through them. */
#include "adjoint.h"
#include "twin.h"

#include "airfoil/flow.h"
#include "airfoil/mesh.h"
#include "common/memory.h"
#include "common/ranks.h"
#include "common/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- the program --------------------------------------------------------------------------------------------*/

struct airfoil {
  op_set nodes, cells, edges, boundary;
  op_map cell_nodes, edge_nodes, edge_cells, boundary_nodes, boundary_cell;
  op_dat kind, x, q, adt, res, x_d, q_d, adt_d, res_d, x_b, q_b, adt_b, res_b;
};

static op_dat dat_of(op_set set, int dim, const double *values, const char *name) {
  return op_decl_dat(set, dim, "double", values, name);
}

static struct airfoil declare(const struct airfoil_mesh *mesh) {
  struct airfoil a;
  a.nodes = op_decl_set(declared(mesh->nodes), "nodes");
  a.cells = op_decl_set(declared(mesh->cells), "cells");
  a.edges = op_decl_set(declared(mesh->edges), "edges");
  a.boundary = op_decl_set(declared(mesh->boundary_edges), "boundary");
  a.cell_nodes = op_decl_map(a.cells, a.nodes, 4, mesh->cell_nodes, "cell_nodes");
  a.edge_nodes = op_decl_map(a.edges, a.nodes, 2, mesh->edge_nodes, "edge_nodes");
  a.edge_cells = op_decl_map(a.edges, a.cells, 2, mesh->edge_cells, "edge_cells");
  a.boundary_nodes = op_decl_map(a.boundary, a.nodes, 2, mesh->boundary_nodes, "boundary_nodes");
  a.boundary_cell = op_decl_map(a.boundary, a.cells, 1, mesh->boundary_cell, "boundary_cell");
  a.kind = op_decl_dat(a.boundary, 1, "int", mesh->boundary_kind, "kind");
  op_dat *const of_nodes[] = {&a.x, &a.x_d, &a.x_b};
  op_dat *const of_cells[] = {&a.q, &a.q_d, &a.q_b, &a.res, &a.res_d, &a.res_b};
  op_dat *const steps[] = {&a.adt, &a.adt_d, &a.adt_b};
  for (int k = 0; k < 3; k++) {
    *of_nodes[k] = dat_of(a.nodes, 2, NULL, "x");
    *steps[k] = dat_of(a.cells, 1, NULL, "adt");
  }
  for (int k = 0; k < 6; k++)
    *of_cells[k] = dat_of(a.cells, 4, NULL, "q or res");
  share_out(a.cells);
  return a;
}

static op_arg own(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static op_arg via(op_map map, int end, op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, end, map, dim, "double", access);
}

static void clear(op_dat dat, long long count) {
  double *zeros = room(count, sizeof *zeros);
  memset(zeros, 0, (size_t)count * sizeof *zeros);
  op_put_data(dat, zeros);
  free(zeros);
}

static void residual(const struct airfoil *a) {
  op_map en = a->edge_nodes, ec = a->edge_cells, bn = a->boundary_nodes, bc = a->boundary_cell;
  clear(a->res, 4LL * op_get_size(a->cells));
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

static void tangent(const struct airfoil *a) {
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

static void fluxes_backward(const struct airfoil *a) {
  op_map en = a->edge_nodes, ec = a->edge_cells;
  op_par_loop(OP_KERNEL_OF(res_calc_b), "res_calc_b", a->edges, via(en, 0, a->x, 2, OP_READ),
              via(en, 0, a->x_b, 2, OP_INC), via(en, 1, a->x, 2, OP_READ), via(en, 1, a->x_b, 2, OP_INC),
              via(ec, 0, a->q, 4, OP_READ), via(ec, 0, a->q_b, 4, OP_INC), via(ec, 1, a->q, 4, OP_READ),
              via(ec, 1, a->q_b, 4, OP_INC), via(ec, 0, a->adt, 1, OP_READ), via(ec, 0, a->adt_b, 1, OP_INC),
              via(ec, 1, a->adt, 1, OP_READ), via(ec, 1, a->adt_b, 1, OP_INC),
              via(ec, 0, a->res_b, 4, OP_READ), via(ec, 1, a->res_b, 4, OP_READ));
}

static void adjoint(const struct airfoil *a) {
  op_map bn = a->boundary_nodes, bc = a->boundary_cell;
  op_par_loop(OP_KERNEL_OF(bres_calc_b), "bres_calc_b", a->boundary, via(bn, 0, a->x, 2, OP_READ),
              via(bn, 0, a->x_b, 2, OP_INC), via(bn, 1, a->x, 2, OP_READ), via(bn, 1, a->x_b, 2, OP_INC),
              via(bc, 0, a->q, 4, OP_READ), via(bc, 0, a->q_b, 4, OP_INC), via(bc, 0, a->adt, 1, OP_READ),
              via(bc, 0, a->adt_b, 1, OP_INC), via(bc, 0, a->res_b, 4, OP_READ),
              op_arg_dat(a->kind, -1, OP_ID, 1, "int", OP_READ));
  fluxes_backward(a);
  op_par_loop(OP_KERNEL_OF(adt_calc_b), "adt_calc_b", a->cells, via(a->cell_nodes, -4, a->x, 2, OP_READ),
              via(a->cell_nodes, -4, a->x_b, 2, OP_INC), own(a->q, 4, OP_READ), own(a->q_b, 4, OP_INC),
              own(a->adt_b, 1, OP_RW));
}

/* The primal point: the mesh, and the free stream with noise, so that nothing is zero by chance. */
struct point {
  double *x, *q, *x_d, *q_d, *res_b;
};

static struct point point_make(const struct airfoil_mesh *mesh) {
  struct point p = {room(2LL * mesh->nodes, sizeof(double)), adjoint_noise(4LL * mesh->cells, 11),
                    adjoint_noise(2LL * mesh->nodes, 12), adjoint_noise(4LL * mesh->cells, 13),
                    adjoint_noise(4LL * mesh->cells, 14)};
  memcpy(p.x, mesh->x, 2 * (size_t)mesh->nodes * sizeof(double));
  for (int i = 0; i < 4 * mesh->cells; i++)
    p.q[i] = qinf[i % 4] + 0.05 * p.q[i];
  for (int i = 0; i < 2 * mesh->nodes; i++)
    p.x_d[i] *= 1e-3; /* movements that suit the size of cells */
  return p;
}

static void point_free(struct point *p) {
  free(p->x);
  free(p->q);
  free(p->x_d);
  free(p->q_d);
  free(p->res_b);
}

/* The residual at the point moved by h along the tangent direction. */
static void residual_at(const struct airfoil *a, const struct airfoil_mesh *mesh, const struct point *p,
                        double h, double *res) {
  double *x = room(2LL * mesh->nodes, sizeof *x), *q = room(4LL * mesh->cells, sizeof *q);
  for (int i = 0; i < 2 * mesh->nodes; i++)
    x[i] = p->x[i] + h * p->x_d[i];
  for (int i = 0; i < 4 * mesh->cells; i++)
    q[i] = p->q[i] + h * p->q_d[i];
  op_put_data(a->x, x);
  op_put_data(a->q, q);
  residual(a);
  op_fetch_data(a->res, res);
  free(x);
  free(q);
}

/* The tangent against a difference of two residuals, in the root mean square: the time step has a modulus,
 * near whose corner a difference is wrong for a few sides. */
static void check_tangent(struct check *check, const struct airfoil *a, const struct airfoil_mesh *mesh,
                          const struct point *p) {
  const double h = 1e-6;
  long long count = 4LL * mesh->cells;
  double *res_d = room(count, sizeof *res_d), *up = room(count, sizeof *up),
         *down = room(count, sizeof *down);
  double difference = 0, size = 0;
  residual_at(a, mesh, p, h, up);
  residual_at(a, mesh, p, -h, down);
  residual_at(a, mesh, p, 0, res_d);
  tangent(a);
  op_fetch_data(a->res_d, res_d);
  for (long long i = 0; op_is_root() && i < count; i++) {
    double slope = (up[i] - down[i]) / (2 * h);
    difference += (slope - res_d[i]) * (slope - res_d[i]);
    size += res_d[i] * res_d[i];
  }
  check_at_most(check, "airfoil: tangent against a difference, relative", sqrt(difference / size), 1e-6);
  free(res_d);
  free(up);
  free(down);
}

/* ---- times ----------------------------------------------------------------------------------------------------*/

/* Edges coloured by their nodes and cells together. */
static struct colouring colour_edges(const struct airfoil_mesh *mesh) {
  int *table = room(4LL * mesh->edges, sizeof *table), block = mesh->edges / 64;
  for (int e = 0; e < mesh->edges; e++) {
    for (int k = 0; k < 2; k++) {
      table[4 * e + k] = mesh->edge_nodes[2 * e + k];
      table[4 * e + 2 + k] = mesh->nodes + mesh->edge_cells[2 * e + k];
    }
  }
  struct colouring made = colouring_make(mesh->edges, 4, table, mesh->nodes + mesh->cells,
                                         block < 256    ? 256
                                         : block > 8192 ? 8192
                                                        : block);
  free(table);
  return made;
}

/* The loop, and a wait for it. */
static void fluxes_backward_now(const struct airfoil *a, double got[4]) {
  fluxes_backward(a);
  wait_for(a->q_b, got);
}

static void time_fluxes(struct check *check, const struct airfoil *a, const struct airfoil_mesh *mesh,
                        const struct point *p) {
  enum { REPEATS = 7, WAYS = 3 };
  static const char *const names[WAYS] = {"hand-written, serial", "hand-written, OpenMP", "op2jit"};
  long long nodes = 2LL * mesh->nodes, cells = 4LL * mesh->cells;
  double times[WAYS][REPEATS] = {{0}}, base = 0, *got = room(cells, sizeof *got),
         *adt = touched_zeros(mesh->cells, sizeof *adt, 1);
  double *by_hand = room(cells, sizeof *by_hand);
  double *x_bar = touched_zeros(nodes, sizeof *x_bar, 1), *q_bar = touched_zeros(cells, sizeof *q_bar, 1),
         *adt_bar = touched_zeros(mesh->cells, sizeof *adt, 1);
  double *x = touched_copy(p->x, nodes, sizeof *x, 1), *q = touched_copy(p->q, cells, sizeof *q, 1),
         *res_b = touched_copy(p->res_b, cells, sizeof *res_b, 1);
  struct colouring blocks = colour_edges(mesh);
  op_fetch_data(a->adt, adt);
  struct flux_adjoint f = {mesh, gm1, eps, x, q, adt, res_b, x_bar, q_bar, adt_bar};
  for (int way = op_is_root() ? 0 : 2; way < WAYS; way++) {
    memset(x_bar, 0, (size_t)nodes * sizeof *x_bar);
    memset(q_bar, 0, (size_t)cells * sizeof *q_bar);
    memset(adt_bar, 0, (size_t)mesh->cells * sizeof *adt_bar);
    if (way == 2) {
      clear(a->q_b, cells);
      clear(a->x_b, nodes);
    }
    for (int r = 0; r < REPEATS; r++) {
      double start = clock_seconds();
      if (way == 0)
        flux_adjoint_serial(&f);
      else if (way == 1)
        flux_adjoint_openmp(&f, &blocks);
      else
        fluxes_backward_now(a, got);
      times[way][r] = clock_seconds() - start;
    }
    if (way == 0)
      memcpy(by_hand, q_bar, (size_t)cells * sizeof *by_hand);
    if (way == 1)
      check_at_most(check, "airfoil: adjoint of the fluxes, hand-written with OpenMP",
                    largest_difference(q_bar, by_hand, cells), 1e-11);
  }
  op_fetch_data(a->q_b, got);
  if (op_is_root())
    check_at_most(check, "airfoil: adjoint of the fluxes against the hand-written loop",
                  largest_difference(got, by_hand, cells), 1e-11);
  double bytes = mesh->edges * 16.0 + mesh->nodes * 8.0 * (2 + 4) + mesh->cells * 8.0 * (4 + 8 + 1 + 2 + 4);
  compare_header("the adjoint of the flux loop");
  for (int way = 0; way < WAYS; way++)
    compare_row(names[way], median(times[way], REPEATS), bytes, &base);
  colouring_free(&blocks);
  double *const owned[] = {adt, x_bar, q_bar, adt_bar, x, q, res_b};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
    touched_free(owned[k]);
  free(got);
  free(by_hand);
}

static void declare_constants(void) {
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

void adjoint_airfoil(struct check *check, int cells, int compare) {
  struct airfoil_mesh mesh;
  mesh_generate(&mesh, cells);
  declare_constants();
  struct airfoil a = declare(&mesh);
  struct point p = point_make(&mesh);
  op_printf("airfoil: %d cells, %d edges\n", mesh.cells, mesh.edges);
  op_put_data(a.x_d, p.x_d);
  op_put_data(a.q_d, p.q_d);
  op_put_data(a.res_b, p.res_b);
  check_tangent(check, &a, &mesh, &p);
  adjoint(&a);
  double forward = adjoint_dot(a.cells, a.res_d, a.res_b, 4);
  double of_x = adjoint_dot(a.nodes, a.x_b, a.x_d, 2), of_q = adjoint_dot(a.cells, a.q_b, a.q_d, 4);
  adjoint_check(check, "airfoil: dot-product test", forward, of_x + of_q,
                fabs(of_x) + fabs(of_q) + sqrt(adjoint_dot(a.cells, a.res_d, a.res_d, 4)));
  if (compare)
    time_fluxes(check, &a, &mesh, &p);
  point_free(&p);
  mesh_free(&mesh);
}
