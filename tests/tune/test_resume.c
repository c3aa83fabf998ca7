/* Short runs of one program, each of which goes on where the one before ended. */
#include <math.h>

#include "play.h"

struct known {
  double median[MOST], baseline;
  int count[MOST];
  int calls; /* of the last run; 0: not known */
};

static struct tuner *resumed(const struct play *p, const struct tuner_options *options,
                             const struct known *known) {
  struct error err = {0};
  struct tuner *t = NULL;
  assert_int_equal(tuner_new(&t, p->count, p->standard, options, &err), OP_OK);
  tuner_expect(t, known->calls);
  for (int i = 0; i < p->count; i++)
    if (known->count[i] > 0)
      tuner_resume(t, i, known->median[i], known->baseline, known->count[i]);
  tuner_resumed(t);
  return t;
}

static void remember(const struct play *p, const struct tuner *t, struct known *known) {
  for (int i = 0; i < p->count; i++)
    known->median[i] = tuner_median(t, i, &known->count[i]);
  known->baseline = known->median[p->standard];
}

/* The number of runs of the program until its tuner has settled, each `calls` calls long, every other one on a machine that is
 * so much slower. */
static int settles_after(struct play *p, const struct tuner_options *options, int calls, double load,
                         int *winner) {
  enum { MANY = 200 };
  struct known known = {0};
  for (int program = 1; program < MANY; program++) {
    struct tuner *t = resumed(p, options, &known);
    for (int call = 0; call < calls; call++) {
      int candidate = tuner_next(t);
      tuner_record(t, candidate, run_time(p, candidate, call, -1) * (program % 2 ? 1 : load));
    }
    *winner = tuner_winner(t);
    const bool settled = tuner_is_settled(t);
    remember(p, t, &known);
    tuner_free(t);
    if (settled)
      return program;
  }
  return MANY;
}

TEST(short_runs_add_up) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    struct play p = spread(seed), q = spread(seed);
    int winner = -1, again = -1;
    const int programs = settles_after(&p, &automatic, 100, 1, &winner);
    assert_in_range(programs, 2, 30);
    assert_int_equal(winner, 7);
    assert_int_equal(settles_after(&q, &automatic, 100, 1, &again), programs);
    assert_int_equal(again, winner);
  }
}

/* What was measured while the machine was busy is neither better nor worse for it. */
TEST(load_does_not_choose) {
  for (unsigned seed = 1; seed <= 20; seed++)
    for (int heavy = 0; heavy < 2; heavy++) {
      struct play p = spread(seed);
      int winner = -1;
      assert_in_range(settles_after(&p, &automatic, 100, heavy ? 5 : 0.3, &winner), 2, 40);
      assert_int_equal(winner, 7);
    }
}

/* A program's first calls are slow, run after run; what was measured once does not become slower with each. */
TEST(slow_beginnings_do_not_add_up) {
  enum { PROGRAMS = 40, CALLS = 60, SLOW = 5 };
  (void)state;
  for (unsigned seed = 1; seed <= 20; seed++) {
    struct play p = spread(seed);
    struct known known = {0};
    for (int program = 0; program < PROGRAMS; program++) {
      struct tuner *t = resumed(&p, &automatic, &known);
      for (int call = 0; call < CALLS; call++) {
        int candidate = tuner_next(t);
        tuner_record(t, candidate, run_time(&p, candidate, call, -1) * (program && call < SLOW ? 3 : 1));
      }
      remember(&p, t, &known);
      tuner_free(t);
      for (int i = 0; i < p.count; i++) {
        const double part = known.median[i] / known.baseline, truth = p.mean[i] / p.mean[p.standard];
        assert_true(known.count[i] == 0 || fabs(part / truth - 1) < 0.15);
      }
    }
  }
}

