/* The tuner's choices and their cost, in one run of a program. */
#include <math.h>
#include <string.h>

#include "loop/tune_memory.h"
#include "play.h"

TEST(finds_the_best) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    struct play p = spread(seed);
    struct tuner *t = play(&p, &automatic);
    assert_true(tuner_is_settled(t));
    assert_int_equal(tuner_winner(t), 7);
    assert_true(tuner_overhead(t) <= 0.05 * tuner_total(t));
    tuner_free(t);
  }
}

TEST(survives_outliers) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    struct play p = spread(seed);
    p.outliers = 0.05;
    struct tuner *t = play(&p, &automatic);
    assert_true(p.mean[tuner_winner(t)] <= 1.02 * p.mean[p.standard]);
    assert_true(tuner_overhead(t) <= 0.05 * tuner_total(t));
    tuner_free(t);
  }
}

/* One trial may cost more than was expected; then nothing is tried until the loop's time has paid for it. */
TEST(overdraws_by_one_trial_at_most) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    struct play p = spread(seed);
    p.runs = 500;
    for (int i = 0; i < p.count; i++)
      p.mean[i] = i == p.standard ? 1e-3 : 30e-3;
    struct tuner *t = play(&p, &automatic);
    assert_true(p.worst_overdraft <= 30e-3 * 1.05);
    assert_int_equal(tuner_winner(t), p.standard);
    tuner_free(t);
  }
}

TEST(equal_candidates_keep_the_default) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    struct play p = spread(seed);
    for (int i = 0; i < p.count; i++)
      p.mean[i] = 1e-3;
    p.noise = 0.01;
    struct tuner *t = play(&p, &automatic);
    assert_int_equal(tuner_winner(t), p.standard);
    assert_true(tuner_is_settled(t));
    tuner_free(t);
  }
}

TEST(budget_zero_tries_nothing) {
  struct tuner_options none = {.share = 0};
  struct play p = spread(3);
  struct tuner *t = play(&p, &none);
  assert_int_equal(tuner_trials(t), 0);
  assert_int_equal(tuner_winner(t), p.standard);
  assert_true(tuner_overhead(t) == 0);
  tuner_free(t);
}

TEST(seconds_are_a_budget_too) {
  struct tuner_options seconds = {.seconds = 0.02};
  struct play p = spread(5);
  struct tuner *t = play(&p, &seconds);
  assert_true(tuner_overhead(t) <= 0.02 + 3e-3);
  tuner_free(t);
}

TEST(rejected_candidates_never_come_back) {
  struct error err = {0};
  struct tuner *t = NULL;
  assert_int_equal(tuner_new(&t, 4, 0, &automatic, &err), OP_OK);
  tuner_reject(t, 2);
  for (int run = 0; run < 5000; run++) {
    int candidate = tuner_next(t);
    assert_int_not_equal(candidate, 2);
    tuner_record(t, candidate, candidate == 3 ? 0.5e-3 : 1e-3);
  }
  assert_int_equal(tuner_winner(t), 3);
  tuner_free(t);
}

TEST(exhaustive_measures_everything) {
  struct tuner_options force = {.exhaustive = true};
  struct play p = spread(9);
  p.runs = 1000;
  struct tuner *t = play(&p, &force);
  assert_true(tuner_is_settled(t));
  assert_int_equal(tuner_winner(t), 7);
  for (int i = 0; i < p.count; i++) {
    int count;
    assert_true(tuner_median(t, i, &count) > 0);
    assert_true(count >= 3);
  }
  tuner_free(t);
}

/* The count of what is left to do is exact, also after a part of it. */
TEST(says_how_many_runs_are_left) {
  const struct tuner_options force = {.exhaustive = true};
  struct play p = spread(5);
  p.runs = 60;
  struct tuner *t = play(&p, &force);
  for (int left = tuner_left(t), call = 0; call < left; call++) {
    assert_false(tuner_is_settled(t));
    const int candidate = tuner_next(t);
    tuner_record(t, candidate, run_time(&p, candidate));
  }
  assert_true(tuner_is_settled(t));
  assert_int_equal(tuner_left(t), 0);
  assert_int_equal(tuner_winner(t), 7);
  tuner_free(t);
}

