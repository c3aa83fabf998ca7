/* Where tasks take less time than all else, the tuner chooses them: for a loop, and for a chain as one graph; and gather for
 * a loop through a ragged map. The times are planted: linked so, the library tells the functions below what it measured, and these tell the tuner what it is to be. */
#include <unistd.h>

#include "../exec/ring.h"
#include "backend/backend.h"
#include "base/log.h"
#include "kernels-cache/store.h"
#include "loop/chains.h"
#include "loop/choose.h"
#include "record/launch.h"

/* Enough for all ways to be measured, whatever they cost. */
enum { ROUNDS_TUNED = 600, ROUNDS = 8 };
static const double long_time = 1e-3, short_time = 0.6e-3;
static const char *quick = "tasks/";

/* ---- planted times ---- */

void __real_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);
void __wrap_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);
struct chain_way __real_chain_tuning_next(struct chain_tuning *t);
struct chain_way __wrap_chain_tuning_next(struct chain_tuning *t);
void __real_chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds);
void __wrap_chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds);

void __wrap_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds) {
  const char *name = launch->loop->backend->name_of(launch->loop, launch->variant);
  (void)seconds;
  __real_tune_ran(ctx, launch, strstr(name, quick) ? short_time : long_time);
}

static bool runs_as_tasks;

struct chain_way __wrap_chain_tuning_next(struct chain_tuning *t) {
  const struct chain_way way = __real_chain_tuning_next(t);
  runs_as_tasks = way.tasks;
  return way;
}

void __wrap_chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds) {
  (void)seconds;
  __real_chain_tuning_ran(ctx, t, periods, runs_as_tasks ? short_time : long_time);
}

/* ---- a program ---- */

static const char spread[] = OP_KERNEL(void spread(const double *a, const double *b, double *ra, double *rb) {
  for (int d = 0; d < 3; d++) {
    ra[d] -= a[d] - b[d];
    rb[d] += a[d] - b[d];
  }
});
static const char settle[] = OP_KERNEL(void settle(double *r, double *q) {
  for (int d = 0; d < 3; d++) {
    q[d] += r[d] > 0 ? 1 : r[d] < 0 ? -1 : 0;
    r[d] = 0;
  }
});

struct outcome {
  double q[3 * CELLS];
  long long tasked, trials;
  char report[100000];
};

/* Then all periods wait together, and what waits begins with the second loop. */
static bool never_looks;

static void spread_once(const struct ring *m, op_dat q, op_dat r) {
  works(op_par_loop(spread, "spread", m->edges, op_arg_dat(q, 0, m->ends, 3, "double", OP_READ),
                    op_arg_dat(q, 1, m->ends, 3, "double", OP_READ),
                    op_arg_dat(r, 0, m->ends, 3, "double", OP_INC),
                    op_arg_dat(r, 1, m->ends, 3, "double", OP_INC)));
}

/* Whole numbers, so that sums are exact. */
static void run_program(const char *lazy, const char *variant, const char *tune, int rounds,
                        struct outcome *out) {
  setenv("OP2_LAZY", lazy, 1);
  open_library(variant, 2, tune, "tasks.db");
  const struct ring m = declare();
  for (int i = 0; i < 3 * CELLS; i++)
    out->q[i] = (double)(i * 7L % 1009);
  op_dat q = op_decl_dat(m.cells, 3, "double", out->q, "q"), r = op_decl_dat(m.cells, 3, "double", NULL, "r");
  if (never_looks) {
    spread_once(&m, q, r);
    op_barrier();
  }
  for (int round = 0; round < rounds; round++) {
    if (!never_looks)
      spread_once(&m, q, r);
    works(
        op_par_loop(settle, "settle", m.cells, direct(r, 3, "double", OP_RW), direct(q, 3, "double", OP_RW)));
    if (never_looks)
      spread_once(&m, q, r);
    else
      op_barrier();
  }
  works(op_fetch_data(q, out->q));
  works(op_report_json(out->report, sizeof out->report));
  out->tasked = op_counters()->tasked;
  out->trials = op_counters()->trials;
  works(op_exit());
}

static const char *cache_path(void) {
  static char path[300];
  snprintf(path, sizeof path, "%s/tasks.db", folder);
  return path;
}

/* Of what begins with these words: what is remembered as the best, for the caller to free. */
static char *chosen_of(const char *loop) {
  static struct log silent = {.level = LOG_ERROR};
  struct error err = {0};
  struct store *store;
  struct store_tuning *rows = NULL;
  const struct store_tuning_filter best = {.chosen_only = true};
  char *chosen = NULL;
  const struct store_options options = {.path = cache_path(), .log = &silent};
  assert_int_equal(store_open(&store, &options, &err), OP_OK);
  const int n = store_get_tunings(store, &best, &rows);
  for (int i = 0; i < n && !chosen; i++)
    if (strncmp(rows[i].loop, loop, strlen(loop)) == 0 && !rows[i].provisional)
      chosen = strdup(rows[i].variant);
  store_tunings_free(rows, n);
  store_close(store);
  return chosen;
}

