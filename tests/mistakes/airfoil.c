/* The loops of samples/airfoil, on its mesh, with a mistake in one of them. */
#include "mistakes.h"

#include <math.h>
#include <stdlib.h>

#include "airfoil/flow.h"

/* Kernels here are wrong on purpose, and the C compiler sees some of it. */
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wcast-qual"

static double gam, gm1, cfl, eps, qinf[4];

/* Parts of the kernels that several of them share. OP_KERNEL_DEF replaces macros before it makes the text. */
#define SPEED(q)                                                                                             \
  double inverse = 1 / q[0];                                                                                 \
  double u = inverse * q[1];                                                                                 \
  double v = inverse * q[2];                                                                                 \
  double c = sqrt(gam * gm1 * (inverse * q[3] - 0.5 * (u * u + v * v)));
#define SIDES(next)                                                                                          \
  for (int side = 0; side < 4; side++) {                                                                     \
    double dx = x[next][0] - x[side][0];                                                                     \
    double dy = x[next][1] - x[side][1];                                                                     \
    sum += fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);                                              \
  }
#define FLUX_BEGIN(mean)                                                                                     \
  double dx = x1[0] - x2[0];                                                                                 \
  double dy = x1[1] - x2[1];                                                                                 \
  double inverse1 = 1 / q1[0];                                                                               \
  double inverse2 = 1 / q2[0];                                                                               \
  double p1 = gm1 * (q1[3] - 0.5 * inverse1 * (q1[1] * q1[1] + q1[2] * q1[2]));                              \
  double p2 = gm1 * (q2[3] - 0.5 * inverse2 * (q2[1] * q2[1] + q2[2] * q2[2]));                              \
  double through1 = inverse1 * (q1[1] * dy - q1[2] * dx);                                                    \
  double through2 = inverse2 * (q2[1] * dy - q2[2] * dx);                                                    \
  double mu = mean * eps;                                                                                    \
  double f;
#define FLUXES(adds, n, part1, part2)                                                                        \
  f = 0.5 * (through1 * q1[n] part1 + through2 * q2[n] part2) + mu * (q1[n] - q2[n]);                        \
  res1[n] adds f;                                                                                            \
  res2[n] -= f;
#define ALL_FLUXES(adds)                                                                                     \
  FLUXES(adds, 0, , )                                                                                        \
  FLUXES(adds, 1, +p1 *dy, +p2 *dy)                                                                          \
  FLUXES(adds, 2, -p1 *dx, -p2 *dx)                                                                          \
  FLUXES(adds, 3, +through1 *p1, +through2 *p2)
#define IF_LARGEST(step)                                                                                     \
  if (step * step > *largest) {                                                                              \
    *largest = step * step;                                                                                  \
    *place = *cell;                                                                                          \
  }

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
        res[n] = 0;
        *rms += step * step;
        IF_LARGEST(step)
      }
    })

/* ---- the program ------------------------------------------------------------------------------*/

enum { CELLS_ABOUT = 150, STAGES = 2 };

struct airfoil {
  struct airfoil_mesh mesh;
  op_set nodes, cells, edges, boundary_edges;
  op_map cell_nodes, edge_nodes, edge_cells, boundary_nodes, boundary_cell;
  op_dat x, q, old, adt, res, kind;
  struct call save_soln, adt_calc, res_calc, bres_calc, update;
  double rms, largest;
  int place;
};

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

static op_arg through(op_map map, int idx, op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, idx, map, dim, "double", access);
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

static double run(const struct mistake *m, bool wrong) {
  enum { ITERATIONS = 4 };
  struct airfoil a = {0};
  mesh_generate(&a.mesh, CELLS_ABOUT);
  if (m->tables)
    m->tables(&a, wrong);
  declare_constants();
  declare_mesh(&a);
  make_loops(&a);
  if (m->loops)
    m->loops(&a, wrong);
  for (int i = 0; i < ITERATIONS; i++) {
    call_make(&a.save_soln);
    for (int stage = 0; stage < STAGES; stage++) {
      call_make(&a.adt_calc);
      call_make(&a.res_calc);
      call_make(&a.bres_calc);
      a.rms = a.largest = 0;
      call_make(&a.update);
    }
  }
  mesh_free(&a.mesh);
  return a.rms;
}

/* ---- the mistakes -----------------------------------------------------------------------------*/

