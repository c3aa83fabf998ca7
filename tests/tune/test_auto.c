/* Loops that wait by themselves (OP2_LAZY=auto, the default): a period whose data no cache holds runs in tiles soon, and nobody can tell;
 * what is here under "nothing waits" does not. The backend is OP2_BACKEND's. */
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "auto.h"
#include "op2jit_tasks.h"
#include "op2jit_tools.h"

static const char loud[] = OP_KERNEL(void loud(double *r, double *q) {
  for (int d = 0; d < 8; d++) {
    q[d] += r[d] > 0 ? 1 : r[d] < 0 ? -1 : 0;
    r[d] = 0;
  }
  if (q[0] > 1e9)
    printf("large\n");
});
static const char damp[] = OP_KERNEL(void damp(double *r, double *q) {
  for (int d = 0; d < 8; d++)
    q[d] -= r[d] + (q[d] > 100);
});
static const char total[] = OP_KERNEL(void total(const double *q, double *sum) { *sum += q[0] + q[7]; });

/* The dat now. */
struct outcome {
  double q[MANY * WIDTH];
};

static void take(struct outcome *out) {
  works(op_fetch_data(q, out->q));
  assert_int_equal(waiting(), 0);
}

/* As they are called. */
static void expect(const struct outcome *got, int n) {
  static struct outcome singly;
  begin_with("256K", "OP2_LAZY=off", "OP2_TUNE=off");
  steps(n);
  assert_int_equal(waiting(), 0);
  take(&singly);
  assert_int_equal(op_counters()->tiled, 0);
  works(op_exit());
  assert_memory_equal(singly.q, got->q, sizeof got->q);
}

/* Nothing has waited so far. */
static void step_that_waits_not(void) {
  step();
  assert_int_equal(waiting(), 0);
  assert_int_equal(op_counters()->tiled, 0);
}

static struct outcome got;

/* ---- what waits ---- */

TEST(a_period_runs_in_tiles_when_it_comes_again) {
  begin("OP2_TUNE=off");
  int first = 0;
  for (int i = 0; i < ROUNDS; i++) {
    step();
    op_barrier();
    first = !first && op_counters()->tiled ? i + 1 : first;
  }
  take(&got);
  works(op_exit());
  assert_int_equal(first, 3);
  expect(&got, ROUNDS);
}

TEST(a_program_that_does_not_look_need_not) {
  begin("OP2_TUNE=off");
  steps(ROUNDS);
  assert_true(waiting() > 0 || op_counters()->tiled > 0);
  take(&got);
  assert_true(op_counters()->tiled > 0);
  works(op_exit());
  expect(&got, ROUNDS);
}

TEST(a_program_that_ends_early_loses_nothing) {
  for (int n = 4; n <= 9; n++) {
    begin("");
    steps(n);
    take(&got);
    works(op_exit());
    expect(&got, n);
    begin("");
    steps(n);
    works(op_exit()); /* runs what waits */
  }
}

TEST(a_result_in_a_variable_is_there_at_once) {
  double sum = 0, before = -1;
  begin("OP2_TUNE=off");
  for (int i = 0; i < ROUNDS; i++) {
    step();
    sum = 0;
    works(op_par_loop(total, "total", cells, direct(q, WIDTH, "double", OP_READ),
                      op_arg_gbl(&sum, 1, "double", OP_INC)));
    assert_int_equal(waiting(), 0);
    assert_true(sum > 0 && (sum < before || sum > before));
    before = sum;
  }
  assert_true(op_counters()->tiled > 0);
  take(&got);
  works(op_exit());
  expect(&got, ROUNDS);
}

TEST(what_is_wrong_is_an_error_at_the_call) {
  begin("OP2_TUNE=off");
  steps(ROUNDS);
  while (waiting() == 0)
    step();
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  fails(OP_ERR_DIM, op_par_loop(OP_KERNEL_OF(settle), "settle", cells, direct(r, 3, "double", OP_RW),
                                direct(q, WIDTH, "double", OP_RW)));
  op_set_error_handler(NULL, NULL);
  works(op_exit());
}

