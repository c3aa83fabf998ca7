#include "tune/tune.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "tune/tune_inner.h"

/* What two medians must differ by to be different, at least. */
#define NOISE 0.02
/* Runs that are by less than this quicker than those before are so by chance. */
#define STEADY 0.9
/* However noisy the machine, what takes half the default's time is better. */
#define MOST_NOISE 0.5
/* What the least times of several runs differ by, whatever the machine was doing. */
#define NOISE_OF_RUNS 0.1
/* So many runs that all took so much longer than the best candidate's usual one are enough to drop a candidate. */
enum { HOPELESS_RUNS = 2 };
#define HOPELESS 1.5

static double spread(const struct candidate *c) {
  return times_spread(c->times, tuner_kept(c));
}

/* What runs usually differ by: of a candidate that ran three times it may be anything. */
static double usual_spread(const struct tuner *t) {
  double spreads[MOST] = {0};
  int n = 0;
  for (int i = 0; i < t->count && n < MOST; i++)
    if (t->candidates[i].count >= 3)
      spreads[n++] = spread(&t->candidates[i]);
  times_sort(spreads, n);
  return n ? spreads[n / 2] : 0;
}

/* How far a median can be believed. */
static double noise(const struct tuner *t, const struct candidate *c) {
  const int n = tuner_kept(c);
  return n ? fmax(spread(c), usual_spread(t)) / sqrt((double)n) : 0;
}

int tuner_new(struct tuner **out, int count, int standard, const struct tuner_options *options,
              struct error *err) {
  struct tuner *t = calloc(1, sizeof *t);
  struct candidate *candidates = array_new((size_t)count, sizeof *candidates);
  if (!t || !candidates) {
    free(t);
    free(candidates);
    return error_memory(err, "the tuner", (size_t)count * sizeof *candidates);
  }
  *t = (struct tuner){.options = *options,
                      .candidates = candidates,
                      .count = count,
                      .standard = standard,
                      .winner = standard,
                      .warm_up = WARM_UP,
                      .round_runs = FIRST_ROUND};
  for (int i = 0; i < count; i++)
    candidates[i] = (struct candidate){.alive = true, .usable = true, .cold = i != standard};
  bool no_trials = !options->exhaustive && options->share <= 0 && options->seconds <= 0;
  if (count < 2 || no_trials)
    tuner_settle(t, standard, 0);
  *out = t;
  return OP_OK;
}

void tuner_free(struct tuner *t) {
  if (!t)
    return;
  free(t->candidates);
  free(t);
}

void tuner_settle(struct tuner *t, int winner, double known_median) {
  t->winner = winner;
  t->settled = true;
  t->settled_median = known_median;
  t->seen = 0;
  t->slow_windows = 0;
}

void tuner_expect(struct tuner *t, double calls) {
  if (t->settled || !t->options.exhaustive || !(calls >= 2 && calls < FEW_CALLS))
    return;
  t->few = true;
  t->warm_up = 1;
  for (int i = 0; i < t->count; i++)
    t->candidates[i].cold = false;
}

void tuner_resume(struct tuner *t, int candidate, double known_median, double baseline, int count) {
  struct candidate *c = &t->candidates[candidate];
  if (!(known_median > 0) || !isfinite(known_median) || !(baseline > 0) || !isfinite(baseline) || count <= 0)
    return;
  if (t->unit <= 0)
    t->unit = baseline;
  for (int i = 0; i < count && i < SAMPLES; i++)
    c->times[i] = known_median / baseline * t->unit;
  c->old = count < SAMPLES ? (1U << count) - 1 : (1U << SAMPLES) - 1;
  c->count = count;
  t->total += count * known_median;
}

/* ---- the budget ---- */

static double budget(const struct tuner *t) {
  return t->options.seconds > 0 ? t->options.seconds : t->options.share * t->total;
}

bool tuner_can_pay(const struct tuner *t, double seconds) {
  return t->options.exhaustive || t->overhead + seconds <= budget(t);
}

void tuner_paid(struct tuner *t, double seconds) {
  if (seconds > 0)
    t->overhead += seconds;
}

/* What one more run is expected to cost beyond the best one known: an unknown candidate may take three times as long. */
static double expected_cost(const struct tuner *t, const struct candidate *c) {
  double best = tuner_median_of(&t->candidates[t->winner]);
  return c->count ? fmax(0, tuner_median_of(c) - best) : 2 * best;
}

/* ---- rounds ---- */

static bool needs_runs(const struct tuner *t, int candidate) {
  const struct candidate *c = &t->candidates[candidate];
  return c->alive && c->usable && c->count < (t->few ? tuner_wanted_of_few(t, candidate) : t->round_runs);
}

