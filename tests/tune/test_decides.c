/* When it is decided how a period that waits by itself runs, and what comparing costs: by planted times. Linked so, the library tells
 * the functions below what it measured, and these tell it what it is to be. */
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "auto.h"
#include "base/behind.h"
#include "exec/team.h"
#include "loop/chain/worth.h"
#include "loop/chains.h"

double __real_loop_usual_seconds(const struct loop *loop);
double __wrap_loop_usual_seconds(const struct loop *loop);
struct chain_way __real_chain_tuning_next(struct chain_tuning *t);
struct chain_way __wrap_chain_tuning_next(struct chain_tuning *t);
void __real_chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds);
void __wrap_chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds);

void __real_chain_tuning_called(struct chain_tuning *t, int periods, double seconds);
void __wrap_chain_tuning_called(struct chain_tuning *t, int periods, double seconds);
bool __real_chain_tuning_expects(const struct chain_tuning *t, const struct chain_way *way, double making);
bool __wrap_chain_tuning_expects(const struct chain_tuning *t, const struct chain_way *way, double making);
bool __real_chain_tuning_can_begin(const struct chain_tuning *t, double making);
bool __wrap_chain_tuning_can_begin(const struct chain_tuning *t, double making);
int __wrap_team_cpus(void);
int __real_team_best(struct team *team, double seconds, int phases, int most, double *takes);
int __wrap_team_best(struct team *team, double seconds, int phases, int most, double *takes);
bool __real_behind_begin(struct behind *b, void (*work)(void *argument), void *argument);
bool __wrap_behind_begin(struct behind *b, void (*work)(void *argument), void *argument);
bool __real_behind_is_busy(const struct behind *b);
bool __wrap_behind_is_busy(const struct behind *b);
bool __wrap_behind_is_done(const struct behind *b);

/* Seconds of a period: as called, by the first guess, and in tiles of other sizes. Not planted, if they are 0. With loops that are
 * one: without tiles, and in those of the guess; there tiles of all other sizes take other_time. */
static double called_time, guess_time, other_time, fused_time, both_time;
static struct chain_way now;
static struct chain_tuning *tuning;
static double guess_bytes;
/* Of the run: periods so far, and when it was decided; runs as called, and the last of them. */
static int periods_ran, decided_at, called_runs, other_runs;
/* Of the runs of a way with loops that are one, the least periods. */
static int fused_periods;
static double all_time, lost_time;

static double planted_time(void) {
  const bool near = now.bytes < guess_bytes || now.bytes > guess_bytes;
  if (both_time > 0 && now.bytes > 0)
    return near ? other_time : now.fused ? both_time : guess_time;
  if (now.fused)
    return fused_time;
  return now.bytes <= 0 ? called_time : now.bytes < guess_bytes ? other_time : guess_time;
}

/* Before anything waits. */
double __wrap_loop_usual_seconds(const struct loop *loop) {
  return called_time > 0 ? called_time / 2 : __real_loop_usual_seconds(loop);
}

struct chain_way __wrap_chain_tuning_next(struct chain_tuning *t) {
  now = __real_chain_tuning_next(t);
  guess_bytes = guess_bytes > 0 || now.tasks ? guess_bytes : now.bytes;
  return now;
}

void __wrap_chain_tuning_called(struct chain_tuning *t, int periods, double seconds) {
  periods_ran += periods;
  all_time += periods * called_time;
  __real_chain_tuning_called(t, periods, called_time > 0 ? called_time : seconds);
}

/* Compiling what is one takes this, however busy the machine is. */
static const double compiling = 0.1;

bool __wrap_chain_tuning_expects(const struct chain_tuning *t, const struct chain_way *way, double making) {
  return __real_chain_tuning_expects(t, way, making < compiling ? making : compiling);
}

bool __wrap_chain_tuning_can_begin(const struct chain_tuning *t, double making) {
  return __real_chain_tuning_can_begin(t, making < compiling ? making : compiling);
}

/* ---- processors that are free ---- */