OP_KERNEL_DEF(
    save_soln_changes_q, void save_soln_changes_q(double *q, double *old) {
      for (int n = 0; n < 4; n++)
        q[n] = old[n];
    })

OP_KERNEL_DEF(
    save_soln_casts_q, void save_soln_casts_q(const double *q, double *old) {
      for (int n = 0; n < 4; n++)
        old[n] = ((double *)q)[n];
    })

static void read_written(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->save_soln, save_soln_changes_q, save_soln_casts_q);
}

OP_KERNEL_DEF(
    adt_calc_scales_q, void adt_calc_scales_q(const double *x[4], const double *q, double *adt) {
      double *p = (double *)q, *s = p;
      s[3] *= 0.5;
      SPEED(q)
      double sum = 0;
      SIDES((side + 1) % 4)
      *adt = sum / cfl;
    })

OP_KERNEL_DEF(
    adt_calc_points_to_q, void adt_calc_points_to_q(const double *x[4], const double *q, double *adt) {
      const double *p = q, *s = p;
      SPEED(s)
      double sum = 0;
      SIDES((side + 1) % 4)
      *adt = sum / cfl;
    })

static void read_written_through_pointer(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->adt_calc, adt_calc_scales_q, adt_calc_points_to_q);
}

OP_KERNEL_DEF(
    res_calc_clears_adt,
    void clear(double *x) {
      *x = 0;
    } static void res_calc_clears_adt(const double *x1, const double *x2, const double *q1, const double *q2,
                                      const double *adt1, const double *adt2, double *res1, double *res2) {
      FLUX_BEGIN((0.5 * (*adt1 + *adt2)))
      ALL_FLUXES(+=)
      clear((double *)adt1);
    })

OP_KERNEL_DEF(
    res_calc_uses_helper,
    double half(double x) {
      return 0.5 * x;
    } static void res_calc_uses_helper(const double *x1, const double *x2, const double *q1, const double *q2,
                                       const double *adt1, const double *adt2, double *res1,
                                       double *res2){FLUX_BEGIN(half(*adt1 + *adt2)) ALL_FLUXES(+=)})

static void read_written_by_helper(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->res_calc, res_calc_clears_adt, res_calc_uses_helper);
}

OP_KERNEL_DEF(
    save_soln_three, void save_soln_three(const double *q, double *old) {
      for (int n = 0; n < 3; n++)
        old[n] = q[n];
    })

OP_KERNEL_DEF(
    save_soln_from_behind, void save_soln_from_behind(const double *q, double *old) {
      for (int n = 3; n >= 0; n--)
        old[n] = q[n];
    })

static void write_component_unset(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->save_soln, save_soln_three, save_soln_from_behind);
}

OP_KERNEL_DEF(
    adt_calc_large_only, void adt_calc_large_only(const double *x[4], const double *q, double *adt) {
      SPEED(q)
      double sum = 0;
      SIDES((side + 1) % 4)
      if (sum > 1000)
        *adt = sum / cfl;
    })

OP_KERNEL_DEF(
    adt_calc_both_ways, void adt_calc_both_ways(const double *x[4], const double *q, double *adt) {
      SPEED(q)
      double sum = 0;
      SIDES((side + 1) % 4)
      if (sum > 1000)
        *adt = 1000 / cfl;
      else
        *adt = sum / cfl;
    })

static void write_unset_on_branch(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->adt_calc, adt_calc_large_only, adt_calc_both_ways);
}

OP_KERNEL_DEF(
    update_subtracts, void update_subtracts(const double *old, double *q, double *res, const double *adt,
                                            double *rms, double *largest, int *place, const int *cell) {
      double inverse = 1 / *adt;
      for (int n = 0; n < 4; n++) {
        double step = inverse * res[n];
        q[n] = 0.5 * (q[n] + old[n]) - step;
        res[n] = 0;
        *rms += step * step;
        IF_LARGEST(step)
      }
    })

OP_KERNEL_DEF(
    update_copies_first,
    void update_copies_first(const double *old, double *q, double *res, const double *adt, double *rms,
                             double *largest, int *place, const int *cell) {
      double inverse = 1 / *adt;
      for (int n = 0; n < 4; n++) {
        double step = inverse * res[n];
        q[n] = old[n];
        q[n] = 0.5 * (q[n] + old[n]) - step;
        res[n] = 0;
        *rms += step * step;
        IF_LARGEST(step)
      }
    })

