/* Loops on a structured mesh that was declared as an unstructured one: when the library takes shapes that know straight
 * ranges, that they leave the same bits as strips by the map alone, and that op_plan_check looks at the ranges. */
#include "../api/support.h"

#include <math.h>

#include "api/api.h"
#include "backend/backend.h"
#include "backend/cpu/cpu_loop.h"
#include "context/context.h"
#include "record/record.h"

enum { N = 64, POINTS = N * N, SIDES = 4 };

static const char smooth[] =
    OP_KERNEL(void smooth(const double *u, const double *v[4], double *w, double *sum, double *most) {
      *w = 0.3 * *u + 0.1 * (v[0][0] + v[1][0] + v[2][0]) + 0.7 * v[3][0];
      *sum += *w;
      if (*w > *most)
        *most = *w;
    });

/* Rows of three by two columns that meet, and one value by a column that never does. */
static const char spread[] =
    OP_KERNEL(void spread(const double *u, double *right, double *up, double *alone) {
      for (int c = 0; c < 3; c++) {
        right[c] += *u / (c + 3);
        up[c] -= *u / (c + 7);
      }
      *alone += *u / 3;
    });

struct grid {
  op_set points;
  op_map near;
  op_dat u, w, rows, alone;
};

struct answer {
  double w[POINTS], rows[3 * POINTS], alone[POINTS], sum, most;
};

static const char *folder;

/* With a database in which tunings are remembered. */
static void open_tuned(const char *tune) {
  char tuning[64], database[256], program[] = "program", backend[] = "OP2_BACKEND=seq", jit[] = "OP2_JIT=on";
  snprintf(tuning, sizeof tuning, "OP2_TUNE=%s", tune);
  snprintf(database, sizeof database, "OP2_CACHE=%s/straight.db", folder);
  char *argv[] = {program, tuning, database, backend, jit, NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(5, argv, 0));
}

static void open_library(const char *backend, const char *variant) {
  char words[128], forced[128], program[] = "program", cache[] = "OP2_CACHE=off", tune[] = "OP2_TUNE=off",
                                threads[] = "OP2_THREADS=2", jit[] = "OP2_JIT=on";
  snprintf(words, sizeof words, "OP2_BACKEND=%s", backend);
  snprintf(forced, sizeof forced, "OP2_VARIANT=%s", variant);
  char *argv[] = {program, words, cache, tune, threads, jit, forced, NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(*variant ? 7 : 6, argv, 0));
}

/* Periodic, with the neighbours to the right, to the left, above and below. Points in rows, or anywhere. */
static struct grid declare(bool in_rows, const char *type) {
  static int table[SIDES * POINTS];
  static double u[POINTS];
  for (int p = 0; p < POINTS; p++) {
    const int k = in_rows ? p : p * 891 % POINTS, x = k % N, y = k / N;
    const int near[SIDES] = {y * N + (x + 1) % N, y * N + (x + N - 1) % N, (y + 1) % N * N + x,
                             (y + N - 1) % N * N + x};
    memcpy(table + SIDES * p, near, sizeof near);
    u[p] = 1.0 / (p + 3);
  }
  struct grid g = {.points = op_decl_set(POINTS, "points")};
  g.near = op_decl_map(g.points, g.points, SIDES, table, "near");
  g.u = op_decl_dat(g.points, 1, "double", u, "u");
  g.w = op_decl_dat(g.points, 1, "double", NULL, "w");
  g.rows = op_decl_dat(g.points, 3, type, NULL, "rows");
  g.alone = op_decl_dat(g.points, 1, "double", NULL, "alone");
  return g;
}