/* Every other candidate was measured on a busy machine; in this run it is busy in another way. */
TEST(rows_of_several_runs_are_compared_by_their_default) {
  struct play p = spread(7);
  struct error err = {0};
  struct tuner *t = NULL;
  assert_int_equal(tuner_new(&t, p.count, p.standard, &automatic, &err), OP_OK);
  for (int i = 0; i < p.count; i++) {
    const double load = i % 2 ? 4 : 1;
    tuner_resume(t, i, load * p.mean[i], load * p.mean[p.standard], 6);
  }
  tuner_resumed(t);
  assert_int_equal(tuner_winner(t), 7);
  for (int run = 0; run < 7; run++) {
    assert_int_equal(tuner_next(t), 7);
    tuner_record(t, 7, 3 * p.mean[7]);
  }
  for (int i = 0; i < p.count; i++) {
    const double now = tuner_median(t, i, NULL);
    assert_true(fabs(now - 3 * p.mean[i]) < 1e-9);
  }
  tuner_free(t);
}

/* Nothing can be compared with what has no default, or no time. */
TEST(rows_without_a_default_are_ignored) {
  struct error err = {0};
  struct tuner *t = NULL;
  for (int with = 0; with < 2; with++) {
    int count = 0;
    assert_int_equal(tuner_new(&t, 3, 0, &automatic, &err), OP_OK);
    tuner_resume(t, 1, 1e-3, with ? 2e-3 : 0, 5);
    tuner_resumed(t);
    tuner_median(t, 1, &count);
    assert_int_equal(count, 0);
    assert_int_equal(tuner_next(t), 0);
    assert_true(tuner_total(t) == 0);
    tuner_free(t);
  }
}

/* Tuned on a busy machine: on a quiet one it is faster, and what is slower than that is drift. */
TEST(drift_is_from_the_best_it_was) {
  const struct tuner_options watch = {.share = 0.05, .drift = 1.5};
  struct error err = {0};
  struct tuner *t = NULL;
  assert_int_equal(tuner_new(&t, 5, 0, &watch, &err), OP_OK);
  tuner_settle(t, 3, 9e-3);
  for (int run = 0; run < 100; run++)
    tuner_record(t, tuner_next(t), 3e-3);
  assert_int_equal(tuner_restarts(t), 0);
  for (int run = 0; run < 100; run++)
    tuner_record(t, tuner_next(t), 6e-3);
  assert_int_equal(tuner_restarts(t), 1);
  tuner_free(t);
}

/* The same rows give the same choice, and what a run before spent is not spent again. */
TEST(what_is_known_decides) {
  struct play p = spread(3);
  struct known known = {0};
  for (int i = 0; i < p.count; i++) {
    known.median[i] = p.mean[i];
    known.count[i] = 6;
  }
  known.baseline = p.mean[p.standard];
  struct tuner *t = resumed(&p, &automatic, &known), *u = resumed(&p, &automatic, &known);
  assert_int_equal(tuner_winner(t), 7);
  assert_int_equal(tuner_winner(u), 7);
  assert_true(tuner_overhead(t) > 0);
  assert_true(tuner_overhead(t) == tuner_overhead(u));
  tuner_free(t);
  tuner_free(u);
}

/* What is left to do is exact, also after a part of it. */
TEST(says_how_many_runs_are_left) {
  const struct tuner_options force = {.exhaustive = true};
  struct play p = spread(5);
  struct known known = {0};
  struct tuner *t = resumed(&p, &force, &known);
  for (int call = 0; call < 60; call++) {
    int candidate = tuner_next(t);
    tuner_record(t, candidate, run_time(&p, candidate, call, -1));
  }
  remember(&p, t, &known);
  for (int go_on = 0; go_on < 2; go_on++) {
    const int left = tuner_left(t);
    assert_true(left > 1);
    for (int call = 0; call < left; call++) {
      assert_false(tuner_is_settled(t));
      int candidate = tuner_next(t);
      tuner_record(t, candidate, run_time(&p, candidate, call, -1));
    }
    assert_true(tuner_is_settled(t));
    assert_int_equal(tuner_left(t), 0);
    assert_int_equal(tuner_winner(t), 7);
    tuner_free(t);
    t = resumed(&p, &force, &known);
  }
  tuner_free(t);
}

