#include "loop/spread/regions.h"

#include <stdlib.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "context/trace.h"
#include "loop/auto/worth.h"
#include "loop/loop.h"
#include "loop/spread/copies.h"
#include "loop/tiled/inner.h"
#include "plan/depth/early.h"
#include "record/late.h"
#include "run/schedule.h"
#include "tune/choose.h"

struct regions {
  int n;
  struct tiles early; /* an item's work is the number of its loop in the segment */
  struct schedule *
      later; /* of each loop: the rest of what the rank owns; its results have a slot behind the early ones */
  struct work *works;
  int threads;
};

void region_free(struct regions *r) {
  if (!r)
    return;
  for (int l = 0; r->later && l < r->n; l++)
    schedule_free(&r->later[l]);
  tiles_free(&r->early);
  free(r->later);
  free(r->works);
  free(r);
}

static int no_memory(struct error *err) {
  return error_memory(err, "the regions of a chain", 0);
}

/* ---- making one ---- */

/* Elements that are in tiles, of any loop over a set: of those alone maps are looked at. NULL: no memory. */
static bool **find_seen(const struct tiled_description *d, int first, int n, bool *const *early) {
  bool **seen = array_new((size_t)d->chain.nsets, sizeof *seen);
  bool all = seen;
  for (int s = 0; all && s < d->chain.nsets; s++) {
    seen[s] = array_new((size_t)d->chain.sets[s].size, sizeof **seen);
    all = seen[s];
  }
  for (int l = 0; all && l < n; l++) {
    const int set = d->chain.loops[first + l].set;
    for (long e = 0; e < d->chain.sets[set].size; e++)
      seen[set][e] |= early[l][e];
  }
  if (all)
    return seen;
  early_free(seen, d->chain.nsets);
  return NULL;
}

static int build(struct op_context *ctx, struct regions *r, const struct chain *chain,
                 struct tiles_wish *wish, struct error *err) {
  int code = tiles_build(&r->early, chain, wish, ctx->team, err);
  if (!code && text_str(&r->early.refused)[0]) {
    tiles_free(&r->early);
    tiled_wish_periodic(wish);
    code = tiles_build(&r->early, chain, wish, ctx->team, err);
  }
  return code;
}

/* The schedule has no items where tiles are refused. */
static int cut(struct op_context *ctx, struct regions *r, struct tiled_description *d, int first,
               bool *const *early, double bytes, bool forced, struct error *err) {
  const struct chain chain = {d->chain.sets, d->chain.nsets, d->chain.maps,          d->chain.nmaps,
                              d->chain.dats, d->chain.ndats, d->chain.loops + first, r->n};
  struct tiles_wish wish = tiled_wish(d->bytes, bytes, forced);
  bool **seen = find_seen(d, first, r->n, early);
  for (int m = 0; seen && m < d->chain.nmaps; m++)
    d->maps[m].seen = seen[d->maps[m].from];
  int code = seen ? build(ctx, r, &chain, &wish, err) : no_memory(err);
  for (int m = 0; m < d->chain.nmaps; m++)
    d->maps[m].seen = NULL;
  early_free(seen, d->chain.nsets);
  if (!code && !forced && r->early.gap > r->early.all / 2)
    schedule_free(&r->early.schedule);
  if (!code && r->early.schedule.nitems)
    code = tiles_keep(&r->early, early, err);
  if (!code && r->early.schedule.nitems)
    tiles_deal(&r->early, r->threads);
  return code;
}

static int make_later(struct regions *r, int l, const bool *early, long owned, struct error *err) {
  long items = 0;
  for (int filling = 0; filling < 2; filling++) {
    if (filling && schedule_new(&r->later[l], items, 1, 0, err))
      return err->code;
    if (filling)
      schedule_add_phase(&r->later[l], false);
    items = 0;
    for (long begin = 0, end; begin < owned; begin = end) {
      for (end = begin + 1; end < owned && early[end] == early[begin];)
        end++;
      if (early[begin])
        continue;
      items++;
      if (filling)
        schedule_add_item(&r->later[l], 0, begin, end, -1);
    }
  }
  for (int i = 0; i < r->later[l].nitems; i++)
    r->later[l].items[i].slot = r->early.nslots[l];
  return OP_OK;
}

static int make(struct op_context *ctx, struct regions *r, struct tiled_description *d, int first,
                const struct copies_set *sets, bool *const *early, double bytes, bool forced,
                struct error *err) {
  int code = cut(ctx, r, d, first, early, bytes, forced, err);
  for (int l = 0; !code && r->early.schedule.nitems && l < r->n; l++)
    code = make_later(r, l, early[l], sets[d->chain.loops[first + l].set].owned, err);
  return code;
}

