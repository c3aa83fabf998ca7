#include "loop/loop.h"

#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/log.h"
#include "context/context.h"
#include "loop/agree.h"
#include "loop/form.h"
#include "loop/make.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "record/trace.h"
#include "spread/spread.h"
#include "tune/choose.h"

/* Globals are not part of the record, so their addresses are looked at in every call. */
static int take_user_memory(struct launch *launch, const op_arg *args, struct error *err) {
  const struct loop *loop = launch->loop;
  for (int v = 0; v < loop->nvalues; v++) {
    const int i = loop->values[v];
    if (!args[i].data)
      return error_set(err, OP_ERR_ARGUMENT,
                       "loop %s, argument %d: the data is NULL; expected the address of %d of type %s",
                       loop->name, i + 1, loop->args[i].dim, type_info(loop->args[i].type)->name);
    launch->user[i] = args[i].data;
  }
  return OP_OK;
}

/* A direct WRITE leaves nothing of the old values; everything else needs them. */
static int need_dats(struct op_context *ctx, const struct loop *loop, struct error *err) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!arg->dat || !arg->present)
      continue;
    int code = dat_need(ctx, arg->dat, loop->backend->space, REGION_OWNED, err);
    if (code)
      return error_prefix(err, "loop %s, argument %d: ", loop->name, i + 1);
  }
  return OP_OK;
}

static bool constants_changed(struct op_context *ctx, struct loop *loop) {
  if (loop->constant_epoch == ctx->mesh->constant_epoch)
    return false;
  loop->constant_epoch = ctx->mesh->constant_epoch;
  for (int i = 0; i < loop->desc.nconsts; i++) {
    const struct desc_const *known = &loop->desc.consts[i];
    const struct constant *constant = mesh_find_constant(ctx->mesh, known->name);
    if (known->folded && memcmp(known->value, constant->value, constant->bytes) != 0)
      return true;
  }
  return false;
}

/* Whether the record still says what the mesh and the constants say. */
static bool is_stale(struct op_context *ctx, struct loop *loop) {
  if (loop->epoch != ctx->mesh->epoch)
    return true;
  return loop->prepared ? constants_changed(ctx, loop) : loop->constant_epoch != ctx->mesh->constant_epoch;
}

static int prepare_anew(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = OP_OK;
  if (is_stale(ctx, loop)) {
    tune_drop(ctx, loop);
    if (loop->form && loop->form->drop)
      loop->form->drop(loop);
    loop->prepared = false;
    code = loop_describe(ctx, loop, err);
    if (!code)
      code = loop_layout(loop, err);
    code = agree_on_loop(ctx, loop, loop->name, code, err);
    /* Half described is as stale as before. */
    if (code)
      loop->epoch = ctx->mesh->epoch - 1;
  }
  if (code || loop->prepared)
    return code;
  loop_count_bytes(loop);
  loop_make_parts(loop);
  loop_find_needs(loop);
  loop_fill_frame(ctx, loop);
  code = tune_choose(ctx, loop, err);
  if (!code)
    code = tune_plan(ctx, loop, err);
  if (!code)
    code = tune_code(ctx, loop, err);
  if (code)
    tune_drop(ctx, loop);
  return code;
}

static int prepare_together(struct op_context *ctx, struct loop *loop, struct error *err) {
  const int own = prepare_anew(ctx, loop, err);
  const int code = agree_on_success(ctx->agreement, own, err);
  if (code && !own)
    tune_drop(ctx, loop);
  loop->prepared = !code;
  /* A text that does not compile will not the next time either, unless a constant is declared. */
  if (code == OP_ERR_COMPILE || code == OP_ERR_VIOLATION)
    error_copy(&loop->failure, err);
  return code;
}

int loop_prepare(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  const bool prepared =
      loop->prepared && loop->epoch == ctx->mesh->epoch && loop->constant_epoch == ctx->mesh->constant_epoch;
  const int code = prepared ? OP_OK : prepare_together(ctx, loop, err);
  return code ? code : launch_fit(launch, err);
}

