/* How many threads the runs of a loop over few elements get: one, or as many as pay by a model (team.h), which may be
 * wrong. So the two take turns (duel.h): in the first runs, and ever more seldom later, when that has cost at most a
 * fiftieth of the loop's time, for what is better also depends on what else the machine does. Results have the same bits either way: the pieces of a plan stay, and only
 * who runs them changes. So it needs no trials, holds with OP2_TUNE=off, and is nothing to be remembered. A pure
 * function of the times it is told. */
#ifndef OP2JIT_CREW_H
#define OP2JIT_CREW_H

#include <limits.h>
#include <math.h>

#include "tune/duel.h"

struct crew {
  struct duel duel;
  int many;          /* threads of those that are several; 0: nothing is to be decided */
  bool one;          /* one is better, as far as is known */
  double on_one;     /* seconds of a run on one, as measured; 0: not yet */
  long runs, ask_at; /* so far; and when to call crew_ask at the soonest */
  double total, spent,
      lost; /* seconds of all runs; of this comparison; and of earlier ones what the slower side took longer */
  int duels; /* comparisons that are over */
};

/* Another look, from what the earlier ones left of its share of all runs. */
static inline bool crew_can_pay(const struct crew *crew) {
  const double share = 0.02;
  return crew->lost <= share * crew->total;
}
/* Before a run: is crew_ask to be called? */
static inline bool crew_asks(const struct crew *crew) {
  return crew->runs >= crew->ask_at && !crew->duel.on && crew_can_pay(crew);
}
/* What the model says now: how many several are best (0: nothing is to be decided, ever), and whether one is better.
 * The first call is the guess for the first runs, every other one begins a comparison. */
void crew_ask(struct crew *crew, int many, bool one);
/* Threads for the next run; 0: all that the plan has. */
static inline int crew_threads(const struct crew *crew) {
  const bool one = crew->duel.on ? duel_next(&crew->duel) == DUEL_ONE : crew->one;
  return one && crew->many > 0 ? 1 : crew->many;
}
/* Of a comparison that is on. */
void crew_compare(struct crew *crew, double seconds);
/* A run on these took so long. */
static inline void crew_ran(struct crew *crew, double seconds) {
  if (crew->many == 0 || !(seconds > 0) || !isfinite(seconds))
    return;
  crew->runs += crew->runs < LONG_MAX;
  crew->total += seconds;
  if (crew->duel.on)
    crew_compare(crew, seconds);
}

#endif
