/* The trial of a layout under a fake clock: it is told times, so every behaviour can be played through. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tune/layout_trial.h"

enum { LOOPS = 3, MOST_RUNS = 1000 };

struct play {
  double mean[2][LOOPS];      /* as it was, and turned */
  double load[LAYOUT_PHASES]; /* how much slower the machine is in each phase */
  unsigned seed;
};

static double uniform(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (double)(1u << 24);
}

static const int loops[LOOPS];

static struct layout_trial begin(void) {
  struct layout_trial t = {0};
  struct error err = {0};
  for (int i = 0; i < LOOPS; i++)
    assert_int_equal(layout_trial_add(&t, &loops[i], "chunks/scalar", i == 2 ? 0.5 : 1, &err), OP_OK);
  return t;
}

/* Runs until it has ended; how often the dat was turned on the way. The first run after a turn takes ten times as long. */
static enum layout_verdict play(struct play *p, struct layout_trial *t, int *turns) {
  int first[LOOPS] = {1, 1, 1};
  *turns = 0;
  for (int run = 0; run < MOST_RUNS; run++) {
    const enum layout_verdict verdict = layout_trial_step(t);
    if (verdict == LAYOUT_TURN) {
      ++*turns;
      first[0] = first[1] = first[2] = 1;
    } else if (verdict != LAYOUT_GOES_ON)
      return verdict;
    const int which = run % LOOPS;
    const double factor = p->load[t->phase] * (0.99 + 0.02 * uniform(&p->seed)) * (first[which] ? 10 : 1);
    layout_trial_record(t, &loops[which], factor * p->mean[layout_trial_is_turned(t)][which]);
    first[which] = 0;
  }
  fail_msg("no end after %d runs", MOST_RUNS);
  return LAYOUT_GOES_ON;
}

static const struct play equal = {
    .mean = {{1e-3, 2e-3, 4e-3}, {1e-3, 2e-3, 4e-3}}, .load = {1, 1, 1}, .seed = 1};

static void expect(struct play p, enum layout_verdict verdict, int turns) {
  for (p.seed = 1; p.seed <= 20; p.seed++) {
    struct play again = p;
    struct layout_trial t = begin();
    int turned;
    assert_int_equal(play(&again, &t, &turned), verdict);
    assert_int_equal(turned, turns);
    layout_trial_clear(&t);
  }
}

/* It was turned, and is turned back. */
static void equal_layouts_stay(void **state) {
  (void)state;
  expect(equal, LAYOUT_TURN_BACK, 1);
}

/* What one loop gains and another loses is weighed by how often they run. */
static void the_sum_counts(void **state) {
  (void)state;
  struct play p = equal;
  p.mean[1][0] = 0.5e-3;
  p.mean[1][2] = 4.5e-3; /* at half the weight */
  expect(p, LAYOUT_TURN_OVER, 2);
  p.mean[1][2] = 5.5e-3;
  expect(p, LAYOUT_TURN_BACK, 1);
}

/* A gain of less than what noise can do is none. */
static void little_gains_are_none(void **state) {
  (void)state;
  struct play p = equal;
  for (int i = 0; i < LOOPS; i++)
    p.mean[1][i] *= 0.985;
  expect(p, LAYOUT_TURN_BACK, 1);
}

/* Whatever the machine does in one of the phases, the worse layout is not chosen. */
static void a_busy_machine_does_not_choose(void **state) {
  (void)state;
  struct play p = equal;
  p.load[0] = 3;
  expect(p, LAYOUT_STAY, 2);
  p = equal;
  p.load[1] = 3;
  expect(p, LAYOUT_TURN_BACK, 1);
  for (int i = 0; i < LOOPS; i++)
    p.mean[1][i] *= 1.2;
  p.load[0] = 1.5;
  p.load[1] = 1;
  expect(p, LAYOUT_STAY, 2);
}

static void says_what_it_found(void **state) {
  (void)state;
  struct play p = equal;
  int turns;
  for (int i = 0; i < LOOPS; i++)
    p.mean[1][i] *= 0.5;
  p.load[0] = 2;
  struct layout_trial t = begin();
  assert_int_equal(play(&p, &t, &turns), LAYOUT_TURN_OVER);
  assert_true(fabs(layout_trial_before(&t) - 5e-3) < 0.1e-3);
  assert_true(fabs(layout_trial_after(&t) - 2.5e-3) < 0.05e-3);
  assert_true(fabs(layout_trial_median(&t, 1) - 1e-3) < 0.02e-3);
  assert_string_equal(layout_trial_find(&t, &loops[1])->variant, "chunks/scalar");
  layout_trial_clear(&t);
}

/* A loop that is gone is not waited for; times that are none are not counted, nor are those of others. */
static void leaves_out_what_does_not_count(void **state) {
  (void)state;
  struct layout_trial t = begin();
  int other;
  layout_trial_forget(&t, &loops[1]);
  layout_trial_forget(&t, &other);
  assert_false(layout_trial_wants(&t, &loops[1]));
  assert_null(layout_trial_find(&t, &loops[1]));
  for (int run = 0; run <= LAYOUT_SAMPLES; run++) {
    assert_true(layout_trial_wants(&t, &loops[0]));
    assert_int_equal(layout_trial_step(&t), LAYOUT_GOES_ON);
    layout_trial_record(&t, &loops[0], 1e-3);
    layout_trial_record(&t, &loops[2], 1e-3);
    layout_trial_record(&t, &loops[2], NAN);
    layout_trial_record(&t, &loops[2], 0);
    layout_trial_record(&t, &other, 1);
  }
  assert_false(layout_trial_wants(&t, &loops[0]));
  assert_true(fabs(layout_trial_before(&t) - 1.5e-3) < 1e-9);
  assert_int_equal(layout_trial_step(&t), LAYOUT_TURN);
  assert_true(layout_trial_is_turned(&t));
  layout_trial_clear(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_layouts_stay),    cmocka_unit_test(the_sum_counts),
      cmocka_unit_test(little_gains_are_none), cmocka_unit_test(a_busy_machine_does_not_choose),
      cmocka_unit_test(says_what_it_found),    cmocka_unit_test(leaves_out_what_does_not_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
