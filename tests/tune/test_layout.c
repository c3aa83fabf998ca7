/* Layouts of dats on the host: declared or forced. The program sees the same rows whatever they are. All values
 * are whole numbers, so that any order of sums is right. */
#include "../api/support.h"

#include <string.h>

#include "api/api.h"
#include "mesh/data.h"
#include "mesh/mesh.h"

enum { EDGES = 6000, CELLS = 5000, DIM = 4, VALUES = DIM * CELLS };

static const char gather_text[] = "void gather(const double *a, const double *b, double *r, double *s) {\n"
                                  "  for (int c = 0; c < 4; c++) { r[c] += a[c] - b[c]; s[c] -= 1; }\n"
                                  "}\n",
                  advance_text[] =
                      "void advance(double *q, double *r, const double *area, double *sum) {\n"
                      "  for (int c = 0; c < 4; c++) { q[c] = 20 - q[c] + *area; *sum += r[c]; r[c] = 0; }\n"
                      "}\n";

struct flow {
  op_set edges, cells;
  op_map map;
  op_dat q, res, area;
  int table[2 * EDGES];
  double expected_q[VALUES], expected_sum, sum; /* the same on the host */
};

static void open_library(const char *tune, const char *variant) {
  char tuning[64], forced[64], program[] = "program", threads[] = "OP2_THREADS=2", jit[] = "OP2_JIT=on",
                               database[] = "OP2_CACHE=off";
  snprintf(tuning, sizeof tuning, "OP2_TUNE=%s", tune);
  snprintf(forced, sizeof forced, "OP2_VARIANT=%s", variant);
  char *argv[] = {program, tuning, database, threads, jit, forced, NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(6, argv, 0));
}

static struct flow *declare(const char *type) {
  struct flow *f = calloc(1, sizeof *f);
  assert_non_null(f);
  for (int i = 0; i < VALUES; i++)
    f->expected_q[i] = i % 16;
  for (int e = 0; e < EDGES; e++) {
    f->table[2 * e] = e % CELLS;
    f->table[2 * e + 1] = (11 * e + 1) % CELLS;
  }
  f->edges = op_decl_set(EDGES, "edges");
  f->cells = op_decl_set(CELLS, "cells");
  f->map = op_decl_map(f->edges, f->cells, 2, f->table, "map");
  f->q = op_decl_dat(f->cells, DIM, type, f->expected_q, "q");
  f->res = op_decl_dat(f->cells, DIM, "double:soa", NULL, "res");
  f->area = op_decl_dat(f->cells, 1, "double", NULL, "area");
  return f;
}

static void expect_step(struct flow *f) {
  static double r[VALUES];
  memset(r, 0, sizeof r);
  for (int e = 0; e < EDGES; e++)
    for (int c = 0; c < DIM; c++) {
      const int from = f->table[2 * e], to = f->table[2 * e + 1];
      r[DIM * from + c] += f->expected_q[DIM * from + c] - f->expected_q[DIM * to + c];
      r[DIM * to + c] -= 1;
    }
  for (int i = 0; i < VALUES; i++) {
    f->expected_q[i] = 20 - f->expected_q[i];
    f->expected_sum += r[i];
  }
}

static void step(struct flow *f) {
  works(op_par_loop(gather_text, "gather", f->edges, op_arg_dat(f->q, 0, f->map, DIM, "double", OP_READ),
                    op_arg_dat(f->q, 1, f->map, DIM, "double", OP_READ),
                    op_arg_dat(f->res, 0, f->map, DIM, "double", OP_INC),
                    op_arg_dat(f->res, 1, f->map, DIM, "double", OP_INC)));
  works(op_par_loop(advance_text, "advance", f->cells, op_arg_dat(f->q, -1, OP_ID, DIM, "double", OP_RW),
                    op_arg_dat(f->res, -1, OP_ID, DIM, "double", OP_RW),
                    op_arg_dat(f->area, -1, OP_ID, 1, "double", OP_READ),
                    op_arg_gbl(&f->sum, 1, "double", OP_INC)));
  expect_step(f);
}

