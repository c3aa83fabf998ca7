#include "context/reproducible.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "op2jit.h"

static bool looks_at_loops(const struct op_context *ctx) {
  return *env_value(ctx->env, ENV_SHADOW) || ctx->diags >= 7 ||
         strcmp(env_value(ctx->env, ENV_CHECK), "off") != 0;
}

int context_read_reproducible(struct op_context *ctx, struct error *err) {
  ctx->reproducible = strcmp(env_value(ctx->env, ENV_REPRODUCIBLE), "on") == 0;
  if (ctx->reproducible && strcmp(env_value(ctx->env, ENV_FP), "fast") == 0)
    return error_set(
        err, OP_ERR_ENV,
        "OP2_REPRODUCIBLE=on with OP2_FP=fast: operations would be made in another order in each "
        "variant; leave OP2_FP at contract, or set strict");
  if (ctx->reproducible && looks_at_loops(ctx))
    log_line(
        ctx->log, LOG_WARN, "check",
        "OP2_REPRODUCIBLE=on has no effect on loops that are checked or compared (OP2_CHECK, OP2_SHADOW): "
        "they add up as they go");
  return OP_OK;
}

bool context_reproduces(const struct op_context *ctx, const char *loop) {
  return !looks_at_loops(ctx) &&
         (ctx->reproducible || forced_reproducible(env_value(ctx->env, ENV_VARIANT), loop));
}

const char *context_fp(const struct op_context *ctx, bool reproducible) {
  const char *fp = env_value(ctx->env, ENV_FP);
  if (!reproducible)
    return fp;
  return strcmp(fp, "strict") == 0 ? "reproducible strict" : "reproducible";
}
