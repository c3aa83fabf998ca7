/* The dot-product test. */
#include "context/context.h"
#include "tape/tape.h"

int tape_check(struct op_context *ctx, struct tape *tape, unsigned seed, double *difference, struct error *err) {
  (void)ctx, (void)tape, (void)seed, (void)difference;
  return error_set(err, OP_ERR_NOT_BUILT, "op_tape_check");
}
