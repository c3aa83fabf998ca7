/* Is a dat better off in its other layout? A pure function of what the loops that use it took, with no clock of its own: all of
 * them are timed as it is, turned, and - if that was better - once more as it was, so that a machine that was busy for a
 * while is not taken for a layout. */
#ifndef OP2JIT_LAYOUT_TRIAL_H
#define OP2JIT_LAYOUT_TRIAL_H

#include <stdbool.h>

#include "base/error.h"

enum {
  LAYOUT_SAMPLES = 5, /* of a loop in each phase, the first after a turn left out */
  LAYOUT_PHASES = 3
};

struct layout_timed {
  const void *loop;
  char *variant; /* that it runs as, in all phases; owned */
  double weight, seconds[LAYOUT_PHASES][LAYOUT_SAMPLES];
  int count;
};

/* Zeroed: no loops. */
struct layout_trial {
  struct layout_timed *loops;
  int nloops, phase;
};

enum layout_verdict {
  LAYOUT_GOES_ON,
  LAYOUT_TURN,      /* turn the dat and go on */
  LAYOUT_TURN_BACK, /* it was better before: turn it, the end */
  LAYOUT_STAY,      /* the end: it is as it was */
  LAYOUT_TURN_OVER  /* the other one is better: turn it, the end */
};

/* OP_ERR_MEMORY. The weight: how often the loop runs, in any unit. */
int layout_trial_add(struct layout_trial *trial, const void *loop, const char *variant, double weight,
                     struct error *err);
void layout_trial_clear(struct layout_trial *trial);
/* The loop is gone. */
void layout_trial_forget(struct layout_trial *trial, const void *loop);

/* NULL: it has no part in it. */
const struct layout_timed *layout_trial_find(const struct layout_trial *trial, const void *loop);
/* Does the next run of the loop count? What it took, then. */
bool layout_trial_wants(const struct layout_trial *trial, const void *loop);
void layout_trial_record(struct layout_trial *trial, const void *loop, double seconds);

/* Before each run. After LAYOUT_TURN the times are those of the next phase. */
enum layout_verdict layout_trial_step(struct layout_trial *trial);
/* Is the dat turned? */
static inline bool layout_trial_is_turned(const struct layout_trial *trial) {
  return trial->phase == 1;
}
/* Seconds of a round of all loops: as it was, and turned. */
double layout_trial_before(const struct layout_trial *trial);
double layout_trial_after(const struct layout_trial *trial);
/* Median of one loop when it was turned. */
double layout_trial_median(const struct layout_trial *trial, int which);

#endif
