/* op_par_loop of a kernel that the program's own compiler compiled. */
#include "api/api.h"
#include "api/life.h"
#include "api/op2/compiled.h"
#include "api/op2/safe.h"
#include "api/op2/text.h"
#include "loop/loop.h"
#include "loop/queue.h"
#include "mesh/mesh.h"
#include "op2/op2jit_compiled.h"
#include "op2/op2jit_op2.h"

static int choose(struct op_context *ctx, struct loop *loop, const struct loop_call *call,
                  struct error *err) {
  const int code = text_choose(ctx, loop, call, err);
  return code ? code : compiled_check(loop, err);
}

const struct loop_functions op2_functions = {.meet = text_meet,
                                             .choose = choose,
                                             .describe = text_describe,
                                             .place = compiled_place,
                                             .reread = safe_reread,
                                             .give_up = text_give_up,
                                             .second = text_second};

int text_run(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  /* Loops that wait run with the old values. */
  const bool waits = ctx->queue && ctx->queue->count && mesh_constants_moved(ctx->mesh);
  const int code = waits ? queue_flush(ctx, err) : OP_OK;
  mesh_look_at_constants(ctx);
  return code ? code : loop_run_call(ctx, call, err);
}

int op2jit_par_loop_compiled(const op2jit_compiled *compiled, const char *name, op_set set, int nargs,
                             const op_arg args[], const op2jit_origin *origin) {
  struct op_context *ctx = api_enter("op_par_loop", KEEP);
  if (!ctx)
    return api_refused();
  const struct loop_call call = {.text = "",
                                 .name = name,
                                 .set = set,
                                 .nargs = nargs,
                                 .args = args,
                                 .file = origin->file,
                                 .line = origin->line,
                                 .compiled = compiled,
                                 .functions = &op2_functions,
                                 .origin = origin};
  const int code = text_run(ctx, &call, api_error());
  if (code && *origin->file)
    error_prefix(api_error(), "%s:%d: ", origin->file, origin->line);
  return api_leave(code);
}

int op2jit_op2_loops_wait(void) {
  struct op_context *ctx = api_enter("op_loops_wait", KEEP);
  if (!ctx)
    return api_refused();
  ctx_let_wait(ctx);
  api_heed_handler();
  return api_leave(OP_OK);
}