/* A loop that a program calls so often in each of its runs, the first time slowly, under OP2_TUNE=force: each run measures more, none
 * loses anything, what is said of the runs that are left is about right, and there is an end. */
static void adds_up_to_an_end(int calls, double outliers) {
  enum { MANY = 100 };
  const struct tuner_options force = {.exhaustive = true};
  struct play p = spread((unsigned)calls);
  struct known known = {0};
  int said[MANY] = {0}, program = 0, winner = -1, measured = 0;
  p.outliers = outliers;
  for (bool settled = false; !settled; program++) {
    assert_in_range(program, 0, MANY - 1);
    struct tuner *t = resumed(&p, &force, &known);
    for (int call = 0; call < calls; call++) {
      const int candidate = tuner_next(t);
      tuner_record(t, candidate, run_time(&p, candidate, call, -1) * (call ? 1 : 3));
    }
    if (tuner_left(t) == 1)
      tuner_next(t);
    settled = tuner_is_settled(t);
    winner = tuner_winner(t);
    const struct tuner_progress now = tuner_progress(t, calls);
    assert_int_equal(now.candidates, p.count);
    assert_true(settled || now.measured < now.wanted);
    assert_true(now.measured > measured || (program == 0 && calls == 2));
    measured = now.measured;
    said[program] = now.runs;
    const struct known before = known;
    remember(&p, t, &known);
    known.calls = calls;
    for (int i = 0; i < p.count; i++)
      assert_true(known.count[i] >= before.count[i]);
    tuner_free(t);
  }
  for (int k = 0; k < program - 1; k++) {
    const int left = program - 1 - k;
    assert_in_range(said[k], left - left / 3 - 1, left + left / 3 + 1);
  }
  assert_true(p.mean[winner] < 1.2 * p.mean[7]);
}

TEST(forced_runs_come_to_an_end) {
  for (int calls = 2; calls <= 60; calls++)
    adds_up_to_an_end(calls, 0);
  for (int calls = 2; calls <= 6; calls++)
    adds_up_to_an_end(calls, 0.02);
}

/* What is called once has no time that says anything. */
TEST(one_call_measures_nothing) {
  const struct tuner_options force = {.exhaustive = true};
  struct play p = spread(1);
  struct known known = {.calls = 1};
  for (int program = 0; program < 3; program++) {
    struct tuner *t = resumed(&p, &force, &known);
    assert_int_equal(tuner_next(t), p.standard);
    tuner_record(t, p.standard, 1e-3);
    const struct tuner_progress now = tuner_progress(t, 1);
    assert_int_equal(now.begun, 0);
    assert_int_equal(now.measured, 0);
    assert_int_equal(now.runs, 0);
    remember(&p, t, &known);
    tuner_free(t);
  }
}

/* What a damaged database says of earlier runs is no number of calls. */
TEST(takes_any_number_of_calls) {
  static const struct {
    double calls;
    bool few;
  } told[] = {{3, true},      {11, true},           {12, false},          {1, false},
              {0, false},     {4294967299., false}, {-3, false},          {-4294967293., false},
              {1e300, false}, {-1e300, false},      {(double)NAN, false}, {(double)INFINITY, false}};
  const struct tuner_options options = {.exhaustive = true};
  for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
    struct error err = {0};
    struct tuner *t = NULL;
    assert_int_equal(tuner_new(&t, 3, 0, &options, &err), OP_OK);
    tuner_expect(t, told[i].calls);
    const bool few = tuner_progress(t, 1000).wanted == tuner_progress(t, 3).wanted;
    if (few != told[i].few)
      fail_msg("%g calls: %s", told[i].calls, few ? "few" : "many");
    tuner_free(t);
  }
}

int main(void) {
  return run_these(NULL, NULL);
}
