/* Calls of loops. */
#include <string.h>

#include "backend/backend.h"
#include "base/log.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/together.h"
#include "record/kept.h"
#include "record/record.h"
#include "record/results.h"

static int find_kind(struct op_context *ctx, struct checkpoint *k, const struct loop *loop, int *kind,
                     struct error *err) {
  struct seen *seen = &k->seen[((uintptr_t)loop >> 6) % SEEN];
  int code = OP_OK;
  if (seen->loop != loop || seen->order != loop->key.order) {
    *seen = (struct seen){.loop = loop, .order = loop->key.order};
    code = kind_of_loop(ctx, k, loop, &seen->kind, err);
  }
  *kind = seen->kind;
  if (code || seen->kind < 0)
    seen->loop = NULL;
  return code;
}

/* Where the program finds a result of argument i; NULL: it finds none there. */
static void *result_of(const struct loop *loop, const struct loop_call *call, int i) {
  const struct loop_arg *arg = &loop->args[i];
  const bool result = arg->present && (arg->form == DESC_INFO || arg_is_result(arg));
  return result && !arg->gbl && !kept_has(&call->args[i]) ? call->args[i].data_ : NULL;
}

static int give_results(const struct checkpoint *k, const struct loop *loop, const struct loop_call *call,
                        struct error *err) {
  int code = OP_OK;
  for (int v = 0; !code && v < loop->nvalues; v++) {
    void *memory = result_of(loop, call, loop->values[v]);
    if (memory)
      code = values_take(k, &k->past->values, &k->past->values_at, loop->name, memory,
                         loop->args[loop->values[v]].bytes, err);
  }
  return code;
}

static int ran(struct op_context *ctx, const struct loop *loop, const struct loop_call *call,
               struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  int code = OP_OK;
  k->running = false;
  for (int v = 0; !code && v < loop->nvalues; v++) {
    const void *memory = result_of(loop, call, loop->values[v]);
    if (memory)
      code = values_add(k, &k->values, loop->name, memory, loop->args[loop->values[v]].bytes, err);
  }
  return code;
}

/* A call that is refused before it runs is refused again in the next run, and does not count. */
static void failed(struct op_context *ctx, bool waited) {
  struct checkpoint *k = checkpoint_of(ctx);
  k->running |= waited;
  if (k->running && !k->stopped && together_is_root(ctx->comm))
    log_line(
        ctx->log, LOG_WARN, "io",
        "%s: no more checkpoints are written, since a loop failed: a run that goes on would pass it as if "
        "it had not",
        k->path);
  k->stopped |= k->running;
  k->running = false;
}

/* Whether a kernel leaves some of what it says that it writes shows when its loop first runs: from then on it says OP_RW. Until
 * then what it writes is kept. The program's own functions nobody looks at. */
static bool may_leave_some(const struct loop *loop) {
  return loop->backend->plan && !loop->ready.prepared;
}

/* Reads come first: a loop may have a dat twice. */
static int decide(struct op_context *ctx, struct checkpoint *k, const struct loop *loop, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const bool open =
        arg->present && arg->dat && (size_t)arg->dat->id < k->nmarks && k->marks[arg->dat->id].open;
    if (arg->present && arg->dat && (!access_kills(loop, arg) || (open && may_leave_some(loop))))
      code = checkpoint_look(ctx, k, loop->name, arg->dat, err);
  }
  for (int i = 0; !code && i < loop->nargs; i++)
    if (loop->args[i].present && loop->args[i].dat && access_kills(loop, &loop->args[i]))
      checkpoint_drops(k, loop->args[i].dat);
  return code;
}

static int note_changes(struct checkpoint *k, const struct loop *loop, struct error *err) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!arg->present || !arg->dat || !access_changes(arg->access))
      continue;
    struct mark *mark = checkpoint_mark(k, arg->dat);
    if (!mark)
      return error_memory(err, "what is known of dats", k->nmarks * sizeof *mark);
    mark->changed = true;
  }
  return OP_OK;
}

static int told(struct op_context *ctx, struct loop *loop, const struct loop_call *call, bool *done,
                struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  int kind = -1, code = find_kind(ctx, k, loop, &kind, err);
  if (!code)
    code = checkpoint_event(ctx, k, kind, false, err);
  if (code)
    return code;
  k->loops++;
  if (k->past) {
    k->facts.skipped++;
    *done = true;
    code = give_results(k, loop, call, err);
  } else if (k->nlost || k->nopen)
    code = decide(ctx, k, loop, err);
  if (!code)
    code = note_changes(k, loop, err);
  k->running = !code && !k->past;
  return code;
}

void checkpoint_record(struct checkpoint *k) {
  k->recorder =
      (struct recorder){.state = k,
                        .loop = told,
                        .ran = ran,
                        .failed = failed,
                        .no_matrix = "which checkpoints do not hold; run without OP2_CHECKPOINT",
                        .no_graph = "loops of a graph have no checkpoints; run without OP2_CHECKPOINT, or "
                                    "call op_par_loop"};
}
