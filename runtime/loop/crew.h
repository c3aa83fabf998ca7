/* The number of threads of a loop's runs: one, or as many as pay by a model (team.h), which may be wrong. So the two
 * are compared in turns: in the first runs if a comparison costs next to nothing, else as soon as it costs a fiftieth of
 * the loop's time. Later comparisons are ever more seldom, since what else the machine does counts, too. Results have
 * the same bits either way: the pieces of a plan stay, and only who runs them changes. So a crew needs no trials, holds
 * with OP2_TUNE=off, and is not remembered. A pure function of the times it is told. */
#ifndef OP2JIT_LOOP_CREW_H
#define OP2JIT_LOOP_CREW_H

#include <limits.h>
#include <math.h>
#include <stdbool.h>

enum crew_side { CREW_MANY, CREW_ONE, CREW_SIDES };
/* Counted runs of a side; before each comes one that is not counted, as its data lie in other caches. */
enum { CREW_TIMES = 4, CREW_RUNS = 2 * CREW_SIDES * CREW_TIMES };

struct crew {
  int many;      /* threads of those that are several; 0: nothing is to be decided */
  bool one;      /* one is better, as far as is known */
  bool compares; /* a comparison is on */
  int compared;  /* its runs so far: two of a side in turn */
  double times[CREW_SIDES][CREW_TIMES];
  double seconds[CREW_SIDES]; /* of a run, by the last comparison; 0: not known */
  long runs, ask_at;          /* so far; crew_ask is not called sooner */
  double total, spent;        /* seconds of all runs; of this comparison */
  double lost;                /* seconds that the slower sides of earlier comparisons took longer */
  int comparisons;            /* that are over */
};

/* One more comparison costs little, though one thread may take as long as all of them one after the other, twice. */
static inline bool crew_can_pay(const struct crew *crew) {
  const double share = 0.02, nothing = 1e-3;
  const double cost = crew->runs ? 2 * crew->many * crew->total / (double)crew->runs : 0;
  return crew->lost <= share * crew->total && cost <= fmax(nothing, share * crew->total);
}
/* Before a run: is crew_ask to be called? */
static inline bool crew_asks(const struct crew *crew) {
  return crew->runs >= crew->ask_at && !crew->compares && crew_can_pay(crew);
}
/* Tell the model's opinion: how many threads, of several, are best (0: nothing is to be decided, ever), and whether
 * one is better. The first call is the guess for the first runs, every other one begins a comparison. */
void crew_ask(struct crew *crew, int many, bool one);
/* Threads for the next run; 0: all that the plan has. */
static inline int crew_threads(const struct crew *crew) {
  const bool one = crew->compares ? crew->compared / 2 % CREW_SIDES == CREW_ONE : crew->one;
  return one && crew->many > 0 ? 1 : crew->many;
}
/* A run of a comparison. */
void crew_compare(struct crew *crew, double seconds);
/* A run on these took so long. */
static inline void crew_ran(struct crew *crew, double seconds) {
  if (crew->many == 0 || !(seconds > 0) || !isfinite(seconds))
    return;
  crew->runs += crew->runs < LONG_MAX;
  crew->total += seconds;
  if (crew->compares)
    crew_compare(crew, seconds);
}

#endif