/* Work behind the program takes so many of its steps. */
enum { TAKES = 2 };
static int processors = 1, steps_done, begun_at;

int __wrap_team_cpus(void) {
  return processors;
}

/* Barriers take no time, so that no tasks pay. */
int __wrap_team_best(struct team *team, double seconds, int phases, int most, double *takes) {
  const int best = __real_team_best(team, seconds, phases, most, takes);
  *takes = seconds > 0 ? *takes : 0;
  return best;
}

bool __wrap_behind_begin(struct behind *b, void (*work)(void *argument), void *argument) {
  begun_at = steps_done;
  return __real_behind_begin(b, work, argument);
}

static bool is_over(const struct behind *b) {
  while (processors > 1 && __real_behind_is_busy(b))
    usleep(100);
  return processors > 1 ? steps_done >= begun_at + TAKES : !__real_behind_is_busy(b);
}

bool __wrap_behind_is_busy(const struct behind *b) {
  return b->started && !is_over(b);
}

bool __wrap_behind_is_done(const struct behind *b) {
  return b->started && is_over(b);
}

void __wrap_chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds) {
  const double own = called_time > 0 ? planted_time() : seconds;
  tuning = t;
  periods_ran += periods;
  called_runs += now.bytes <= 0;
  other_runs += now.bytes > 0 && now.bytes < guess_bytes;
  fused_periods = now.fused && (periods < fused_periods || !fused_periods) ? periods : fused_periods;
  all_time += periods * own;
  lost_time += own > guess_time ? periods * (own - guess_time) : 0;
  __real_chain_tuning_ran(ctx, t, periods, own);
  if (!decided_at && chain_tuning_is_settled(t))
    decided_at = periods_ran;
}

static void plant(double called, double guess, double other) {
  called_time = called;
  guess_time = guess;
  other_time = other;
  guess_bytes = 0;
}

static void start_program(const char *fuse) {
  periods_ran = decided_at = called_runs = other_runs = fused_periods = 0;
  steps_done = begun_at = 0;
  all_time = lost_time = 0;
  tuning = NULL;
  begin_with("256K", fuse, "");
}

/* Steps of a program that looks behind each. */
static void run(int n) {
  start_program("OP2_FUSE=off");
  for (int i = 0; i < n; i++) {
    step();
    op_barrier();
  }
}

static void end(void) {
  works(op_exit());
  plant(0, 0, 0);
  store_name = "auto.db";
}

/* Periods of more than a millisecond, whichever of the two is better. */
TEST(it_is_decided_within_thirty_periods) {
  static const double called[] = {2.6e-3, 9e-3, 2e-3, 1.5e-3, 0.6e-3};
  for (size_t c = 0; c < sizeof called / sizeof *called; c++) {
    char name[32];
    snprintf(name, sizeof name, "soon%zu.db", c);
    store_name = name;
    plant(called[c], 2e-3, 2e-3);
    run(60);
    if (!decided_at || decided_at > 30)
      fail_msg("as called %g s: decided after %d periods", called[c], decided_at);
    assert_true(called_runs >= 1);
    assert_true((now.bytes <= 0) == (called[c] < 1.9e-3));
    end();
  }
}

/* Also of ways that come later. One run may cost more than was expected. */
TEST(comparing_costs_little) {
  enum { MANY_STEPS = 600 };
  plant(2.6e-3, 2e-3, 2.5e-3);
  store_name = "little.db";
  run(MANY_STEPS);
  assert_true(called_runs > 0);
  assert_true(lost_time <= 0.05 * all_time + called_time);
  end();
}

TEST(what_is_decided_starts_so) {
  static const double called[] = {2.6e-3, 1e-3};
  for (size_t c = 0; c < sizeof called / sizeof *called; c++) {
    char name[32];
    snprintf(name, sizeof name, "start%zu.db", c);
    store_name = name;
    plant(called[c], 2e-3, 2e-3);
    run(60);
    assert_true(decided_at > 0);
    works(op_exit());
    run(12);
    assert_int_equal(decided_at, 1); /* it was before */
    assert_int_equal(op_counters()->trials, 0);
    assert_int_equal(called_runs, c == 0 ? 0 : periods_ran);
    end();
  }
}