/* The first loops are a part of a period: then the whole of it waits, as soon as it came twice. */
TEST(a_longer_period_takes_the_place_of_its_part) {
  enum { PARTS = 4, TURNS = 6, LOOPS = 2 * PARTS + 1 };
  int whole = 0;
  begin("OP2_TUNE=off");
  for (int turn = 0; turn < TURNS; turn++) {
    for (int part = 0; part < PARTS; part++) {
      step();
      if (turn == 0 && part == 2)
        assert_true(waiting() > 0);
    }
    const long long before = waiting();
    settle_by(damp, "damp");
    if (turn == 1)
      assert_int_equal(waiting(), 0); /* it runs as called, and with it all before */
    whole += waiting() == before + 1;
  }
  assert_true(whole >= TURNS - 3);
  take(&got);
  works(op_exit());
  static struct outcome singly;
  begin_with("256K", "OP2_LAZY=off", "OP2_TUNE=off");
  for (int turn = 0; turn < TURNS; turn++) {
    steps(PARTS);
    settle_by(damp, "damp");
  }
  take(&singly);
  works(op_exit());
  assert_memory_equal(singly.q, got.q, sizeof got.q);
}

/* As long as it takes, and it starts so the next time. */
TEST(ways_are_compared_and_remembered) {
  enum { ENOUGH = 400 };
  begin_with("256K", "OP2_TUNE=force", "OP2_FUSE=off");
  steps(ENOUGH);
  take(&got);
  assert_true(op_counters()->trials > 0 && op_counters()->tiled > 0);
  works(op_exit());
  expect(&got, ENOUGH);
  begin_with("256K", "OP2_TUNE=use", "OP2_FUSE=off");
  steps(ROUNDS);
  take(&got);
  assert_int_equal(op_counters()->trials, 0);
  works(op_exit());
  expect(&got, ROUNDS);
}

/* ---- programs that change ---- */

static void take_turns(int first, int end, const char *other, const char *name) {
  for (int turn = first; turn < end; turn++)
    for (int i = 0; i < ROUNDS; i++)
      if (turn % 2)
        step();
      else {
        spread_once();
        settle_by(other, name);
      }
}

TEST(two_periods_in_turns) {
  begin("");
  take_turns(0, 8, loud, "loud");
  take(&got);
  works(op_exit());
  expect(&got, 8 * ROUNDS);
}

static const char quiet[] = OP_KERNEL(void quiet(double *r, double *q) {
  for (int d = 0; d < 8; d++) {
    q[d] -= r[d] > 0 ? 1 : 0;
    r[d] = 0;
  }
});

/* ---- OP2_LAZY=on: as all loops wait, their own variants are tried as well ---- */

/* So many calls of it, each of which the program looks behind. */
static void settle_singly(const char *text, const char *name, int n) {
  for (int i = 0; i < n; i++) {
    settle_by(text, name);
    op_barrier();
  }
}

static void open_lazily(void) {
  char program[] = "program", l3[] = "OP2_L3=256K", lazy[] = "OP2_LAZY=on", tune[] = "OP2_TUNE=force",
       fuse[] = "OP2_FUSE=off", store[300];
  char *argv[] = {program, l3, lazy, tune, fuse, store, NULL};
  snprintf(store, sizeof store, "OP2_CACHE=%s/lazily.db", folder);
  open_program(6, argv);
}

/* Until tiles were compared with loops as called. */
static void run_until_tiled(void) {
  for (int i = 0; i < 4000 && op_counters()->tiled < 8; i++)
    steps(ROUNDS);
  op_barrier();
  assert_true(op_counters()->tiled >= 8);
}

TEST(loops_behind_a_period_are_tried) {
  open_lazily();
  run_until_tiled();
  const long long before = op_counters()->trials;
  settle_singly(damp, "damp", 600);
  assert_true(op_counters()->trials > before); /* of a loop that the period does not have */
  works(op_exit());
}

/* Each turn is as the ones before: nothing is compiled, planned or kept anew. */
TEST(turns_of_two_periods_stay_alike) {
  begin("OP2_TUNE=off");
  take_turns(0, 8, quiet, "quiet");
  const size_t warm = mallinfo2().uordblks;
  const op_counters_t then = *op_counters(), *now = op_counters();
  take_turns(8, 24, quiet, "quiet");
  assert_true(mallinfo2().uordblks < warm + 100000);
  assert_true(now->compiles == then.compiles && now->plans == then.plans && now->records == then.records);
  assert_true(now->tiled >= then.tiled + 8);
  works(op_exit());
}

