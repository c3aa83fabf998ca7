#include "loop/loop.h"

#include <string.h>

#include "base/log.h"
#include "context/context.h"
#include "loop/balance.h"
#include "loop/chain/layout.h"
#include "loop/chain/queue.h"
#include "loop/matrix.h"
#include "mesh/data.h"
#include "mesh/guest.h"
#include "mesh/handles.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "record/kept.h"
#include "record/recorder.h"
#include "spread/spread.h"

/* Globals are not part of the record, so their addresses are looked at in every call. */
static int take_user_memory(const struct op_context *ctx, struct launch *launch, const op_arg *args,
                            struct error *err) {
  const struct loop *loop = launch->loop;
  for (int v = 0; v < loop->nvalues; v++) {
    const int i = loop->values[v];
    const bool kept = kept_has(&args[i]);
    launch->user[i] = loop->args[i].gbl ? loop->args[i].gbl->value
                      : kept            ? kept_values(ctx, &args[i])
                                        : args[i].data_;
    if (!launch->user[i] && kept)
      return error_set(err, OP_ERR_ARGUMENT, KEPT_GONE, loop->name, i + 1);
    if (!launch->user[i])
      return error_set(err, OP_ERR_ARGUMENT,
                       "loop %s, argument %d: the data is NULL; expected the address of %d of type %s",
                       loop->name, i + 1, loop->args[i].dim,
                       type_said(loop->args[i].type, ctx->columns_base != 0));
  }
  return OP_OK;
}

static int check_call(const struct op_context *ctx, const struct loop_call *call, struct error *err) {
  if (!call->name)
    return error_set(err, OP_ERR_ARGUMENT,
                     "op_par_loop: the kernel's name is NULL; expected the name of the function");
  if (!call->text)
    return error_set(err, OP_ERR_ARGUMENT,
                     "loop %s: the kernel text is %s; expected C text, from a string, OP_KERNEL or "
                     "op_kernel_file",
                     call->name, handle_diagnosis(ctx->handles, NULL, HANDLE_KERNEL));
  if (call->nargs < 1 || call->nargs > OP_MAX_ARGS)
    return error_set(err, OP_ERR_NARGS, "loop %s: %d arguments; expected 1 to %d", call->name, call->nargs,
                     OP_MAX_ARGS);
  if (!call->args)
    return error_set(err, OP_ERR_ARGUMENT,
                     "loop %s: the list of arguments is NULL; expected the address of %d op_arg", call->name,
                     call->nargs);
  return OP_OK;
}

/* Loops must not touch dats that the program has acquired or a bridge was lent. */
static int check_lent(const struct op_context *ctx, const struct loop_call *call, struct error *err) {
  for (int i = 0; i < call->nargs; i++) {
    const op_arg *arg = &call->args[i];
    const struct dat *dat = arg->present_ ? handle_object(ctx->handles, arg->dat_, HANDLE_DAT) : NULL;
    const struct guest *guest = dat ? dat->guest : NULL;
    if (dat && dat->view && dat->view->acquired)
      return error_set(err, OP_ERR_STATE,
                       "loop %s, argument %d: dat \"%s\" is acquired; call op_release before the loop",
                       call->name, i + 1, dat->name);
    if (guest && guest->lent)
      return error_set(err, OP_ERR_STATE,
                       "loop %s, argument %d: dat \"%s\" is lent; call op_lend_end before the loop",
                       call->name, i + 1, dat->name);
    if (guest && guest->placed && guest->access == OP_READ && arg->access_ != OP_READ)
      return error_set(
          err, OP_ERR_STATE,
          "loop %s, argument %d: dat \"%s\" is placed in memory that is only read; place it with "
          "OP_RW or OP_WRITE",
          call->name, i + 1, dat->name);
  }
  return OP_OK;
}

/* Rows behind a ragged map are whole. The loop has to be described again then. */
static int lay_in_rows(struct op_context *ctx, const struct loop *loop, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!arg->dat || !dat_is_apart_in(arg->dat, loop->space) || !arg->map || !arg->map->first)
      continue;
    code = queue_flush(ctx, err);
    if (!code)
      code = dat_lay_in_rows(ctx, arg->dat, err);
    log_line(ctx->log, LOG_INFO, "tune",
             "dat %s lies in rows, whatever OP2_VARIANT says: loop %s goes to it through ragged map %s",
             arg->dat->name, loop->name, arg->map->name);
  }
  return code;
}

static struct loop *make_record(struct op_context *ctx, uint64_t hash, const struct loop_call *call,
                                struct error *err) {
  struct loop *loop = loop_new(ctx, call, err);
  if (!loop)
    return NULL;
  loop->key.hash = hash;
  if (lay_in_rows(ctx, loop, err) || loop_add(ctx, loop, err)) {
    loop_free(ctx, loop);
    return NULL;
  }
  return loop;
}

