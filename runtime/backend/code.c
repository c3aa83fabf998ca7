#include "backend/code.h"

#include "context/context.h"
#include "op2jit.h"
#include "record/record.h"

int backend_code(struct op_context *ctx, struct loop *loop, struct jit *jit, const struct desc *desc,
                 const void *shape, struct jit_code *out, struct error *err) {
  const int code = jit_code(jit, desc, shape, out, err);
  if (code)
    return loop ? error_prefix(err, "loop %s: ", loop->name) : code;
  const bool fresh = out->from == JIT_FROM_COMPILER;
  ctx->counters->compiles += fresh;
  ctx->counters->cache_hits += !fresh;
  if (!loop)
    return OP_OK;
  loop_count_code(loop, fresh);
  loop->stats.compile_seconds += fresh ? out->seconds : 0;
  return OP_OK;
}
