/* The whole library on the openmp backend: the same bits on any number of threads, what many loops keep,
 * a host's parallel region, a forked child, and the memory's speed that is measured once. */
#include "ring.h"

#include <sched.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "api/api.h"
#include "backend/cpu/cpu_loop.h"
#include "context/context.h"
#include "exec/team.h"
#include "loop/tune_memory.h"
#include "plan/plan_cache.h"
#include "record/record.h"
#include "report/report.h"

/* Everything that a few steps compute. */
struct outcome {
  double value[3 * CELLS], change[3 * CELLS], moved, most, sum;
};

static void compute(struct outcome *o) {
  const struct ring m = declare();
  memset(o, 0, sizeof *o);
  for (int i = 0; i < 3; i++) {
    move_once(&m, &o->moved, &o->most);
    relax_once(&m, &o->sum);
  }
  works(op_fetch_data(m.value, o->value));
  works(op_fetch_data(m.change, o->change));
}

static struct outcome *outcome_new(void) {
  struct outcome *o = calloc(1, sizeof *o);
  assert_non_null(o);
  return o;
}

/* ---- the same bits ------------------------------------------------------------------------------------*/

TEST(same_bits) {
  static const int counts[] = {1, 2, 3, 7, 16};
  static const char *const variants[] = {
      "", "colours/scalar", "colours/strip8", "colours/1000/strip4", "gather", "colours/64/strip16", "whole"};
  struct outcome *first = outcome_new(), *other = outcome_new();
  for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
    for (size_t t = 0; t < sizeof counts / sizeof *counts; t++) {
      open_library(variants[v], counts[t], "off", "bits.db");
      compute(t ? other : first);
      assert_int_equal(team_threads(api_context()->team), counts[t]);
      works(op_exit());
      if (t && memcmp(first, other, sizeof *first) != 0)
        fail_msg("variant \"%s\": %d threads and one do not have the same bits", variants[v], counts[t]);
    }
  /* The order of additions does show: two variants differ. */
  open_library("colours/scalar", 1, "off", "bits.db");
  compute(other);
  works(op_exit());
  assert_memory_not_equal(first, other, sizeof *first);
  free(first);
  free(other);
}

/* ---- a mesh without order -----------------------------------------------------------------------------*/

static void shuffle(int *list, int count, unsigned seed) {
  for (int i = 0; i < count; i++)
    list[i] = i;
  for (int i = count - 1; i > 0; i--) {
    seed = seed * 1664525 + 1013904223;
    const int other = (int)((seed >> 8) % (unsigned)(i + 1)), kept = list[i];
    list[i] = list[other];
    list[other] = kept;
  }
}

/* The ring's cells and edges have other numbers: all blocks of edges meet. */
static struct ring declare_scattered(void) {
  struct ring m = declare();
  int *table = malloc(2 * EDGES * sizeof *table), *cell = malloc(CELLS * sizeof *cell),
      *edge = malloc(EDGES * sizeof *edge);
  assert_true(table && cell && edge);
  shuffle(cell, CELLS, 3);
  shuffle(edge, EDGES, 4);
  for (int e = 0; e < EDGES; e++) {
    const int place = (int)((long)e * CELLS / EDGES);
    table[2 * edge[e]] = cell[(place + e * 7 % 13) % CELLS];
    table[2 * edge[e] + 1] = cell[(place + 20 + e * 5 % 17) % CELLS];
  }
  m.ends = op_decl_map(m.edges, m.cells, 2, table, "scattered");
  free(table);
  free(cell);
  free(edge);
  return m;
}

static const struct plan_entry *plan_of_first_loop(void) {
  struct loop **loops = loop_records(api_context());
  const struct cpu_loop *cpu = loops[0]->ready.backend_state;
  const struct plan_entry *entry = cpu->variants[loops[0]->ready.variant].parts[0].entry;
  free(loops);
  return entry;
}

TEST(blocks_that_all_meet) {
  static const int counts[] = {1, 2, 3, 7};
  double *change = calloc(3 * CELLS, sizeof *change), *expected = calloc(3 * CELLS, sizeof *expected),
         *singly = calloc(3 * CELLS, sizeof *singly);
  for (size_t t = 0; t < sizeof counts / sizeof *counts; t++) {
    double sum = 0, most = 0;
    open_library("", counts[t], "off", "scattered.db");
    const struct ring m = declare_scattered();
    move_once(&m, &sum, &most);
    const struct plan_entry *plan = plan_of_first_loop();
    assert_int_equal(plan->crowded, plan->plan.nblocks);
    assert_true(plan->plan.nblocks > 50 && plan->plan.ncolours < plan->plan.nblocks / 8);
    works(op_fetch_data(m.change, t ? change : expected));
    works(op_plan_check(2));
    works(op_exit());
    assert_true(t == 0 || memcmp(change, expected, 3 * CELLS * sizeof *change) == 0);
  }
  double sum = 0, most = 0;
  open_library("whole", 1, "off", "scattered.db");
  const struct ring m = declare_scattered();
  move_once(&m, &sum, &most);
  works(op_fetch_data(m.change, singly));
  works(op_exit());
  for (int i = 0; i < 3 * CELLS; i++)
    assert_true(singly[i] - expected[i] < 1e-12 && expected[i] - singly[i] < 1e-12);
  free(change);
  free(expected);
  free(singly);
}

