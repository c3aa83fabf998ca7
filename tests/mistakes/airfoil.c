/* The mistakes that are planted in the loops of airfoil. */
#include "airfoil_program.h"

#include <math.h>

/* Kernels here are wrong on purpose, and the C compiler sees some of it. */
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wcast-qual"

static double run(const struct mistake *m, bool wrong) {
  struct airfoil a = {0};
  airfoil_generate(&a);
  if (m->tables)
    m->tables(&a, wrong);
  airfoil_declare(&a);
  if (m->loops)
    m->loops(&a, wrong);
  return airfoil_iterate(&a);
}

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
        COUNT_STEP
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
        COUNT_STEP
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
  if (wrong)
    REPLACE(a->res_calc, res_calc_assigns, res_calc_assigns);
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
        COUNT_STEP
      }
    })

OP_KERNEL_DEF(
    update_four, void update_four(const double *old, double *q, double *res, const double *adt, double *rms,
                                  double *largest, int *place, const int *cell) {
      double inverse = 1 / *adt;
      for (int n = 0; n <= 3; n++) {
        double step = inverse * res[n];
        q[n] = old[n] - step;
        COUNT_STEP
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
  if (wrong)
    REPLACE(a->res_calc, res_calc_float, res_calc_float);
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

OP_KERNEL_DEF(
    bres_halves, void bres_halves(const double *x1, const double *x2, const double *q, const double *adt,
                                  double *res, const int *kind) {
      for (int n = 0; n < 4; n++)
        res[n] = res[n] / 2 + q[n] * (x1[0] + 2 * x2[1]) + *adt * *kind;
    })
static void targets_shared(void *program, bool wrong) {
  struct airfoil *a = program;
  if (wrong) {
    a->bres_calc.kernel = OP_KERNEL_OF(bres_halves);
    a->bres_calc.name = "bres_halves";
  }
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
        COUNT_STEP
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
        COUNT_STEP
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
        q[n] = (old[n] - step) / (1 + *largest);
        COUNT_STEP
      }
    })

static void order_dependent(void *program, bool wrong) {
  struct airfoil *a = program;
  if (wrong)
    REPLACE(a->update, update_limits, update_limits);
}

const struct mistake airfoil_mistakes[] = {MISTAKE_ROWS(NEEDS_CHECK), {0, NULL, 0, NULL, NULL, NULL}};
