/* Which loops wait by themselves on a device, where no clock can tell: what is known of the device is planted, so that small
 * meshes are bound by launches or by bytes. Whatever waits has the bits of loops one by one. */
#include <stdbool.h>
#include <unistd.h>

#include "../exec/ring.h"
#include "api/api.h"
#include "backend/gpu/gpu.h"

enum { N = 500, DATS = 20, ROUNDS = 12 };

/* Launches cost all, or bytes do; graphs save most of a launch, or nothing. */
static const struct gpu_rates
    by_launches = {.copy = 1e18, .sectors = 1e18, .red = 1, .launch = 1e-2, .node = 1e-3},
    by_bytes = {.copy = 1e5, .sectors = 1e18, .red = 1, .launch = 1e-9, .node = 1e-9};

static op_set cells;
static op_dat d[DATS];
static char text[2][900];

static bool has_graphs(void) {
  return strcmp(getenv("OP2_BACKEND"), "opencl") != 0;
}

static struct gpu *device(void) {
  return gpu_of(api_context(), space_of_device(0));
}

static void begin(const char *lazy, const char *cache, const struct gpu_rates *rates) {
  char program[] = "waits", how[30], file[300], *argv[] = {program, how, file, NULL};
  snprintf(how, sizeof how, "OP2_LAZY=%s", lazy);
  snprintf(file, sizeof file, "OP2_CACHE=%s%s%s", *cache ? folder : "", *cache ? "/" : "off", cache);
  works(op_init(3, argv, 0));
  if (rates)
    device()->rates = *rates;
  cells = op_decl_set(N, "cells");
  for (int i = 0; i < DATS; i++) {
    double *values = random_values(N, (unsigned)i);
    char name[8];
    snprintf(name, sizeof name, "d%d", i);
    d[i] = op_decl_dat(cells, 1, "double", values, name);
    free(values);
  }
}

/* A loop that changes the first dat by all others, n of them. */
static void mix(int which, const char *name, const int *dats, int n) {
  op_arg args[DATS];
  char *at = text[which];
  at += sprintf(at, "void %s(double *a", name);
  for (int i = 1; i < n; i++)
    at += sprintf(at, ", const double *x%d", i);
  at += sprintf(at, ") { *a = *a / 3");
  for (int i = 1; i < n; i++)
    at += sprintf(at, " + *x%d / %d", i, 4 * n);
  sprintf(at, "; }");
  for (int i = 0; i < n; i++)
    args[i] = direct(d[dats[i]], 1, "double", i ? OP_READ : OP_RW);
  works(op_par_loop_array(text[which], name, cells, n, args, __FILE__, __LINE__));
}

static void left(int n) {
  int own[DATS] = {0, 2};
  for (int i = 2; i < n; i++)
    own[i] = 1 + i;
  mix(0, "left", own, n);
}

/* A neighbour that reads one dat as well, and one that has nothing in common. Of 2 n + 2 rows that are moved one is saved. */
static void right(int n) {
  int own[DATS] = {1, 2};
  for (int i = 2; i < n; i++)
    own[i] = DATS + 1 - i;
  mix(1, "right", own, n);
}
static void other(void) {
  mix(1, "other", (int[]){1, 3}, 2);
}

static void share(void) {
  left(2);
  right(2);
}
static void apart(void) {
  left(2);
  other();
}

/* The bits that the dats have at the end, after so many steps. */
static void take(double out[DATS][N]) {
  for (int i = 0; i < DATS; i++)
    works(op_fetch_data(d[i], out[i]));
}

/* One by one, the same steps. */
static void compare(double found[DATS][N], void (*step)(void), int steps) {
  static double expected[DATS][N];
  begin("off", "", NULL);
  for (int i = 0; i < steps; i++)
    step();
  take(expected);
  works(op_exit());
  assert_memory_equal(found, expected, sizeof expected);
}

/* Steps until a loop ran as part of one made of several, whose code is compiled meanwhile. */
static int until_fused(void (*step)(void)) {
  int steps = 0;
  for (; op_counters()->fused == 0 && steps < 3000; steps++) {
    step();
    usleep(steps < 20 ? 0 : 20000);
  }
  assert_true(op_counters()->fused > 0);
  return steps;
}

TEST(bound_by_launches_a_period_becomes_a_graph) {
  static double found[DATS][N];
  if (!has_graphs())
    skip_since("OpenCL has no graphs");
  begin("auto", "", &by_launches);
  for (int i = 0; i < ROUNDS; i++)
    apart();
  const op_counters_t before = *op_counters();
  assert_true(before.graphs > 0);
  for (int i = 0; i < ROUNDS; i++)
    apart();
  assert_int_equal(op_counters()->graphs - before.graphs, ROUNDS);
  assert_int_equal(op_counters()->launches - before.launches, ROUNDS);
  assert_int_equal(op_counters()->fused, 0);
  take(found);
  works(op_exit());
  compare(found, apart, 2 * ROUNDS);
}

TEST(bound_by_bytes_neighbours_become_one) {
  static double found[DATS][N];
  begin("auto", "", &by_bytes);
  const int steps = until_fused(share);
  const op_counters_t before = *op_counters();
  for (int i = 0; i < ROUNDS; i++)
    share();
  assert_int_equal(op_counters()->fused - before.fused, 2 * ROUNDS);
  assert_int_equal(op_counters()->launches - before.launches, ROUNDS);
  take(found);
  works(op_exit());
  compare(found, share, steps + ROUNDS);
}

