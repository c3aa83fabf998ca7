/* What the tuner says of itself. */
#include "tune/tune_inner.h"

int tuner_kept(const struct candidate *c) {
  return c->count < SAMPLES ? c->count : SAMPLES;
}

double tuner_median_of(const struct candidate *c) {
  return times_median(c->times, tuner_kept(c));
}

int tuner_wanted_of_few(const struct tuner *t, int candidate) {
  return candidate == t->standard ? BASE_RUNS + FIRST_ROUND : FIRST_ROUND;
}

bool tuner_is_settled(const struct tuner *t) {
  return t->settled;
}

/* Runs of each candidate in all rounds. */
static int all_rounds(void) {
  int runs = FIRST_ROUND;
  while (2 * runs <= SAMPLES)
    runs *= 2;
  return runs;
}

int tuner_left(const struct tuner *t) {
  if (t->settled || !t->options.exhaustive)
    return 0;
  int left = t->warm_up;
  const int comparing = t->comparing ? REFERENCE_RUNS - t->nfresh : 0;
  for (int i = 0; i < t->count; i++) {
    const struct candidate *c = &t->candidates[i];
    const int runs = t->few ? tuner_wanted_of_few(t, i) : all_rounds();
    const bool reference = t->comparing && i == t->reference;
    const int count = c->count + (reference ? REFERENCE_RUNS : 0);
    if (c->alive && c->usable && count < runs)
      left += runs - count + (c->cold && !reference);
  }
  left += comparing;
  return left + 1; /* it settles when it is asked once more */
}

struct tuner_progress tuner_progress(const struct tuner *t, int calls) {
  const bool few = t->few || calls < FEW_CALLS;
  const int first = few ? 1 : 1 + REFERENCE_RUNS; /* calls of a run that add nothing new */
  struct tuner_progress p = {0};
  int unfinished = 0;
  for (int i = 0; i < t->count; i++) {
    const struct candidate *c = &t->candidates[i];
    const int wanted = few ? tuner_wanted_of_few(t, i) : all_rounds();
    if (!c->usable)
      continue;
    p.candidates++;
    p.begun += c->count > 0;
    p.wanted += wanted;
    p.measured += c->count < wanted ? c->count : wanted;
    unfinished += c->count < wanted && !few;
  }
  const int missing = p.wanted - p.measured + unfinished;
  if (calls > first)
    p.runs = (missing + calls - first - 1) / (calls - first);
  return p;
}

int tuner_winner(const struct tuner *t) {
  return t->winner;
}

double tuner_median(const struct tuner *t, int candidate, int *count) {
  if (count)
    *count = t->candidates[candidate].count;
  return tuner_median_of(&t->candidates[candidate]);
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

int tuner_restarts(const struct tuner *t) {
  return t->restarts;
}