int loop_run_by(struct op_context *ctx, struct launch *launch,
                int (*run)(struct op_context *ctx, struct launch *launch, struct error *err),
                struct error *err) {
  struct loop *loop = launch->loop;
  int code = loop_prepare(ctx, launch, err);
  for (int i = 0; !code && i < loop->nargs; i++)
    if (loop->args[i].dat && loop->args[i].present)
      code = dat_need(ctx, loop->args[i].dat, SPACE_HOST, REGION_OWNED, err);
  if (!code)
    code = loop_exchange_anew(ctx, launch, err);
  for (int p = 0; !code && p < loop->nparts; p++)
    launch_set_slots(launch, p, p == 0);
  if (!code)
    code = launch_start(launch, err);
  const double start = clock_seconds();
  if (!code)
    code = run(ctx, launch, err);
  if (!code)
    code = launch_results(ctx, launch, err);
  if (code)
    return code;
  loop_mark_written(ctx, loop, SPACE_HOST);
  loop->stats.seconds += clock_seconds() - start;
  return OP_OK;
}

int loop_make_ready(struct op_context *ctx, struct launch *launch, struct error *err) {
  int code = loop_prepare(ctx, launch, err);
  if (!code)
    code = tune_next(ctx, launch, err);
  if (!code)
    code = need_dats(ctx, launch->loop, err);
  return code ? code : launch_start(launch, err);
}

/* What was begun is ended, also after a failure. */
static int finish_exchange(struct op_context *ctx, struct launch *launch, int code, struct error *err) {
  struct error ignored = {0};
  int status = loop_exchange_finish(ctx, launch, code ? &ignored : err);
  error_free(&ignored);
  return code ? code : status;
}

/* The first part needs no halo: it runs while messages travel. */
static int run_parts(struct op_context *ctx, struct launch *launch, bool exchanging, struct error *err) {
  const struct loop *loop = launch->loop;
  int code = OP_OK;
  for (int p = 0; !code && p < loop->nparts; p++) {
    if (loop->parts[p].begin < loop->parts[p].end)
      code = loop->backend->run(ctx, launch, p, err);
    if (p == 0 && exchanging)
      code = finish_exchange(ctx, launch, code, err);
  }
  if (!code && loop->backend->finish)
    code = loop->backend->finish(ctx, launch, err);
  return code;
}

int loop_go(struct op_context *ctx, struct launch *launch, struct error *err) {
  int code = run_parts(ctx, launch, false, err);
  return code ? code : launch_results(ctx, launch, err);
}

/* `spent` without the time that others made this rank wait, which says nothing about the variant. */
static void note_time(struct op_context *ctx, struct launch *launch, double start, double waited) {
  struct loop *loop = launch->loop;
  const double spent = clock_seconds() - start;
  loop->stats.seconds += spent;
  if (spent > loop->stats.slowest)
    loop->stats.slowest = spent;
  tune_ran(ctx, launch, spent - (loop->stats.waiting_seconds - waited));
  if (ctx->trace->wanted)
    trace_add(ctx, loop, start, spent);
}

int loop_run_plainly(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  int code = loop_make_ready(ctx, launch, err);
  if (code)
    return code;
  const double start = clock_seconds(), waited = loop->stats.waiting_seconds;
  bool exchanging = false;
  if (loop->nneeds)
    code = loop_exchange_start(ctx, launch, loop->backend->space, &exchanging, err);
  if (!code)
    code = run_parts(ctx, launch, exchanging, err);
  if (!code)
    code = launch_results(ctx, launch, err);
  if (code)
    return code;
  loop_mark_written(ctx, loop, loop->backend->space);
  note_time(ctx, launch, start, waited);
  return OP_OK;
}

int loop_exchange_now(struct op_context *ctx, struct launch *launch, enum space space, struct error *err) {
  bool exchanging = false;
  int code = loop_exchange_start(ctx, launch, space, &exchanging, err);
  return code || !exchanging ? code : loop_exchange_finish(ctx, launch, err);
}

