#include "loop/chain/queue.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "context/context.h"
#include "loop/chain/layers.h"
#include "loop/chain/worth.h"
#include "loop/choose.h"
#include "loop/loop.h"
#include "loop/temporary.h"
#include "mesh/globals.h"
#include "ranks/comm.h"
#include "record/recorder.h"

static bool changes(const struct loop *loop, const struct gbl *gbl) {
  for (int i = 0; loop->ready.hands_on && i < loop->nargs; i++)
    if (loop->args[i].gbl == gbl && loop->args[i].access != OP_READ)
      return true;
  return false;
}

/* It starts from a global that one of the launches leaves. Those that add to one start from nothing. */
static bool starts_from(const struct loop *loop, struct launch *const *launches, int n) {
  for (int i = 0; loop->ready.hands_on && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    for (int k = 0; arg->gbl && arg->access != OP_INC && arg->access != OP_WRITE && k < n; k++)
      if (changes(launches[k]->loop, arg->gbl))
        return true;
  }
  return false;
}

/* Sums of ranks that earlier loops left may still be on their way. */
static int need_handles(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = OP_OK;
  for (int i = 0; loop->ready.hands_on && !code && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->gbl && arg->present && arg->access != OP_INC && arg->access != OP_WRITE)
      code = gbl_need(ctx, arg->gbl, loop->desc.args[i].kept ? loop->space : SPACE_HOST, err);
  }
  return code;
}

/* As chains, each of which ends where the next loop starts from a global that one of it leaves. */
int queue_run(struct op_context *ctx, struct launch *const *launches, int n, bool singly, struct error *err) {
  int code = OP_OK;
  for (int first = 0, end; !code && first < n; first = end) {
    for (end = first + 1; end < n && !starts_from(launches[end]->loop, launches + first, end - first);)
      end++;
    for (int i = first; !code && i < end; i++) {
      code = comm_alone(ctx->comm) ? OP_OK : need_handles(ctx, launches[i]->loop, err);
      if (!code)
        launch_start_handles(launches[i]);
    }
    if (!code)
      code = (singly ? chain_run_singly : chain_run)(ctx, launches + first, end - first, err);
  }
  return code;
}

/* The first n of those that wait. */
static int run_first(struct op_context *ctx, int n, struct error *err) {
  struct queue *queue = ctx->queue;
  watch_runs(&queue->watch);
  const int code = queue->check ? queue->check(ctx, queue->launches, n, err)
                                : queue_run(ctx, queue->launches, n, false, err);
  /* After an error the queue is empty. */
  const int done = code ? queue->count : n;
  for (int i = 0; i < done; i++)
    launch_put(queue->launches[i]);
  queue->count -= done;
  memmove((void *)queue->launches, (void *)(queue->launches + done),
          (size_t)queue->count * sizeof *queue->launches);
  ctx->counters->waiting = queue->count;
  if (queue->watch.on)
    watch_ran(&queue->watch);
  temporaries_bury(ctx);
  if (code && ctx->recorder && ctx->recorder->failed)
    ctx->recorder->failed(ctx, true);
  return code ? error_prefix(err, "%s runs what waits: ", ctx->agreement->where) : OP_OK;
}

int queue_flush(struct op_context *ctx, struct error *err) {
  const int n = ctx->queue ? ctx->queue->count : 0;
  return n ? run_first(ctx, n, err) : OP_OK;
}

static int run_at_once(struct op_context *ctx, struct launch *launch, struct error *err) {
  int code = queue_flush(ctx, err);
  if (!code)
    code = loop_run_now(ctx, launch, err);
  launch_put(launch);
  return code;
}

/* In another variant than from now on. */
static bool waits_otherwise(const struct queue *queue, const struct loop *loop) {
  bool any = false;
  for (int i = 0; i < queue->count; i++)
    any |= queue->launches[i]->loop == loop && queue->launches[i]->variant != loop->ready.variant;
  return any;
}

/* Launches that wait keep their variant: they run before another one is tried or made. */
static int make_ready(struct op_context *ctx, struct launch *launch, bool *tried, struct error *err) {
  struct loop *loop = launch->loop;
  const bool tries = !watch_stays(&ctx->queue->watch, loop);
  int code = tries && tune_turns(loop) ? queue_flush(ctx, err) : OP_OK;
  const int before = loop->ready.variant;
  if (!code)
    code = loop_make_ready(ctx, launch, tries, err);
  *tried = !code &&
           (tries ? loop->ready.variant != before || tune_tries(launch) : waits_otherwise(ctx->queue, loop));
  return *tried ? queue_flush(ctx, err) : code;
}

/* For messages. The program's text may be gone when one is needed. */
static void note_place(struct launch *launch, const struct loop_call *call) {
  const char *file = call->file ? call->file : "";
  launch->line = call->line;
  if (launch->file && strcmp(launch->file, file) == 0)
    return;
  free(launch->file);
  launch->file = strdup(file);
}

/* The mesh changes: what waits runs before. */
static int make_layers(struct op_context *ctx, struct error *err) {
  const int code = queue_flush(ctx, err);
  return code ? code : layers_make(ctx, err);
}

int queue_call(struct op_context *ctx, struct launch *launch, const struct loop_call *call,
               struct error *err) {
  struct queue *queue = ctx->queue;
  struct loop *loop = launch->loop;
  bool tried = false, waits = !watch_rests(ctx, &queue->watch, loop);
  int code = layers_are_wanted(ctx) ? make_layers(ctx, err) : OP_OK;
  if (!code && queue->watch.on)
    code = watch_takes(ctx, loop, &waits, err);
  if (!code && (!waits || !loop_may_wait(ctx, loop)))
    return run_at_once(ctx, launch, err);
  if (!code)
    code = make_ready(ctx, launch, &tried, err);
  if (code) {
    launch_put(launch);
    return code;
  }
  if (!loop_may_wait(ctx, loop)) /* its text is given up: the program's own function runs */
    return run_at_once(ctx, launch, err);
  note_place(launch, call);
  loop_count_run(ctx, loop);
  queue->launches[queue->count++] = launch;
  queue->waited++;
  ctx->counters->waiting = queue->count;
  if (queue->count == 1)
    watch_waits(&queue->watch);
  if (loop->ready.tells || tried || watch_is_full(&queue->watch, queue->count))
    return queue_flush(ctx, err);
  /* The beginning of a period waits for its end, so that periods always begin with the same loop. */
  return queue->count == QUEUE_MOST
             ? run_first(ctx, chain_whole_periods(ctx, queue->launches, QUEUE_MOST), err)
             : OP_OK;
}