/* The next run goes on where one ended, and what is decided stays so. */
TEST(a_comparison_goes_on_in_the_next_run) {
  enum { FEW = 9, RUNS = 12 };
  store_name = "next.db";
  int runs = 0, decided = 0;
  for (; runs < RUNS && decided != 1; runs++) {
    plant(2e-3, 3e-3, 3e-3);
    run(FEW);
    decided = decided_at;
    works(op_exit());
  }
  if (runs < 2 || decided != 1)
    fail_msg("%d runs", runs);
  plant(0, 0, 0);
  store_name = "auto.db";
}

/* Smaller tiles are better: they come when they can be paid for, and run from then on, here and in the next run. */
TEST(what_can_be_paid_later_is_compared_later) {
  enum { MOST_STEPS = 20000 };
  plant(2.6e-3, 2e-3, 1e-3);
  store_name = "later.db";
  run(60);
  assert_true(decided_at > 0);
  for (int i = 0; i < MOST_STEPS && (other_runs < 20 || now.bytes >= guess_bytes); i++) {
    step();
    op_barrier();
  }
  assert_true(other_runs >= 20 && now.bytes > 0 && now.bytes < guess_bytes);
  assert_true(lost_time <= 0.05 * all_time + called_time);
  works(op_exit());
  const double bytes = guess_bytes;
  run(12);
  assert_true(now.bytes > 0 && now.bytes < bytes);
  assert_int_equal(called_runs, 0);
  end();
}

/* Periods that run as called, so that loops' own variants are tried, end when enough of these are known. */
TEST(trials_of_single_loops_end) {
  enum { MOST_STEPS = 60000, ALL_IN_TILES = 400 };
  int in_a_row = 0, rests = 0, n = 0;
  long long trials = 0;
  char words[300], program[] = "program", l3[] = "OP2_L3=256K", tune[] = "OP2_TUNE=1000",
                   fuse[] = "OP2_FUSE=off", variant[] = "OP2_VARIANT=spread:scalar";
  char *argv[] = {program, words, l3, tune, fuse, variant, NULL};
  snprintf(words, sizeof words, "OP2_CACHE=%s/ends.db", folder);
  plant(2.6e-3, 2e-3, 2.5e-3);
  open_program(6, argv);
  for (; n < MOST_STEPS && in_a_row < ALL_IN_TILES; n++) {
    const long long before = op_counters()->tiled;
    step();
    op_barrier();
    const bool tiled = op_counters()->tiled > before;
    rests += !tiled;
    in_a_row = tiled && rests > 40 ? in_a_row + 1 : 0;
    trials = op_counters()->trials;
  }
  works(op_exit());
  if (in_a_row < ALL_IN_TILES || trials == 0)
    fail_msg("after %d steps: %d rests, %lld trials", n, rests, trials);
  plant(0, 0, 0);
}

/* ---- OP2_LAZY=on ---- */

static bool is_decided(void) {
  return tuning && chain_tuning_is_settled(tuning);
}

/* *rests: steps that did not run in tiles. */
static int step_and_look(int *rests) {
  const long long before = op_counters()->tiled;
  step();
  op_barrier();
  *rests += op_counters()->tiled == before;
  return 1;
}

/* The loop `settle` has variants to try. */
static void start_on(const char *store, const char *budget) {
  char words[300], tune[64], program[] = "program", lazy[] = "OP2_LAZY=on", l3[] = "OP2_L3=256K",
                             fuse[] = "OP2_FUSE=off", variant[] = "OP2_VARIANT=spread:scalar";
  char *argv[] = {program, words, lazy, l3, fuse, variant, tune, NULL};
  snprintf(words, sizeof words, "OP2_CACHE=%s/%s", folder, store);
  snprintf(tune, sizeof tune, "OP2_TUNE=%s", budget);
  periods_ran = decided_at = called_runs = 0;
  all_time = lost_time = 0;
  tuning = NULL;
  open_program(7, argv);
}