static void run(const struct grid *g, struct answer *a) {
  a->sum = 0;
  a->most = -1;
  works(op_par_loop(smooth, "smooth", g->points, op_arg_dat(g->u, -1, OP_ID, 1, "double", OP_READ),
                    op_arg_dat(g->u, -SIDES, g->near, 1, "double", OP_READ),
                    op_arg_dat(g->w, -1, OP_ID, 1, "double", OP_WRITE),
                    op_arg_gbl(&a->sum, 1, "double", OP_INC), op_arg_gbl(&a->most, 1, "double", OP_MAX)));
  works(op_par_loop(spread, "spread", g->points, op_arg_dat(g->u, 3, g->near, 1, "double", OP_READ),
                    op_arg_dat(g->rows, 0, g->near, 3, "double", OP_INC),
                    op_arg_dat(g->rows, 2, g->near, 3, "double", OP_INC),
                    op_arg_dat(g->alone, 1, g->near, 1, "double", OP_INC)));
  works(op_fetch_data(g->w, a->w));
  works(op_fetch_data(g->rows, a->rows));
  works(op_fetch_data(g->alone, a->alone));
}

/* Loop 0 is smooth, 1 is spread. */
static struct loop *record(int number) {
  struct loop **records = loop_records(api_context());
  assert_non_null(records);
  struct loop *found = records[number];
  free(records);
  return found;
}

static bool takes_straight(int number) {
  return strstr(record(number)->stats.variant, "+straight") != NULL;
}

static bool takes_strips(int number) {
  return strstr(record(number)->stats.variant, "strip") != NULL;
}

/* The choice depends on the mesh alone, and on whether strips are worth it at all on this machine. */
TEST(is_chosen_by_the_mesh) {
  static struct answer a;
  for (int in_rows = 0; in_rows < 2; in_rows++) {
    open_library("openmp", "");
    const struct grid g = declare(in_rows, "double");
    run(&g, &a);
    for (int l = 0; l < 2; l++)
      assert_int_equal(takes_straight(l), in_rows && takes_strips(l));
    /* Maps that are not read are not counted. */
    const double map_bytes = SIDES * sizeof(int) * POINTS, spared = record(0)->stats.spared;
    assert_true(takes_straight(0) ? spared > map_bytes / 2 && spared < map_bytes : spared <= 0);
    works(op_exit());
  }
}

/* The best way for a mesh without order is no start for one with straight ranges. */
TEST(is_not_kept_from_by_other_meshes) {
  static struct answer a;
  open_library("seq", "");
  const struct grid fresh = declare(true, "double");
  run(&fresh, &a);
  const bool standard = takes_straight(0);
  works(op_exit());
  open_tuned("force");
  const struct grid g = declare(false, "double");
  /* Settled: a hundred runs without a trial. */
  for (long long trials = -1; op_counters()->trials != trials;) {
    trials = op_counters()->trials;
    for (int i = 0; i < 100; i++)
      run(&g, &a);
  }
  works(op_exit());
  open_tuned("use");
  const struct grid h = declare(true, "double");
  run(&h, &a);
  assert_int_equal(op_counters()->trials, 0);
  assert_int_equal(takes_straight(0), standard);
  works(op_exit());
}

static bool is_offered(int number, const char *words) {
  const struct loop *loop = record(number);
  bool found = false;
  for (int i = 0; i < loop->ready.nvariants; i++)
    found |= strstr(loop->backend->name_of(loop, i), words) != NULL;
  return found;
}

/* Stores past the caches are tried where the caches are far smaller than the data; smooth writes whole vectors,
 * spread adds. */
TEST(streams_what_caches_cannot_hold) {
  static struct answer a;
  static const size_t caches[] = {(size_t)1 << 40, 1};
  for (int large = 0; large < 2; large++) {
    open_tuned("force");
    const struct grid g = declare(true, "double");
    api_context()->cache_bytes = caches[large];
    run(&g, &a);
    assert_int_equal(is_offered(0, "+stream"), large && is_offered(0, "strip"));
    assert_false(is_offered(1, "+stream"));
    works(op_exit());
  }
}

