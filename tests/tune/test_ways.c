/* The four ways of a chain: as called, fused, in tiles, fused and in tiles. All are tried and remembered; each one, where it
 * is the best that is remembered, is what the next run does, as its counters and its report say. */
#include <unistd.h>

#include "../exec/ring.h"
#include "base/log.h"
#include "kernels-cache/store.h"

/* Large enough for tiles to pay, and whole numbers, so that sums are exact. */
enum { MANY = 130000, WIDTH = 8, ROUNDS_FORCED = 200, ROUNDS = 6 };

static const char spread[] = OP_KERNEL(void spread(const double *a, const double *b, double *ra, double *rb) {
  for (int d = 0; d < 8; d++) {
    ra[d] -= a[d] - b[d];
    rb[d] += a[d] - b[d];
  }
});
static const char settle[] = OP_KERNEL(void settle(double *r, double *q) {
  for (int d = 0; d < 8; d++) {
    q[d] += r[d] > 0 ? 1 : r[d] < 0 ? -1 : 0;
    r[d] = 0;
  }
});
static const char total[] = OP_KERNEL(void total(const double *q, double *sum) {
  for (int d = 0; d < 8; d++)
    *sum += q[d];
});

struct outcome {
  double q[MANY * WIDTH], sum;
  long long tiled, fused, trials;
};

/* A line of cells. */
static void run_program(const char *lazy, const char *tune, const char *cache, int rounds,
                        struct outcome *out) {
  char words[4][300], program[] = "program", backend[] = "OP2_BACKEND=seq", variant[] = "OP2_VARIANT=scalar";
  char *argv[] = {program, backend, variant, words[0], words[1], words[2], words[3], NULL};
  static int pairs[2 * (MANY - 1)];
  snprintf(words[0], sizeof words[0], "OP2_LAZY=%s", lazy);
  snprintf(words[1], sizeof words[1], "OP2_TUNE=%s", tune);
  snprintf(words[2], sizeof words[2], "OP2_CACHE=%s/%s", folder, cache);
  snprintf(words[3], sizeof words[3], "OP2_TIMING=json:%s/report.json", folder);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(7, argv, 0));
  for (int i = 0; i < MANY * WIDTH; i++)
    out->q[i] = (double)(i * 7L % 1009);
  for (int e = 0; e < MANY - 1; e++) {
    pairs[2 * e] = e;
    pairs[2 * e + 1] = e + 1;
  }
  op_set cells = op_decl_set(MANY, "cells"), edges = op_decl_set(MANY - 1, "edges");
  op_map ends = op_decl_map(edges, cells, 2, pairs, "ends");
  op_dat q = op_decl_dat(cells, WIDTH, "double", out->q, "q"),
         r = op_decl_dat(cells, WIDTH, "double", NULL, "r");
  op_gbl sum = op_decl_gbl(1, "double", NULL, "sum");
  for (int round = 0; round < rounds; round++) {
    works(op_par_loop(spread, "spread", edges, op_arg_dat(q, 0, ends, WIDTH, "double", OP_READ),
                      op_arg_dat(q, 1, ends, WIDTH, "double", OP_READ),
                      op_arg_dat(r, 0, ends, WIDTH, "double", OP_INC),
                      op_arg_dat(r, 1, ends, WIDTH, "double", OP_INC)));
    works(op_par_loop(settle, "settle", cells, direct(r, WIDTH, "double", OP_RW),
                      direct(q, WIDTH, "double", OP_RW)));
    works(
        op_par_loop(total, "total", cells, direct(q, WIDTH, "double", OP_READ), op_arg_global(sum, OP_INC)));
    op_barrier();
  }
  works(op_get_gbl(sum, &out->sum));
  works(op_fetch_data(q, out->q));
  out->tiled = op_counters()->tiled;
  out->fused = op_counters()->fused;
  out->trials = op_counters()->trials;
  works(op_exit());
}

static void same(const struct outcome *a, const struct outcome *b) {
  assert_true(a->sum == b->sum);
  assert_memory_equal(a->q, b->q, sizeof a->q);
}

/* ---- what is remembered ---- */

static void open_store(const char *cache, struct store **store) {
  static struct log silent = {.level = LOG_ERROR};
  struct error err = {0};
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, cache);
  const struct store_options options = {.path = path, .log = &silent};
  assert_int_equal(store_open(store, &options, &err), OP_OK);
}

enum { LOOPS, FUSED, TILED, BOTH, KINDS };

static int kind_of(const char *way) {
  const bool fused = strncmp(way, "fused", 5) == 0, tiled = strstr(way, "tiles/") != NULL;
  return tiled ? (fused ? BOTH : TILED) : fused ? FUSED : LOOPS;
}

/* How many ways of each kind were measured. If `chosen` is a kind, the first one of it is what is remembered as the best. */
static void look(const char *cache, int chosen, int counts[KINDS], char *way, size_t size) {
  struct store *store;
  struct store_tuning *rows = NULL;
  const struct store_tuning_filter all = {0};
  memset(counts, 0, KINDS * sizeof *counts);
  open_store(cache, &store);
  const int n = store_get_tunings(store, &all, &rows);
  for (int i = 0; i < n; i++) {
    if (strncmp(rows[i].signature, "chain ", 6) != 0)
      continue;
    const int kind = kind_of(rows[i].variant);
    assert_true(rows[i].count > 0 && rows[i].median > 0);
    rows[i].chosen = kind == chosen && counts[kind] == 0;
    if (rows[i].chosen)
      snprintf(way, size, "%s", rows[i].variant);
    counts[kind]++;
    if (chosen < KINDS)
      assert_true(store_put_tunings(store, &rows[i], 1));
  }
  store_tunings_free(rows, n);
  store_close(store);
}

/* Does the report say so of the chain? */
static void check_report(const char *way) {
  char path[300], wanted[64], line[4096];
  bool found = false;
  snprintf(path, sizeof path, "%s/report.json", folder);
  snprintf(wanted, sizeof wanted, "\"way\":\"%s\"", way);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file))
    found |= strstr(line, wanted) != NULL;
  fclose(file);
  if (!found)
    fail_msg("the report does not say %s", wanted);
}

TEST(each_way_is_tried_and_runs_where_it_is_the_best) {
  static struct outcome singly, forced, few, remembered;
  int counts[KINDS];
  char way[64] = "";
  run_program("off", "off", "none.db", ROUNDS_FORCED, &singly);
  run_program("on", "force", "ways.db", ROUNDS_FORCED, &forced);
  same(&singly, &forced);
  assert_true(forced.tiled > 0 && forced.fused > 0 && forced.trials > 0);
  look("ways.db", KINDS, counts, way, sizeof way);
  assert_int_equal(counts[LOOPS], 1);
  assert_int_equal(counts[FUSED], 1);
  assert_int_equal(counts[TILED], 3);
  assert_int_equal(counts[BOTH], 3);
  run_program("off", "off", "none.db", ROUNDS, &few);
  for (int kind = 0; kind < KINDS; kind++) {
    look("ways.db", kind, counts, way, sizeof way);
    run_program("on", "use", "ways.db", ROUNDS, &remembered);
    same(&few, &remembered);
    check_report(way);
    /* From the second time on that it comes. */
    assert_int_equal(remembered.tiled, kind == TILED || kind == BOTH ? ROUNDS - 1 : 0);
    assert_int_equal(remembered.fused, kind == FUSED || kind == BOTH ? 2 * (ROUNDS - 1) : 0);
  }
}

AROUND_ALL(make_folder, remove_folder)
