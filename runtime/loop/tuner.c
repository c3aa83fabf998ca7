#include "loop/tuner.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* The least difference of two medians that counts. */
#define NOISE 0.02
/* However noisy the machine, what takes half the default's time is better. */
#define MOST_NOISE 0.5
/* One or two first runs of so many times the best candidate's usual one drop a candidate; and where that is hasty. */
enum { HOPELESS_RUNS = 2 };
static const double hopeless[][HOPELESS_RUNS] = {{INFINITY, 1.5}, {1.1, 1}};

enum {
  MOST = 128, /* candidates whose times are looked at together */
  SAMPLES = TIMES_MOST,
  WARM_UP = 2,     /* runs of the default that are not counted */
  BASE_RUNS = 5,   /* runs of the default before anything is tried */
  FIRST_ROUND = 3, /* counted runs of each candidate in the first round; doubled from round to round */
  ALL_ROUNDS = 4 * FIRST_ROUND /* the same in all rounds: no more than are looked at */
};
struct candidate {
  double times[SAMPLES]; /* the newest ones, a ring */
  double median;         /* of them; 0: none */
  int count;             /* counted runs */
  double beside;         /* the default's median when the newest time came */
  double part;           /* of the default's time, in an earlier run; 0: not known */
  int part_runs;
  bool cold; /* the next run is the first: not counted */
  bool alive, usable;
  bool later; /* it is not compared before somebody asks for it */
};

struct tuner {
  struct tuner_options options;
  struct candidate *candidates;
  int count, standard, winner;
  int warm_up, round_runs, turn;
  bool settled;
  double overhead, total;
  long long trials;
};

/* ---- times ---- */

/* They are few, and mostly in order. */
void times_sort(double *values, int count) {
  for (int i = 1; i < count; i++) {
    const double value = values[i];
    int at = i;
    for (; at > 0 && values[at - 1] > value; at--)
      values[at] = values[at - 1];
    values[at] = value;
  }
}

double times_median(const double *values, int count) {
  double sorted[TIMES_MOST];
  if (count == 0)
    return 0;
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  times_sort(sorted, count);
  return count % 2 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]);
}

double times_spread(const double *values, int count) {
  double sorted[TIMES_MOST];
  const double middle = times_median(values, count);
  if (count < 3 || middle <= 0)
    return 0;
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  times_sort(sorted, count);
  return 0.5 * (sorted[(3 * count) / 4] - sorted[count / 4]) / middle;
}

static int kept(const struct candidate *c) {
  return c->count < SAMPLES ? c->count : SAMPLES;
}

static int base_runs(const struct tuner *t) {
  return t->options.base > 0 ? t->options.base : BASE_RUNS;
}

static double spread(const struct candidate *c) {
  return times_spread(c->times, kept(c));
}

/* The usual spread of runs: three runs of one candidate say nothing about it. */
static double usual_spread(const struct tuner *t) {
  double spreads[MOST] = {0};
  int n = 0;
  for (int i = 0; i < t->count && n < MOST; i++)
    if (t->candidates[i].count >= 3)
      spreads[n++] = spread(&t->candidates[i]);
  times_sort(spreads, n);
  return n ? spreads[n / 2] : 0;
}

/* The error of a median. */
static double noise(const struct tuner *t, const struct candidate *c) {
  const int n = kept(c);
  return n ? fmax(spread(c), usual_spread(t)) / sqrt((double)n) : 0;
}

static bool may_try(const struct tuner *t) {
  return t->options.exhaustive || t->options.share > 0 || t->options.seconds > 0;
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
                      .warm_up = options->base > 0 ? 1 : WARM_UP,
                      .round_runs = FIRST_ROUND};
  for (int i = 0; i < count; i++)
    candidates[i] = (struct candidate){.alive = true, .usable = true, .cold = i != standard};
  if (count < 2 || !may_try(t))
    tuner_settle(t, standard);
  *out = t;
  return OP_OK;
}

void tuner_free(struct tuner *t) {
  if (!t)
    return;
  free(t->candidates);
  free(t);
}

void tuner_settle(struct tuner *t, int winner) {
  t->winner = winner;
  t->settled = true;
}

/* ---- the budget ---- */

static double budget(const struct tuner *t) {
  return t->options.seconds > 0 ? t->options.seconds : t->options.share * t->total;
}

bool tuner_can_pay(const struct tuner *t, double seconds) {
  return t->options.exhaustive || t->overhead + seconds <= budget(t);
}

double tuner_until(const struct tuner *t, double seconds) {
  if (tuner_can_pay(t, seconds))
    return 0;
  return t->options.share > 0 ? (t->overhead + seconds) / t->options.share - t->total : INFINITY;
}

