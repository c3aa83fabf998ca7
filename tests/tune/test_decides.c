/* When it is decided how a period that waits by itself runs, and what comparing costs: by planted times. Linked so, the library tells
 * the functions below what it measured, and these tell it what it is to be. */
#include <stdbool.h>
#include <stdlib.h>

#include "auto.h"
#include "loop/auto/worth.h"
#include "tune/chains.h"

double __real_loop_usual_seconds(const struct loop *loop);
double __wrap_loop_usual_seconds(const struct loop *loop);
struct chain_way __real_chain_tuning_next(struct chain_tuning *t);
struct chain_way __wrap_chain_tuning_next(struct chain_tuning *t);
void __real_chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds);
void __wrap_chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds);

/* Seconds of a period: as called, by the first guess, and in tiles of other sizes. Not planted, if they are 0. */
static double called_time, guess_time, other_time;
static struct chain_way now;
static double guess_bytes;
/* Of the run: periods so far, and when it was decided; runs as called, and the last of them. */
static int periods_ran, decided_at, called_runs, other_runs;
static double all_time, lost_time;

static double planted_time(void) {
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

void __wrap_chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds) {
  const double own = called_time > 0 ? planted_time() : seconds;
  periods_ran += periods;
  called_runs += now.bytes <= 0;
  other_runs += now.bytes > 0 && now.bytes < guess_bytes;
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

/* Steps of a program that looks behind each. */
static void run(int n) {
  periods_ran = decided_at = called_runs = other_runs = 0;
  all_time = lost_time = 0;
  begin_with("256K", "OP2_FUSE=off", "");
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
  int in_a_row = 0, rests = 0, steps_done = 0;
  long long trials = 0;
  char words[300], program[] = "program", l3[] = "OP2_L3=256K", tune[] = "OP2_TUNE=1000",
                   fuse[] = "OP2_FUSE=off", variant[] = "OP2_VARIANT=spread:scalar";
  char *argv[] = {program, words, l3, tune, fuse, variant, NULL};
  snprintf(words, sizeof words, "OP2_CACHE=%s/ends.db", folder);
  plant(2.6e-3, 2e-3, 2.5e-3);
  open_program(6, argv);
  for (; steps_done < MOST_STEPS && in_a_row < ALL_IN_TILES; steps_done++) {
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
    fail_msg("after %d steps: %d rests, %lld trials", steps_done, rests, trials);
  plant(0, 0, 0);
}

int main(void) {
  return run_these(make_folder, remove_folder);
}
