#include "loop/chain.h"

#include "loop/loop.h"

int chain_run_singly(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < n; i++)
    code = loop_run_ready(ctx, launches[i], err);
  return code;
}

int chain_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  return chain_run_singly(ctx, launches, n, err);
}