/* The record of a call, made if there is none. Ranks agree on new ones, and on what is wrong with a call. */
static int find_record(struct op_context *ctx, const struct loop_call *call, struct loop **out,
                       struct error *err) {
  int code = check_call(ctx, call, err);
  if (!code && ctx->mesh->lent)
    code = check_lent(ctx, call, err);
  if (!code) {
    const uint64_t hash = loop_hash(call);
    *out = loop_find(ctx->loops, hash, call);
    if (*out)
      return OP_OK;
    code = call->functions ? call->functions->meet(ctx, call, err) : OP_OK;
    *out = code ? NULL : make_record(ctx, hash, call, err);
    code = *out ? OP_OK : err->code;
  }
  code = agree_on_loop(ctx, *out, call->name, code, err);
  if (code && *out)
    loop_take_back(ctx, *out);
  return code;
}

static int run_call(struct op_context *ctx, struct loop *loop, const struct loop_call *call,
                    struct error *err) {
  struct launch *launch = launch_get(loop, err);
  int code = launch ? take_user_memory(ctx, launch, call->args, err) : err->code;
  if (code)
    code = agree_on_call(ctx, code, err, "%s", error_message(err));
  else if (ctx->queue && !loop_adds_to_rows(loop) &&
           (!ctx->queue->watch.on || watch_sees(&ctx->queue->watch, loop)))
    return queue_call(ctx, launch, call, err);
  else {
    if (ctx->queue && ctx->queue->count) /* a loop of what waits may have been forgotten meanwhile */
      code = queue_flush(ctx, err);
    if (!code)
      code = loop_run_now(ctx, launch, err);
  }
  if (launch)
    launch_put(launch);
  return code;
}

/* The first loop after a declaration sends messages of its own, so all must have come to it. */
static int distribute(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  if (mesh_is_distributed(ctx))
    return OP_OK;
  const int code = agree_on_call(ctx, OP_OK, err, "loop %s", call->name ? call->name : "without a name");
  return code ? code : mesh_distribute(ctx, err);
}

static int get_record(struct op_context *ctx, const struct loop_call *call, struct loop **out,
                      struct error *err) {
  struct loop *loop = NULL;
  int code = distribute(ctx, call, err);
  if (!code)
    code = find_record(ctx, call, &loop, err);
  if (code)
    return code;
  if (loop->failure.code && loop->ready.constant_epoch == ctx->mesh->constant_epoch)
    return error_copy(err, &loop->failure);
  if (loop->failure.code)
    error_clear(&loop->failure);
  *out = loop;
  return OP_OK;
}

static int run_known(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  struct loop *loop = NULL;
  bool done = false;
  int code = get_record(ctx, call, &loop, err);
  if (!code && ctx->recorder && ((code = ctx->recorder->loop(ctx, loop, call, &done, err)) || done)) {
    if (!code && ctx->catcher)
      ctx->catcher->passed(ctx, loop);
    return code;
  }
  bool caught = false;
  if (!code && ctx->catcher)
    code = ctx->catcher->before(ctx, loop, call, &caught, err);
  if (!code)
    code = run_call(ctx, loop, call, err);
  if (!code && ctx->recorder && ctx->recorder->ran)
    code = ctx->recorder->ran(ctx, loop, call, err);
  if (caught)
    code = ctx->catcher->after(ctx, loop, call, code, err);
  if (!code && layout_wants(ctx->layouts, loop->backend))
    code = layout_called(ctx, loop, err);
  if (code && ctx->recorder && ctx->recorder->failed)
    ctx->recorder->failed(ctx, false);
  return code;
}

static bool has_matrices(const struct op_context *ctx, const struct loop_call *call) {
  struct error ignored = {0};
  if (!ctx->mesh->matrices.count)
    return false;
  const bool has = !check_call(ctx, call, &ignored) && matrix_is_passed(call);
  error_free(&ignored);
  return has;
}

static int run_with_matrices(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  struct lowered lowered;
  int code = distribute(ctx, call, err);
  if (!code)
    code = matrix_lower(ctx, call, &lowered, err);
  if (code)
    return code;
  code = run_known(ctx, &lowered.call, err);
  if (!code)
    return matrix_gave(ctx, &lowered, err);
  matrix_take_back(&lowered);
  return code;
}

int loop_run_call(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  const int code = balance_look(ctx, err);
  return code                      ? code
         : has_matrices(ctx, call) ? run_with_matrices(ctx, call, err)
                                   : run_known(ctx, call, err);
}

int loop_get_launch(struct op_context *ctx, const struct loop_call *call, struct launch **out,
                    struct error *err) {
  struct loop *loop = NULL;
  int code =
      !has_matrices(ctx, call)
          ? OP_OK
          : error_set(err, OP_ERR_ARGUMENT, "loop %s: loops in graphs of tasks take no matrices", call->name);
  if (!code)
    code = get_record(ctx, call, &loop, err);
  *out = code ? NULL : launch_get(loop, err);
  if (!code)
    code = *out ? take_user_memory(ctx, *out, call->args, err) : err->code;
  if (code && *out) {
    launch_put(*out);
    *out = NULL;
  }
  return code;
}
