#include "backend/code.h"

#include <string.h>

#include "context/context.h"
#include "context/env.h"
#include "context/trace.h"
#include "op2jit.h"
#include "ranks/comm.h"
#include "record/record.h"

int backend_may_compile(const struct op_context *ctx, struct error *err) {
  if (strcmp(env_value(ctx->env, ENV_JIT), "off") != 0)
    return OP_OK;
  return error_set(
      err, OP_ERR_BACKEND,
      "OP2_JIT=off: backends that compile are switched off; use OP2_BACKEND=native, or OP2_JIT=on or load");
}

void loop_tell_facts(const struct op_context *ctx, struct loop *loop) {
  if (comm_alone(ctx->comm))
    facts_tell(&loop->facts, &loop->desc);
}

int backend_code(struct op_context *ctx, struct loop *loop, struct jit *jit, const struct desc *desc,
                 const void *shape, struct jit_code *out, struct error *err) {
  const int code = jit_code(jit, desc, shape, out, err);
  if (loop && out->prove_seconds > 0)
    trace_span(ctx->trace, TRACE_PROVE, loop->name, NULL, out->prove_start, out->prove_seconds, 0);
  if (code)
    return loop ? error_prefix(err, "loop %s: ", loop->name) : code;
  const bool fresh = out->from == JIT_FROM_COMPILER;
  ctx->counters->compiles += fresh;
  ctx->counters->cache_hits += !fresh;
  if (!loop)
    return OP_OK;
  if (out->facts.known)
    loop->facts = out->facts;
  loop_tell_facts(ctx, loop);
  if (out->compile_seconds > loop->ready.code_seconds)
    loop->ready.code_seconds = out->compile_seconds;
  loop->ready.behind_seconds += out->behind_seconds;
  loop_count_code(loop, fresh);
  loop->stats.compile_seconds += fresh ? out->seconds : 0;
  return OP_OK;
}
