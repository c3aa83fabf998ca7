/* What the tuner keeps; for its own files. */
#ifndef OP2JIT_TUNE_INNER_H
#define OP2JIT_TUNE_INNER_H

#include "tune/tune.h"
#include "tune/tune_times.h"

enum {
  MOST = 128, /* candidates whose times are looked at together */
  SAMPLES = TIMES_MOST,
  WARM_UP = 2,        /* runs of the default that are not counted */
  BASE_RUNS = 5,      /* runs of the default before anything is tried */
  REFERENCE_RUNS = 3, /* runs that tell how busy the machine is, compared with earlier */
  FIRST_ROUND = 3,    /* counted runs of each candidate in the first round; doubled from round to round */
  FEW_CALLS = 12      /* what a program calls less often has no time for comparisons within a run */
};
/* The drift monitor looks at the median of so many runs, and wants it slow so many times in a row, and so many seconds of the loop's
 * time: trials in a burst of other work would choose by chance. */
enum { WINDOW = SAMPLES, PATIENCE = 3 };
#define BURST 0.25

struct candidate {
  double times[SAMPLES]; /* the newest ones, a ring */
  unsigned old;          /* bit k: times[k] is of an earlier run, as long as it would take now */
  int count;             /* counted runs */
  bool cold;             /* the next run is the first: not counted */
  bool alive, usable;
};

struct tuner {
  struct tuner_options options;
  struct candidate *candidates;
  int count, standard, winner;
  int warm_up, round_runs, turn;
  bool settled;
  bool few;     /* called a few times in each run of the program: see tuner_expect */
  bool resumed; /* goes on where an earlier run ended */
  double overhead, total, settled_median;
  long long trials;
  double window[WINDOW];
  int seen, slow_windows, restarts;
  double slow; /* seconds of those windows */
  /* What earlier runs measured counts relative to the default then. `reference`, the best of it, runs first and tells what the
   * default would take now. */
  double unit;   /* seconds of the default in which that is kept until then; 0: nothing is resumed */
  double before; /* the median of the reference in that unit */
  double factor; /* by which old times have been multiplied */
  int reference, nfresh;
  bool comparing;
  double begun; /* the median of the last set of fresh ones; 0: there is none yet */
  double fresh[REFERENCE_RUNS];
};

/* How many of a candidate's times are kept, and their median. */
int tuner_kept(const struct candidate *candidate);
double tuner_median_of(const struct candidate *candidate);
/* Of a program that calls the loop a few times in a run, the default's first times may be of one run: it gets as many as the others
 * in those that follow. */
int tuner_wanted_of_few(const struct tuner *tuner, int candidate);

#endif
