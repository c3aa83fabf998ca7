/* Layouts of dats on the host: forced, remembered, and found by trials in the running program. The program sees the same rows
 * whatever they are. All values are whole numbers, so that any order of sums is right. */
#include "../api/support.h"

#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "backend/cpu/cpu_loop.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "services/services.h"
#include "tune/layouts.h"

enum { EDGES = 6000, CELLS = 5000, DIM = 4, VALUES = DIM * CELLS };

static const char *folder;

static const char gather_text[] = "void gather(const double *a, const double *b, double *r, double *s) {\n"
                                  "  for (int c = 0; c < 4; c++) { r[c] += a[c] - b[c]; s[c] -= 1; }\n"
                                  "}\n",
                  advance_text[] =
                      "void advance(double *q, double *r, const double *area, double *sum) {\n"
                      "  for (int c = 0; c < 4; c++) { q[c] = 20 - q[c] + *area; *sum += r[c]; r[c] = 0; }\n"
                      "}\n",
                  other_text[] = "void other(double *area) { *area = *area * 1; }";

struct flow {
  op_set edges, cells;
  op_map map;
  op_dat q, res, area;
  int table[2 * EDGES];
  double expected_q[VALUES], expected_sum, sum; /* the same on the host */
};

static void open_library(const char *tune, const char *cache, const char *variant) {
  char tuning[64], database[256], forced[64], program[] = "program", threads[] = "OP2_THREADS=2",
                                              jit[] = "OP2_JIT=on";
  snprintf(tuning, sizeof tuning, "OP2_TUNE=%s", tune);
  snprintf(database, sizeof database, "OP2_CACHE=%s%s%s", cache ? folder : "", cache ? "/" : "off",
           cache ? cache : "");
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

static struct layouts *layouts(void) {
  return api_context()->layouts[SPACE_HOST];
}

/* Of the dat of that name. */
static struct dat *dat_named(const char *name) {
  const struct list *dats = &api_context()->mesh->dats;
  for (int i = 0; i < dats->count; i++)
    if (strcmp(((struct dat *)dats->items[i])->name, name) == 0)
      return dats->items[i];
  fail_msg("no dat %s", name);
  return NULL;
}

static void forced_layouts(void **state) {
  (void)state;
  static const struct {
    const char *variant, *type;
    bool q, res;
  } cases[] = {{"soa", "double", true, true},       {"aos", "double:soa", false, false},
               {"soa=q", "double", true, true},     {"soa/aos=q/64", "double", false, true},
               {"aos=res", "double", false, false}, {"soa=other/scalar", "double", false, true},
               {"", "double:soa", true, true},      {"", "double", false, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    open_library("off", NULL, cases[i].variant);
    struct flow *f = declare(cases[i].type);
    for (int k = 0; k < 3; k++)
      step(f);
    check(f);
    assert_int_equal(dat_named("q")->soa, cases[i].q);
    assert_int_equal(dat_named("res")->soa, cases[i].res);
    assert_false(dat_named("area")->soa);
    works(op_exit());
    free(f);
  }
}

/* A forced layout leaves the loops' variants free; any other word names one. */
static void forced_layouts_leave_variants(void **state) {
  (void)state;
  static const struct {
    const char *variant;
    bool tries;
  } cases[] = {{"soa=q", true}, {"aos", true}, {"soa=q,other:scalar", true}, {"soa=q/scalar", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    open_library("force", NULL, cases[i].variant);
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

/* What is remembered of a dat: both layouts were measured, one was chosen. -1: nothing. */
static int chosen(const char *name) {
  const struct store_tuning_filter filter = {.loop = name};
  struct store_tuning *rows = NULL;
  const int count = store_get_tunings(api_context()->store, &filter, &rows);
  int choice = -1, marks = 0;
  for (int r = 0; r < count; r++) {
    assert_true(rows[r].median > 0 && rows[r].baseline > 0);
    if (rows[r].chosen)
      choice = strcmp(rows[r].variant, "soa") == 0;
    marks += rows[r].chosen;
  }
  assert_true(count == 0 || (count == 2 && marks == 1));
  store_tunings_free(rows, count);
  return choice;
}

/* Steps until a layout was found for q; what the program reads and writes on the way is right. */
static int find_layout(struct flow *f) {
  enum { MOST = 4000 };
  int steps = 0;
  while (steps < MOST && chosen("dat q") < 0) {
    step(f);
    if (++steps % 20 == 0)
      check(f);
    if (steps % 30 == 0) {
      for (int i = 0; i < VALUES; i++)
        f->expected_q[i] = (i + steps) % 16;
      works(op_put_data(f->q, f->expected_q));
    }
  }
  assert_true(steps < MOST);
  check(f);
  return chosen("dat q");
}

static void found_layouts(void **state) {
  (void)state;
  open_library("force", "found.db", "");
  struct flow *f = declare("double");
  const bool soa = find_layout(f);
  assert_int_equal(dat_named("q")->soa, soa);
  assert_true(layouts_epoch(layouts()) >= 2);
  /* One component, or what the user has chosen: nothing to find. */
  assert_int_equal(chosen("dat area"), -1);
  assert_int_equal(chosen("dat res"), -1);
  assert_true(dat_named("res")->soa);
  /* No more turns, and the loops go on. */
  const unsigned turns = layouts_epoch(layouts());
  for (int i = 0; i < 100; i++)
    step(f);
  check(f);
  assert_int_equal(layouts_epoch(layouts()), turns);
  /* Loops that were made anew have not forgotten their trials. */
  struct loop **loops = loop_records(api_context());
  assert_non_null(loops);
  for (size_t i = 0; i < api_context()->loops->count; i++)
    assert_true(loops[i]->stats.trials > 0 && loops[i]->stats.trial_seconds > 0);
  free(loops);
  works(op_exit());
  free(f);

  /* The next run begins with what was found: it compiles nothing, tries nothing and turns nothing. */
  for (int again = 0; again < 2; again++) {
    open_library(again ? "auto" : "use", "found.db", "");
    f = declare("double");
    for (int i = 0; i < 20; i++)
      step(f);
    check(f);
    assert_int_equal(dat_named("q")->soa, soa);
    assert_int_equal(layouts_epoch(layouts()), 0);
    assert_int_equal(op_counters()->compiles, 0);
    assert_int_equal(op_counters()->trials, 0);
    works(op_exit());
    free(f);
  }

  /* Where tuning is off, what is remembered does not count. */
  open_library("off", "found.db", "");
  f = declare("double");
  for (int i = 0; i < 20; i++)
    step(f);
  check(f);
  assert_false(dat_named("q")->soa);
  works(op_exit());
  free(f);
}

/* Both outcomes of a trial, whatever the machine finds better. The mesh is renumbered, and what was declared is written. */
static void remembered_layouts(void **state) {
  (void)state;
  for (int soa = 0; soa < 2; soa++) {
    open_library("use", NULL, "");
    struct flow *f = declare("double");
    struct jit *jit = NULL;
    struct error err = {0};
    assert_int_equal(context_jit(api_context(), &jit, &err), OP_OK);
    layout_keep(api_context(), &cpu_layout_table, dat_named("q"),
                &(struct layout_found){.rows = 2e-3, .apart = 1e-3, .soa = soa});
    const long long converted = op_counters()->bytes_converted;
    step(f);
    assert_int_equal(dat_named("q")->soa, soa);
    assert_int_equal(op_counters()->bytes_converted > converted, soa);
    works(op_renumber(f->map));
    for (int i = 0; i < 3; i++)
      step(f);
    check(f);
    double row[2 * DIM];
    works(op_fetch_data_idx(f->q, row, 7, 8));
    assert_memory_equal(row, f->expected_q + 7 * DIM, sizeof row);
    assert_int_equal(dat_named("q")->soa, soa);
    assert_false(dat_named("q")->asked_soa);
    works(op_exit());
    free(f);
  }
}

/* A program whose loops stop in the middle of a trial. Others go on: the dat is turned back; or nothing does. */
static void interrupted_trials(void **state) {
  (void)state;
  enum { MOST = 4000 };
  for (int others = 0; others <= 800; others += 800) {
    open_library("force", NULL, "");
    struct flow *f = declare("double");
    int steps = 0;
    for (; steps < MOST && layouts_epoch(layouts()) == 0; steps++)
      step(f);
    assert_int_equal(layouts_epoch(layouts()), 1);
    assert_true(dat_named("q")->soa);
    for (int i = 0; i < others; i++)
      works(op_par_loop(other_text, "other", f->cells, op_arg_dat(f->area, -1, OP_ID, 1, "double", OP_RW)));
    assert_int_equal(layouts_epoch(layouts()), others ? 2 : 1);
    assert_int_equal(dat_named("q")->soa, !others);
    check(f);
    step(f);
    check(f);
    works(op_exit());
    free(f);
  }
}

/* A mesh that is renumbered in the middle of a trial: the dat is turned back, and all rows follow their elements. */
static void renumbered_trials(void **state) {
  (void)state;
  enum { MOST = 4000 };
  open_library("force", NULL, "");
  struct flow *f = declare("double");
  for (int steps = 0; steps < MOST && layouts_epoch(layouts()) == 0; steps++)
    step(f);
  assert_true(dat_named("q")->soa);
  works(op_renumber(f->map));
  check(f);
  for (int i = 0; i < 3; i++)
    step(f);
  assert_int_equal(layouts_epoch(layouts()), 2);
  assert_false(dat_named("q")->soa);
  check(f);
  works(op_exit());
  free(f);
}

int main(void) {
  char made[] = "/tmp/op2jit-layout-XXXXXX", command[128];
  folder = mkdtemp(made);
  if (!folder)
    return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forced_layouts),     cmocka_unit_test(found_layouts),
      cmocka_unit_test(remembered_layouts), cmocka_unit_test(interrupted_trials),
      cmocka_unit_test(renumbered_trials),  cmocka_unit_test(forced_layouts_leave_variants),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) == 0 ? failed : 1;
}