/* ---- many loops -----------------------------------------------------------------------------------------*/

/* 200 loops, each of which has tried everything: one way to run it is left, and plans are small beside the data. */
TEST(many_loops_keep_little) {
  enum { SIZE = 4096, DATS = 15, LOOPS = 200, MOST_CALLS = 2000 };
  static const char add[] = OP_KERNEL(void add(const double *a, const double *b, double *c, double *d) {
    *c += *a;
    *d += *b;
  });
  static int table[2 * SIZE];
  op_dat dats[DATS];
  open_library("", 1, "force", "many.db");
  for (int i = 0; i < SIZE; i++) {
    table[2 * i] = i;
    table[2 * i + 1] = (i + 1) % SIZE;
  }
  op_set cells = op_decl_set(SIZE, "cells"), edges = op_decl_set(SIZE, "edges");
  op_map ends = op_decl_map(edges, cells, 2, table, "ends");
  for (int i = 0; i < DATS; i++)
    dats[i] = op_decl_dat(cells, 1, "double", NULL, "dat");
  for (int l = 0; l < LOOPS; l++) {
    op_dat from = dats[l / (DATS - 1)], to = dats[(l / (DATS - 1) + 1 + l % (DATS - 1)) % DATS];
    long long trials = -1;
    for (int calls = 0; op_counters()->trials != trials && calls < MOST_CALLS; calls += 100) {
      trials = op_counters()->trials;
      for (int i = 0; i < 100; i++)
        works(op_par_loop(add, "add", edges, op_arg_dat(from, 0, ends, 1, "double", OP_READ),
                          op_arg_dat(from, 1, ends, 1, "double", OP_READ),
                          op_arg_dat(to, 0, ends, 1, "double", OP_INC),
                          op_arg_dat(to, 1, ends, 1, "double", OP_INC)));
    }
  }
  const struct op_context *ctx = api_context();
  assert_int_equal(op_counters()->records, LOOPS);
  struct loop **loops = loop_records(ctx);
  assert_non_null(loops);
  for (int l = 0; l < LOOPS; l++) {
    const struct cpu_loop *cpu = loops[l]->ready.backend_state;
    int ready = 0;
    assert_true(cpu->nvariants > 5);
    assert_true(tuner_is_settled(loops[l]->ready.tuning->tuner));
    for (int v = 0; v < cpu->nvariants; v++)
      ready += cpu->variants[v].ready;
    assert_int_equal(ready, 1);
  }
  free(loops);
  assert_true(plan_cache_count(ctx->plans) < 12);
  assert_true(plan_cache_bytes(ctx->plans) < DATS * SIZE * sizeof(double) / 2);
  works(op_plan_check(2));
  works(op_exit());
}

/* ---- the host ---------------------------------------------------------------------------------------------*/

TEST(after_a_fork) {
  struct outcome *parent = outcome_new(), *child = outcome_new();
  open_library("colours/scalar", 3, "off", "fork.db");
  compute(parent);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    alarm(60);
    compute(child);
    const bool right = memcmp(parent, child, sizeof *child) == 0 && team_threads(api_context()->team) == 3 &&
                       op_exit() == OP_OK;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  compute(child);
  assert_memory_equal(parent, child, sizeof *child);
  works(op_exit());
  free(parent);
  free(child);
}

/* Candidates are compiled by a thread that a child does not have. */
TEST(after_a_fork_while_tuning) {
  double sum = 0, most = 0;
  open_library("", 3, "100", "tuning.db");
  const struct ring m = declare();
  for (int i = 0; i < 20; i++)
    move_once(&m, &sum, &most);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    alarm(60);
    for (int i = 0; i < 500; i++)
      move_once(&m, &sum, &most);
    _exit(op_exit() == OP_OK ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  works(op_exit());
}

#ifdef _OPENMP
/* Any thread of a region may call, one at a time; then the loop has that thread only. */
TEST(inside_a_region) {
  struct outcome *outside = outcome_new(), *inside = outcome_new();
  open_library("colours/scalar", 3, "off", "region.db");
  compute(outside);
  for (int which = 0; which < 3; which++) {
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() == which)
      compute(inside);
    assert_memory_equal(outside, inside, sizeof *inside);
  }
  compute(inside); /* and beside regions on all */
  assert_memory_equal(outside, inside, sizeof *inside);
  assert_string_equal(team_name(api_context()->team), "openmp");
  works(op_exit());
  free(outside);
  free(inside);
}
#endif

