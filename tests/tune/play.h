/* The tuner under a fake clock: it is told times, so every behaviour can be played through. */
#ifndef OP2JIT_TESTS_TUNE_PLAY_H
#define OP2JIT_TESTS_TUNE_PLAY_H

#include "../unit.h"
#include <stdlib.h>

#include "loop/tuner.h"

enum { MOST = 32 };

struct play {
  int count, standard, runs;
  double mean[MOST];
  double noise;    /* relative, uniform */
  double outliers; /* probability of a run that takes 50 times as long */
  unsigned seed;
  double worst_overdraft; /* overhead beyond the budget, without the last trial */
};

static inline double uniform(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (double)(1u << 24);
}

static inline double run_time(struct play *p, int candidate) {
  double t = p->mean[candidate] * (1 + p->noise * (uniform(&p->seed) - 0.5));
  if (uniform(&p->seed) < p->outliers)
    t *= 50;
  return t;
}

static inline struct tuner *play(struct play *p, const struct tuner_options *options) {
  struct error err = {0};
  struct tuner *t = NULL;
  assert_int_equal(tuner_new(&t, p->count, p->standard, options, &err), OP_OK);
  for (int run = 0; run < p->runs; run++) {
    int candidate = tuner_next(t);
    assert_in_range(candidate, 0, p->count - 1);
    double before = tuner_overhead(t);
    double allowed = options->seconds > 0 ? options->seconds : options->share * tuner_total(t);
    if (before - allowed > p->worst_overdraft)
      p->worst_overdraft = before - allowed;
    tuner_record(t, candidate, run_time(p, candidate));
  }
  return t;
}

static const struct tuner_options automatic = {.share = 0.05};

static inline struct play spread(unsigned seed) {
  struct play p = {.count = 12, .standard = 4, .runs = 20000, .noise = 0.05, .seed = seed};
  for (int i = 0; i < p.count; i++)
    p.mean[i] = 1e-3 * (1 + 0.15 * abs(i - 7));
  return p;
}

#endif