/* So many calls that do not wait come in between that both together are no period. */
static void print_often(op_set some, op_dat a, op_dat b) {
  for (int i = 0; i < 150; i++)
    works(op_par_loop(loud, "loud", some, direct(a, WIDTH, "double", OP_RW),
                      direct(b, WIDTH, "double", OP_RW)));
}

/* A chain that does not pay is looked at ever more rarely; what comes between is not. */
TEST(a_period_that_pays_comes_between_calls_that_do_not) {
  enum { TURNS = 24, LAST = 8, SOME = 600 };
  begin("OP2_TUNE=off");
  const op_set some = op_decl_set(SOME, "some");
  const op_dat a = op_decl_dat(some, WIDTH, "double", NULL, "a"),
               b = op_decl_dat(some, WIDTH, "double", NULL, "b");
  for (int turn = 0; turn < TURNS; turn++) {
    const long long before = op_counters()->tiled;
    steps(ROUNDS);
    print_often(some, a, b);
    if (turn >= TURNS - LAST)
      assert_true(op_counters()->tiled > before);
  }
  take(&got);
  works(op_exit());
  expect(&got, TURNS * ROUNDS);
}

/* A few steps each time: as long as they gain, they need not come more often than twice to be known again. */
TEST(a_short_period_that_gains_is_known_again) {
  enum { TURNS = 24, LAST = 8, FEW = 7 };
  begin("OP2_TUNE=off");
  const op_set some = op_decl_set(600, "some");
  const op_dat a = op_decl_dat(some, WIDTH, "double", NULL, "a"),
               b = op_decl_dat(some, WIDTH, "double", NULL, "b");
  for (int turn = 0; turn < TURNS; turn++) {
    const long long before = op_counters()->tiled;
    steps(FEW);
    print_often(some, a, b);
    if (turn >= TURNS - LAST)
      assert_true(op_counters()->tiled > before);
  }
  works(op_exit());
}

static double last_sum;

static void use_new_sets(int size) {
  static int targets[MANY];
  double sum = 0;
  for (int i = 0; i < size; i++)
    targets[i] = i * 7 % MANY;
  op_set some = op_decl_set(size, "some");
  op_map to = op_decl_map(some, cells, 1, targets, "to");
  for (int i = 0; i < 6; i++)
    works(op_par_loop(total, "total", some, op_arg_dat(q, 0, to, WIDTH, "double", OP_READ),
                      op_arg_gbl(&sum, 1, "double", OP_INC)));
  last_sum = sum;
  works(op_free_map(to));
  works(op_free_set(some));
}

TEST(sets_of_each_step) {
  enum { STEPS = 60, WARM = 20 };
  size_t warm = 0;
  long long records = 0;
  begin("OP2_TUNE=off");
  for (int i = 0; i < STEPS; i++) {
    step();
    use_new_sets(MANY - i % 2);
    step();
    if (i == WARM) {
      warm = mallinfo2().uordblks;
      records = op_counters()->records;
    }
  }
  const size_t last = mallinfo2().uordblks;
  assert_true(last < warm + 1000000);
  assert_true(op_counters()->records >= records && last_sum > 0);
  take(&got);
  works(op_exit());
  expect(&got, 2 * STEPS);
}

TEST(long_runs_need_no_more_memory) {
  size_t warm = 0;
  begin("OP2_TUNE=off");
  for (int i = 0; i < 600; i++) {
    step();
    if (i == 200)
      warm = mallinfo2().uordblks;
  }
  assert_true(mallinfo2().uordblks < warm + 100000);
  works(op_exit());
}

