#include "loop/chain/fused.h"

#include <stdlib.h>

#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "include/op2jit.h"
#include "loop/chain/queue.h"
#include "loop/chain/tiled.h"
#include "loop/chains.h"
#include "loop/choose.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"

bool fused_any(struct loop *const *loops, int n) {
  struct fused_group *groups = array_new((size_t)n, sizeof *groups);
  const bool any = groups && fused_groups(loops, n, groups) < n;
  free(groups);
  return any;
}

double fused_bytes(struct loop *const *loops, int n) {
  struct fused_group *groups = array_new((size_t)n, sizeof *groups);
  const int count = groups ? fused_groups(loops, n, groups) : 0;
  double bytes = 0;
  for (int g = 0; g < count; g++) {
    struct loop *members[DESC_MOST_MEMBERS];
    for (int m = 0; m < groups[g].n; m++)
      members[m] = loops[groups[g].members[m]];
    bytes += groups[g].n > 1 ? tiled_bytes(members, groups[g].n).moved : members[0]->stats.bytes;
  }
  free(groups);
  return bytes;
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

/* The number of launches that use the dat. */
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
  /* The chains of ranks are made once, whether temporaries die or not. */
  if (ctx->queue->check || !ctx->mesh->dying || !comm_alone(ctx->comm))
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
  int code = loop_prepare(ctx, launch, err);
  if (!code) /* fused_prepare may have left it without */
    code = tune_code(ctx, launch->loop, err);
  if (!code)
    code = loop_make_ready(ctx, launch, !way->stays, err);
  out->trying |= !code && !way->stays && (tune_wants(launch->loop) || tune_tries(launch));
  return code;
}

/* It is made of what is there already, or nobody waits for that. */
static bool is_coming(struct op_context *ctx, struct launch *launch, const struct chain_way *way) {
  struct error ignored = {0};
  launch->loop->ready.behind = way->behind;
  const bool coming =
      way->behind && loop_prepare(ctx, launch, &ignored) == OP_OK && !tune_is_made(ctx, launch->loop);
  error_free(&ignored);
  return coming;
}

/* NULL: there is none, as `err` says. `own`: the launches of its members. */
static struct loop *get_loop(struct op_context *ctx, const struct fused_group *g,
                             struct launch *const *launches, struct launch **own, struct error *err) {
  struct loop *members[DESC_MOST_MEMBERS];
  for (int m = 0; m < g->n; m++) {
    own[m] = launches[g->members[m]];
    members[m] = own[m]->loop;
  }
  struct loop *loop = fused_get(ctx, members, g->n, 0, err);
  const uint64_t dropped = loop ? find_dropped(ctx, loop, own, g->n) : 0;
  return dropped ? fused_get(ctx, members, g->n, dropped, err) : loop;
}

/* A launch of the fused loop; NULL: it cannot be made. */
static struct launch *get_launch(struct op_context *ctx, const struct fused_group *g,
                                 struct launch *const *launches, struct launch **own, struct error *err) {
  struct loop *loop = get_loop(ctx, g, launches, own, err);
  return loop && !loop->fusion->failed ? launch_get(loop, err) : NULL;
}

static void say_failure(const struct op_context *ctx, const struct fused_group *g,
                        struct launch *const *launches, const struct error *err) {
  if (err->code)
    log_line(ctx->log, LOG_INFO, "chain", "loops from %s to %s run one by one: %s",
             launches[g->members[0]]->loop->name, launches[g->members[g->n - 1]]->loop->name,
             error_message(err));
}

