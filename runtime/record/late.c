/* Late results: of a loop that leaves its results in globals with handles only nobody need wait for the other ranks.
 * They begin to come together when the loop is done here, and are handed back, in the order of the loops, before
 * somebody looks at one of the globals. All ranks begin and end them at the same calls: so what goes wrong is an
 * error of the same call everywhere. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "context/context.h"
#include "context/trace.h"
#include "mesh/globals.h"
#include "op2jit.h"
#include "ranks/comm.h"
#include "record/results.h"

/* The most results on their way, and the most bytes of all ranks. */
enum { MOST = 32, MOST_BYTES = 1 << 20 };

/* Results of one loop, which may be forgotten before they are there. */
struct late {
  struct late *next;
  struct comm_gather *gather;
  struct brought brought;
  char *name; /* of the loop */
  int count;
  struct loop_arg args[]; /* that are results */
};

struct late_queue {
  struct late *first, **end;
  int count;
  size_t bytes;
};

static size_t bytes_of(const struct op_context *ctx, const struct brought *b) {
  return (size_t)ctx->comm->size * b->bytes;
}

bool results_come_late(const struct op_context *ctx, const struct loop *loop) {
  bool common = true, any = false;
  if (!loop->set->spread || !loop->ready.hands_on || loop->ready.tells || loop->form || comm_alone(ctx->comm))
    return false;
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].gbl && arg_is_result(&loop->args[i])) {
      any = true;
      common &= loop->args[i].gbl->common;
    }
  const struct brought b = results_brought(loop);
  return any && common && bytes_of(ctx, &b) <= MOST_BYTES;
}

/* ---- life ---- */

static void late_free(struct op_context *ctx, struct late *late) {
  if (!late)
    return;
  ctx->comm->table->gather_free(ctx->comm, late->gather);
  free(late->name);
  free(late);
}

static struct late *late_new(const struct loop *loop, struct error *err) {
  int count = 0;
  for (int i = 0; i < loop->nargs; i++)
    count += arg_is_result(&loop->args[i]);
  struct late *late = calloc(1, sizeof *late + (size_t)count * sizeof *late->args);
  char *name = strdup(loop->name);
  if (!late || !name) {
    free(late);
    free(name);
    error_memory(err, "the results of a loop", sizeof *late);
    return NULL;
  }
  *late = (struct late){.brought = results_brought(loop), .name = name};
  for (int i = 0; i < loop->nargs; i++)
    if (arg_is_result(&loop->args[i]))
      late->args[late->count++] = loop->args[i];
  return late;
}

static struct late *take_first(struct op_context *ctx) {
  struct late_queue *queue = ctx->late;
  struct late *late = queue->first;
  queue->first = late->next;
  if (!queue->first)
    queue->end = &queue->first;
  queue->count--;
  queue->bytes -= bytes_of(ctx, &late->brought);
  for (int i = 0; i < late->count; i++)
    late->args[i].gbl->late--;
  return late;
}

void late_drop(struct op_context *ctx) {
  while (ctx->late && ctx->late->count)
    late_free(ctx, take_first(ctx));
  free(ctx->late);
  ctx->late = NULL;
}

/* ---- their end ---- */

static void hand_back(const struct op_context *ctx, const struct late *late, const unsigned char *all) {
  const struct brought *b = &late->brought;
  const struct partial from = {all, b->bytes, ctx->comm->size};
  const unsigned char *globals = results_of_owner(b, all, ctx->comm->size);
  for (int i = 0; i < late->count; i++) {
    const struct loop_arg *arg = &late->args[i];
    gbl_wrote(arg->gbl, SPACE_HOST);
    if (arg_is_reduction(arg))
      results_combine(arg, &from, arg->gbl->value);
    else
      memcpy(arg->gbl->value, globals + arg->offset, arg->bytes);
  }
}

static int end_first(struct op_context *ctx, struct error *err) {
  struct late *late = take_first(ctx);
  const struct comm_table *table = ctx->comm->table;
  const char *where = ctx->comm->where;
  const double start = clock_seconds();
  const unsigned char *all = NULL;
  bool there = false;
  int code = table->gather_test(ctx->comm, late->gather, &there, err);
  ctx->counters->awaited += !there;
  /* The same words on all ranks, wherever they wait for it. */
  ctx->comm->where = late->name;
  if (!code)
    code = table->gather_end(ctx->comm, late->gather, &all, err);
  ctx->comm->where = where;
  trace_span(ctx->trace, TRACE_WAIT, late->name, "results", start, clock_seconds() - start, 0);
  if (!code)
    code = results_check_names(ctx, &late->brought, all, err);
  if (!code)
    hand_back(ctx, late, all);
  late_free(ctx, late);
  return code;
}

static int end_those_of(struct op_context *ctx, const struct gbl *gbl, struct error *err) {
  int code = OP_OK;
  while (!code && gbl->late)
    code = end_first(ctx, err);
  return code;
}

int late_end(struct op_context *ctx, struct error *err) {
  int code = OP_OK;
  while (!code && ctx->late && ctx->late->count)
    code = end_first(ctx, err);
  return code;
}

/* ---- their beginning ---- */

static int make_room(struct op_context *ctx, struct loop *loop, size_t bytes, struct error *err) {
  struct late_queue *queue = ctx->late;
  const double start = clock_seconds();
  int code = OP_OK;
  bool ignored;
  if (!queue) {
    ctx->late = queue = array_new(1, sizeof *queue);
    if (!queue)
      return error_memory(err, "results of ranks", sizeof *queue);
    queue->end = &queue->first;
    ctx->bring = end_those_of;
  }
  /* It gets on only while MPI is called. */
  if (queue->first)
    code = ctx->comm->table->gather_test(ctx->comm, queue->first->gather, &ignored, err);
  while (!code && queue->count && (queue->count >= MOST || queue->bytes + bytes > MOST_BYTES))
    code = end_first(ctx, err);
  loop_note_wait(loop, start);
  return code;
}

static int begin(struct op_context *ctx, const struct launch *launch, struct late *late, struct error *err) {
  unsigned char *mine = array_new(late->brought.bytes, 1);
  if (!mine)
    return error_memory(err, "the results of a loop", late->brought.bytes);
  results_bring(launch, &late->brought, 0, mine);
  const int code = ctx->comm->table->gather_begin(ctx->comm, mine, late->brought.bytes, &late->gather, err);
  free(mine);
  return code;
}

int late_begin(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct late *late = late_new(launch->loop, err);
  int code = late ? make_room(ctx, launch->loop, bytes_of(ctx, &late->brought), err) : err->code;
  if (!code)
    code = begin(ctx, launch, late, err);
  if (code) {
    late_free(ctx, late);
    return code;
  }
  *ctx->late->end = late;
  ctx->late->end = &late->next;
  ctx->late->count++;
  ctx->late->bytes += bytes_of(ctx, &late->brought);
  for (int i = 0; i < late->count; i++)
    late->args[i].gbl->late++;
  ctx->counters->late++;
  return OP_OK;
}
