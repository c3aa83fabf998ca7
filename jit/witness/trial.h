/* One element's memory, filled with made values, in which a kernel runs: does it break the promise that a finding
 * names? */
#ifndef OP2JIT_JIT_WITNESS_TRIAL_H
#define OP2JIT_JIT_WITNESS_TRIAL_H

#include "jit/proof/found.h"
#include "jit/prover.h"
#include "jit/witness/made.h"

enum trial_what {
  TRIAL_NOTHING,
  TRIAL_CHANGED,    /* what is read only went from `values[0]` to `values[1]` */
  TRIAL_UNWRITTEN,  /* the component was not written */
  TRIAL_OLD,        /* the component depends on what the finding's argument held before */
  TRIAL_NOT_ADDED,  /* from 0 it became values[0], from values[1] values[2] */
  TRIAL_WRONG_SIDE, /* an extremum went from values[0] to values[1] */
  TRIAL_TWICE,      /* an extremum went from values[0] to values[1], and by the same element to values[2] */
  TRIAL_WROTE,      /* memory beyond the finding's argument */
  TRIAL_READ,       /* the component depends on memory beyond the finding's argument */
  TRIAL_STOPPED,    /* the kernel did not come to its end */
  TRIAL_KEPT,       /* the component was values[0], and values[1] for the same element later */
  TRIAL_UNSET       /* the component depends on what a local variable held before it had a value */
};

/* A trial's finding about one component of a row of an argument. */
struct trial_result {
  enum trial_what what;
  unsigned long trial;
  int argument, row, component;
  double values[3];
};

struct trial;

/* `loop` stays the caller's; `alone` is what the code was made from (desc_alone). codes[1]: with other values in
 * variables that have none; may be NULL. */
struct trial *trial_new(const struct desc *loop, const struct desc *alone, const struct made *made,
                        const range_function codes[2]);
void trial_free(struct trial *t);
/* From now on a run that crashes, or takes long, comes to an end. For a process that is there for that only. */
void trial_catch_signals(void);
/* False: nothing was seen. */
bool trial_run(struct trial *t, const struct prove_finding *f, unsigned long number,
               struct trial_result *out);
/* "argument 1 = {1, 2}, argument 3 = -1": what the trial of that number gives the kernel. */
void trial_print(struct trial *t, unsigned long number, struct text *out);

#endif