/* A loop begins where the one before it over its set ended, which the caches still have. */
TEST(every_second_loop_over_a_set_runs_from_its_last_block) {
  begin("off", "", NULL);
  for (int i = 0; i < 4; i++) {
    left(2);
    const unsigned long long before = device()->turns;
    right(2);
    assert_true(device()->turns != before);
  }
  works(op_exit());
}

/* How many of so many steps had a loop that waited for its neighbour, of n dats each; 0: which it has nothing in common with. */
static int count_waits(int n, int steps, int pause) {
  int waits = 0;
  for (int i = 0; i < steps; i++) {
    left(n ? n : 2);
    usleep((useconds_t)pause);
    waits += op_counters()->waiting > 0;
    if (n)
      right(n);
    else
      other();
    assert_int_equal(op_counters()->waiting, 0);
  }
  return waits;
}

/* The first time that a period waits its loops run one by one, as those of any chain do until the compiler is done. */
TEST(nobody_waits_for_the_compiler) {
  begin("auto", "", &by_bytes);
  while (count_waits(2, 1, 0) == 0)
    assert_in_range(op_counters()->loops, 0, 2 * ROUNDS);
  assert_int_equal(op_counters()->launches, op_counters()->loops);
  assert_int_equal(op_counters()->fused, 0);
  assert_int_equal(op_counters()->compiles, 2);
  works(op_exit());
}

TEST(what_saves_under_five_percent_runs_as_called) {
  begin("auto", "", &by_bytes);
  assert_int_equal(count_waits(10, ROUNDS, 0), 0); /* 4.5 % */
  assert_int_equal(count_waits(0, ROUNDS, 0), 0);  /* nothing */
  assert_int_equal(op_counters()->fused, 0);
  assert_int_equal(op_counters()->graphs, 0);
  assert_int_equal(op_counters()->launches, 4 * ROUNDS);
  works(op_exit());
  begin("auto", "", &by_bytes);
  assert_true(count_waits(8, ROUNDS, 0) > 0); /* 5.6 % */
  works(op_exit());
}

TEST(without_graphs_launches_are_saved_by_neighbours_alone) {
  struct gpu_rates rates = by_launches;
  if (has_graphs())
    rates.node = rates.launch;
  begin("auto", "", &rates);
  assert_int_equal(count_waits(0, ROUNDS, 0), 0);
  works(op_exit());
  begin("auto", "", &rates);
  assert_true(count_waits(2, ROUNDS, 0) > 0);
  works(op_exit());
}

TEST(a_program_with_work_of_its_own_between_loops_is_found_out) {
  struct gpu_rates rates = by_bytes;
  rates.copy = 1e12; /* nanoseconds are gained */
  begin("auto", "", &rates);
  assert_true(count_waits(2, ROUNDS, 2000) > 0);
  assert_int_equal(count_waits(2, ROUNDS, 2000), 0);
  works(op_exit());
}

static const char loud[] = OP_KERNEL(void loud(double *a, const double *b) {
  *a = *a / 3 + *b;
  if (*a > 1e300)
    printf("large\n");
});

TEST(what_holds_on_cpus_holds_here) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  begin("auto", "", &by_bytes);
  assert_int_equal(count_waits(2, ROUNDS, 0), 0);
  works(op_exit());
  op_set_error_handler(OP_ERRORS_FATAL, NULL);
  begin("auto", "", &by_bytes);
  for (int i = 0; i < ROUNDS; i++) {
    left(2);
    op_wtime();
    assert_int_equal(op_counters()->waiting, 0);
    right(2);
  }
  assert_int_equal(op_counters()->fused, 0);
  for (int i = 0; i < ROUNDS; i++) {
    left(2);
    assert_true(i < 4 || op_counters()->waiting <= 1);
    works(op_par_loop(loud, "loud", cells, direct(d[1], 1, "double", OP_RW),
                      direct(d[2], 1, "double", OP_READ)));
    assert_int_equal(op_counters()->waiting, 0);
  }
  assert_int_equal(op_counters()->fused, 0);
  works(op_exit());
}

TEST(the_next_run_begins_with_it) {
  begin("auto", "next.db", &by_bytes);
  until_fused(share);
  works(op_exit());
  begin("auto", "next.db", &by_bytes);
  for (int i = 0; i < ROUNDS; i++)
    share();
  assert_int_equal(op_counters()->compiles, 0);
  assert_true(op_counters()->fused >= 2 * (ROUNDS - 3));
  works(op_exit());
}

/* Nobody waits for the kernels that measure, either. */
TEST(the_device_is_measured_behind_the_program) {
  struct gpu_rates first = {0};
  for (int run = 0; run < 2; run++) {
    begin("auto", "rates.db", NULL);
    for (int i = 0; i < 3000 && device()->rates.copy == 0; i++) {
      share();
      usleep(i < 200 ? 0 : 20000);
    }
    const struct gpu_rates r = device()->rates;
    assert_true(r.copy > 0 && r.sectors > 0 && r.launch > 0 && r.node >= 0 && r.node <= 1 && r.graph >= 0);
    assert_true(has_graphs() || r.node == r.launch);
    if (run)
      assert_memory_equal(&r, &first, sizeof r);
    first = r;
    works(op_exit());
  }
}

int main(void) {
  setenv("OP2_TUNE", "off", 1);
  return run_these(make_folder, remove_folder);
}