TEST(views_and_kept_globals) {
  static double array[MANY * WIDTH];
  double sum = 0;
  begin("OP2_TUNE=off");
  op_dat v = op_decl_dat_view(cells, WIDTH, "double", array, "v");
  op_gbl kept = op_decl_gbl(1, "double", NULL, "kept");
  for (int i = 0; i < ROUNDS; i++) {
    settle_by(OP_KERNEL_OF(settle), "settle");
    works(op_par_loop(OP_KERNEL_OF(settle), "settle", cells, direct(q, WIDTH, "double", OP_RW),
                      direct(v, WIDTH, "double", OP_RW)));
    works(
        op_par_loop(total, "total", cells, direct(v, WIDTH, "double", OP_READ), op_arg_global(kept, OP_INC)));
  }
  assert_ptr_equal(op_acquire(v, OP_READ), array);
  assert_int_equal(waiting(), 0);
  works(op_get_gbl(kept, &sum));
  assert_true(array[1] == 1 && sum > 0);
  works(op_release(v));
  works(op_exit());
}

/* ---- nothing waits ---- */

static void waits_not(const char *cache, const char *more) {
  begin_with(cache, "OP2_TUNE=off", more);
  for (int i = 0; i < ROUNDS; i++)
    step_that_waits_not();
  works(op_exit());
}

TEST(nothing_waits_whose_data_a_cache_holds) {
  waits_not("64M", "");
}

TEST(nothing_waits_where_it_is_checked) {
  waits_not("256K", "OP2_CHECK=on");
  waits_not("256K", "OP2_SHADOW=native");
}

TEST(nothing_waits_on_native) {
  waits_not("256K", "OP2_BACKEND=native");
}

static int told;

static void handle(const op_error *error, void *user) {
  (void)error, (void)user;
  told++;
}

/* The program's handler, and the one that lets errors come back. */
TEST(nothing_waits_where_the_program_handles_errors) {
  op_error_handler *const handlers[] = {handle, OP_ERRORS_RETURN};
  for (int h = 0; h < 2; h++) {
    op_set_error_handler(handlers[h], NULL);
    waits_not("256K", "");
    op_set_error_handler(NULL, NULL);
    begin("OP2_TUNE=off");
    steps(ROUNDS);
    while (waiting() == 0)
      step();
    op_set_error_handler(handlers[h], NULL); /* runs what waits */
    assert_int_equal(waiting(), 0);
    const long long tiled = op_counters()->tiled;
    for (int i = 0; i < ROUNDS; i++) {
      step();
      assert_int_equal(waiting(), 0);
    }
    assert_int_equal(op_counters()->tiled, tiled);
    op_set_error_handler(NULL, NULL);
    steps(ROUNDS);
    op_barrier();
    assert_true(op_counters()->tiled > tiled);
    works(op_exit());
  }
  assert_int_equal(told, 0);
}

static int begun;

static void begins(void *user, const char *loop) {
  (void)user, (void)loop;
  begun++;
}

TEST(nothing_waits_where_a_tool_looks) {
  const op_tool tool = {.version = OP_TOOL_VERSION, .loop_begins = begins};
  begin("OP2_TUNE=off");
  steps(ROUNDS);
  while (waiting() == 0)
    step();
  works(op_add_tool(&tool));
  assert_int_equal(waiting(), 0);
  assert_int_equal(begun, 0); /* what was called before ran before */
  for (int i = 1; i <= ROUNDS; i++) {
    step();
    assert_int_equal(begun, 2 * i);
  }
  works(op_exit());
}

TEST(a_kernel_that_prints_waits_not) {
  begin("OP2_TUNE=off");
  for (int i = 0; i < 2 * ROUNDS; i++) {
    spread_once();
    settle_by(loud, "loud");
    assert_int_equal(waiting(), 0);
  }
  assert_int_equal(op_counters()->tiled, 0);
  works(op_exit());
}

/* No word of its text says so. The second time the store has its code, and knows it. */
TEST(kernels_that_print_by_another_name_run_as_called) {
  static const char hidden[] = "#define JOIN(a, b) a##b\n"
                               "void hidden(double *r, double *q) {\n"
                               "  for (int d = 0; d < 8; d++) { q[d] += r[d]; r[d] = 0; }\n"
                               "  if (q[0] > 1e9) JOIN(pri, ntf)(\"large\\n\");\n"
                               "}\n";
  for (int again = 0; again < 2; again++) {
    begin("OP2_TUNE=off");
    for (int i = 0; i < ROUNDS; i++) {
      spread_once();
      settle_by(hidden, "hidden");
      assert_int_equal(waiting(), 0);
    }
    works(op_exit());
  }
}