/* Though loops have variants to try: the second time a period comes it runs in tiles. */
TEST(on_takes_the_first_guess_at_once) {
  plant(2.6e-3, 2e-3, 2.5e-3);
  start_on("on.db", "auto");
  for (int i = 0; i < 2; i++) {
    step();
    op_barrier();
  }
  assert_int_equal(op_counters()->tiled, 1);
  assert_int_equal(op_counters()->trials, 0);
  end();
}

/* They are tried while periods run as called, some of which can be paid for; the others run in tiles. */
TEST(on_tries_variants_of_loops_in_between) {
  enum { MOST_STEPS = 60000 };
  int n = 0, rests = 0;
  plant(2.6e-3, 2e-3, 2.5e-3);
  start_on("between.db", "1000");
  while (n < MOST_STEPS && !is_decided())
    n += step_and_look(&rests);
  rests = 0;
  const long long tiled = op_counters()->tiled;
  for (n = 0; n < MOST_STEPS && rests < 3; n++)
    step_and_look(&rests);
  if (n == MOST_STEPS || op_counters()->tiled < tiled + 2 * rests)
    fail_msg("after %d steps: %d rests", n, rests);
  end();
}

/* ---- all ways ---- */

static const char damp[] = OP_KERNEL(void damp(double *q) {
  for (int d = 0; d < 8; d++)
    q[d] -= q[d] > 100;
});

/* Its last two loops can be one. Returns after how many steps nothing is compared any more. */
static int run_with_damp(int n) {
  int over = 0;
  start_program("OP2_FUSE=auto");
  for (steps_done = 1; steps_done <= n; steps_done++) {
    step();
    works(op_par_loop(damp, "damp", cells, direct(q, WIDTH, "double", OP_RW)));
    op_barrier();
    over = over || !tuning || chain_tuning_is_open(tuning) ? over : steps_done;
  }
  return over;
}

static void expect_over(int over, const struct chain_tried *tried, bool fused_pays) {
  if (!over || over > 30)
    fail_msg("over after %d steps", over);
  for (int kind = CHAIN_LOOPS; kind < CHAIN_KINDS; kind++)
    if (kind != CHAIN_TASKS && (tried->seconds[kind] > 0) != (kind != CHAIN_FUSED || fused_pays))
      fail_msg("of kind %d: %g", kind, tried->seconds[kind]);
}

/* As called, tiles, fused, both and near the better of these, on a processor that is free; within the share, but for a run of one
 * way that took longer than was expected. Without it the loops would have to move fewer bytes than fused ones do, fused ones are
 * not tried alone. */
TEST(all_ways_are_compared_within_thirty_periods) {
  static const double called[] = {2.2e-3, 2.6e-3, 3.2e-3};
  for (size_t c = 0; c < sizeof called / sizeof *called; c++) {
    struct chain_tried tried, again;
    char name[32];
    snprintf(name, sizeof name, "all%zu.db", c);
    store_name = name;
    processors = 64;
    plant(called[c], 2e-3, 2.1e-3);
    fused_time = 2.15e-3;
    both_time = 1.95e-3;
    const int over = run_with_damp(40);
    chain_tuning_tell(tuning, &tried);
    expect_over(over, &tried, c == 0);
    assert_true(tried.settled && strstr(tried.way, "fused/tiles/"));
    assert_true(other_runs > 0);
    assert_true(lost_time <= 0.05 * all_time + called[c] - 2e-3);
    works(op_exit());
    const int soon = run_with_damp(12);
    chain_tuning_tell(tuning, &again);
    assert_true(soon > 0 && soon <= 3 + 2 * TAKES);
    assert_string_equal(again.way, tried.way);
    assert_int_equal(op_counters()->trials, 0);
    processors = 1;
    fused_time = both_time = 0;
    end();
  }
}