TEST(has_the_bits_of_strips) {
  static struct answer plain, straight;
  static const char *const ways[][3] = {{"seq", "strip8", "strip8+straight"},
                                        {"seq", "strip4", "strip4+straight"},
                                        {"seq", "strip16", "strip16+straight"},
                                        {"openmp", "strip8/100", "strip8+straight/100"},
                                        {"seq", "strip8", "strip8+straight+stream"},
                                        {"seq", "strip4", "strip4+straight+piped"},
                                        {"openmp", "owners/strip8", "owners/strip8+straight+piped"},
                                        {"openmp", "strip4/100", "strip4+straight+stream/100"},
                                        {"openmp", "owners/strip4", "owners/strip4+straight"}};
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
    for (int soa = 0; soa < (w == 0 ? 2 : 1); soa++)
      for (int s = 0; s < 2; s++) {
        open_library(ways[w][0], ways[w][1 + s]);
        const struct grid g = declare(true, soa ? "double:soa" : "double");
        run(&g, s ? &straight : &plain);
        assert_int_equal(takes_straight(0), s);
        assert_int_equal(takes_straight(1), s);
        works(op_plan_check(2));
        works(op_exit());
        if (s)
          assert_memory_equal(&plain, &straight, sizeof plain);
      }
}

static void expect_close(const double *a, const double *b, int count) {
  for (int i = 0; i < count; i++)
    assert_true(fabs(a[i] - b[i]) <= 1e-12 * (1 + fabs(a[i])));
}

/* The answer does not depend on what of the mesh is straight, nor on the numbering. */
TEST(is_right_on_any_mesh) {
  static struct answer native, found;
  for (int in_rows = 0; in_rows < 2; in_rows++)
    for (int renumbered = 0; renumbered < 2; renumbered++) {
      open_library("seq", "scalar");
      struct grid g = declare(in_rows, "double");
      run(&g, &native);
      works(op_exit());
      open_library("openmp", "strip8+straight");
      g = declare(in_rows, "double");
      if (renumbered)
        works(op_renumber(g.near));
      run(&g, &found);
      works(op_plan_check(2));
      works(op_exit());
      expect_close(native.w, found.w, POINTS);
      expect_close(native.rows, found.rows, 3 * POINTS);
      expect_close(native.alone, found.alone, POINTS);
      expect_close(&native.sum, &found.sum, 1);
      expect_close(&native.most, &found.most, 1);
    }
}

/* Where it means nothing, the name says so: no map, no strips, the gather form. */
TEST(is_left_out_where_it_means_nothing) {
  static struct answer a;
  static const char fill[] = OP_KERNEL(void fill(double *w) { *w = 1; });
  open_library("openmp", "gather/strip8+straight");
  const struct grid g = declare(true, "double");
  run(&g, &a);
  assert_string_equal(record(1)->stats.variant, "gather/strip8");
  works(op_exit());
  open_library("seq", "strip8+straight");
  const struct grid h = declare(true, "double");
  works(op_par_loop(fill, "fill", h.points, op_arg_dat(h.w, -1, OP_ID, 1, "double", OP_WRITE)));
  assert_string_equal(record(0)->stats.variant, "whole/strip8");
  works(op_exit());
}

TEST(a_wrong_range_is_found) {
  static struct answer a;
  open_library("seq", "strip8+straight");
  const struct grid g = declare(true, "double");
  run(&g, &a);
  works(op_plan_check(2));
  const struct cpu_loop *cpu = record(0)->ready.backend_state;
  cpu->straight[0]->straight.words[3]++;
  assert_int_equal(op_plan_check(2), OP_ERR_PLAN);
  assert_non_null(strstr(op_last_error()->message, "straight range 0"));
  cpu->straight[0]->straight.words[3]--;
  works(op_plan_check(2));
  works(op_exit());
}

int main(void) {
  char made[] = "/tmp/op2jit-straight-XXXXXX", command[128];
  folder = mkdtemp(made);
  if (!folder)
    return 1;
  int failed = run_these(NULL, NULL);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) == 0 ? failed : 1;
}