static void expect_chosen(const char *loop, const char *begin) {
  char *chosen = chosen_of(loop);
  if (!chosen || strncmp(chosen, begin, strlen(begin)) != 0)
    fail_msg("%s runs as %s, expected %s", loop, chosen ? chosen : "what is not remembered", begin);
  free(chosen);
}

static void expect_said(const struct outcome *out, const char *words) {
  if (!strstr(out->report, words))
    fail_msg("the report does not say %s: %s", words, out->report);
}

static struct outcome plain, tuned;

TEST(a_loop_is_tasks_where_that_is_faster) {
  run_program("off", "settle:scalar", "off", ROUNDS_TUNED, &plain);
  run_program("off", "settle:scalar", "force", ROUNDS_TUNED, &tuned);
  assert_memory_equal(plain.q, tuned.q, sizeof plain.q);
  assert_true(plain.trials == 0 && tuned.trials > 0);
  expect_chosen("spread", "tasks/");
  run_program("off", "settle:scalar", "off", ROUNDS, &plain);
  run_program("off", "settle:scalar", "use", ROUNDS, &tuned);
  assert_memory_equal(plain.q, tuned.q, sizeof plain.q);
  assert_int_equal(tuned.trials, 0);
  expect_said(&tuned, "\"variant\":\"tasks/");
  if (strstr(plain.report, "tasks/"))
    fail_msg("the first guess is tasks: %s", plain.report);
}

TEST(a_chain_is_tasks_where_that_is_faster) {
  run_program("off", "scalar", "off", ROUNDS_TUNED, &plain);
  run_program("on", "scalar", "force", ROUNDS_TUNED, &tuned);
  assert_memory_equal(plain.q, tuned.q, sizeof plain.q);
  assert_true(tuned.trials > 0 && tuned.tasked > 0);
  expect_chosen("chain of 2", "tasks/");
  expect_said(&tuned, "\"way\":\"tasks/");
  run_program("off", "scalar", "off", ROUNDS, &plain);
  run_program("on", "scalar", "use", ROUNDS, &tuned);
  assert_memory_equal(plain.q, tuned.q, sizeof plain.q);
  assert_true(tuned.trials == 0 && tuned.tasked == ROUNDS - 1);
  run_program("on", "scalar", "off", ROUNDS, &tuned);
  assert_memory_equal(plain.q, tuned.q, sizeof plain.q);
  assert_int_equal(tuned.tasked, 0); /* the first guess is another one */
}

/* It is the same period then, which begins with the loop that the program called first. */
TEST(it_is_found_where_nobody_looks) {
  enum { MANY_ROUNDS = 4 * ROUNDS_TUNED };
  unlink(cache_path());
  never_looks = true;
  run_program("off", "scalar", "off", MANY_ROUNDS, &plain);
  run_program("on", "scalar", "force", MANY_ROUNDS, &tuned);
  never_looks = false;
  assert_memory_equal(plain.q, tuned.q, sizeof plain.q);
  assert_true(tuned.trials > 0 && tuned.tasked > 0);
  expect_chosen("chain of 2: spread ... settle", "tasks/");
}

/* ---- through a ragged map ---- */

enum { ENTRIES = 5 * EDGES / 2 };
static const char deal[] = OP_KERNEL(void deal(const double *a, int n, double **r) {
  for (int k = 0; k < n; k++)
    *OP_ROW(r, k) += *a + k;
});

/* Edges of two cells and of three. What is added is a whole number. */
static void run_ragged(const char *variant, const char *tune, int dim, int rounds, struct outcome *out) {
  static long long offsets[EDGES + 1];
  static int targets[ENTRIES + 1];
  static double value[EDGES];
  setenv("OP2_LAZY", "off", 1);
  open_library(variant, 2, tune, "ragged.db");
  for (int e = 0; e < EDGES; e++) {
    offsets[e + 1] = offsets[e] + 2 + e % 2;
    value[e] = e % 7;
    for (long long i = offsets[e]; i < offsets[e + 1]; i++)
      targets[i] = (int)((e + 13 * (i - offsets[e])) % CELLS);
  }
  op_set cells = op_decl_set(CELLS, "cells"), edges = op_decl_set(EDGES, "edges");
  op_map around = op_decl_map_ragged(edges, cells, offsets, targets, "around");
  op_dat r = op_decl_dat(cells, dim, "double", NULL, "r"), a = op_decl_dat(edges, 1, "double", value, "a");
  for (int round = 0; round < rounds; round++)
    works(op_par_loop(deal, "deal", edges, direct(a, 1, "double", OP_READ),
                      op_arg_dat(r, OP_ALL, around, dim, "double", OP_INC)));
  memset(out->q, 0, sizeof out->q);
  works(op_fetch_data(r, out->q));
  works(op_report_json(out->report, sizeof out->report));
  out->trials = op_counters()->trials;
  works(op_exit());
}