TEST(the_same_times_give_the_same_choice) {
  struct play p = spread(11), q = spread(11);
  struct tuner *t = play(&p, &automatic), *u = play(&q, &automatic);
  assert_int_equal(tuner_winner(t), tuner_winner(u));
  assert_int_equal(tuner_trials(t), tuner_trials(u));
  assert_true(tuner_overhead(t) == tuner_overhead(u));
  tuner_free(t);
  tuner_free(u);
}

TEST(a_settled_start_tries_nothing) {
  struct error err = {0};
  struct tuner *t = NULL;
  assert_int_equal(tuner_new(&t, 5, 0, &automatic, &err), OP_OK);
  tuner_settle(t, 3);
  for (int run = 0; run < 100; run++) {
    assert_int_equal(tuner_next(t), 3);
    tuner_record(t, 3, 1e-3);
  }
  assert_int_equal(tuner_trials(t), 0);
  tuner_free(t);
}

/* How long a loop has to run for what it wants to pay. */
TEST(knows_when_it_can_pay) {
  const struct tuner_options a_second = {.seconds = 1}, all = {.exhaustive = true};
  struct error err = {0};
  struct tuner *t = NULL;
  assert_int_equal(tuner_new(&t, 2, 0, &automatic, &err), OP_OK);
  tuner_paid(t, 0.02);
  tuner_pass(t, 0.1);
  const double until = tuner_until(t, 0.03);
  assert_true(until > 0 && !tuner_can_pay(t, 0.03));
  tuner_pass(t, 0.999 * until);
  assert_false(tuner_can_pay(t, 0.03));
  tuner_pass(t, 0.002 * until);
  assert_true(tuner_can_pay(t, 0.03) && tuner_until(t, 0.03) <= 0);
  tuner_free(t);
  assert_int_equal(tuner_new(&t, 2, 0, &a_second, &err), OP_OK);
  assert_true(tuner_until(t, 0.9) <= 0 && isinf(tuner_until(t, 1.1)));
  tuner_free(t);
  assert_int_equal(tuner_new(&t, 2, 0, &all, &err), OP_OK);
  assert_true(tuner_until(t, 1e9) <= 0);
  tuner_free(t);
}

/* Variants that earlier runs measured are not measured again, on a machine that is slower now as well; the best of it runs as soon
 * as the default's time is known, and what was hopeless stays out. */
TEST(goes_on_where_an_earlier_run_ended) {
  enum { DEFAULT, HOPELESS, BETTER, NEW, BEST, COUNT };
  static const double parts[COUNT] = {1, 3, 0.8, 0.9, 0.5}, slower = 7;
  struct error err = {0};
  struct tuner *t = NULL;
  int runs[COUNT] = {0}, first = -1;
  assert_int_equal(tuner_new(&t, COUNT, DEFAULT, &automatic, &err), OP_OK);
  tuner_recall_part(t, DEFAULT, 1, 5);
  tuner_recall_part(t, HOPELESS, parts[HOPELESS], 2);
  tuner_recall_part(t, BETTER, parts[BETTER], 3);
  for (int i = 0; i < 2000 && !tuner_is_settled(t); i++) {
    const int next = tuner_next(t);
    runs[next]++;
    first = first < 0 && next != DEFAULT ? next : first;
    tuner_record(t, next, slower * 1e-3 * parts[next]);
  }
  assert_true(tuner_is_settled(t));
  assert_int_equal(first, BETTER);
  assert_int_equal(runs[HOPELESS], 0);
  assert_true(runs[NEW] >= 3 && runs[BEST] >= 3);
  assert_int_equal(tuner_winner(t), BEST);
  tuner_free(t);
}

/* A program that ends before all candidates were tried gains from those that were. */
TEST(what_is_better_runs_at_once) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    struct play p = spread(seed);
    p.mean[0] = 0.4e-3;
    p.runs = 150;
    struct tuner *t = play(&p, &automatic);
    assert_false(tuner_is_settled(t));
    assert_int_equal(tuner_winner(t), 0);
    tuner_free(t);
  }
}

/* In the first round no candidate is begun before the one before it has its runs. */
TEST(candidates_are_begun_one_by_one) {
  struct error err = {0};
  struct tuner *t = NULL;
  int counted[6] = {0}, before = -1;
  assert_int_equal(tuner_new(&t, 6, 5, &automatic, &err), OP_OK);
  for (int run = 0; run < 20000 && counted[4] < 3; run++) {
    int candidate = tuner_next(t);
    if (candidate != 5 && candidate != before) {
      assert_true(candidate > before);
      assert_true(before < 0 || counted[before] >= 3);
      before = candidate;
    }
    tuner_record(t, candidate, 1e-3 + 1e-7 * (run % 7));
    tuner_median(t, candidate, &counted[candidate]);
  }
  assert_int_equal(before, 4);
  tuner_free(t);
}