TEST(pieces_in_a_graph_run_in_the_graph) {
  enum { PIECES = 4 };
  op_task tasks[PIECES];
  begin("OP2_TUNE=off");
  op_graph graph = op_decl_graph("graph");
  works(op_graph_loop(graph, PIECES, NULL, tasks, OP_KERNEL_OF(settle), "settle", cells,
                      direct(r, WIDTH, "double", OP_RW), direct(q, WIDTH, "double", OP_RW)));
  for (int i = 0; i < ROUNDS; i++) {
    spread_once();
    works(op_graph_run(graph));
    assert_int_equal(waiting(), 0);
  }
  assert_int_equal(op_counters()->tiled, 0);
  take(&got);
  works(op_exit());
  expect(&got, ROUNDS);
}

/* ---- clocks ---- */

TEST(a_clock_runs_what_waits) {
  double cpu, wall;
  begin("OP2_TUNE=off");
  for (int which = 0; which < 2; which++) {
    steps(2 * ROUNDS);
    while (waiting() == 0)
      step();
    if (which == 0)
      assert_true(op_wtime() > 0);
    else
      op_timers(&cpu, &wall);
    assert_int_equal(waiting(), 0);
  }
  works(op_exit());
}

static void *look_at_clock(void *user) {
  *(double *)user = op_wtime();
  return NULL;
}

/* Another thread's clock is not the program's way to look. */
TEST(a_clock_of_another_thread_runs_nothing) {
  pthread_t thread;
  double time = 0;
  begin("OP2_TUNE=off");
  steps(ROUNDS);
  while (waiting() == 0)
    step();
  const long long before = waiting();
  assert_int_equal(pthread_create(&thread, NULL, look_at_clock, &time), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(time > 0);
  assert_int_equal(waiting(), before);
  works(op_exit());
}

TEST(a_program_that_times_each_loop_runs_as_called) {
  begin("OP2_TUNE=off");
  double spent = 0;
  for (int i = 0; i < 4 * ROUNDS; i++) {
    const double start = op_wtime();
    spread_once();
    assert_int_equal(waiting(), 0);
    const double middle = op_wtime();
    settle_by(OP_KERNEL_OF(settle), "settle");
    assert_int_equal(waiting(), 0);
    spent += op_wtime() - middle + middle - start;
  }
  assert_true(spent > 0);
  assert_int_equal(op_counters()->tiled, 0);
  works(op_exit());
}

/* A loop over a few rows of q, of so few bytes that nobody looks for a period because of it. */
static const char wall[] = OP_KERNEL(void wall(double *q) {
  for (int d = 0; d < 8; d++)
    q[d] = q[d] * 0.5 + 1;
});

/* Many temporaries end behind a loop that waits: the oldest go, and with them what is known of periods. */
static void run_walls(const char *lazy, struct outcome *out) {
  enum { WALLS = 10, TEMPORARIES = 12 };
  static const int rows[WALLS] = {0, 97, 194, 291, 388, 485, 582, 679, 776, 873};
  op_dat temporaries[TEMPORARIES];
  begin_with("256K", lazy, "OP2_TUNE=off");
  const op_set walls = op_decl_set(WALLS, "walls");
  const op_map at = op_decl_map(walls, cells, 1, rows, "at");
  for (int i = 0; i < TEMPORARIES; i++) {
    temporaries[i] = op_decl_dat_temp(walls, 1, "double", NULL, "temporary");
    works(op_par_loop("void first(double *t) { *t = 1; }", "first", walls,
                      direct(temporaries[i], 1, "double", OP_WRITE)));
  }
  for (int s = 0; s < 2 * ROUNDS; s++) {
    step();
    for (int i = 0; s == ROUNDS && i < TEMPORARIES; i++)
      works(op_free_dat_temp(temporaries[i]));
    works(op_par_loop(wall, "wall", walls, op_arg_dat(q, 0, at, WIDTH, "double", OP_RW)));
  }
  take(out);
  works(op_exit());
}

TEST(a_small_loop_runs_behind_what_waits) {
  static struct outcome singly, waited;
  run_walls("OP2_LAZY=off", &singly);
  run_walls("OP2_LAZY=auto", &waited);
  assert_memory_equal(&waited, &singly, sizeof singly);
}

AROUND_ALL(make_folder, remove_folder)
