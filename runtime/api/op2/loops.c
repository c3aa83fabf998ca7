/* op_par_loop of a kernel that the program's own compiler compiled. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "api/life.h"
#include "api/op2/text.h"
#include "loop/chain/queue.h"
#include "loop/loop.h"
#include "mesh/mesh.h"
#include "op2/op2jit_compiled.h"
#include "op2/op2jit_op2.h"
#include "ranks/agree.h"
#include "report/report.h"

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

/* op_profile_*: a tree of a program's sections, with the times that it spent in them; and loops as a table for
 * other programs. */

static struct profile *profile_of(void) {
  const struct op_context *ctx = api_context();
  return ctx ? ctx->profile : NULL;
}

void op2jit_op2_profile_start(const char *name) {
  struct op_context *ctx = api_context();
  if (!ctx)
    return;
  profile_free(ctx->profile);
  ctx->profile = profile_new(name);
}

void op2jit_op2_profile_enter(const char *name) {
  if (profile_of())
    profile_enter(profile_of(), name);
}

void op2jit_op2_profile_exit(void) {
  if (profile_of())
    profile_leave(profile_of());
}

void op2jit_op2_profile_end(void) {
  if (profile_of())
    profile_end(profile_of());
}

static int write_file(const char *path, const struct text *text, struct error *err) {
  FILE *file = fopen(path, "w");
  bool good = file && fputs(text_str(text), file) >= 0;
  if (file)
    good &= fclose(file) == 0;
  return good ? OP_OK
              : error_set(err, OP_ERR_FILE, "the file %s cannot be written: %s", path, strerror(errno));
}

int op2jit_op2_profile_output(const char *json_file) {
  struct text out = {0};
  int code = OP_OK;
  struct op_context *ctx = api_enter("op_profile_output", KEEP);
  if (!ctx)
    return api_refused();
  if (ctx->profile && ctx->comm->rank == 0 && *json_file) {
    profile_json(ctx->profile, &out);
    code = write_file(json_file, &out, api_error());
  } else if (ctx->profile && ctx->comm->rank == 0) {
    profile_text(ctx->profile, &out);
    context_print(ctx, &out);
  }
  text_free(&out);
  return api_leave_local(code);
}

int op2jit_op2_csv(const char *path) {
  struct op_context *ctx = api_enter("op_timings_to_csv", FLUSH);
  if (!ctx)
    return api_refused();
  struct text out = {0};
  int code = api_agree("op_timings_to_csv");
  if (!code)
    code = context_csv(ctx, &out, api_error());
  if (!code && ctx->comm->rank == 0)
    code = write_file(path, &out, api_error());
  text_free(&out);
  return api_leave(code);
}

int op2jit_op2_diagnostics(void) {
  struct text out = {0};
  int code = OP_OK;
  struct op_context *ctx = api_enter("op_diagnostic_output", KEEP);
  if (!ctx)
    return api_refused();
  if (ctx->comm->rank == 0 && !(code = context_diagnostics(ctx, &out, api_error())))
    context_print(ctx, &out);
  text_free(&out);
  return api_leave_local(code);
}
