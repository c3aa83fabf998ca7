/* One thread against many, under a fake clock: when they are compared, who wins, and what it costs. */
#include "play.h"

enum { MANY, OTHER, ONE, COUNT };
static const struct tuner_options watched = {.share = 0.05, .drift = 1.5};

static struct tuner *new_tuner(const struct tuner_options *options) {
  struct error err = {0};
  struct tuner *t = NULL;
  assert_int_equal(tuner_new(&t, COUNT, MANY, options, &err), OP_OK);
  tuner_set_single(t, ONE);
  return t;
}

/* So many runs on a machine where each candidate takes so long. */
static void run(struct tuner *t, int runs, double many, double other, double one) {
  const double seconds[COUNT] = {many, other, one};
  for (int i = 0; i < runs; i++) {
    const int next = tuner_next(t);
    tuner_record(t, next, seconds[next]);
  }
}

/* A program that starts with what an earlier one found measures one thread all the same. */
TEST(each_process_measures_one_thread_again) {
  struct tuner *t = new_tuner(&watched);
  tuner_settle(t, OTHER, 1e-3);
  assert_false(tuner_is_settled(t));
  assert_int_equal(tuner_winner(t), OTHER);
  run(t, 1000, 2e-3, 1e-3, 0.5e-3);
  assert_true(tuner_is_settled(t));
  assert_int_equal(tuner_winner(t), ONE);
  assert_int_equal(tuner_lasting(t), OTHER);
  double one, many;
  assert_true(tuner_last_duel(t, &one, &many));
  assert_true(one == 0.5e-3 && many == 1e-3);
  tuner_free(t);
}

/* Unless that one knew that it is no better: then it is measured when the winner becomes slow. */
TEST(what_was_no_better_is_not_measured_again) {
  struct tuner *t = new_tuner(&watched);
  tuner_settle(t, OTHER, 1e-3);
  tuner_pass_over_single(t);
  assert_true(tuner_is_settled(t));
  run(t, 1000, 2e-3, 1e-3, 0.5e-3);
  assert_int_equal(tuner_trials(t), 0);
  run(t, 1000, 9e-3, 4.8e-3, 2e-3);
  assert_int_equal(tuner_winner(t), ONE);
  assert_int_equal(tuner_lasting(t), OTHER);
  tuner_free(t);
}

/* A run that is enough to know is what is known of one thread. */
TEST(what_is_clear_at_once_has_its_time) {
  struct tuner *t = new_tuner(&watched);
  int runs = 0;
  tuner_settle(t, OTHER, 1e-3);
  run(t, 2000, 2e-3, 1e-3, 64e-3);
  assert_true(tuner_median(t, ONE, &runs) == 64e-3);
  assert_int_equal(runs, 1);
  tuner_free(t);
}

TEST(it_has_to_win_by_a_fifth) {
  static const struct {
    double one;
    int winner;
  } rows[] = {{0.81e-3, OTHER}, {0.79e-3, ONE}, {1.2e-3, OTHER}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct tuner *t = new_tuner(&watched);
    tuner_settle(t, OTHER, 1e-3);
    run(t, 1000, 2e-3, 1e-3, rows[i].one);
    assert_true(tuner_is_settled(t));
    assert_int_equal(tuner_winner(t), rows[i].winner);
    assert_int_equal(tuner_duels(t), 1);
    tuner_free(t);
  }
}

/* On 64 threads one of them may take 64 times as long: once is enough to know, and the budget pays for it. */
TEST(what_is_clear_costs_one_run) {
  struct tuner *t = new_tuner(&watched);
  tuner_settle(t, OTHER, 1e-3);
  run(t, 2000, 2e-3, 1e-3, 64e-3);
  assert_int_equal(tuner_winner(t), OTHER);
  assert_int_equal(tuner_trials(t), 1);
  assert_true(tuner_overhead(t) < 64e-3 && tuner_overhead(t) < 0.05 * tuner_total(t));
  double one, many;
  assert_false(tuner_last_duel(t, &one, &many));
  tuner_free(t);
  t = new_tuner(&watched); /* three counted runs of the slower half and twice as slow: two are enough */
  tuner_settle(t, OTHER, 1e-3);
  run(t, 2000, 2e-3, 1e-3, 2e-3);
  assert_int_equal(tuner_trials(t), 4);
  assert_true(tuner_last_duel(t, &one, &many) && one == 2e-3 && many == 1e-3);
  tuner_free(t);
}

