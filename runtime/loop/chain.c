#include "loop/chain.h"

#include "loop/loop.h"
#include "loop/tiled.h"

static int run_each(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < n; i++)
    code = loop_run_ready(ctx, launches[i], err);
  return code;
}

/* In pieces that are worth to be known. */
static int run(struct op_context *ctx, struct launch *const *launches, int n, bool loop_by_loop,
               struct error *err) {
  int code = OP_OK;
  for (int first = 0, length; !code && first < n; first += length) {
    bool ran = false;
    length = tiled_length(launches + first, n - first);
    code = tiled_run(ctx, launches + first, length, loop_by_loop, &ran, err);
    if (!code && !ran)
      code = run_each(ctx, launches + first, length, err);
  }
  return code;
}

int chain_run_singly(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  return run(ctx, launches, n, true, err);
}

int chain_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  return run(ctx, launches, n, false, err);
}