TEST(the_hopeless_are_dropped_early) {
  struct tuner_options rich = {.share = 0.9};
  struct play p = spread(17);
  p.mean[9] = 30e-3;
  struct tuner *t = play(&p, &rich);
  int count = 0;
  tuner_median(t, 9, &count);
  assert_int_equal(count, 2);
  assert_int_equal(tuner_winner(t), 7);
  tuner_free(t);
}

/* Whatever the candidates, the noise and the outliers: what is chosen is at most 2 per cent slower than the
 * default, and trials cost at most what was allowed and one of them. */
TEST(is_never_worse_than_the_default) {
  static const double noises[] = {0, 0.02, 0.1, 0.2};
  for (unsigned seed = 1; seed <= 200; seed++) {
    struct play p = {.count = 2 + (int)(seed % 14),
                     .standard = (int)(seed % 2),
                     .runs = 4000,
                     .noise = noises[seed % 4],
                     .outliers = seed % 3 ? 0 : 0.03,
                     .seed = seed};
    unsigned shape = 7919 * seed;
    double slowest = 0;
    for (int i = 0; i < p.count; i++) {
      p.mean[i] = 1e-3 * (seed % 5 == 0 ? 1 : 0.97 + 0.2 * uniform(&shape));
      slowest = fmax(slowest, p.mean[i]);
    }
    struct tuner *t = play(&p, &automatic);
    assert_true(p.mean[tuner_winner(t)] <= 1.02 * p.mean[p.standard]);
    assert_true(p.worst_overdraft <= 50 * slowest * (1 + p.noise));
    assert_true(tuner_overhead(t) <= 0.05 * tuner_total(t));
    tuner_free(t);
  }
}

/* Nothing is begun that the budget does not allow, and what it cost more than was expected is paid back first. */
TEST(preparing_is_paid_for) {
  struct error err = {0};
  struct tuner *t = NULL;
  assert_int_equal(tuner_new(&t, 3, 0, &automatic, &err), OP_OK);
  for (int run = 0; run < 20; run++)
    tuner_record(t, 0, 1e-3);
  assert_true(tuner_can_pay(t, 0.9e-3));
  assert_false(tuner_can_pay(t, 1.1e-3));
  tuner_paid(t, 10e-3);
  for (int run = 0; run < 179; run++) {
    assert_int_equal(tuner_next(t), 0);
    assert_false(tuner_can_pay(t, 0));
    tuner_record(t, 0, 1e-3);
  }
  for (int run = 0; run < 100; run++)
    tuner_record(t, 0, 1e-3);
  assert_int_equal(tuner_next(t), 1);
  tuner_free(t);
}

/* Runs until it is settled, and how many of them each candidate had. */
static void settle(struct tuner *t, const double *times, int *runs) {
  for (int run = 0; run < 5000 && !tuner_is_settled(t); run++) {
    const int candidate = tuner_next(t);
    runs[candidate]++;
    tuner_record(t, candidate, times[candidate]);
  }
  assert_true(tuner_is_settled(t));
}

/* The middle of many runs is found now and then: sorting takes as long as a small loop. */
TEST(the_median_follows_when_all_times_are_new) {
  enum { KEPT = 16 };
  struct error err = {0};
  struct tuner *t = NULL;
  int count;
  assert_int_equal(tuner_new(&t, 2, 0, &automatic, &err), OP_OK);
  for (int run = 0; run < 2 + KEPT; run++)
    tuner_record(t, 0, 1e-3);
  assert_true(tuner_median(t, 0, &count) == 1e-3 && count == KEPT);
  for (int run = 1; run < KEPT; run++) {
    tuner_record(t, 0, 3e-3);
    assert_true(tuner_median(t, 0, NULL) == 1e-3);
  }
  tuner_record(t, 0, 3e-3);
  assert_true(tuner_median(t, 0, NULL) == 3e-3);
  tuner_free(t);
}

/* One run that is clearly slower is enough, or two that are not better; a cold first run does not count, and that of what is warm
 * does. */
