/* Steps, and the budget. */
#include "base/size.h"
#include "context/context.h"
#include "tape/tape.h"

int keep_room(struct op_context *ctx, struct tape *tape, size_t bytes, struct error *err) {
  (void)ctx, (void)tape, (void)bytes, (void)err;
  return OP_OK;
}

int tape_step(struct op_context *ctx, struct tape *tape, struct error *err) {
  (void)ctx;
  int *steps = array_more(tape->steps, (size_t)tape->nsteps, sizeof *steps);
  if (!steps)
    return error_memory(err, "the steps of a tape", (size_t)tape->nsteps * sizeof *steps);
  tape->steps = steps;
  steps[tape->nsteps++] = tape->nevents;
  return OP_OK;
}
