#include "loop/chain/in_graph.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "context/context.h"
#include "exec/executor.h"
#include "loop/loop.h"
#include "mesh/handles.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/kept.h"
#include "record/recorder.h"

struct graph_loop {
  struct arrays memory; /* of the call's texts and arguments, and of the bounds */
  struct task_graph *graph;
  struct loop_call call;
  unsigned char *values; /* of arguments */
  int npieces, *bounds;
  /* For one run: */
  struct launch *launch;
  struct work work;
  void **frames; /* of each piece, where each has results of its own */
};

struct piece {
  struct graph_loop *loop;
  int index;
};

static void run_piece(op_running *running, void *data) {
  const struct piece *p = data;
  const struct graph_loop *l = p->loop;
  const int begin = l->bounds[p->index], end = l->bounds[p->index + 1];
  void *const *frame = l->frames ? l->frames + (size_t)p->index * (size_t)l->work.nframe : l->work.frame;
  (void)running;
  if (begin < end)
    l->work.function(frame, l->work.list, begin, end);
}

/* ---- a new one ---- */

static void graph_loop_free(struct graph_loop *l) {
  arrays_free(&l->memory);
  free(l->values);
  free(l->frames);
  free(l);
}

static void *copy_of(struct graph_loop *l, const void *from, size_t count, size_t size) {
  void *copy = arrays_add(&l->memory, count, size);
  return copy ? memcpy(copy, from, count * size) : NULL;
}

static struct graph_loop *copy_call(const struct loop_call *call, int npieces) {
  struct graph_loop *l = calloc(1, sizeof *l);
  const char *file = call->file ? call->file : "";
  if (!l)
    return NULL;
  l->call = *call;
  l->call.text = copy_of(l, call->text, strlen(call->text) + 1, 1);
  l->call.name = copy_of(l, call->name, strlen(call->name) + 1, 1);
  l->call.file = copy_of(l, file, strlen(file) + 1, 1);
  l->call.args = copy_of(l, call->args, (size_t)call->nargs, sizeof *call->args);
  l->bounds = arrays_add(&l->memory, (size_t)npieces + 1, sizeof *l->bounds);
  l->npieces = npieces;
  if (!l->memory.failed)
    return l;
  graph_loop_free(l);
  return NULL;
}

static int take_values(const struct op_context *ctx, struct graph_loop *l, struct error *err) {
  const int gone = kept_move(ctx, (op_arg *)l->call.args, l->call.nargs, &l->values);
  if (!l->values)
    return error_memory_of(err, "the values of a loop in a graph", l->call.name, 1);
  return gone ? error_set(err, OP_ERR_ARGUMENT, KEPT_GONE, l->call.name, gone) : OP_OK;
}

/* `base`: the first element in messages. */
static int set_bounds(struct graph_loop *l, const int bounds[], long size, int base, struct error *err) {
  for (int i = 0; i <= l->npieces; i++)
    l->bounds[i] = bounds ? bounds[i] : (int)(size * i / l->npieces);
  for (int i = 0; i <= l->npieces; i++)
    if (l->bounds[i] < (i ? l->bounds[i - 1] : 0) || l->bounds[i] > size)
      return error_set(
          err, OP_ERR_RANGE,
          "loop %s: piece %d of a graph begins at element %d; expected numbers that do not get smaller, "
          "from %d to %ld, which is behind the set's last element",
          l->call.name, i + base, l->bounds[i] + base, base, size + base);
  return OP_OK;
}

static int check(const struct op_context *ctx, const struct loop_call *call, int npieces,
                 const op_task *tasks, struct error *err) {
  if (npieces < 1 || !tasks)
    return error_set(err, OP_ERR_ARGUMENT,
                     "op_graph_loop: %d pieces; expected 1 or more, and room for their tasks", npieces);
  if (!call->text || !call->name || call->nargs < 1 || !call->args)
    return error_set(err, OP_ERR_ARGUMENT,
                     "op_graph_loop: the kernel, its name or the arguments are missing");
  if (!ctx->backend->work || !comm_alone(ctx->comm))
    return error_set(err, OP_ERR_BACKEND,
                     "loop %s: pieces of a loop are tasks in one process, on the backends native, seq and "
                     "openmp; this is %s%s",
                     call->name, ctx->backend->name, comm_alone(ctx->comm) ? "" : " with several ranks");
  return OP_OK;
}