static void choose_winner(struct tuner *t) {
  const struct candidate *standard = &t->candidates[t->standard];
  int best = t->standard;
  for (int i = 0; i < t->count; i++) {
    const struct candidate *c = &t->candidates[i];
    if (c->usable && c->count >= FIRST_ROUND && tuner_median_of(c) < tuner_median_of(&t->candidates[best]))
      best = i;
  }
  /* The default stays unless something is better by more than what noise can do. */
  const double least = t->few ? NOISE_OF_RUNS : NOISE;
  const double margin =
      fmin(MOST_NOISE, fmax(least, 2 * (noise(t, standard) + noise(t, &t->candidates[best]))));
  if (tuner_median_of(&t->candidates[best]) > (1 - margin) * tuner_median_of(standard))
    best = t->standard;
  t->winner = best;
}

static bool is_hopeless(const struct tuner *t, const struct candidate *c) {
  if (t->options.exhaustive || c->count != HOPELESS_RUNS)
    return false;
  double least = fmin(c->times[0], c->times[1]);
  return least > HOPELESS * tuner_median_of(&t->candidates[t->winner]);
}

static int alive(const struct tuner *t) {
  int n = 0;
  for (int i = 0; i < t->count; i++)
    n += t->candidates[i].alive && t->candidates[i].usable;
  return n;
}

/* Keep the faster half, and never the ones that are slower than the best by more than the noise of both several times. */
static void end_round(struct tuner *t) {
  double medians[MOST] = {0}, cut = INFINITY;
  int n = 0;
  for (int i = 0; i < t->count && n < MOST; i++)
    if (t->candidates[i].alive && t->candidates[i].usable)
      medians[n++] = tuner_median_of(&t->candidates[i]);
  times_sort(medians, n);
  if (n > 0)
    cut = medians[(n - 1) / 2];
  choose_winner(t);
  double best = n > 0 ? medians[0] : 0;
  bool apart = false;
  for (int i = 0; i < t->count; i++) {
    struct candidate *c = &t->candidates[i];
    if (c->alive && c->usable && tuner_median_of(c) > cut && !t->options.exhaustive)
      c->alive = false;
    if (c->alive && c->usable && tuner_median_of(c) > best * (1 + fmax(NOISE, 2 * noise(t, c))))
      apart = true;
  }
  t->round_runs *= 2;
  /* Those that are left differ by less than the noise, or have all the runs that are kept. */
  if (alive(t) < 2 || (!apart && !t->options.exhaustive) || t->round_runs > SAMPLES || t->few)
    tuner_settle(t, t->winner, tuner_median_of(&t->candidates[t->winner]));
}

/* Without the default there is nothing to compare with. */
static void forget_all(struct tuner *t) {
  for (int i = 0; i < t->count; i++) {
    t->candidates[i].count = 0;
    t->candidates[i].old = 0;
  }
  t->unit = t->total = 0;
}

void tuner_resumed(struct tuner *t) {
  if (t->settled || t->unit <= 0)
    return;
  if (t->candidates[t->standard].count == 0) {
    forget_all(t);
    return;
  }
  t->resumed = true;
  choose_winner(t);
  if (t->few)
    return;
  t->reference = t->winner;
  t->comparing = true;
  t->warm_up = 1;
  const double best = tuner_median_of(&t->candidates[t->winner]);
  for (int i = 0; i < t->count; i++) {
    struct candidate *c = &t->candidates[i];
    if (i == t->standard || i == t->winner || c->count == 0)
      continue;
    /* So many runs are no trials: it was the best known for a while. */
    const int trials = c->count > SAMPLES ? FIRST_ROUND : c->count;
    t->overhead += trials * fmax(0, tuner_median_of(c) - best);
    if (is_hopeless(t, c))
      c->alive = false;
  }
}

/* A time of this run. */
static void add_time(struct candidate *c, double seconds) {
  if (c->count == INT_MAX) /* a multiple of the ring's length: the slots go on in their order */
    c->count -= SAMPLES;
  const int slot = c->count++ % SAMPLES;
  c->times[slot] = seconds;
  c->old &= ~(1U << slot);
}

/* Runs of the program differ by what else the machine does, which only takes time: the least of them counts. */
static void add_least(struct candidate *c, double seconds) {
  const double least = c->count ? fmin(tuner_median_of(c), seconds) : seconds;
  c->count++;
  for (int k = 0; k < tuner_kept(c); k++)
    c->times[k] = least;
}

/* The machine may be busier now, or less so, than when the others were measured: all old times as long as they would take now.
 * Again with each run of the reference, for a program's first runs are slow: what they say must not stay with the
 * others when the reference itself has become quicker. */
static void follow_reference(struct tuner *t) {
  const struct candidate *reference = &t->candidates[t->reference];
  double now[SAMPLES];
  int n = 0;
  for (int k = 0; k < tuner_kept(reference); k++)
    if (!(reference->old >> k & 1))
      now[n++] = reference->times[k];
  const double factor = times_median(now, n) / t->before, change = factor / t->factor;
  for (int i = 0; i < t->count; i++)
    for (int k = 0; k < SAMPLES; k++)
      if (t->candidates[i].old >> k & 1)
        t->candidates[i].times[k] *= change;
  t->factor = factor;
}

