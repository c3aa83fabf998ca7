/* Tuning of one loop: what may be spent, what an earlier run found, what this one found. The
 * same for every backend. */
#ifndef OP2JIT_LOOP_TUNE_MEMORY_H
#define OP2JIT_LOOP_TUNE_MEMORY_H

#include <stdbool.h>

#include "base/error.h"
#include "loop/crew.h"
#include "loop/place.h"
#include "loop/tuner.h"

/* ---- the value of OP2_TUNE, the same for every backend ---- */
struct tune_mode {
  bool candidates; /* more than the default are wanted */
  bool recall;     /* start at what an earlier run found */
  bool keep;       /* remember what this run finds */
  struct tuner_options options;
};

/* OP_ERR_ENV if the value is not off, use, auto, force or a number of seconds. */
int tune_mode_parse(const char *value, struct tune_mode *mode, struct error *err);

struct op_context;

struct tuning {
  struct tuner *tuner; /* NULL: one variant only */
  struct crew crew;
  struct tune_mode mode;
  bool kept; /* its outcome was remembered */
  int calls; /* of this tuner's runs */
  /* The trials that the loop's statistics have already: these go on when the loop is made anew. */
  long long told_trials;
  double told_seconds;
  /* The driver's (choose.c). */
  bool watched;   /* whether it is heavy is not known, and would make a difference */
  int begun;      /* the candidate, from 1, whose compile was begun behind the program last */
  bool behind;    /* candidates are compiled behind the program */
  bool saving;    /* the next candidate cannot be paid for yet */
  bool compiles;  /* something is compiled behind the program */
  unsigned looks; /* whether it is still so */
  bool disturbed; /* the run in hand: something was compiled meanwhile */
  bool alone;     /* the tuner has settled, and what the other candidates held is gone */
  double spent;   /* planning the candidate that is being made */
  /* On the slowest rank: planning so far; the longest compile of the loop's code. */
  double plan_seconds, code_seconds;
  /* Ranks. Since they last met: seconds of calls, and their number; how many are to be before they meet again; how long
   * meeting took this rank. */
  double unmet, met, meeting; /* meeting: the same, of the rank that waited least */
  int unmet_calls, meet_after;
};

/* Make the tuner, if the mode says so and there is something to choose from. */
int tuning_open(struct tuning *t, const struct loop *loop, struct error *err);
void tuning_free(struct tuning *t);

/* Start at what the store remembers. Ranks: the first leader's store, for all. */
int tuning_recall(struct op_context *ctx, const struct loop *loop, struct tuning *t, struct error *err);
/* After a run that the tuner was told: the loop's statistics follow; when the tuner has settled,
 * remember every measured candidate and the winner, once. */
void tuning_ran(struct op_context *ctx, struct loop *loop, struct tuning *t);
/* Half of the variants have been measured often enough to be compared. */
bool tuning_knows_enough(const struct loop *loop, const struct tuning *t);
/* The loop ends, maybe before the tuner has settled: if enough is known to choose by, the best so far is
 * remembered. With OP2_TUNE=force a loop that was called too few times for all its variants is warned of. */
void tuning_close(struct op_context *ctx, const struct loop *loop, struct tuning *t);

#endif
