/* The loops of samples/jac with a mistake in one of them. */
#include "mistakes.h"

#include <math.h>
#include <stdlib.h>

/* Kernels here are wrong on purpose, and the C compiler sees some of it. */
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wcast-qual"

OP_KERNEL_DEF(
    gather, void gather(const double *a, const double *u, double *du) { *du += *a * *u; })

OP_KERNEL_DEF(
    update, void update(const double *r, double *du, double *u, double *change) {
      double next = *du + *r;
      double step = next - *u;
      *change += step * step;
      *u = next;
      *du = 0;
    })

/* ---- the program ------------------------------------------------------------------------------*/

enum { SIDE = 12, NODES = SIDE * SIDE, EDGES = 4 * SIDE * (SIDE - 1) };

struct jac {
  int ends[2 * EDGES];
  double a[EDGES], r[NODES];
  op_set nodes, edges;
  op_map edge_nodes;
  op_dat da, dr, du, ddu, history;
  struct call gather, update;
  double change;
};

static void make_graph(struct jac *j) {
  int e = 0;
  for (int n = 0; n < NODES; n++) {
    const int column = n % SIDE, row = n / SIDE;
    const int near[4] = {row > 0 ? n - SIDE : -1, column > 0 ? n - 1 : -1, column < SIDE - 1 ? n + 1 : -1,
                         row < SIDE - 1 ? n + SIDE : -1};
    for (int k = 0; k < 4; k++)
      if (near[k] >= 0) {
        j->ends[2 * e] = n;
        j->ends[2 * e + 1] = near[k];
        j->a[e++] = 0.25;
      }
    j->r[n] = 1 + 0.01 * n;
  }
}

