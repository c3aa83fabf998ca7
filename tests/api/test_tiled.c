/* Chains in tiles, and as tasks (OP2_LAZY, with pieces of a few kilobytes): the outcome is that of the loops one by one, in every
 * variant and on any number of threads. All values are whole numbers, so that sums are exact; the tiles are
 * verified as well. */
#include "support.h"

enum { NX = 130, NY = 200, CELLS = NX * NY, EDGES = 2 * CELLS, BORDER = 2 * (NX + NY), STEPS = 4 };

OP_KERNEL_DEF(
    keep, void keep(const double *q, double *old) {
      old[0] = q[0];
      old[1] = q[1];
    })
OP_KERNEL_DEF(
    flux, void flux(const double *q1, const double *q2, double *r1, double *r2) {
      const double d = q1[0] - q2[0] + (q1[1] > q2[1]);
      r1[0] += d;
      r2[0] -= d;
      r1[1] += 1;
    })
OP_KERNEL_DEF(
    border, void border(const double *q, double *r, const double *by) { r[0] += q[1] > *by; })
OP_KERNEL_DEF(
    update, void update(const double *old, double *q, double *r, double *sum, double *high) {
      for (int d = 0; d < 2; d++) {
        q[d] = old[d] + (r[d] > 8 ? 8 : r[d] < -8 ? -8 : r[d]);
        *sum += r[d];
        r[d] = 0;
      }
      *high += q[0] > 500;
    })

struct mesh {
  int edges[EDGES * 2], border[BORDER];
  double q[CELLS * 2];
};

/* The border goes round: along the first row, up, along the last, down. */
static int border_cell(int b) {
  return b < NX            ? b
         : b < NX + NY     ? (b - NX) * NX + NX - 1
         : b < 2 * NX + NY ? CELLS - 1 - (b - NX - NY)
                           : (BORDER - 1 - b) * NX;
}

static struct mesh *make(void) {
  struct mesh *m = calloc(1, sizeof *m);
  assert_non_null(m);
  for (int c = 0; c < CELLS; c++) {
    for (int side = 0; side < 2; side++) {
      const int other = side ? c + NX : c + 1;
      m->edges[2 * (2 * c + side)] = c;
      m->edges[2 * (2 * c + side) + 1] = other < CELLS ? other : c - 1;
    }
    m->q[2 * c] = c * 7919 % 1000;
    m->q[2 * c + 1] = c * 31 % 77;
  }
  for (int b = 0; b < BORDER; b++)
    m->border[b] = border_cell(b);
  return m;
}

struct outcome {
  double q[CELLS * 2], sum, high;
  long long tiled, tasked;
};

static void step(op_set cells, op_set edges, op_set bedges, op_map between, op_map at, op_dat q, op_dat old,
                 op_dat r, op_gbl sum, op_gbl high, double by) {
  works(op_par_loop(OP_KERNEL_OF(keep), "keep", cells, direct(q, 2, "double", OP_READ),
                    direct(old, 2, "double", OP_WRITE)));
  for (int half = 0; half < 2; half++) {
    works(op_par_loop(OP_KERNEL_OF(flux), "flux", edges, op_arg_dat(q, 0, between, 2, "double", OP_READ),
                      op_arg_dat(q, 1, between, 2, "double", OP_READ),
                      op_arg_dat(r, 0, between, 2, "double", OP_INC),
                      op_arg_dat(r, 1, between, 2, "double", OP_INC)));
    works(op_par_loop(OP_KERNEL_OF(border), "border", bedges, op_arg_dat(q, 0, at, 2, "double", OP_READ),
                      op_arg_dat(r, 0, at, 2, "double", OP_INC), op_arg_gbl(&by, 1, "double", OP_READ)));
    works(op_par_loop(OP_KERNEL_OF(update), "update", cells, direct(old, 2, "double", OP_READ),
                      direct(q, 2, "double", OP_RW), direct(r, 2, "double", OP_RW),
                      op_arg_global(sum, OP_INC), op_arg_global(high, OP_INC)));
  }
}

/* The settings are words of the command line. */
static struct outcome *run(const char *cut, const char *lazy, const char *threads, const char *variant) {
  char program[] = "tiled";
  char *argv[] = {program, strdup(cut), strdup(lazy), strdup(threads), strdup(variant), NULL};
  struct outcome *o = calloc(1, sizeof *o);
  struct mesh *m = make();
  assert_non_null(o);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(5, argv, 2));
  op_set cells = op_decl_set(CELLS, "cells"), edges = op_decl_set(EDGES, "edges"),
         bedges = op_decl_set(BORDER, "bedges");
  op_map between = op_decl_map(edges, cells, 2, m->edges, "between"),
         at = op_decl_map(bedges, cells, 1, m->border, "at");
  op_dat q = op_decl_dat(cells, 2, "double", m->q, "q"), old = op_decl_dat(cells, 2, "double", NULL, "old"),
         r = op_decl_dat(cells, 2, "double", NULL, "r");
  op_gbl sum = op_decl_gbl(1, "double", NULL, "sum"), high = op_decl_gbl(1, "double", NULL, "high");
  for (int i = 0; i < STEPS; i++)
    step(cells, edges, bedges, between, at, q, old, r, sum, high, i);
  works(op_fetch_data(q, o->q));
  works(op_get_gbl(sum, &o->sum));
  works(op_get_gbl(high, &o->high));
  o->tiled = op_counters()->tiled;
  o->tasked = op_counters()->tasked;
  works(op_exit());
  for (int i = 1; i < 5; i++)
    free(argv[i]);
  free(m);
  return o;
}

static void compare(const struct outcome *o, const struct outcome *expected, const char *what) {
  for (int i = 0; i < 2 * CELLS; i++)
    if (o->q[i] != expected->q[i])
      fail_msg("%s: value %d of q is %g, expected %g", what, i, o->q[i], expected->q[i]);
  assert_true(o->sum == expected->sum);
  assert_true(o->high == expected->high);
}

static const char *const variants[] = {"OP2_VARIANT=", "OP2_VARIANT=scalar", "OP2_VARIANT=strip4+piped",
                                       "OP2_VARIANT=flux:gather",
                                       "OP2_VARIANT=flux:strip8+straight,update:strip8+stream"};
static const char *const threads[] = {"OP2_THREADS=1", "OP2_THREADS=2", "OP2_THREADS=5"};

/* Seven loops repeat: each period is a chain. */
static void expect_chains(const struct outcome *o, const char *cut) {
  const int tasks = strstr(cut, "TASKS") != NULL;
  assert_int_equal(o->tiled, tasks ? 0 : STEPS);
  assert_int_equal(o->tasked, tasks ? STEPS : 0);
}

static void compare_all(const char *cut) {
  struct outcome *expected = run(cut, "OP2_LAZY=off", threads[0], variants[0]);
  assert_int_equal(expected->tiled + expected->tasked, 0);
  for (int v = 0; v < 5; v++)
    for (int t = 0; t < 3; t++) {
      struct outcome *o = run(cut, "OP2_LAZY=on", threads[t], variants[v]);
      compare(o, expected, variants[v]);
      expect_chains(o, cut);
      free(o);
    }
  for (int t = 0; t < 3; t++) {
    struct outcome *o = run(cut, "OP2_LAZY=check", threads[t], variants[0]);
    compare(o, expected, "compared");
    expect_chains(o, cut);
    free(o);
  }
  free(expected);
}

TEST(tiles_have_the_outcome_of_their_loops) {
  compare_all("OP2_TILES=3000");
}

TEST(tasks_have_the_outcome_of_their_loops) {
  compare_all("OP2_TASKS=30000");
}
