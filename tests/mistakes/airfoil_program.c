#include "airfoil_program.h"

#include <math.h>
#include <stdlib.h>

static void free_stream(double state[4]);

double gam, gm1, cfl, eps;
static double qinf[4];

OP_KERNEL_DEF(
    save_soln, void save_soln(const double *q, double *old) {
      for (int n = 0; n < 4; n++)
        old[n] = q[n];
    })

OP_KERNEL_DEF(
    adt_calc, void adt_calc(const double *x[4], const double *q, double *adt) {
      SPEED(q)
      double sum = 0;
      SIDES((side + 1) % 4)
      *adt = sum / cfl;
    })

OP_KERNEL_DEF(res_calc, void res_calc(const double *x1, const double *x2, const double *q1, const double *q2,
                                      const double *adt1, const double *adt2, double *res1,
                                      double *res2){FLUX_BEGIN((0.5 * (*adt1 + *adt2))) ALL_FLUXES(+=)})

OP_KERNEL_DEF(
    bres_calc, void bres_calc(const double *x1, const double *x2, const double *q, const double *adt,
                              double *res, const int *kind) {
      double dx = x1[0] - x2[0];
      double dy = x1[1] - x2[1];
      double inverse = 1 / q[0];
      double p = gm1 * (q[3] - 0.5 * inverse * (q[1] * q[1] + q[2] * q[2]));
      if (*kind == 1) {
        res[1] += p * dy;
        res[2] -= p * dx;
      } else {
        double inverse_far = 1 / qinf[0];
        double p_far = gm1 * (qinf[3] - 0.5 * inverse_far * (qinf[1] * qinf[1] + qinf[2] * qinf[2]));
        double through = inverse * (q[1] * dy - q[2] * dx);
        double through_far = inverse_far * (qinf[1] * dy - qinf[2] * dx);
        double mu = *adt * eps;
        res[0] += 0.5 * (through * q[0] + through_far * qinf[0]) + mu * (q[0] - qinf[0]);
        res[1] +=
            0.5 * (through * q[1] + p * dy + through_far * qinf[1] + p_far * dy) + mu * (q[1] - qinf[1]);
        res[2] +=
            0.5 * (through * q[2] - p * dx + through_far * qinf[2] - p_far * dx) + mu * (q[2] - qinf[2]);
        res[3] += 0.5 * (through * (q[3] + p) + through_far * (qinf[3] + p_far)) + mu * (q[3] - qinf[3]);
      }
    })

OP_KERNEL_DEF(
    update, void update(const double *old, double *q, double *res, const double *adt, double *rms,
                        double *largest, int *place, const int *cell) {
      double inverse = 1 / *adt;
      for (int n = 0; n < 4; n++) {
        double step = inverse * res[n];
        q[n] = old[n] - step;
        COUNT_STEP
      }
    })

void airfoil_generate(struct airfoil *a) {
  enum { CELLS_ABOUT = 150 };
  mesh_generate(&a->mesh, CELLS_ABOUT);
}

static void declare_constants(void) {
  gam = (double)1.4f;
  gm1 = (double)1.4f - 1;
  cfl = (double)0.9f;
  eps = (double)0.05f;
  free_stream(qinf);
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("gm1", 1, "double", &gm1);
  op_decl_const("cfl", 1, "double", &cfl);
  op_decl_const("eps", 1, "double", &eps);
  op_decl_const("qinf", 4, "double", qinf);
}