static void step_over_cells(void) {
  settle_by(OP_KERNEL_OF(settle), "settle");
  works(op_par_loop(damp, "damp", cells, direct(q, WIDTH, "double", OP_RW)));
}

/* Loops over cells alone: fused ones move a sixth of the bytes. On no free processor they are compiled as soon as they would have
 * gained what that takes, 0.1 s, and not when the share has it, after 2 s; and are compared over as many periods as run fused later. */
TEST(what_much_is_expected_of_is_compared_early) {
  enum { SOON = 250, MOST_STEPS = 60000, TOGETHER = 4 };
  struct chain_tried tried;
  store_name = "expected.db";
  plant(2.6e-3, 2e-3, 2.1e-3);
  fused_time = 1e-3;
  both_time = 1.2e-3;
  start_program("OP2_FUSE=auto");
  for (steps_done = 1; steps_done <= SOON; steps_done++)
    step_over_cells();
  assert_true(begun_at > 0);
  for (tried.way[0] = 0; strcmp(tried.way, "fused") != 0; steps_done++) {
    if (steps_done > MOST_STEPS)
      fail_msg("after %d steps the best way is %s", steps_done, tried.way);
    usleep(TOGETHER * 100); /* for the compiler's thread */
    step_over_cells();
    chain_tuning_tell(tuning, &tried);
  }
  assert_true(fused_periods >= TOGETHER);
  fused_time = both_time = 0;
  end();
}

/* A program that looks often at first, and then no more: its ways were listed while one period waited. */
TEST(tiles_go_over_more_periods_where_more_wait) {
  struct chain_tried tried;
  store_name = "longer.db";
  plant(2.6e-3, 2e-3, 2e-3);
  run(12);
  chain_tuning_tell(tuning, &tried);
  assert_non_null(strstr(tried.way, "/periods1"));
  steps(100);
  op_barrier();
  chain_tuning_tell(tuning, &tried);
  assert_null(strstr(tried.way, "/periods1"));
  works(op_exit());
  run(12); /* and what an earlier run found over fewer is no reason to stay there */
  steps(100);
  op_barrier();
  chain_tuning_tell(tuning, &tried);
  assert_null(strstr(tried.way, "/periods1"));
  end();
}

/* ---- cutting beside the loops ---- */

static void take_steps(int n) {
  for (int i = 0; i < n; i++) {
    steps_done++;
    step();
    op_barrier();
  }
}

/* They run as called until tiles are there. */
TEST(tiles_are_cut_beside_the_loops) {
  processors = 64;
  store_name = "beside.db";
  start_program("OP2_FUSE=off");
  while (!begun_at && steps_done < 10)
    take_steps(1);
  assert_true(begun_at > 0);
  take_steps(TAKES - 1);
  assert_int_equal(op_counters()->tiled, 0);
  take_steps(2);
  assert_true(op_counters()->tiled > 0);
  processors = 1;
  end();
}

static void run_and_renumber(const char *name, double *out) {
  store_name = name;
  start_program("OP2_FUSE=off");
  while (!begun_at && steps_done < 10)
    take_steps(1);
  works(op_renumber(ends));
  take_steps(10 - steps_done);
  works(op_fetch_data(q, out));
  works(op_exit());
}

/* Cutting is over before the mesh changes, or its maps are gone. */
TEST(the_mesh_may_change_while_tiles_are_cut) {
  static double beside[MANY * WIDTH], singly[MANY * WIDTH];
  processors = 64;
  run_and_renumber("renumber.db", beside);
  assert_true(begun_at > 0);
  processors = 1;
  run_and_renumber("renumber1.db", singly);
  assert_memory_equal(beside, singly, sizeof singly);
  for (int frees = 0; frees < 2; frees++) {
    processors = 64;
    store_name = "ends.db";
    start_program("OP2_FUSE=off");
    while (begun_at != steps_done || !begun_at)
      take_steps(1);
    if (frees)
      works(op_free_map(ends));
    works(op_exit());
  }
  processors = 1;
  store_name = "auto.db";
}

AROUND_ALL(make_folder, remove_folder)