static op_arg direct(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static op_arg end(const struct jac *j, op_dat dat, int idx, op_access access) {
  return op_arg_dat(dat, idx, j->edge_nodes, 1, "double", access);
}

static void declare(struct jac *j) {
  j->nodes = op_decl_set(NODES, "nodes");
  j->edges = op_decl_set(EDGES, "edges");
  j->edge_nodes = op_decl_map(j->edges, j->nodes, 2, j->ends, "ends");
  j->da = op_decl_dat(j->edges, 1, "double", j->a, "a");
  j->dr = op_decl_dat(j->nodes, 1, "double", j->r, "r");
  j->du = op_decl_dat(j->nodes, 1, "double", NULL, "u");
  j->ddu = op_decl_dat(j->nodes, 1, "double", NULL, "du");
  j->history = op_decl_dat(j->nodes, 2, "double", NULL, "history");
  j->gather = (struct call){OP_KERNEL_OF(gather),
                            "gather",
                            j->edges,
                            {direct(j->da, OP_READ), end(j, j->du, 1, OP_READ), end(j, j->ddu, 0, OP_INC)},
                            3};
  j->update = (struct call){OP_KERNEL_OF(update),
                            "update",
                            j->nodes,
                            {direct(j->dr, OP_READ), direct(j->ddu, OP_RW), direct(j->du, OP_RW),
                             op_arg_gbl(&j->change, 1, "double", OP_INC)},
                            4};
}

static double run(const struct mistake *m, bool wrong) {
  enum { ITERATIONS = 4 };
  static struct jac j;
  make_graph(&j);
  if (m->tables)
    m->tables(&j, wrong);
  declare(&j);
  if (m->loops)
    m->loops(&j, wrong);
  for (int i = 0; i < ITERATIONS; i++) {
    j.change = 0;
    call_make(&j.gather);
    call_make(&j.update);
  }
  double u[NODES], sum = 0;
  op_fetch_data(j.du, u);
  for (int n = 0; n < NODES; n++)
    sum += u[n] * (1 + n % 7);
  return sum;
}

/* ---- the mistakes -----------------------------------------------------------------------------*/

OP_KERNEL_DEF(
    gather_clears_a, void gather_clears_a(const double *a, const double *u, double *du) {
      *du += *a * *u;
      *(double *)a = 0;
    })
OP_KERNEL_DEF(
    gather_casts_a,
    void gather_casts_a(const double *a, const double *u, double *du) { *du += *(double *)a * *u; })
static void read_written(void *program, bool wrong) {
  struct jac *j = program;
  REPLACE(j->gather, gather_clears_a, gather_casts_a);
}

OP_KERNEL_DEF(
    gather_halves_u, void gather_halves_u(const double *a, const double *u, double *du) {
      double *p = (double *)u, *q = p;
      *q = *a * (*p + 1);
      *du += *q - *a;
    })
OP_KERNEL_DEF(
    gather_points_to_u, void gather_points_to_u(const double *a, const double *u, double *du) {
      const double *p = u, *q = p;
      *du += *a * *q;
    })
static void read_written_through_pointer(void *program, bool wrong) {
  struct jac *j = program;
  REPLACE(j->gather, gather_halves_u, gather_points_to_u);
}

OP_KERNEL_DEF(
    update_spends_r,
    void spend(double *x) { *x = 0; } static void update_spends_r(const double *r, double *du, double *u,
                                                                  double *change) {
      double next = *du + *r;
      *change += (next - *u) * (next - *u);
      *u = next;
      *du = 0;
      spend((double *)r);
    })
OP_KERNEL_DEF(
    update_clears_du,
    void spend_1(double *x) { *x = 0; } static void update_clears_du(const double *r, double *du, double *u,
                                                                     double *change) {
      double next = *du + *r;
      *change += (next - *u) * (next - *u);
      *u = next;
      spend_1(du);
    })
static void read_written_by_helper(void *program, bool wrong) {
  struct jac *j = program;
  REPLACE(j->update, update_spends_r, update_clears_du);
}

static void add_history(struct jac *j) {
  j->update.args[j->update.nargs++] = op_arg_dat(j->history, -1, OP_ID, 2, "double", OP_WRITE);
}

OP_KERNEL_DEF(
    update_keeps_half,
    void update_keeps_half(const double *r, double *du, double *u, double *change, double *history) {
      double next = *du + *r;
      *change += (next - *u) * (next - *u);
      history[0] = *u;
      *u = next;
      *du = 0;
    })
OP_KERNEL_DEF(
    update_keeps_both,
    void update_keeps_both(const double *r, double *du, double *u, double *change, double *history) {
      double next = *du + *r;
      *change += (next - *u) * (next - *u);
      history[0] = *u;
      history[1] = next;
      *u = next;
      *du = 0;
    })
static void write_component_unset(void *program, bool wrong) {
  struct jac *j = program;
  add_history(j);
  REPLACE(j->update, update_keeps_half, update_keeps_both);
}

OP_KERNEL_DEF(
    update_keeps_rises,
    void update_keeps_rises(const double *r, double *du, double *u, double *change, double *history) {
      double next = *du + *r;
      *change += (next - *u) * (next - *u);
      history[0] = *u;
      if (next > *u + 2)
        history[1] = next;
      *u = next;
      *du = 0;
    })
OP_KERNEL_DEF(
    update_keeps_always,
    void update_keeps_always(const double *r, double *du, double *u, double *change, double *history) {
      double next = *du + *r;
      *change += (next - *u) * (next - *u);
      history[0] = *u;
      if (next > *u + 2)
        history[1] = next;
      else
        history[1] = 0;
      *u = next;
      *du = 0;
    })
static void write_unset_on_branch(void *program, bool wrong) {
  struct jac *j = program;
  add_history(j);
  REPLACE(j->update, update_keeps_rises, update_keeps_always);
}

static void write_read_first(void *program, bool wrong) {
  struct jac *j = program;
  j->update.args[2] = direct(j->du, wrong ? OP_WRITE : OP_RW);
}

OP_KERNEL_DEF(
    gather_assigns, void gather_assigns(const double *a, const double *u, double *du) { *du = *a * *u; })
OP_KERNEL_DEF(
    gather_adds, void gather_adds(const double *a, const double *u, double *du) { *du -= -*a * *u; })
static void inc_assigned(void *program, bool wrong) {
  struct jac *j = program;
  REPLACE(j->gather, gather_assigns, gather_adds);
}

OP_KERNEL_DEF(
    gather_reads_du,
    void gather_reads_du(const double *a, const double *u, double *du) { *du += *a * (*u + *du); })
OP_KERNEL_DEF(
    gather_reads_u, void gather_reads_u(const double *a, const double *u, double *du) {
      double by = *a * *u;
      *du += by;
    })
static void inc_read(void *program, bool wrong) {
  struct jac *j = program;
  REPLACE(j->gather, gather_reads_du, gather_reads_u);
}

OP_KERNEL_DEF(
    update_last_change, void update_last_change(const double *r, double *du, double *u, double *change) {
      double next = *du + *r;
      *change = fabs(next - *u);
      *u = next;
      *du = 0;
    })
OP_KERNEL_DEF(
    update_most_change, void update_most_change(const double *r, double *du, double *u, double *change) {
      double next = *du + *r;
      double step = fabs(next - *u);
      if (step > *change)
        *change = step;
      *u = next;
      *du = 0;
    })
static void max_not_compared(void *program, bool wrong) {
  struct jac *j = program;

  j->update.args[3] = op_arg_gbl(&j->change, 1, "double", OP_MAX);
  REPLACE(j->update, update_last_change, update_most_change);
}

OP_KERNEL_DEF(
    gather_next_u, void gather_next_u(const double *a, const double *u, double *du) { *du += *a * u[1]; })
OP_KERNEL_DEF(
    gather_first_u, void gather_first_u(const double *a, const double *u, double *du) { *du += a[0] * u[0]; })
static void index_beyond_dim(void *program, bool wrong) {
  struct jac *j = program;
  REPLACE(j->gather, gather_next_u, gather_first_u);
}

OP_KERNEL_DEF(
    gather_third_end,
    void gather_third_end(const double *a, const double *u[2], double *du) { *du += *a * u[2][0]; })
OP_KERNEL_DEF(
    gather_second_end,
    void gather_second_end(const double *a, const double *u[2], double *du) { *du += *a * u[1][0]; })
static void beyond_arity(void *program, bool wrong) {
  struct jac *j = program;

  j->gather.args[1] = end(j, j->du, -2, OP_READ);
  REPLACE(j->gather, gather_third_end, gather_second_end);
}

static void wrong_dim(void *program, bool wrong) {
  struct jac *j = program;
  j->gather.args[1] = op_arg_dat(j->du, 1, j->edge_nodes, wrong ? 2 : 1, "double", OP_READ);
}

static void float_for_double(void *program, bool wrong) {
  struct jac *j = program;

  j->gather.args[1] = op_arg_dat(j->du, 1, j->edge_nodes, 1, wrong ? "float" : "double", OP_READ);
}

OP_KERNEL_DEF(
    gather_swapped, void gather_swapped(const double *a, double *du, const double *u) { *du += *a * *u; })
static void parameters_swapped(void *program, bool wrong) {
  struct jac *j = program;

  REPLACE(j->gather, gather_swapped, gather_swapped);
  if (!wrong) {
    const op_arg u = j->gather.args[1];
    j->gather.args[1] = j->gather.args[2];
    j->gather.args[2] = u;
  }
}

static void entry_out_of_range(void *program, bool wrong) {
  struct jac *j = program;
  j->ends[17] = wrong ? -1 : j->ends[17];
}

static void one_based(void *program, bool wrong) {
  struct jac *j = program;

  for (int i = 0; wrong && i < 2 * EDGES; i++)
    j->ends[i]++;
}

static void map_of_another_set(void *program, bool wrong) {
  struct jac *j = program;

  j->update.args[2] = wrong ? end(j, j->du, 0, OP_RW) : direct(j->du, OP_RW);
}

OP_KERNEL_DEF(
    gather_halves_du,
    void gather_halves_du(const double *a, const double *u, double *du) { *du = *du / 2 + *a * *u; })
static void targets_shared(void *program, bool wrong) {
  struct jac *j = program;
  REPLACE(j->gather, gather_halves_du, gather);
  j->gather.args[2] = end(j, j->ddu, 0, wrong ? OP_RW : OP_INC);
}

static void read_and_increment(void *program, bool wrong) {
  struct jac *j = program;
  j->gather.args[2] = end(j, wrong ? j->du : j->ddu, 0, OP_INC);
}

OP_KERNEL_DEF(
    gather_counts, int count; static void gather_counts(const double *a, const double *u, double *du) {
      count = (count + 1) % 3;
      *du += *a * *u * count;
    })
OP_KERNEL_DEF(
    gather_with_table, const int weights[3] = {1, 1, 1};
    static void gather_with_table(const double *a, const double *u, double *du) {
      *du += *a * *u * weights[2];
    })
static void state_between_elements(void *program, bool wrong) {
  struct jac *j = program;
  REPLACE(j->gather, gather_counts, gather_with_table);
}

OP_KERNEL_DEF(
    update_adds_up, void update_adds_up(const double *r, double *du, double *u, double *change) {
      double next;
      next += *du + *r;
      *change += (next - *u) * (next - *u);
      *u = next;
      *du = 0;
    })
OP_KERNEL_DEF(
    update_starts_at_zero,
    void update_starts_at_zero(const double *r, double *du, double *u, double *change) {
      double next = 0;
      next += *du + *r;
      *change += (next - *u) * (next - *u);
      *u = next;
      *du = 0;
    })
static void uninitialised(void *program, bool wrong) {
  struct jac *j = program;
  REPLACE(j->update, update_adds_up, update_starts_at_zero);
}

OP_KERNEL_DEF(
    relax, void relax(const double *a, const double *there, double *here) { *here += *a * (*there - *here); })
static void order_dependent(void *program, bool wrong) {
  struct jac *j = program;

  if (wrong) {
    j->gather.kernel = OP_KERNEL_OF(relax);
    j->gather.name = "relax";
    j->gather.args[2] = end(j, j->du, 0, OP_RW);
  }
}

const struct mistake jac_mistakes[] = {MISTAKE_ROWS(0), {0, NULL, 0, NULL, NULL, NULL}};