static void end_comparison(struct tuner *t) {
  struct candidate *reference = &t->candidates[t->reference];
  t->before = tuner_median_of(reference);
  t->factor = 1;
  for (int k = 0; k < REFERENCE_RUNS; k++)
    add_time(reference, t->fresh[k]);
  follow_reference(t);
  reference->cold = false;
  t->comparing = false;
}

static void compare(struct tuner *t, int candidate, double seconds) {
  if (candidate != t->reference)
    return;
  t->fresh[t->nfresh++] = seconds;
  if (t->nfresh < REFERENCE_RUNS)
    return;
  /* A program's first runs are slow: until it gets no quicker. Not where runs are counted in advance. */
  const double now = times_median(t->fresh, REFERENCE_RUNS), earlier = t->begun;
  t->begun = now;
  t->nfresh = 0;
  if (t->options.exhaustive || (earlier > 0 && now > STEADY * earlier))
    end_comparison(t);
}

int tuner_next(struct tuner *t) {
  if (t->settled)
    return t->winner;
  if (t->comparing)
    return t->reference;
  const struct candidate *standard = &t->candidates[t->standard];
  if (t->few ? standard->count == 0 : t->warm_up > 0 || standard->count < BASE_RUNS)
    return t->standard;
  for (int tries = 0; tries < t->count; tries++) {
    int i = (t->turn + tries) % t->count;
    const struct candidate *c = &t->candidates[i];
    if (!needs_runs(t, i))
      continue;
    t->turn = i;
    return tuner_can_pay(t, expected_cost(t, c)) ? i : t->winner;
  }
  end_round(t);
  return t->settled ? t->winner : tuner_next(t);
}

/* ---- what was measured ---- */

static void watch_drift(struct tuner *t, double seconds) {
  if (t->options.drift <= 0)
    return;
  t->window[t->seen] = seconds;
  t->seen = (t->seen + 1) % WINDOW;
  if (t->seen != 0)
    return;
  double now = times_median(t->window, WINDOW);
  /* What was measured on a busy machine is no measure for a quiet one. */
  if (t->settled_median <= 0 || now < t->settled_median)
    t->settled_median = now;
  const bool is_slow = now > t->options.drift * t->settled_median;
  t->slow_windows = is_slow ? t->slow_windows + 1 : 0;
  t->slow = is_slow ? t->slow + WINDOW * now : 0;
  if (t->slow_windows < PATIENCE || t->slow < BURST)
    return;
  for (int i = 0; i < t->count; i++)
    t->candidates[i] =
        (struct candidate){.alive = true, .usable = t->candidates[i].usable, .cold = i != t->standard};
  t->settled = false;
  t->before = 0;
  t->round_runs = FIRST_ROUND;
  t->slow_windows = 0;
  t->slow = 0;
  t->restarts++;
}

void tuner_record(struct tuner *t, int candidate, double seconds) {
  if (!(seconds > 0) || !isfinite(seconds) || candidate < 0 || candidate >= t->count)
    return;
  struct candidate *c = &t->candidates[candidate];
  t->total += seconds;
  if (t->settled) {
    watch_drift(t, seconds);
    return;
  }
  if (t->warm_up > 0) {
    t->warm_up--;
    return;
  }
  if (t->comparing) {
    compare(t, candidate, seconds);
    return;
  }
  bool trial = candidate != t->standard && candidate != t->winner;
  double best = tuner_median_of(&t->candidates[t->winner]);
  if (trial) {
    t->trials++;
    t->overhead += fmax(0, seconds - best);
  }
  if (c->cold) {
    c->cold = false;
    return;
  }
  if (t->few) {
    add_least(c, seconds);
    return;
  }
  add_time(c, seconds);
  if (t->before > 0 && candidate == t->reference)
    follow_reference(t);
  if (trial && is_hopeless(t, c))
    c->alive = false;
  /* In the first round one is brought to its end before the next is prepared, and runs from then on if it is better: a
   * program that ends soon shall gain too. Later rounds take turns, so that what disturbs the machine disturbs all; but one after
   * another where each run of the program is to measure everything, and would spend itself on first runs. */
  if (t->round_runs == FIRST_ROUND && c->count == FIRST_ROUND && trial)
    choose_winner(t);
  if (t->round_runs > FIRST_ROUND && !(t->resumed && t->options.exhaustive))
    t->turn = (candidate + 1) % t->count;
}

void tuner_pass(struct tuner *t, double seconds) {
  if (seconds > 0 && isfinite(seconds))
    t->total += seconds;
}

void tuner_reject(struct tuner *t, int candidate) {
  if (candidate == t->standard)
    return;
  t->candidates[candidate].usable = false;
  if (t->winner == candidate) {
    t->winner = t->reference = t->standard;
    t->nfresh = 0;
    t->before = t->begun = 0;
    t->settled = alive(t) < 2;
  }
}