TEST(who_is_hasty_drops_what_is_not_better) {
  enum { DEFAULT, SLOWER, CLEARLY_SLOWER, BETTER, WARM, COUNT };
  static const double times[COUNT] = {2e-3, 2.1e-3, 2.4e-3, 1.6e-3, 1.9e-3};
  const struct tuner_options options = {.seconds = 10, .base = 2, .hasty = true};
  struct error err = {0};
  struct tuner *t = NULL;
  int runs[COUNT] = {0};
  assert_int_equal(tuner_new(&t, COUNT, DEFAULT, &options, &err), OP_OK);
  tuner_postpone(t, WARM);
  settle(t, times, runs);
  assert_int_equal(tuner_winner(t), BETTER);
  assert_int_equal(runs[SLOWER], 1 + 2);
  assert_int_equal(runs[CLEARLY_SLOWER], 1 + 1);
  tuner_challenge(t, WARM, true);
  settle(t, times, runs);
  assert_int_equal(tuner_winner(t), BETTER);
  assert_int_equal(runs[WARM], 1);
  tuner_free(t);
}

/* All others are decided without it; it is compared with the best of them alone. */
TEST(what_is_postponed_comes_when_it_is_asked_for) {
  enum { DEFAULT, WORSE, LATER, LAST, COUNT };
  static const double times[COUNT] = {2e-3, 3e-3, 1e-3, 1.5e-3};
  const struct tuner_options options = {.share = 0.05, .base = 2};
  struct error err = {0};
  struct tuner *t = NULL;
  int runs[COUNT] = {0}, before;
  assert_int_equal(tuner_new(&t, COUNT, DEFAULT, &options, &err), OP_OK);
  tuner_postpone(t, LATER);
  tuner_postpone(t, LAST);
  settle(t, times, runs);
  assert_int_equal(tuner_winner(t), DEFAULT);
  assert_int_equal(runs[LATER] + runs[LAST], 0);
  assert_true(tuner_is_later(t, LATER));
  before = runs[WORSE];
  tuner_challenge(t, LATER, false);
  settle(t, times, runs);
  assert_int_equal(tuner_winner(t), LATER);
  assert_false(tuner_is_later(t, LATER));
  assert_int_equal(runs[WORSE], before);
  tuner_challenge(t, LAST, false);
  settle(t, times, runs);
  assert_int_equal(tuner_winner(t), LATER);
  assert_true(runs[LAST] >= 3 && tuner_overhead(t) <= 0.05 * tuner_total(t) + 3e-3);
  tuner_free(t);
}

TEST(values_of_the_variable) {
  struct error err = {0};
  struct tune_mode m;
  assert_int_equal(tune_mode_parse("off", &m, &err), OP_OK);
  assert_false(m.candidates || m.recall || m.keep);
  assert_int_equal(tune_mode_parse("use", &m, &err), OP_OK);
  assert_true(m.candidates && m.recall && !m.keep);
  assert_true(m.options.share == 0 && m.options.seconds == 0 && !m.options.exhaustive);
  assert_int_equal(tune_mode_parse("auto", &m, &err), OP_OK);
  assert_true(m.candidates && m.recall && m.keep && m.options.share == 0.05);
  assert_int_equal(tune_mode_parse("force", &m, &err), OP_OK);
  assert_true(m.candidates && !m.recall && m.keep && m.options.exhaustive);
  assert_int_equal(tune_mode_parse("2.5", &m, &err), OP_OK);
  assert_true(m.candidates && m.recall && m.keep && m.options.seconds == 2.5);
  for (const char *const *bad = (const char *const[]){"", "on", "0", "-1", "5s", "inf", "nan", "autos", NULL};
       *bad; bad++) {
    assert_int_equal(tune_mode_parse(*bad, &m, &err), OP_ERR_ENV);
    assert_non_null(strstr(error_message(&err), "expected auto, off, use, force"));
    error_clear(&err);
  }
  error_free(&err);
}

TEST(nonsense_times_are_ignored) {
  struct error err = {0};
  struct tuner *t = NULL;
  assert_int_equal(tuner_new(&t, 2, 0, &automatic, &err), OP_OK);
  tuner_record(t, 0, 0);
  tuner_record(t, 0, -1);
  tuner_record(t, 0, NAN);
  tuner_record(t, 0, INFINITY);
  tuner_record(t, 7, 1);
  assert_true(tuner_total(t) == 0);
  tuner_free(t);
}