void tuner_paid(struct tuner *t, double seconds) {
  if (seconds > 0)
    t->overhead += seconds;
}

/* The expected cost of one more run beyond the best one known: an unknown candidate may take three times as long. One
 * of few runs may have been disturbed. */
static double expected_cost(const struct tuner *t, const struct candidate *c) {
  double best = t->candidates[t->winner].median;
  const double unknown = t->options.unknown > 0 ? t->options.unknown : 2;
  double least = c->median;
  for (int i = 0; i < c->count && c->count < FIRST_ROUND; i++)
    least = fmin(least, c->times[i]);
  const double known = fmax(0, least - best);
  return c->count >= FIRST_ROUND ? known : c->count ? fmin(known, unknown * best) : unknown * best;
}

/* ---- rounds ---- */

static bool needs_runs(const struct tuner *t, int candidate) {
  const struct candidate *c = &t->candidates[candidate];
  return c->alive && c->usable && c->count < t->round_runs;
}

static void choose_winner(struct tuner *t) {
  const int usual =
      t->candidates[t->standard].count ? t->standard : t->winner; /* an earlier run may have known */
  const struct candidate *standard = &t->candidates[usual];
  int best = usual;
  for (int i = 0; i < t->count; i++) {
    const struct candidate *c = &t->candidates[i];
    if (c->usable && c->count >= FIRST_ROUND && c->median < t->candidates[best].median)
      best = i;
  }
  /* The default stays unless something is better by more than what noise can do. */
  const double margin =
      fmin(MOST_NOISE, fmax(NOISE, 2 * (noise(t, standard) + noise(t, &t->candidates[best]))));
  if (t->candidates[best].median > (1 - margin) * standard->median)
    best = usual;
  t->winner = best;
}

static bool is_hopeless(const struct tuner *t, const struct candidate *c) {
  if (t->options.exhaustive || c->count < 1 || c->count > HOPELESS_RUNS)
    return false;
  const double least = fmin(c->times[0], c->times[c->count - 1]);
  return least > hopeless[t->options.hasty][c->count - 1] * t->candidates[t->winner].median;
}

static int alive(const struct tuner *t) {
  int n = 0;
  for (int i = 0; i < t->count; i++)
    n += t->candidates[i].alive && t->candidates[i].usable;
  return n;
}

/* Keep the faster half, and never the ones that are slower than the best by more than the noise of both several
 * times. */
static void end_round(struct tuner *t) {
  double medians[MOST] = {0}, cut = INFINITY;
  int n = 0;
  for (int i = 0; i < t->count && n < MOST; i++)
    if (t->candidates[i].alive && t->candidates[i].usable)
      medians[n++] = t->candidates[i].median;
  times_sort(medians, n);
  if (n > 0)
    cut = medians[(n - 1) / 2];
  choose_winner(t);
  double best = n > 0 ? medians[0] : 0;
  bool apart = false;
  for (int i = 0; i < t->count; i++) {
    struct candidate *c = &t->candidates[i];
    if (c->alive && c->usable && c->median > cut && !t->options.exhaustive)
      c->alive = false;
    if (c->alive && c->usable && c->median > best * (1 + fmax(NOISE, 2 * noise(t, c))))
      apart = true;
  }
  t->round_runs *= 2;
  /* The rest differ by less than the noise, or have all the runs that are kept. */
  if (alive(t) < 2 || (!apart && !t->options.exhaustive) || t->round_runs > SAMPLES)
    tuner_settle(t, t->winner);
}

/* After many runs the median is found only when all kept times are new: finding it takes as long as a small loop. */
static void add_time(const struct tuner *t, struct candidate *c, double seconds) {
  if (c->count == INT_MAX) /* a multiple of the ring's length: the slots go on in their order */
    c->count -= SAMPLES;
  c->times[c->count++ % SAMPLES] = seconds;
  if (c->count <= SAMPLES || c->count % SAMPLES == 0)
    c->median = times_median(c->times, kept(c));
  c->beside = t->candidates[t->standard].median;
}

void tuner_recall_part(struct tuner *t, int candidate, double part, int runs) {
  struct candidate *c = &t->candidates[candidate];
  if (candidate != t->standard && part > 0 && isfinite(part) && runs > 0) {
    c->part = part;
    c->part_runs = runs < SAMPLES ? runs : SAMPLES;
  }
}

/* As if those runs had been here. */
static void take_recalled(struct tuner *t) {
  const double usual = t->candidates[t->standard].median;
  bool any = false;
  for (int i = 0; i < t->count; i++) {
    struct candidate *c = &t->candidates[i];
    for (int run = 0; c->part > 0 && run < c->part_runs; run++)
      add_time(t, c, c->part * usual);
    any |= c->part > 0;
    c->cold &= c->part <= 0;
    c->part = 0;
  }
  if (!any)
    return;
  choose_winner(t);
  for (int i = 0; i < t->count; i++)
    if (t->candidates[i].median > hopeless[t->options.hasty][1] * t->candidates[t->winner].median)
      t->candidates[i].alive &= i == t->standard;
}