TEST(a_ragged_loop_gathers_where_that_is_faster) {
  quick = "gather/";
  run_ragged("scalar", "off", 1, ROUNDS_TUNED, &plain);
  run_ragged("", "force", 1, ROUNDS_TUNED, &tuned);
  assert_memory_equal(plain.q, tuned.q, sizeof plain.q);
  expect_said(&tuned, "\"variant\":\"gather/");
  run_ragged("", "use", 1, ROUNDS, &tuned);
  assert_int_equal(tuned.trials, 0);
  expect_said(&tuned, "\"variant\":\"gather/");
  /* Where an element adds much it is not tried: two or three rows of 24 bytes are more than 64. */
  run_ragged("scalar", "off", 3, ROUNDS_TUNED, &plain);
  run_ragged("", "force", 3, ROUNDS_TUNED, &tuned);
  assert_memory_equal(plain.q, tuned.q, sizeof plain.q);
  assert_true(tuned.trials > 0);
  if (strstr(tuned.report, "gather/"))
    fail_msg("gather was tried: %s", tuned.report);
  quick = "tasks/";
}

/* Targets of one element in `every` are `longest`, of the others one to four. */
static const char sum_up[] = OP_KERNEL(void sum_up(int n, const double **a, const double **x, double *s) {
  double sum = 0;
  OP_ANY_ORDER
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(a, k) * *OP_ROW(x, k);
  *s = sum;
});

static void run_matrix(const char *variant, const char *tune, int every, int longest, struct outcome *out) {
  enum { ROWS = 8000, COLUMNS = 5000 };
  static long long offsets[ROWS + 1];
  open_library(variant, 2, tune, "matrix.db");
  for (int r = 0; r < ROWS; r++)
    offsets[r + 1] = offsets[r] + (r % every ? 1 + r * 7 % 4 : longest);
  int *columns = malloc((size_t)offsets[ROWS] * sizeof *columns);
  double *values = malloc((size_t)offsets[ROWS] * sizeof *values), ones[COLUMNS];
  for (long long i = 0; i < offsets[ROWS]; i++) {
    columns[i] = (int)(i * 31 % COLUMNS);
    values[i] = (double)(i % 5);
  }
  for (int c = 0; c < COLUMNS; c++)
    ones[c] = c % 3;
  op_set rows = op_decl_set(ROWS, "rows"), cols = op_decl_set(COLUMNS, "cols");
  op_map matrix = op_decl_map_ragged(rows, cols, offsets, columns, "matrix");
  op_dat a = op_decl_dat(op_map_entries(matrix), 1, "double", values, "a"),
         x = op_decl_dat(cols, 1, "double", ones, "x"), s = op_decl_dat(rows, 1, "double", NULL, "s");
  for (int round = 0; round < ROUNDS_TUNED; round++)
    works(op_par_loop(sum_up, "sum_up", rows, op_arg_dat(a, OP_ALL, matrix, 1, "double", OP_READ),
                      op_arg_dat(x, OP_ALL, matrix, 1, "double", OP_READ), direct(s, 1, "double", OP_WRITE)));
  memset(out->q, 0, sizeof out->q);
  works(op_fetch_data(s, out->q));
  works(op_report_json(out->report, sizeof out->report));
  works(op_exit());
  free(columns);
  free(values);
}

/* Whole numbers: any order of sums is right. */
TEST(rows_are_sorted_or_taken_apart_where_that_is_faster) {
  static const struct {
    const char *quick;
    int every, longest;
  } cases[] = {{"/sorted", 3, 5}, {"+rows", 10, 300}, {"chunks/scalar", 10, 300}};
  setenv("OP2_LAZY", "off", 1);
  for (int i = 0; i < 3; i++) {
    quick = cases[i].quick;
    run_matrix("scalar", "off", cases[i].every, cases[i].longest, &plain);
    run_matrix("", "force", cases[i].every, cases[i].longest, &tuned);
    assert_memory_equal(plain.q, tuned.q, sizeof plain.q);
    const char *at = strstr(tuned.report, "\"variant\":\"");
    char variant[100] = "";
    if (!at || sscanf(at, "\"variant\":\"%99[^\"]", variant) != 1 || !strstr(variant, quick))
      fail_msg("%s is not chosen, but %s", quick, variant);
  }
  quick = "tasks/";
}

AROUND_ALL(make_folder, remove_folder)
