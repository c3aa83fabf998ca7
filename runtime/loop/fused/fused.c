#include "loop/fused/fused.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "loop/form.h"
#include "loop/fused/group.h"
#include "loop/loop.h"
#include "loop/queue.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "tune/chains.h"
#include "tune/choose.h"

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

/* Its rows are nobody's to see: it is freed, the loop writes it first, and no other that waits uses it. */
static bool can_drop(const struct queue *queue, const struct loop *loop, struct launch *const *own, int n,
                     const struct dat *dat) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->dat == dat && arg->present && (!arg_is_direct(arg) || arg->access != OP_WRITE))
      return false;
  }
  return count_users(own, n, dat) == count_users(queue->launches, queue->count, dat);
}

static uint64_t find_dropped(const struct op_context *ctx, const struct loop *loop, struct launch *const *own,
                             int n) {
  uint64_t dropped = 0;
  if (ctx->queue->check || !ctx->mesh->dying)
    return 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->dat && arg->present && arg->dat->dying && can_drop(ctx->queue, loop, own, n, arg->dat))
      dropped |= (uint64_t)1 << i;
  }
  return dropped;
}

/* All launches of one loop run the same variant: none is tried, or found to be the best, while they wait. */
static int make_ready(struct op_context *ctx, struct launch *launch, const struct chain_way *way,
                      struct fused_launches *out, struct error *err) {
  for (int i = 0; i < out->n; i++)
    if (out->items[i]->loop == launch->loop)
      return loop_make_ready_like(ctx, launch, out->items[i], err);
  const int code = (way->stays ? loop_make_ready_as_known : loop_make_ready)(ctx, launch, err);
  out->trying |= !code && !way->stays && (tune_wants(launch->loop) || tune_tries(launch));
  return code;
}

/* It is made of what is there already, or nobody waits for that. */
static bool is_coming(struct op_context *ctx, struct launch *launch, const struct chain_way *way) {
  struct error ignored = {0};
  launch->loop->ready.behind = way->behind;
  const bool coming =
      way->behind && loop_prepare(ctx, launch, &ignored) == OP_OK && !tune_is_there(ctx, launch->loop);
  error_free(&ignored);
  return coming;
}

/* NULL: they run one by one. */
static struct launch *fuse(struct op_context *ctx, const struct fused_group *g,
                           struct launch *const *launches, const struct chain_way *way,
                           struct fused_launches *out) {
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
  if (launch && is_coming(ctx, launch, way)) {
    out->coming = true;
    launch_put(launch);
    launch = NULL;
  } else if (launch) {
    take_globals(launch, loop->fusion, own);
    if (make_ready(ctx, launch, way, out, &err)) {
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
                      const struct chain_way *way, struct fused_launches *out) {
  struct launch *whole = g->n > 1 ? fuse(ctx, g, launches, way, out) : NULL;
  if (whole) {
    whole->loop->stats.calls++;
    ctx->counters->fused += g->n;
    ctx->counters->unstored += __builtin_popcountll(whole->loop->fusion->dropped);
    out->items[out->n++] = whole;
    return;
  }
  for (int m = 0; m < g->n; m++)
    out->items[out->n++] = launches[g->members[m]];
}

bool fused_begin(struct op_context *ctx, struct launch *const *launches, int n, const struct chain_way *way,
                 struct fused_launches *out) {
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
    add_group(ctx, &groups[g], launches, way, out);
  free(groups);
  free(loops);
  if (out->n > 0 && out->n < n)
    return true;
  const bool coming = out->coming;
  fused_end(out);
  out->coming = coming;
  return false;
}

void fused_end(struct fused_launches *f) {
  for (int i = 0; i < f->n; i++)
    if (f->items[i]->loop->fusion)
      launch_put(f->items[i]);
  free(f->items);
  *f = (struct fused_launches){0};
}
