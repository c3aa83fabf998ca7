/* Which candidate to run next, and when to stop trying: a pure function of the times it is told, with no clock of
 * its own.
 *
 * The default runs first. When it is known, the others are tried in rounds of successive halving: each one left
 * gets a few runs, the slower half by median goes, and more runs tell the rest apart; what is better than all
 * before runs at once. Trials are paid from a budget: what they took longer than the default would have, and what
 * preparing them cost, stays below a share of the loop's whole time. When there is no budget left the best one
 * known runs. A candidate wins over the default only by more than the noise. The choice stands until the loop is made
 * anew. */
#ifndef OP2JIT_LOOP_TUNER_H
#define OP2JIT_LOOP_TUNER_H

#include <stdbool.h>

#include "base/error.h"

struct tuner;

struct tuner_options {
  double share;    /* budget: part of the loop's time; 0: no trials */
  double seconds;  /* budget: seconds instead of a share; 0: by share */
  bool exhaustive; /* no budget: every candidate gets all its runs */
  double unknown;  /* of the best one's time, that one which nobody ran may take longer; 0: twice its time */
  int base;        /* runs of the default before anything is tried, 0: as many as are usual */
  bool hasty;      /* what is not better in its first runs is dropped: each run takes long */
};

/* `count` candidates, of which number `standard` is the default. OP_ERR_MEMORY. */
int tuner_new(struct tuner **out, int count, int standard, const struct tuner_options *options,
              struct error *err);
void tuner_free(struct tuner *tuner);

/* The candidate for the next run. */
int tuner_next(struct tuner *tuner);
/* The next trial cannot be paid for yet: the best one known runs until it can. */
bool tuner_is_saving(const struct tuner *tuner);
/* A run of it took so long. Times that are not positive numbers are ignored. */
void tuner_record(struct tuner *tuner, int candidate, double seconds);
/* A run whose time says nothing, because something else was going on: it counts for the budget only. */
void tuner_pass(struct tuner *tuner, double seconds);
/* It cannot be used (it does not compile): never again. The default must not be rejected. */
void tuner_reject(struct tuner *tuner, int candidate);
/* Preparing it (compiling, planning) took so long: counts against the budget. */
void tuner_paid(struct tuner *tuner, double seconds);
/* The budget allows to prepare a candidate at this expected cost. */
bool tuner_can_pay(const struct tuner *tuner, double seconds);
/* Seconds that the loop still has to run before it does; INFINITY: never. */
double tuner_until(const struct tuner *tuner, double seconds);
/* Start from what an earlier run found: the winner is used at once, and nothing is tried. */
void tuner_settle(struct tuner *tuner, int winner);
/* Or go on where an earlier run ended before its choice: so many runs of the candidate took that part of the default's
 * time there. It counts once the default's time is known here. Right after tuner_new. */
void tuner_recall_part(struct tuner *tuner, int candidate, double part, int runs);
/* The same in seconds: it counts at once. */
void tuner_recall(struct tuner *tuner, int candidate, double median, int count);

/* It takes no part for now: what the others are is decided without it. It must not be the winner. */
void tuner_postpone(struct tuner *tuner, int candidate);
/* Once it has settled: compare one that was postponed with the winner. `warm`: its first run counts. */
void tuner_challenge(struct tuner *tuner, int candidate, bool warm);
/* It was postponed, and nobody knows yet how it is. */
bool tuner_is_later(const struct tuner *tuner, int candidate);

bool tuner_is_settled(const struct tuner *tuner);
/* With `exhaustive` the number of runs until it settles; else 0. */
int tuner_left(const struct tuner *tuner);
int tuner_winner(const struct tuner *tuner);                               /* the best known so far */
double tuner_median(const struct tuner *tuner, int candidate, int *count); /* 0 if it was never measured */
double tuner_beside(const struct tuner *tuner,
                    int candidate); /* the default's median at that time; 0: likewise */
double tuner_spread(const struct tuner *tuner, int candidate); /* times_spread */
bool tuner_rejected(const struct tuner *tuner, int candidate);
long long tuner_trials(const struct tuner *tuner);
double tuner_overhead(const struct tuner *tuner); /* seconds */
double tuner_total(const struct tuner *tuner);    /* seconds of all runs */

/* ---- times that were measured of one thing ---- */
enum { TIMES_MOST = 16 }; /* that are looked at together */

void times_sort(double *values, int count);
double times_median(const double *values, int count); /* 0 of none */
/* Half the spread of the middle half, relative to the median; 0 of fewer than three. */
double times_spread(const double *values, int count);

#endif
