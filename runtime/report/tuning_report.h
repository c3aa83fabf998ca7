/* What a run with OP2_TUNE=force says at its end: which loops are tuned, and how far the others are, in the order of their first
 * calls. */
#ifndef OP2JIT_TUNING_REPORT_H
#define OP2JIT_TUNING_REPORT_H

#include <stddef.h>

#include "tune/tune.h"
#include "tune/tuning_place.h"

struct op_context;
struct tuning_report;

enum tuning_state {
  TUNING_DONE,       /* one is chosen */
  TUNING_UNFINISHED, /* measurements are missing */
  TUNING_ONCE,       /* called only once: there is nothing to win */
  TUNING_ONLY,       /* one variant only: nothing to choose from */
  TUNING_STATES
};

struct tuning_note {
  const char *loop;
  size_t order; /* of the first call */
  enum tuning_state state;
  int calls, left;                /* in this run, and how many more it would have taken */
  struct tuner_progress progress; /* TUNING_UNFINISHED */
};

/* A loop ends. Of several of one place, or of one that was made anew, the one that is farthest counts. */
void tuning_report_note(struct op_context *ctx, const struct tuning_place *place,
                        const struct tuning_note *note);
/* All loops have ended: say it, and leave a line for `op2jit warm` in the store. */
void tuning_report_end(struct op_context *ctx);

/* Where that line is: a fact with the time of day as its number. */
extern const char tuning_report_machine[], tuning_report_name[];

#endif