#ifdef OP2JIT_OPENMP
static void count_processors(void *argument, int thread, int threads) {
  cpu_set_t mine;
  (void)threads;
  if (sched_getaffinity(0, sizeof mine, &mine) == 0)
    ((int *)argument)[thread] = CPU_COUNT(&mine);
}

/* Run as "test-exec-program bound" with OMP_PLACES=threads, OMP_PROC_BIND=close and OMP_NUM_THREADS=2. */
CASE(follows_the_variables) {
  int processors[2] = {0};
  char program[] = "program", backend[] = "OP2_BACKEND=openmp", more[] = "OP2_THREADS=1";
  char *argv[] = {program, backend, more, NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(2, argv, 0));
  struct team *team = api_context()->team;
  assert_string_equal(team_name(team), "openmp");
  assert_int_equal(team_threads(team), 2);
  team_run(team, 2, count_processors, processors);
  assert_int_equal(processors[0], 1);
  assert_int_equal(processors[1], 1);
  works(op_exit());
  works(op_init(3, argv, 0)); /* the library's own variable wins */
  assert_int_equal(team_threads(api_context()->team), 1);
  works(op_exit());
}
#endif

/* ---- the memory's speed -----------------------------------------------------------------------------------*/

static int facts(const char *cache) {
  char path[300];
  sqlite3 *db = NULL;
  sqlite3_stmt *count = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, cache);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM fact", -1, &count, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(count), SQLITE_ROW);
  const int found = sqlite3_column_int(count, 0);
  sqlite3_finalize(count);
  sqlite3_close(db);
  return found;
}

/* A loop over more than the cache is said to hold; the report's line about the triad. */
static void run_large(const char *cache, bool report, char *triad, size_t room) {
  enum { LARGE = 1 << 22 };
  char path[300], timing[320], line[1 << 14] = "";
  open_library("", 2, "off", cache);
  works(op_exit());
  snprintf(path, sizeof path, "%s/report.json", folder);
  snprintf(timing, sizeof timing, report ? "OP2_TIMING=json:%s" : "OP2_LOG=warn", path);
  char database[300], program[] = "program", backend[] = "OP2_BACKEND=openmp", threads[] = "OP2_THREADS=2";
  char caches[] = "OP2_L3=16M";
  snprintf(database, sizeof database, "OP2_CACHE=%s/%s", folder, cache);
  char *argv[] = {program, backend, threads, database, timing, caches, NULL};
  works(op_init(6, argv, 0));
  op_set set = op_decl_set(LARGE, "set");
  op_dat a = op_decl_dat(set, 1, "double", NULL, "a"), b = op_decl_dat(set, 1, "double", NULL, "b");
  works(op_par_loop("void copy(const double *a, double *b) { *b = *a; }", "copy", set,
                    direct(a, 1, "double", OP_READ), direct(b, 1, "double", OP_WRITE)));
  works(op_exit());
  if (!report)
    return;
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  line[fread(line, 1, sizeof line - 1, file)] = 0;
  fclose(file);
  const char *found = strstr(line, "\"triad_gb_per_second\":");
  assert_non_null(found);
  snprintf(triad, room, "%.*s", (int)strcspn(found, ",}\n"), found);
}

static void plant_triad(const char *cache, const char *number) {
  char path[300], change[80];
  sqlite3 *db = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, cache);
  snprintf(change, sizeof change, "UPDATE fact SET number = %s", number);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, change, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static double triad_of_run(const char *cache) {
  char line[80] = "";
  run_large(cache, true, line, sizeof line);
  return strtod(strchr(line, ':') + 1, NULL);
}

/* Once, unless a loop shows that the machine must have been busy then; no measurement here reaches a million GB/s. */
TEST(the_triad_is_measured_once) {
  run_large("triad.db", false, NULL, 0);
  assert_int_equal(facts("triad.db"), 0); /* nobody has asked */
  assert_true(triad_of_run("triad.db") > 0);
  assert_int_equal(facts("triad.db"), 1);
  plant_triad("triad.db", "1e6");
  assert_true(triad_of_run("triad.db") > 0.999e6);
  plant_triad("triad.db", "1e-6");
  assert_true(triad_of_run("triad.db") > 1e-3);
  assert_true(triad_of_run("triad.db") > 1e-3);
  assert_int_equal(facts("triad.db"), 1);
}

int main(int argc, char **argv) {
#ifdef OP2JIT_OPENMP
  if (argc == 2 && strcmp(argv[1], "bound") == 0) {
    const struct CMUnitTest bound[] = {cmocka_unit_test(follows_the_variables)};
    return cmocka_run_group_tests(bound, NULL, NULL);
  }
#endif
  (void)argc;
  (void)argv;
  return run_these(make_folder, remove_folder);
}