int graph_loop_add(struct op_context *ctx, struct task_graph *g, const struct loop_call *call, int npieces,
                   const int bounds[], op_task tasks[], struct error *err) {
  int code = check(ctx, call, npieces, tasks, err);
  const struct set *set = code ? NULL : handle_object(ctx->handles, call->set, HANDLE_SET);
  if (!code && !set)
    return error_set(err, OP_ERR_HANDLE,
                     "loop %s: the set is %s; expected what op_decl_set returned since op_init", call->name,
                     handle_diagnosis(ctx->handles, call->set, HANDLE_SET));
  struct graph_loop *l = code ? NULL : copy_call(call, npieces);
  if (!code && !l)
    code = error_memory_of(err, "a loop in a graph", call->name, sizeof *l);
  if (!code)
    code = take_values(ctx, l, err);
  if (!code)
    code = set_bounds(l, bounds, set->size, ctx->columns_base, err);
  const struct tasks_mark before = tasks_mark(g);
  const op_task_type type = code ? 0 : tasks_add_type(g, call->name, run_piece, err);
  /* A kernel's own function is called with room that its loop has once: piece after piece. */
  const op_resource alone = type && !ctx->backend->may_wait ? tasks_add_resource(g, 0, call->name, err) : 0;
  for (int i = 0; type && i < npieces; i++) {
    const struct piece piece = {l, i};
    tasks[i] = tasks_add_task(g, type, &piece, sizeof piece, l->bounds[i + 1] - l->bounds[i], err);
    if (!tasks[i] || (alone && tasks_lock(g, tasks[i], alone, err)))
      break;
  }
  if (!code && !err->code && !list_add(ctx->graph_loops, l))
    error_memory_of(err, "a loop in a graph", call->name, sizeof *l);
  if (l && (code || err->code)) {
    tasks_back_to(g, before);
    graph_loop_free(l);
    return err->code;
  }
  if (l)
    l->graph = g;
  return code;
}

void graph_loops_free(struct op_context *ctx, const struct task_graph *g) {
  for (int i = ctx->graph_loops->count; i-- > 0;) {
    struct graph_loop *l = ctx->graph_loops->items[i];
    if (g && l->graph != g)
      continue;
    list_remove(ctx->graph_loops, l);
    graph_loop_free(l);
  }
  if (!g)
    list_free(ctx->graph_loops);
}

/* ---- a run ---- */

/* Each piece writes what it sums up to a slot of its own. */
static int make_frames(struct graph_loop *l, struct error *err) {
  const struct work *w = &l->work;
  const size_t words = (size_t)w->nframe;
  free(l->frames);
  l->frames = NULL;
  if (w->nreductions == 0)
    return OP_OK;
  l->frames = array_new((size_t)l->npieces * words, sizeof *l->frames);
  if (!l->frames)
    return error_memory_of(err, "the results of loop", l->call.name,
                           (size_t)l->npieces * words * sizeof(void *));
  for (int i = 0; i < l->npieces; i++) {
    void **frame = l->frames + (size_t)i * words;
    memcpy(frame, w->frame, words * sizeof *frame);
    for (int r = 0; r < w->nreductions; r++)
      frame[w->reductions[r].index] = w->slots + (size_t)i * w->slot_bytes + w->reductions[r].offset;
  }
  return OP_OK;
}

/* All are known before the first is made ready: a new one may change how data lie. */
static int get(struct op_context *ctx, struct graph_loop *l, struct error *err) {
  if (ctx->recorder)
    return error_set(err, OP_ERR_STATE, "loop %s: %s", l->call.name, ctx->recorder->no_graph);
  return loop_get_launch(ctx, &l->call, &l->launch, err);
}

static int begin(struct op_context *ctx, struct graph_loop *l, struct error *err) {
  loop_count_run(ctx, l->launch->loop);
  if (l->launch->loop->ordered)
    return error_set(
        err, OP_ERR_STATE,
        "loop %s: pieces of a loop in a graph add in any order, and OP2_REPRODUCIBLE=on asks for "
        "one; call op_par_loop",
        l->call.name);
  int code = loop_make_ready(ctx, l->launch, true, err);
  if (!code) {
    launch_set_slots(l->launch, 0, l->npieces);
    code = launch_start_slots(l->launch, err);
  }
  if (!code)
    code = ctx->backend->work(ctx, l->launch, &l->work, err);
  return code ? code : make_frames(l, err);
}

static int each(struct op_context *ctx, const struct task_graph *g,
                int (*f)(struct op_context *ctx, struct graph_loop *l, struct error *err),
                struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < ctx->graph_loops->count; i++) {
    struct graph_loop *l = ctx->graph_loops->items[i];
    if (l->graph == g && (code = f(ctx, l, err)) && *l->call.file)
      error_prefix(err, "%s:%d: ", l->call.file, l->call.line);
  }
  return code;
}

int graph_loops_begin(struct op_context *ctx, const struct task_graph *g, struct error *err) {
  int code = each(ctx, g, get, err);
  if (!code)
    code = each(ctx, g, begin, err);
  return code ? graph_loops_end(ctx, g, code, err) : OP_OK;
}

int graph_loops_end(struct op_context *ctx, const struct task_graph *g, int code, struct error *err) {
  for (int i = 0; i < ctx->graph_loops->count; i++) {
    struct graph_loop *l = ctx->graph_loops->items[i];
    if (l->graph != g || !l->launch)
      continue;
    if (!code) {
      code = launch_results(ctx, l->launch, err);
      loop_mark_written(ctx, l->launch->loop, true);
    }
    launch_put(l->launch);
    l->launch = NULL;
  }
  return code;
}