int region_new(struct op_context *ctx, struct loop *const *loops, int n, struct tiled_description *d,
               int first, const struct copies_set *sets, const struct copies *c, struct regions **out,
               struct error *err) {
  const double forced = (double)env_number(ctx->env, ENV_TILES, 0);
  bool **early = NULL;
  *out = NULL;
  if (n < 2 || (!(forced > 0) && !tiled_pays(ctx, loops, n)))
    return OP_OK;
  struct regions *r = array_new(1, sizeof *r);
  if (!r)
    return no_memory(err);
  r->n = n;
  r->threads = 1;
  for (int l = 0; l < n; l++)
    r->threads = loops[l]->ready.threads > r->threads ? loops[l]->ready.threads : r->threads;
  r->later = array_new((size_t)n, sizeof *r->later);
  r->works = array_new((size_t)n, sizeof *r->works);
  int code =
      r->later && r->works ? early_find(&early, &d->chain, sets, first, first + n, c, err) : no_memory(err);
  if (!code)
    code = make(ctx, r, d, first, sets, early, forced > 0 ? forced : worth_tile_bytes(ctx), forced > 0, err);
  early_free(early, n);
  if (!code && r->early.schedule.nitems) {
    *out = r;
    return OP_OK;
  }
  if (!code)
    log_line(ctx->log, LOG_INFO, "chain", "%d loops of ranks from %s on: no tiles: %s", n, loops[0]->name,
             text_str(&r->early.refused));
  region_free(r);
  return code;
}

/* ---- running it ---- */

/* Slots of all parts but the first are none. */
static void set_slots(struct launch *launch, int count) {
  for (int p = 0; p < launch->loop->ready.nparts; p++)
    launch_set_slots(launch, p, p ? 0 : count);
}

static int make_works(struct op_context *ctx, const struct regions *r, struct launch *const *launches,
                      struct error *err) {
  int code = OP_OK;
  for (int l = 0; !code && l < r->n; l++) {
    set_slots(launches[l], launches[l]->loop->ready.nreductions ? r->early.nslots[l] + 1 : 0);
    code = launch_start_slots(launches[l], err);
    if (!code)
      code = launches[l]->loop->backend->work(ctx, launches[l], &r->works[l], err);
  }
  return code;
}

static void execute(struct op_context *ctx, const struct regions *r, const struct schedule *s,
                    const struct work *works, int threads) {
  executor_run(threads > 1 ? ctx->team : NULL, &(struct execution){.schedule = s,
                                                                   .works = works,
                                                                   .nworks = works == r->works ? r->n : 1,
                                                                   .threads = threads,
                                                                   .poll = ctx->poll,
                                                                   .poll_context = ctx});
}

static int run_later(struct op_context *ctx, const struct regions *r, struct launch *const *launches,
                     struct error *err) {
  int code = OP_OK;
  for (int l = 0; !code && l < r->n; l++) {
    execute(ctx, r, &r->later[l], &r->works[l], 1);
    code = deep_loop_run(ctx, launches[l], err);
  }
  return code;
}

static int leave_results(struct op_context *ctx, const struct regions *r, struct launch *const *launches,
                         struct error *err) {
  int code = OP_OK;
  for (int l = 0; !code && l < r->n; l++) {
    const struct loop *loop = launches[l]->loop;
    code = (results_come_late(ctx, loop) ? late_begin : launch_results)(ctx, launches[l], err);
    loop_mark_owned_written(ctx, loop, loop->space);
  }
  return code;
}

/* Loops share the time by the bytes that they would move. */
static void note_times(struct op_context *ctx, const struct regions *r, struct launch *const *launches,
                       double start, double waited) {
  const double spent = clock_seconds() - start - waited;
  double bytes = 0;
  for (int l = 0; l < r->n; l++)
    bytes += launches[l]->loop->stats.bytes;
  for (int l = 0; l < r->n; l++) {
    struct loop_stats *s = &launches[l]->loop->stats;
    const double own = bytes > 0 ? spent * s->bytes / bytes : spent / r->n;
    s->seconds += own;
    s->slowest = own > s->slowest ? own : s->slowest;
    tune_passed(launches[l], own);
    if (ctx->trace->ntools)
      trace_loop_begins(ctx->trace, launches[l]->loop->name);
    trace_span(ctx->trace, TRACE_LOOP, launches[l]->loop->name, "tiles", start, own, s->bytes);
    start += own;
  }
}

int region_run(struct op_context *ctx, const struct regions *r, struct launch *const *launches,
               struct launch *waits, struct error *err) {
  const double start = clock_seconds(), before = waits ? waits->loop->stats.waiting_seconds : 0;
  int code = make_works(ctx, r, launches, err);
  if (!code)
    execute(ctx, r, &r->early.schedule, r->works, r->threads);
  if (waits) {
    struct error ignored = {0};
    const int status = loop_exchange_finish(ctx, waits, code ? &ignored : err);
    error_free(&ignored);
    code = code ? code : status;
  }
  if (!code)
    code = run_later(ctx, r, launches, err);
  if (!code)
    code = leave_results(ctx, r, launches, err);
  if (code)
    return code;
  note_times(ctx, r, launches, start, waits ? waits->loop->stats.waiting_seconds - before : 0);
  ctx->counters->tiled++;
  return OP_OK;
}