/* NULL: they run one by one. */
static struct launch *fuse(struct op_context *ctx, const struct fused_group *g,
                           struct launch *const *launches, const struct chain_way *way,
                           struct fused_launches *out) {
  struct launch *own[DESC_MOST_MEMBERS];
  struct error err = {0};
  struct launch *launch = get_launch(ctx, g, launches, own, &err);
  if (launch && is_coming(ctx, launch, way)) {
    out->coming = true;
    launch_put(launch);
    launch = NULL;
  } else if (launch) {
    take_globals(launch, launch->loop->fusion, own);
    if (make_ready(ctx, launch, way, out, &err)) {
      launch->loop->fusion->failed = true;
      launch_put(launch);
      launch = NULL;
    }
  }
  say_failure(ctx, g, launches, &err);
  error_free(&err);
  return launch;
}

/* NULL: they run one by one. Collective. */
static struct loop *prepare(struct op_context *ctx, const struct fused_group *g,
                            struct launch *const *launches, bool *made) {
  struct launch *own[DESC_MOST_MEMBERS];
  struct error err = {0};
  struct launch *launch = get_launch(ctx, g, launches, own, &err);
  struct loop *loop = launch ? launch->loop : NULL;
  double lacks = !launch; /* of memory, on one rank alone */
  if (agree_on_largest(ctx->agreement, OP_OK, &lacks, 1, &err) == OP_OK && lacks == 0) {
    loop->ready.behind = true;
    loop->fusion->failed = loop_prepare(ctx, launch, &err) != OP_OK;
    loop->ready.behind = false;
    *made &= loop->fusion->failed || tune_is_made(ctx, loop);
    loop = loop->fusion->failed ? NULL : loop;
  } else
    loop = NULL;
  if (launch)
    launch_put(launch);
  say_failure(ctx, g, launches, &err);
  error_free(&err);
  return loop;
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

/* 0: no memory. *groups is the caller's. */
static int find_groups(struct launch *const *launches, int n, struct fused_group **groups) {
  struct loop **loops = array_new((size_t)n, sizeof *loops);
  *groups = array_new((size_t)n, sizeof **groups);
  for (int i = 0; loops && i < n; i++)
    loops[i] = launches[i]->loop;
  const int count = loops && *groups ? fused_groups(loops, n, *groups) : 0;
  free(loops);
  return count;
}

bool fused_begin(struct op_context *ctx, struct launch *const *launches, int n, const struct chain_way *way,
                 struct fused_launches *out) {
  struct fused_group *groups;
  *out = (struct fused_launches){.items = array_new((size_t)n, sizeof *out->items)};
  const int count = find_groups(launches, n, &groups);
  for (int g = 0; out->items && count < n && g < count; g++)
    add_group(ctx, &groups[g], launches, way, out);
  free(groups);
  if (out->n > 0 && out->n < n)
    return true;
  const bool coming = out->coming;
  fused_end(out);
  out->coming = coming;
  return false;
}

bool fused_prepare(struct op_context *ctx, struct launch *const *launches, int n, struct loop **loops,
                   int *count) {
  struct fused_group *groups;
  struct error ignored = {0};
  int room = 0;
  if (tune_is_disturbed(ctx)) /* one compile at a time */
    return false;
  const int found = find_groups(launches, n, &groups);
  bool made = agree_on_success(ctx->agreement, found ? OP_OK : error_memory(&ignored, "fused loops", 0),
                               &ignored) == OP_OK;
  const int ngroups = made ? found : 0;
  for (int g = 0; g < ngroups && (made || !comm_alone(ctx->comm)); g++) {
    struct loop *whole = groups[g].n > 1 ? prepare(ctx, &groups[g], launches, &made) : NULL;
    for (int m = 0; loops && m < (whole ? 1 : groups[g].n); m++)
      loops[room++] = whole ? whole : launches[groups[g].members[m]]->loop;
  }
  if (count)
    *count = room;
  error_free(&ignored);
  free(groups);
  return made;
}

void fused_end(struct fused_launches *f) {
  for (int i = 0; i < f->n; i++)
    if (f->items[i]->loop->fusion)
      launch_put(f->items[i]);
  free(f->items);
  *f = (struct fused_launches){0};
}