static int check_call(const struct loop_call *call, struct error *err) {
  if (!call->name)
    return error_set(err, OP_ERR_ARGUMENT,
                     "op_par_loop: the kernel's name is NULL; expected the name of the function");
  if (!call->text)
    return error_set(err, OP_ERR_ARGUMENT,
                     "loop %s: the kernel text is NULL; expected C text, from a string, OP_KERNEL or "
                     "op_kernel_file",
                     call->name);
  if (call->nargs < 1 || call->nargs > OP_MAX_ARGS)
    return error_set(err, OP_ERR_NARGS, "loop %s: %d arguments; expected 1 to %d", call->name, call->nargs,
                     OP_MAX_ARGS);
  if (!call->args)
    return error_set(err, OP_ERR_ARGUMENT,
                     "loop %s: the list of arguments is NULL; expected the address of %d op_arg", call->name,
                     call->nargs);
  return OP_OK;
}

static struct loop *make_record(struct op_context *ctx, uint64_t hash, const struct loop_call *call,
                                struct error *err) {
  struct loop *loop = loop_new(ctx, call, err);
  if (!loop)
    return NULL;
  loop->hash = hash;
  if (loop_add(ctx, loop, err)) {
    loop_free(ctx, loop);
    return NULL;
  }
  return loop;
}

/* The record of a call, made if there is none. Ranks agree on new ones, and on what is wrong with a call. */
static int find_record(struct op_context *ctx, const struct loop_call *call, struct loop **out,
                       struct error *err) {
  int code = check_call(call, err);
  if (!code) {
    const uint64_t hash = loop_hash(call);
    *out = loop_find(ctx->loops, hash, call);
    if (*out)
      return OP_OK;
    *out = make_record(ctx, hash, call, err);
    code = *out ? OP_OK : err->code;
  }
  code = agree_on_loop(ctx, *out, call->name, code, err);
  if (code && *out)
    loop_take_back(ctx, *out);
  return code;
}

static long long bytes_moved(const struct op_context *ctx) {
  return ctx->counters->bytes_to_device + ctx->counters->bytes_from_device;
}

/* The call's memory is known to be there. */
static int run_launch(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  if (ctx->diags >= 3)
    log_line(ctx->log, LOG_WARN, "loop", "loop %s over %ld elements of set \"%s\"", loop->name,
             loop->set->size, loop->set->name);
  ctx->counters->loops++;
  loop->stats.calls++;
  if (loop->most_elements == 0)
    return OP_OK;
  const long long moved = bytes_moved(ctx);
  const int code = loop->form ? loop->form->run(ctx, launch, err) : loop_run_plainly(ctx, launch, err);
  loop->stats.moved += bytes_moved(ctx) - moved;
  return code;
}

static int run_call(struct op_context *ctx, struct loop *loop, const op_arg *args, struct error *err) {
  struct launch *launch = launch_get(loop, err);
  int code = launch ? take_user_memory(launch, args, err) : err->code;
  if (code)
    code = agree_on_call(ctx, code, err, "%s", error_message(err));
  else
    code = run_launch(ctx, launch, err);
  if (launch)
    launch_put(launch);
  return code;
}

int loop_run(struct op_context *ctx, const char *text, const char *name, op_set set, int nargs,
             const op_arg *args, const char *file, int line, struct error *err) {
  const struct loop_call call = {text, name, set, nargs, args, file, line};
  struct loop *loop = NULL;
  /* The first loop after a declaration sends messages of its own, so all must have come to it. */
  int code = mesh_is_distributed(ctx)
                 ? OP_OK
                 : agree_on_call(ctx, OP_OK, err, "loop %s", name ? name : "without a name");
  if (!code)
    code = mesh_distribute(ctx, err);
  if (!code)
    code = find_record(ctx, &call, &loop, err);
  if (code)
    return code;
  if (loop->failure.code && loop->constant_epoch == ctx->mesh->constant_epoch)
    return error_copy(err, &loop->failure);
  error_clear(&loop->failure);
  return run_call(ctx, loop, args, err);
}