bool tuner_is_saving(const struct tuner *t) {
  if (t->settled || t->warm_up > 0 || t->candidates[t->standard].count < base_runs(t))
    return false;
  for (int tries = 0; tries < t->count; tries++) {
    const int i = (t->turn + tries) % t->count;
    if (needs_runs(t, i))
      return !tuner_can_pay(t, expected_cost(t, &t->candidates[i]));
  }
  return false;
}

int tuner_next(struct tuner *t) {
  if (t->settled)
    return t->winner;
  const struct candidate *standard = &t->candidates[t->standard];
  if (standard->alive && (t->warm_up > 0 || standard->count < base_runs(t)))
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

void tuner_record(struct tuner *t, int candidate, double seconds) {
  if (!(seconds > 0) || !isfinite(seconds) || candidate < 0 || candidate >= t->count)
    return;
  struct candidate *c = &t->candidates[candidate];
  t->total += seconds;
  if (t->settled)
    return;
  if (t->warm_up > 0) {
    t->warm_up--;
    return;
  }
  bool trial = candidate != t->standard && candidate != t->winner;
  double best = t->candidates[t->winner].median;
  if (trial) {
    t->trials++;
    t->overhead += fmax(0, seconds - best);
  }
  if (c->cold) {
    c->cold = false;
    return;
  }
  add_time(t, c, seconds);
  if (candidate == t->standard && c->count == BASE_RUNS)
    take_recalled(t);
  if (trial && is_hopeless(t, c))
    c->alive = false;
  /* In the first round one is brought to its end before the next is prepared, and runs from then on if it is better: a
   * program that ends soon shall gain too. Later rounds take turns, so that what disturbs the machine disturbs all. */
  if (t->round_runs == FIRST_ROUND && c->count == FIRST_ROUND && trial)
    choose_winner(t);
  if (t->round_runs > FIRST_ROUND)
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
    t->winner = t->standard;
    t->settled = alive(t) < 2;
  }
}

void tuner_recall(struct tuner *t, int candidate, double median, int count) {
  struct candidate *c = &t->candidates[candidate];
  if (t->settled || !(median > 0) || !isfinite(median))
    return;
  const int most = candidate == t->standard ? base_runs(t) : FIRST_ROUND;
  while (c->count < most && count-- > 0)
    add_time(t, c, median);
  c->cold = false;
  c->later &= c->count < FIRST_ROUND;
  choose_winner(t);
}

void tuner_postpone(struct tuner *t, int candidate) {
  t->candidates[candidate].later = true;
  t->candidates[candidate].alive = false;
}

void tuner_challenge(struct tuner *t, int candidate, bool warm) {
  for (int i = 0; i < t->count; i++)
    t->candidates[i].alive = i == candidate || i == t->winner;
  t->candidates[candidate].later = false;
  t->candidates[candidate].cold &= !warm;
  t->settled = false;
  t->round_runs = FIRST_ROUND;
  t->turn = candidate;
  t->warm_up = 0;
}

bool tuner_is_later(const struct tuner *t, int candidate) {
  return t->candidates[candidate].later && t->candidates[candidate].usable;
}

/* ---- what it knows ---- */

bool tuner_is_settled(const struct tuner *t) {
  return t->settled;
}

int tuner_left(const struct tuner *t) {
  if (t->settled || !t->options.exhaustive)
    return 0;
  int left = t->warm_up;
  for (int i = 0; i < t->count; i++) {
    const struct candidate *c = &t->candidates[i];
    if (c->alive && c->usable && c->count < ALL_ROUNDS)
      left += ALL_ROUNDS - c->count + c->cold;
  }
  return left + 1; /* it settles when it is asked once more */
}

int tuner_winner(const struct tuner *t) {
  return t->winner;
}

double tuner_median(const struct tuner *t, int candidate, int *count) {
  if (count)
    *count = t->candidates[candidate].count;
  return t->candidates[candidate].median;
}

double tuner_beside(const struct tuner *t, int candidate) {
  return t->candidates[candidate].beside;
}

double tuner_spread(const struct tuner *t, int candidate) {
  return spread(&t->candidates[candidate]);
}

bool tuner_rejected(const struct tuner *t, int candidate) {
  return !t->candidates[candidate].usable;
}

long long tuner_trials(const struct tuner *t) {
  return t->trials;
}

double tuner_overhead(const struct tuner *t) {
  return t->overhead;
}

double tuner_total(const struct tuner *t) {
  return t->total;
}
