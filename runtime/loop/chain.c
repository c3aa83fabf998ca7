#include "loop/chain.h"

#include "loop/loop.h"
#include "loop/tiled.h"

int chain_run_singly(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < n; i++)
    code = loop_run_ready(ctx, launches[i], err);
  return code;
}

int chain_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  int code = OP_OK;
  for (int first = 0, length; !code && first < n; first += length) {
    bool ran = false;
    length = tiled_length(launches + first, n - first);
    code = tiled_run(ctx, launches + first, length, &ran, err);
    if (!code && !ran)
      code = chain_run_singly(ctx, launches + first, length, err);
  }
  return code;
}
