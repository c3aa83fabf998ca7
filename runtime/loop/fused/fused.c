#include "loop/fused/fused.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "loop/fused/group.h"
#include "loop/loop.h"
#include "loop/queue.h"
#include "op2jit.h"

bool fused_any(struct loop *const *loops, int n) {
  struct fused_group *groups = array_new((size_t)n, sizeof *groups);
  const bool any = groups && fused_groups(loops, n, groups) < n;
  free(groups);
  return any;
}

/* Globals that are read were copied at the call; others are where their results go. */
static void take_globals(struct launch *to, const struct fusion *f, struct launch *const *members) {
  const struct loop *loop = to->loop;
  for (int v = 0; v < loop->nvalues; v++) {
    int m, i;
    const struct loop_arg *arg = fused_arg_of(f, loop->values[v], &m, &i);
    to->user[loop->values[v]] = arg_is_copied(arg) ? members[m]->globals + arg->offset : members[m]->user[i];
  }
}

/* How many of the launches use the dat. */
static int count_users(struct launch *const *launches, int n, const struct dat *dat) {
  int users = 0;
  for (int i = 0; i < n; i++)
    users += loop_uses(launches[i]->loop, dat);
  return users;
}

/* Rows that nobody will see: of a temporary that goes, which the loop writes first, and no other that waits uses. */
static uint64_t find_dropped(const struct op_context *ctx, const struct loop *loop, struct launch *const *own,
                             int n) {
  const struct queue *queue = ctx->queue;
  const struct dat *dat = queue->check ? NULL : queue->dying;
  uint64_t dropped = 0;
  if (!dat || count_users(own, n, dat) != count_users(queue->launches, queue->count, dat))
    return 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->dat == dat && arg->present && (arg->map || arg->access != OP_WRITE))
      return 0;
    if (arg->dat == dat && arg->present)
      dropped |= (uint64_t)1 << i;
  }
  return dropped;
}

/* NULL: they run one by one. */
static struct launch *fuse(struct op_context *ctx, const struct fused_group *g,
                           struct launch *const *launches) {
  struct loop *members[DESC_MOST_MEMBERS];
  struct launch *own[DESC_MOST_MEMBERS];
  struct error err = {0};
  for (int m = 0; m < g->n; m++) {
    own[m] = launches[g->members[m]];
    members[m] = own[m]->loop;
  }
  struct loop *loop = fused_get(ctx, members, g->n, 0, &err);
  const uint64_t dropped = loop ? find_dropped(ctx, loop, own, g->n) : 0;
  if (dropped)
    loop = fused_get(ctx, members, g->n, dropped, &err);
  struct launch *launch = loop && !loop->fusion->failed ? launch_get(loop, &err) : NULL;
  if (launch) {
    take_globals(launch, loop->fusion, own);
    if (loop_make_ready(ctx, launch, &err)) {
      launch_put(launch);
      launch = NULL;
      loop->fusion->failed = true;
    }
  }
  if (err.code)
    log_line(ctx->log, LOG_INFO, "chain", "loops from %s to %s run one by one: %s", members[0]->name,
             members[g->n - 1]->name, error_message(&err));
  error_free(&err);
  return launch;
}

static void add_group(struct op_context *ctx, const struct fused_group *g, struct launch *const *launches,
                      struct fused_launches *out) {
  struct launch *whole = g->n > 1 ? fuse(ctx, g, launches) : NULL;
  if (whole) {
    whole->loop->stats.calls++;
    ctx->counters->fused += g->n;
    out->items[out->n++] = whole;
    return;
  }
  for (int m = 0; m < g->n; m++)
    out->items[out->n++] = launches[g->members[m]];
}

bool fused_begin(struct op_context *ctx, struct launch *const *launches, int n, struct fused_launches *out) {
  struct fused_group *groups = array_new((size_t)n, sizeof *groups);
  struct loop **loops = array_new((size_t)n, sizeof *loops);
  *out = (struct fused_launches){.items = array_new((size_t)n, sizeof *out->items)};
  int count = 0;
  if (groups && loops && out->items) {
    for (int i = 0; i < n; i++)
      loops[i] = launches[i]->loop;
    count = fused_groups(loops, n, groups);
  }
  for (int g = 0; count < n && g < count; g++)
    add_group(ctx, &groups[g], launches, out);
  free(groups);
  free(loops);
  if (out->n > 0 && out->n < n)
    return true;
  fused_end(out);
  return false;
}

void fused_end(struct fused_launches *f) {
  for (int i = 0; i < f->n; i++)
    if (f->items[i]->loop->fusion)
      launch_put(f->items[i]);
  free(f->items);
  *f = (struct fused_launches){0};
}