static void declare_mesh(struct airfoil *a) {
  const struct airfoil_mesh *m = &a->mesh;
  a->nodes = op_decl_set(m->nodes, "nodes");
  a->cells = op_decl_set(m->cells, "cells");
  a->edges = op_decl_set(m->edges, "edges");
  a->boundary_edges = op_decl_set(m->boundary_edges, "boundary_edges");
  a->cell_nodes = op_decl_map(a->cells, a->nodes, 4, m->cell_nodes, "cell_nodes");
  a->edge_nodes = op_decl_map(a->edges, a->nodes, 2, m->edge_nodes, "edge_nodes");
  a->edge_cells = op_decl_map(a->edges, a->cells, 2, m->edge_cells, "edge_cells");
  a->boundary_nodes = op_decl_map(a->boundary_edges, a->nodes, 2, m->boundary_nodes, "boundary_nodes");
  a->boundary_cell = op_decl_map(a->boundary_edges, a->cells, 1, m->boundary_cell, "boundary_cell");
  double *state = malloc(4 * (size_t)m->cells * sizeof *state);
  for (int i = 0; state && i < 4 * m->cells; i++)
    state[i] = qinf[i % 4];
  a->x = op_decl_dat(a->nodes, 2, "double", m->x, "x");
  a->q = op_decl_dat(a->cells, 4, "double", state, "q");
  a->old = op_decl_dat(a->cells, 4, "double", NULL, "old");
  a->adt = op_decl_dat(a->cells, 1, "double", NULL, "adt");
  a->res = op_decl_dat(a->cells, 4, "double", NULL, "res");
  a->kind = op_decl_dat(a->boundary_edges, 1, "int", m->boundary_kind, "kind");
  free(state);
}

static op_arg direct(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static void make_loops(struct airfoil *a) {
  a->save_soln = (struct call){OP_KERNEL_OF(save_soln),
                               "save_soln",
                               a->cells,
                               {direct(a->q, 4, OP_READ), direct(a->old, 4, OP_WRITE)},
                               2};
  a->adt_calc = (struct call){
      OP_KERNEL_OF(adt_calc),
      "adt_calc",
      a->cells,
      {through(a->cell_nodes, -4, a->x, 2, OP_READ), direct(a->q, 4, OP_READ), direct(a->adt, 1, OP_WRITE)},
      3};
  a->res_calc = (struct call){
      OP_KERNEL_OF(res_calc),
      "res_calc",
      a->edges,
      {through(a->edge_nodes, 0, a->x, 2, OP_READ), through(a->edge_nodes, 1, a->x, 2, OP_READ),
       through(a->edge_cells, 0, a->q, 4, OP_READ), through(a->edge_cells, 1, a->q, 4, OP_READ),
       through(a->edge_cells, 0, a->adt, 1, OP_READ), through(a->edge_cells, 1, a->adt, 1, OP_READ),
       through(a->edge_cells, 0, a->res, 4, OP_INC), through(a->edge_cells, 1, a->res, 4, OP_INC)},
      8};
  a->bres_calc = (struct call){
      OP_KERNEL_OF(bres_calc),
      "bres_calc",
      a->boundary_edges,
      {through(a->boundary_nodes, 0, a->x, 2, OP_READ), through(a->boundary_nodes, 1, a->x, 2, OP_READ),
       through(a->boundary_cell, 0, a->q, 4, OP_READ), through(a->boundary_cell, 0, a->adt, 1, OP_READ),
       through(a->boundary_cell, 0, a->res, 4, OP_INC), op_arg_dat(a->kind, -1, OP_ID, 1, "int", OP_READ)},
      6};
  a->update = (struct call){OP_KERNEL_OF(update),
                            "update",
                            a->cells,
                            {direct(a->old, 4, OP_READ), direct(a->q, 4, OP_WRITE), direct(a->res, 4, OP_RW),
                             direct(a->adt, 1, OP_READ), op_arg_gbl(&a->rms, 1, "double", OP_INC),
                             op_arg_gbl(&a->largest, 1, "double", OP_MAX),
                             op_arg_info(&a->place, 1, "int", 6), op_arg_idx(-1, OP_ID)},
                            8};
}

void airfoil_declare(struct airfoil *a) {
  declare_constants();
  declare_mesh(a);
  make_loops(a);
}

double airfoil_iterate(struct airfoil *a) {
  enum { ITERATIONS = 4, STAGES = 2 };
  for (int i = 0; i < ITERATIONS; i++) {
    call_make(&a->save_soln);
    for (int stage = 0; stage < STAGES; stage++) {
      call_make(&a->adt_calc);
      call_make(&a->res_calc);
      call_make(&a->bres_calc);
      a->rms = a->largest = 0;
      call_make(&a->update);
    }
  }
  mesh_free(&a->mesh);
  return a->rms;
}

/* At Mach 0.4, of density and pressure one. */
static void free_stream(double state[4]) {
  const double speed = sqrt(gam) * (double)0.4f;
  state[0] = 1;
  state[1] = speed;
  state[2] = 0;
  state[3] = 1 / gm1 + 0.5 * speed * speed;
}
