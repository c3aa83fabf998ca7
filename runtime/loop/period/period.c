#include "loop/period/period.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/auto/device.h"
#include "loop/fused/fused.h"
#include "loop/queue.h"
#include "loop/tiled/tiled.h"
#include "mesh/mesh.h"

/* So many periods are known. */
enum { MOST_PERIODS = 64 };

static void period_free(struct op_context *ctx, struct period *p) {
  chain_tuning_close(ctx, p->tuner);
  free(p->loops);
  free(p);
}

void periods_forget(struct op_context *ctx) {
  for (int i = 0; i < ctx->periods->count; i++)
    period_free(ctx, ctx->periods->items[i]);
  list_free(ctx->periods);
  tiled_forget(ctx);
}

bool periods_use(const struct op_context *ctx, const void *object) {
  bool found = false;
  for (int i = 0; i < ctx->periods->count; i++) {
    const struct period *p = ctx->periods->items[i];
    for (int l = 0; l < p->n; l++)
      found |= loop_uses(p->loops[l], object);
  }
  return found;
}

static bool is_of(const struct period *p, struct launch *const *launches, int n) {
  bool same = p->n == n;
  for (int i = 0; same && i < n; i++)
    same = p->loops[i] == launches[i]->loop;
  return same;
}

/* OP2_FUSE */
static bool may_fuse(const struct op_context *ctx) {
  return strcmp(env_value(ctx->env, ENV_FUSE), "off") != 0;
}

/* OP2_LAZY=auto */
const struct watch *period_watch(const struct op_context *ctx) {
  return ctx->queue->watch.on ? &ctx->queue->watch : NULL;
}

/* No clock can tell how to run them: what is known of the device does. */
bool period_on_device(struct launch *const *launches) {
  return launches[0]->loop->backend->expect;
}

static struct period *period_new(struct op_context *ctx, struct launch *const *launches, int n) {
  struct period *p = calloc(1, sizeof *p);
  if (!p)
    return NULL;
  *p = (struct period){
      .loops = array_new((size_t)n, sizeof(struct loop *)), .n = n, .epoch = ctx->mesh->epoch};
  for (int i = 0; p->loops && i < n; i++)
    p->loops[i] = launches[i]->loop;
  p->pays = p->loops && launches[0]->loop->backend->work && tiled_pays(ctx, p->loops, n);
  p->tasks = p->loops && launches[0]->loop->backend->work && tiled_pays_as_tasks(p->loops, n);
  p->fuses = p->loops && may_fuse(ctx) && fused_any(p->loops, n) &&
             (!period_on_device(launches) || period_watch(ctx) || device_fuses(ctx, p->loops, n));
  if (p->loops && list_add(ctx->periods, p))
    return p;
  period_free(ctx, p);
  return NULL;
}

/* NULL: there are too many already, or no memory. What is of another numbering goes. */
struct period *period_get(struct op_context *ctx, struct launch *const *launches, int n) {
  if (ctx->periods->count && ((const struct period *)ctx->periods->items[0])->epoch != ctx->mesh->epoch)
    periods_forget(ctx);
  for (int i = 0; i < ctx->periods->count; i++)
    if (is_of(ctx->periods->items[i], launches, n))
      return ctx->periods->items[i];
  return ctx->periods->count < MOST_PERIODS ? period_new(ctx, launches, n) : NULL;
}

const struct period *period_tuned_from(const struct op_context *ctx, const struct loop *loop) {
  for (int i = 0; i < ctx->periods->count; i++) {
    const struct period *p = ctx->periods->items[i];
    if (p->tuner && p->loops[0] == loop)
      return p;
  }
  return NULL;
}

bool period_tell(const struct op_context *ctx, int i, struct chain_facts *out, bool *more) {
  *more = i < ctx->periods->count;
  const struct period *p = *more ? ctx->periods->items[i] : NULL;
  if (!p || !p->tuner)
    return false;
  *out = (struct chain_facts){.first = p->loops[0]->name, .last = p->loops[p->n - 1]->name, .loops = p->n};
  chain_tuning_tell(p->tuner, &out->tried);
  return true;
}