static void write_read_first(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->update, update_subtracts, update_copies_first);
}

OP_KERNEL_DEF(res_calc_assigns,
              void res_calc_assigns(const double *x1, const double *x2, const double *q1, const double *q2,
                                    const double *adt1, const double *adt2, double *res1,
                                    double *res2){FLUX_BEGIN((0.5 * (*adt1 + *adt2))) ALL_FLUXES(=)})

static void inc_assigned(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->res_calc, res_calc_assigns, res_calc);
}

OP_KERNEL_DEF(
    res_calc_reads_res,
    void res_calc_reads_res(const double *x1, const double *x2, const double *q1, const double *q2,
                            const double *adt1, const double *adt2, double *res1, double *res2) {
      FLUX_BEGIN((0.5 * (*adt1 + *adt2)))
      ALL_FLUXES(+=)
      res2[3] -= eps * res1[3];
    })

OP_KERNEL_DEF(
    res_calc_reads_flux,
    void res_calc_reads_flux(const double *x1, const double *x2, const double *q1, const double *q2,
                             const double *adt1, const double *adt2, double *res1, double *res2) {
      FLUX_BEGIN((0.5 * (*adt1 + *adt2)))
      ALL_FLUXES(+=)
      res2[3] -= 0 * f;
    })

static void inc_read(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->res_calc, res_calc_reads_res, res_calc_reads_flux);
}

OP_KERNEL_DEF(
    update_takes_last, void update_takes_last(const double *old, double *q, double *res, const double *adt,
                                              double *rms, double *largest, int *place, const int *cell) {
      double inverse = 1 / *adt;
      for (int n = 0; n < 4; n++) {
        double step = inverse * res[n];
        q[n] = old[n] - step;
        res[n] = 0;
        *rms += step * step;
        *largest = step * step;
        *place = *cell;
      }
    })

OP_KERNEL_DEF(
    update_takes_larger,
    void update_takes_larger(const double *old, double *q, double *res, const double *adt, double *rms,
                             double *largest, int *place, const int *cell) {
      double inverse = 1 / *adt;
      for (int n = 0; n < 4; n++) {
        double step = inverse * res[n];
        q[n] = old[n] - step;
        res[n] = 0;
        *rms += step * step;
        *place = step * step > *largest ? *cell : *place;
        *largest = step * step > *largest ? step * step : *largest;
      }
    })

static void max_not_compared(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->update, update_takes_last, update_takes_larger);
}

OP_KERNEL_DEF(
    update_five, void update_five(const double *old, double *q, double *res, const double *adt, double *rms,
                                  double *largest, int *place, const int *cell) {
      double inverse = 1 / *adt;
      for (int n = 0; n <= 4; n++) {
        double step = inverse * res[n];
        q[n] = old[n] - step;
        res[n] = 0;
        *rms += step * step;
        IF_LARGEST(step)
      }
    })

OP_KERNEL_DEF(
    update_four, void update_four(const double *old, double *q, double *res, const double *adt, double *rms,
                                  double *largest, int *place, const int *cell) {
      double inverse = 1 / *adt;
      for (int n = 0; n <= 3; n++) {
        double step = inverse * res[n];
        q[n] = old[n] - step;
        res[n] = 0;
        *rms += step * step;
        IF_LARGEST(step)
      }
    })

static void index_beyond_dim(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->update, update_five, update_four);
}

OP_KERNEL_DEF(
    adt_calc_five_nodes, void adt_calc_five_nodes(const double *x[4], const double *q, double *adt) {
      SPEED(q)
      double sum = 0;
      SIDES(side + 1)
      *adt = sum / cfl;
    })

OP_KERNEL_DEF(
    adt_calc_four_nodes, void adt_calc_four_nodes(const double *x[4], const double *q, double *adt) {
      SPEED(q)
      double sum = 0;
      SIDES(side < 3 ? side + 1 : 0)
      *adt = sum / cfl;
    })

static void beyond_arity(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->adt_calc, adt_calc_five_nodes, adt_calc_four_nodes);
}

static void wrong_dim(void *program, bool wrong) {
  struct airfoil *a = program;
  a->res_calc.args[2] = op_arg_dat(a->q, 0, a->edge_cells, wrong ? 3 : 4, "double", OP_READ);
}