/* Other work takes the machine: 2.4 times slower on two threads than on one. Then it goes away again. */
TEST(finds_one_thread_and_back) {
  struct tuner *t = new_tuner(&watched);
  tuner_settle(t, OTHER, 1e-3);
  run(t, 3000, 2e-3, 1e-3, 1.8e-3);
  assert_int_equal(tuner_winner(t), OTHER);
  run(t, 1000, 9e-3, 4.8e-3, 2e-3);
  assert_int_equal(tuner_winner(t), ONE);
  assert_int_equal(tuner_restarts(t), 0); /* nothing else is tried on such a machine */
  assert_int_equal(tuner_lasting(t), OTHER);
  run(t, 3000, 9e-3, 4.8e-3, 2e-3); /* as long as it is so, it is looked at now and then, within the budget */
  assert_int_equal(tuner_lasting(t), OTHER);
  assert_in_range(tuner_duels(t), 3, 12);
  assert_true(tuner_overhead(t) < 0.06 * tuner_total(t));
  run(t, 3000, 2e-3, 1e-3, 1.8e-3);
  assert_int_equal(tuner_winner(t), OTHER);
  assert_true(tuner_is_settled(t));
  tuner_free(t);
}

/* Slower, and one thread is no better: then everything is tried anew, as without it. */
TEST(drift_without_a_better_single_tries_the_rest) {
  struct tuner *t = new_tuner(&watched);
  tuner_settle(t, OTHER, 1e-3);
  run(t, 3000, 2e-3, 1e-3, 1.8e-3);
  run(t, 6000, 2e-3, 4e-3, 5e-3);
  assert_int_equal(tuner_restarts(t), 1);
  assert_int_equal(tuner_winner(t), MANY);
  tuner_free(t);
}

/* Without anything remembered: first the rounds, of which it is no part, then it. */
TEST(comes_after_the_rounds) {
  struct tuner *t = new_tuner(&watched);
  for (int i = 0; i < 5000 && !tuner_is_known(t); i++) {
    const int next = tuner_next(t);
    assert_true(next != ONE || tuner_is_known(t));
    if (!tuner_is_known(t))
      tuner_record(t, next, next == OTHER ? 0.9e-3 : 1e-3);
  }
  assert_true(tuner_is_known(t));
  assert_int_equal(tuner_lasting(t), OTHER);
  run(t, 1000, 1e-3, 0.9e-3, 0.4e-3);
  assert_int_equal(tuner_winner(t), ONE);
  tuner_free(t);
}

TEST(without_trials_there_is_none) {
  const struct tuner_options none = {.share = 0};
  struct tuner *t = new_tuner(&none);
  tuner_settle(t, OTHER, 1e-3);
  assert_true(tuner_is_settled(t));
  run(t, 100, 1e-3, 1e-3, 0.1e-3);
  assert_int_equal(tuner_winner(t), OTHER);
  assert_int_equal(tuner_trials(t), 0);
  tuner_free(t);
}

TEST(one_that_cannot_be_made_is_out) {
  struct tuner *t = new_tuner(&watched);
  tuner_settle(t, OTHER, 1e-3);
  tuner_reject(t, ONE);
  assert_true(tuner_is_settled(t));
  assert_int_equal(tuner_winner(t), OTHER);
  run(t, 5000, 4e-3, 4e-3, 1e-3);
  assert_int_equal(tuner_duels(t), 0);
  tuner_free(t);
  t = new_tuner(&watched); /* nor does one that was remembered win without being measured */
  tuner_settle(t, OTHER, 1e-3);
  tuner_reject(t, OTHER);
  assert_int_equal(tuner_winner(t), MANY);
  tuner_free(t);
}

/* Whatever both take, with noise: one thread runs only if it is faster, and all together cost no more than is allowed, but
 * for one trial. */
TEST(is_never_much_worse_than_all_threads) {
  for (unsigned seed = 1; seed <= 200; seed++) {
    unsigned shape = 31 * seed;
    const double many = 1e-3, one = many * (0.3 + 3 * uniform(&shape)), noise = 0.1 * uniform(&shape);
    struct tuner *t = new_tuner(&watched);
    tuner_settle(t, OTHER, many);
    for (int i = 0; i < 3000; i++) {
      const int next = tuner_next(t);
      tuner_record(t, next, (next == ONE ? one : many) * (1 + noise * (uniform(&shape) - 0.5)));
    }
    assert_true(tuner_winner(t) != ONE || one < many);
    assert_true(tuner_winner(t) == ONE || one > 0.7 * many);
    assert_int_equal(tuner_lasting(t), OTHER);
    assert_true(tuner_overhead(t) <= 0.05 * tuner_total(t) + 2 * (one > many ? one : many));
    tuner_free(t);
  }
}

/* With OP2_TUNE=force its runs are among those that are told beforehand. */
TEST(says_how_many_runs_are_left) {
  const struct tuner_options force = {.exhaustive = true};
  static const double seconds[COUNT] = {1e-3, 0.9e-3, 50e-3};
  struct tuner *t = new_tuner(&force);
  for (int left = tuner_left(t), call = 0; call < left; call++) {
    assert_false(tuner_is_settled(t));
    assert_int_equal(tuner_left(t), left - call);
    const int next = tuner_next(t);
    tuner_record(t, next, seconds[next]);
  }
  assert_true(tuner_is_settled(t));
  assert_int_equal(tuner_winner(t), OTHER);
  tuner_free(t);
}
