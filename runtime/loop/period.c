#include "loop/period.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/list.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/chain/fused.h"
#include "loop/chain/queue.h"
#include "loop/chain/tiled.h"
#include "loop/chain/worth.h"
#include "loop/choose.h"
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

/* Seconds that making what is not there yet for a way takes: tiles, or fused loops. `begun`: it ran before, if there are fused
 * loops. */
static double making_of(struct op_context *ctx, const struct period *p, struct launch *const *launches,
                        const struct chain_way *way, int times, bool begun) {
  double compile = 0.1;
  for (int i = 0; i < p->n; i++) /* there are two at least */
    compile = fmax(compile, 2 * p->loops[i]->ready.code_seconds);
  const int periods = way->periods < times ? way->periods : times;
  const bool known = way->fused ? begun && p->made : tiled_is_known(ctx, launches, p->n * periods, way);
  return (way->fused && !p->made && !p->spent ? compile : 0) +
         (way->bytes > 0 && !known ? chain_tuning_cutting(p->tuner, way, periods) : 0);
}

/* The loops have what the way needs. Code is compiled and tiles are cut behind the program, both at once. */
static bool prepare_loops(struct op_context *ctx, const struct period *p, struct loop *const *loops, int n,
                          const struct chain_way *way) {
  bool made = true;
  for (int i = 0; way->bytes > 0 && i < n && made; i++) {
    const struct backend *b = loops[i]->backend;
    made = !b->has_work || b->has_work(ctx, loops[i], loops[i]->ready.variant);
  }
  return (!(way->bytes > 0) || !p->aside || tiled_prepare(ctx, loops, n, way)) && made;
}

/* A processor on which so little gets done is not free. */
static void look_at_clock(struct period *p, bool made) {
  const double patience = 1, now = clock_seconds();
  if (!made && p->begun > 0 && now - p->begun > patience)
    p->aside = false;
  p->begun = made ? 0 : p->begun > 0 ? p->begun : now;
}

/* The same of so many periods; what it needs is made if it is not. */
static bool prepare(struct op_context *ctx, struct period *p, struct launch *const *launches, int times,
                    const struct chain_way *way) {
  const int n = p->n * (way->periods < times ? way->periods : times);
  struct loop **loops = array_new((size_t)n, sizeof *loops);
  int count = n;
  if (chain_tuning_is_made(p->tuner, way) || !loops) {
    free(loops);
    return true;
  }
  for (int i = 0; i < n; i++)
    loops[i] = launches[i]->loop;
  bool made = !way->fused || fused_prepare(ctx, launches, n, loops, &count);
  p->made |= made && way->fused;
  made = made && prepare_loops(ctx, p, loops, count, way);
  if (made)
    chain_tuning_made(p->tuner, way);
  if (p->aside)
    look_at_clock(p, made);
  free(loops);
  return made;
}

/* Can it be compared now? What is made on a free processor costs nothing; a compile behind loops that have all is paid first, or
 * by what a model expects of it. */
static bool can_begin(struct op_context *ctx, struct period *p, struct launch *const *launches,
                      const struct chain_way *way, int times) {
  if (p->aside)
    return prepare(ctx, p, launches, times, way) && chain_tuning_can_begin(p->tuner, 0);
  const double making = making_of(ctx, p, launches, way, times, false);
  const bool behind = period_watch(ctx) && way->fused,
             pays = behind && chain_tuning_expects(p->tuner, way, making);
  if (!chain_tuning_can_begin(p->tuner, pays ? 0 : making))
    return false;
  if (!behind)
    return true;
  if (!p->spent && !pays)
    chain_tuning_spend(p->tuner, making);
  p->spent = true;
  return prepare(ctx, p, launches, times, way);
}

/* Begin the first way that nobody compared yet and that can be compared. A way that is being made, or promises much,
 * comes before those behind it. */
static void look_further(struct op_context *ctx, struct period *p, struct launch *const *launches,
                         int times) {
  struct chain_way way;
  if (period_watch(ctx) && !p->aside && tune_is_disturbed(ctx)) /* its times would say nothing */
    return;
  for (int i = chain_tuning_later(p->tuner, 0, &way); i >= 0; i = chain_tuning_later(p->tuner, i + 1, &way))
    if (can_begin(ctx, p, launches, &way, times)) {
      chain_tuning_begin(p->tuner, i);
      return;
    } else if (p->aside || chain_tuning_awaits(p->tuner, &way))
      return;
}

/* `way` has no bytes and is not fused where what comes next is still being made. */
bool period_choose(struct op_context *ctx, struct period *p, struct launch *const *launches, int times,
                   struct chain_way *out) {
  look_further(ctx, p, launches, times);
  struct chain_way way = chain_tuning_next(p->tuner);
  for (double making; !chain_tuning_is_best(p->tuner) &&
                      (making = making_of(ctx, p, launches, &way, times, true)) > 0 &&
                      !chain_tuning_can_spend(p->tuner, making);) {
    chain_tuning_postpone(p->tuner);
    way = chain_tuning_next(p->tuner);
  }
  /* A trial would say nothing, for as long as that takes. */
  if (period_watch(ctx) && !p->aside && tune_is_disturbed(ctx))
    way = chain_tuning_best(p->tuner);
  const bool made = !p->aside || (!way.fused && way.bytes <= 0) || prepare(ctx, p, launches, times, &way);
  way.stays = period_watch(ctx) && !chain_tuning_may_rest(p->tuner, 0);
  way.periods = way.periods < times ? way.periods : times;
  *out = made ? way : (struct chain_way){.periods = times};
  return made;
}