OP_KERNEL_DEF(res_calc_float,
              void res_calc_float(const double *x1, const double *x2, const double *q1, const double *q2,
                                  const float *adt1, const float *adt2, double *res1,
                                  double *res2){FLUX_BEGIN((0.5 * (*adt1 + *adt2))) ALL_FLUXES(+=)})

static void float_for_double(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->res_calc, res_calc_float, res_calc);
}

OP_KERNEL_DEF(
    adt_calc_swapped, void adt_calc_swapped(const double *q, const double *x[4], double *adt) {
      SPEED(q)
      double sum = 0;
      SIDES((side + 1) % 4)
      *adt = sum / cfl;
    })

static void parameters_swapped(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->adt_calc, adt_calc_swapped, adt_calc_swapped);
  if (!wrong) {
    const op_arg x = a->adt_calc.args[0];
    a->adt_calc.args[0] = a->adt_calc.args[1];
    a->adt_calc.args[1] = x;
  }
}

static void entry_out_of_range(void *program, bool wrong) {
  struct airfoil *a = program;
  if (wrong)
    a->mesh.edge_cells[7] = a->mesh.cells + 5;
}

static void one_based(void *program, bool wrong) {
  struct airfoil *a = program;
  for (int i = 0; wrong && i < 4 * a->mesh.cells; i++)
    a->mesh.cell_nodes[i]++;
}

static void map_of_another_set(void *program, bool wrong) {
  struct airfoil *a = program;
  a->res_calc.args[2] = through(wrong ? a->edge_nodes : a->edge_cells, 0, a->q, 4, OP_READ);
}

static void targets_shared(void *program, bool wrong) {
  struct airfoil *a = program;
  a->bres_calc.args[4] = through(a->boundary_cell, 0, a->res, 4, wrong ? OP_RW : OP_INC);
}

static void read_and_increment(void *program, bool wrong) {
  struct airfoil *a = program;
  a->res_calc.args[6] = through(a->edge_cells, 0, wrong ? a->q : a->res, 4, OP_INC);
}

OP_KERNEL_DEF(
    update_remembers, void update_remembers(const double *old, double *q, double *res, const double *adt,
                                            double *rms, double *largest, int *place, const int *cell) {
      static double most;
      double inverse = 1 / *adt;
      for (int n = 0; n < 4; n++) {
        double step = inverse * res[n];
        if (step * step > most)
          most = step * step;
        q[n] = old[n] - step / (1 + most);
        res[n] = 0;
        *rms += step * step;
        IF_LARGEST(step)
      }
    })

OP_KERNEL_DEF(
    update_forgets, void update_forgets(const double *old, double *q, double *res, const double *adt,
                                        double *rms, double *largest, int *place, const int *cell) {
      double most = 0;
      double inverse = 1 / *adt;
      for (int n = 0; n < 4; n++) {
        double step = inverse * res[n];
        if (step * step > most)
          most = step * step;
        q[n] = old[n] - step * (most >= 0);
        res[n] = 0;
        *rms += step * step;
        IF_LARGEST(step)
      }
    })

static void state_between_elements(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->update, update_remembers, update_forgets);
}

OP_KERNEL_DEF(
    adt_calc_no_start, void adt_calc_no_start(const double *x[4], const double *q, double *adt) {
      SPEED(q)
      double sum;
      SIDES((side + 1) % 4)
      *adt = sum / cfl;
    })

OP_KERNEL_DEF(
    adt_calc_start, void adt_calc_start(const double *x[4], const double *q, double *adt) {
      SPEED(q)
      double sum;
      sum = 0;
      SIDES((side + 1) % 4)
      *adt = sum / cfl;
    })

static void uninitialised(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->adt_calc, adt_calc_no_start, adt_calc_start);
}

OP_KERNEL_DEF(
    update_limits, void update_limits(const double *old, double *q, double *res, const double *adt,
                                      double *rms, double *largest, int *place, const int *cell) {
      double inverse = 1 / *adt;
      for (int n = 0; n < 4; n++) {
        double step = inverse * res[n];
        q[n] = old[n] - step / (1 + *largest);
        res[n] = 0;
        *rms += step * step;
        IF_LARGEST(step)
      }
    })

static void order_dependent(void *program, bool wrong) {
  struct airfoil *a = program;
  REPLACE(a->update, update_limits, update);
}

const struct mistake airfoil_mistakes[] = {MISTAKE_ROWS(NEEDS_CHECK), {0, NULL, 0, NULL, NULL, NULL}};