static void check(struct flow *f) {
  static double q[VALUES];
  works(op_fetch_data(f->q, q));
  assert_memory_equal(q, f->expected_q, sizeof q);
  assert_true(f->sum == f->expected_sum);
}

/* The layout of the dat of that name. */
static struct dat *dat_named(const char *name) {
  const struct list *dats = &api_context()->mesh->dats;
  for (int i = 0; i < dats->count; i++)
    if (strcmp(((struct dat *)dats->items[i])->name, name) == 0)
      return dats->items[i];
  fail_msg("no dat %s", name);
  return NULL;
}

TEST(forced_layouts) {
  static const struct {
    const char *variant, *type;
    bool q, res;
  } cases[] = {{"soa", "double", true, true},       {"aos", "double:soa", false, false},
               {"soa=q", "double", true, true},     {"soa/aos=q/64", "double", false, true},
               {"aos=res", "double", false, false}, {"soa=other/scalar", "double", false, true},
               {"", "double:soa", true, true},      {"", "double", false, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    open_library("off", cases[i].variant);
    struct flow *f = declare(cases[i].type);
    for (int k = 0; k < 3; k++)
      step(f);
    check(f);
    works(op_renumber(f->map));
    step(f);
    check(f);
    double row[2 * DIM];
    works(op_fetch_data_idx(f->q, row, 7, 8));
    assert_memory_equal(row, f->expected_q + 7 * DIM, sizeof row);
    assert_int_equal(dat_named("q")->soa, cases[i].q);
    assert_int_equal(dat_named("res")->soa, cases[i].res);
    assert_false(dat_named("area")->soa);
    works(op_exit());
    free(f);
  }
}

/* A forced layout leaves the loops' variants free; any other word names one. */
TEST(forced_layouts_leave_variants) {
  static const struct {
    const char *variant;
    bool tries;
  } cases[] = {{"soa=q", true}, {"aos", true}, {"soa=q,other:scalar", true}, {"soa=q/scalar", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    open_library("force", cases[i].variant);
    struct flow *f = declare("double");
    for (int k = 0; k < 60; k++)
      step(f);
    check(f);
    assert_int_equal(dat_named("q")->soa, cases[i].variant[0] == 's');
    assert_int_equal(op_counters()->trials > 0, cases[i].tries);
    works(op_exit());
    free(f);
  }
}

/* ---- behind a ragged map rows are whole ---- */

OP_KERNEL_DEF(
    turn, void turn(int n, double **q) {
      for (int k = 0; k < n; k++)
        for (int c = 0; c < 4; c++)
          OP_ROW(q, k)[c] += c - k;
    })

/* Each edge adds to one cell, or to two, or to none. */
static void turn_cells(struct flow *f) {
  static long long offsets[EDGES + 1];
  op_map some;
  for (int e = 0; e < EDGES; e++)
    offsets[e + 1] = offsets[e] + e % 3 % (e % 2 + 2);
  some = op_decl_map_ragged(f->edges, f->cells, offsets, f->table, "some");
  for (int k = 0; k < 2; k++)
    works(op_par_loop(OP_KERNEL_OF(turn), "turn", f->edges,
                      op_arg_dat(f->q, OP_ALL, some, DIM, "double", OP_INC)));
  for (int e = 0; e < EDGES; e++)
    for (long long i = offsets[e]; i < offsets[e + 1]; i++)
      for (int c = 0; c < DIM; c++)
        f->expected_q[DIM * f->table[i] + c] += 2 * (c - (double)(i - offsets[e]));
}

TEST(rows_behind_ragged_maps_are_whole) {
  static const char *const waits[] = {"off", "on"};
  for (int w = 0; w < 2; w++) {
    setenv("OP2_LAZY", waits[w], 1);
    open_library("off", "soa");
    struct flow *f = declare("double");
    step(f);
    assert_true(dat_named("q")->soa);
    turn_cells(f); /* which may be behind loops that wait */
    assert_false(dat_named("q")->soa);
    step(f);
    check(f);
    works(op_renumber(f->map));
    step(f);
    check(f);
    assert_true(dat_named("res")->soa);
    works(op_exit());
    free(f);
  }
  unsetenv("OP2_LAZY");
}
