#include "loop/tiled.h"

#include <stdlib.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/loop.h"
#include "loop/queue.h"
#include "loop/tiled_describe.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "plan/tiles/prefix.h"
#include "plan/tiles/tiles.h"
#include "record/trace.h"
#include "run/team.h"
#include "tune/choose.h"

/* Loops that repeat are taken together up to so many, others up to more; and so many different chains are remembered. */
enum { LONG_CHAIN = 8, LONGEST_CHAIN = 24, MOST_CHAINS = 64 };
/* A tile's data should be at home in a cache of one core, and a chunk be some tiles; what fits into the caches anyway gains nothing. */
static const double tile_bytes = 1e6, chunk_bytes = 8e6, worth_bytes = 16e6;
enum { LEAST_CHUNKS = 8, MOST_CHUNKS = 64, MOST_BLOCKS = 1024 };

struct tiled {
  struct loop **loops;
  int n;
  unsigned epoch; /* of the mesh */
  int seen;
  bool tried;         /* to cut it */
  struct tiles tiles; /* without items: it runs loop by loop */
  struct work *works;
};

/* ---- which chains there are ------------------------------------------------------------------------*/

static void tiled_free(struct tiled *t) {
  tiles_free(&t->tiles);
  free(t->loops);
  free(t->works);
  free(t);
}

void tiled_forget(struct op_context *ctx) {
  for (int i = 0; i < ctx->chains->count; i++)
    tiled_free(ctx->chains->items[i]);
  list_free(ctx->chains);
}

static bool is_of(const struct tiled *t, struct launch *const *launches, int n) {
  bool same = t->n == n;
  for (int i = 0; same && i < n; i++)
    same = t->loops[i] == launches[i]->loop;
  return same;
}

static struct tiled *tiled_new(const struct op_context *ctx, struct launch *const *launches, int n) {
  struct tiled *t = calloc(1, sizeof *t);
  if (!t)
    return NULL;
  *t = (struct tiled){.loops = array_new((size_t)n, sizeof(struct loop *)),
                      .works = array_new((size_t)n, sizeof *t->works),
                      .n = n,
                      .epoch = ctx->mesh->epoch};
  for (int i = 0; t->loops && i < n; i++)
    t->loops[i] = launches[i]->loop;
  if (!t->loops || !t->works || !list_add(ctx->chains, t)) {
    tiled_free(t);
    return NULL;
  }
  return t;
}

/* NULL: there are too many already, or no memory. What is of another numbering goes. */
static struct tiled *find(struct op_context *ctx, struct launch *const *launches, int n) {
  if (ctx->chains->count && ((const struct tiled *)ctx->chains->items[0])->epoch != ctx->mesh->epoch)
    tiled_forget(ctx);
  for (int i = 0; i < ctx->chains->count; i++)
    if (is_of(ctx->chains->items[i], launches, n))
      return ctx->chains->items[i];
  return ctx->chains->count < MOST_CHAINS ? tiled_new(ctx, launches, n) : NULL;
}

/* How many of them repeat what comes `period` before. */
static int repeated(struct launch *const *launches, int n, int period) {
  int i = period;
  while (i < n && launches[i]->loop == launches[i - period]->loop)
    i++;
  return i;
}

int tiled_length(struct launch *const *launches, int n) {
  for (int period = 1; 2 * period <= n; period++) {
    const int length = repeated(launches, n, period);
    if (length >= 2 * period)
      return period < LONG_CHAIN && length > LONG_CHAIN ? LONG_CHAIN / period * period
             : period < LONG_CHAIN                      ? length
                                                        : period;
  }
  return n < LONGEST_CHAIN ? n : LONGEST_CHAIN;
}

/* ---- cutting one -----------------------------------------------------------------------------------*/

static int threads_of(const struct tiled *t) {
  int most = 1;
  for (int i = 0; i < t->n; i++)
    most = t->loops[i]->threads > most ? t->loops[i]->threads : most;
  return most;
}

/* Powers of two, so that threads get alike shares; a matter of the mesh, as the bits of sums depend on it. */
static int chunks_for(double bytes) {
  int chunks = LEAST_CHUNKS;
  while (chunks < MOST_CHUNKS && 2 * chunks * chunk_bytes <= bytes)
    chunks *= 2;
  return chunks;
}

/* OP2_TILES, for tests: the size of a tile; then chains are cut at their first run, whatever the mesh. */
static double forced_bytes(const struct op_context *ctx) {
  return atof(env_value(ctx->env, ENV_TILES));
}

static void say(const struct op_context *ctx, const struct tiled *t, double seconds) {
  if (text_str(&t->tiles.refused)[0])
    log_line(ctx->log, LOG_INFO, "chain", "%s", text_str(&t->tiles.refused));
  else
    log_line(ctx->log, LOG_DEBUG, "chain",
             "%d loops from %s on: %d tiles in %d chunks, %.1f %% in gaps, cut in %.2f ms", t->n,
             t->loops[0]->name, t->tiles.ntiles, t->tiles.nchunks,
             100.0 * (double)t->tiles.gap / (double)t->tiles.all, 1e3 * seconds);
}

static int cut(struct op_context *ctx, struct tiled *t, struct error *err) {
  struct tiled_description d;
  const double start = clock_seconds(), forced = forced_bytes(ctx);
  t->tried = true;
  int code = tiled_describe(ctx, t->loops, t->n, &d, err);
  if (!code && (forced > 0 || d.bytes >= worth_bytes)) {
    const double tile = forced > 0 ? forced : tile_bytes;
    const struct tiles_wish wish = {.tiles = d.bytes / tile < 1e6 ? (int)(d.bytes / tile) + 1 : 1000000,
                                    .chunks = chunks_for(d.bytes),
                                    .step = PREFIX_STEP,
                                    .blocks = MOST_BLOCKS};
    code = tiles_build(&t->tiles, &d.chain, &wish, ctx->team, err);
    if (!code && t->tiles.schedule.nitems && ctx->diags >= 2)
      code = tiles_verify(&t->tiles, &d.chain, err);
    if (!code)
      say(ctx, t, clock_seconds() - start);
    if (!code && t->tiles.schedule.nitems)
      tiles_deal(&t->tiles, threads_of(t));
  }
  tiled_describe_free(ctx, &d);
  return code;
}

/* ---- running it ------------------------------------------------------------------------------------*/

static int make_works(struct op_context *ctx, const struct tiled *t, struct launch *const *launches,
                      struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < t->n; i++) {
    struct launch *launch = launches[i];
    launch_set_slots(launch, 0, t->tiles.nslots[i]);
    code = launch_start_slots(launch, err);
    if (!code)
      code = launch->loop->backend->work(ctx, launch, &t->works[i], err);
  }
  return code;
}

/* As before: for a run of each loop on its own. */
static int take_back(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < n; i++)
    code = loop_ready_again(ctx, launches[i], err);
  return code;
}

/* Nobody can say how long each of the loops took: they share the time by the bytes that they would move. */
static void note_times(struct op_context *ctx, const struct tiled *t, struct launch *const *launches,
                       double start, double seconds) {
  double bytes = 0;
  for (int i = 0; i < t->n; i++)
    bytes += t->loops[i]->stats.bytes;
  for (int i = 0; i < t->n; i++) {
    struct loop *loop = t->loops[i];
    const double spent = bytes > 0 ? seconds * loop->stats.bytes / bytes : seconds / t->n;
    loop->stats.seconds += spent;
    if (spent > loop->stats.slowest)
      loop->stats.slowest = spent;
    tune_passed(launches[i], spent);
    if (ctx->trace->wanted)
      trace_add(ctx, loop, start, spent);
    start += spent;
  }
}

static void execute(struct op_context *ctx, const struct tiled *t, const struct schedule *s, int threads) {
  executor_run(ctx->team,
               &(struct execution){.schedule = s, .works = t->works, .nworks = t->n, .threads = threads});
}

/* Items keep their order, and with it sums theirs. */
static void execute_loop_by_loop(struct op_context *ctx, const struct tiled *t, struct item *items) {
  const struct schedule *all = &t->tiles.schedule;
  for (int l = 0; l < t->n; l++) {
    struct phase phase = {0};
    for (int i = 0; i < all->nitems; i++)
      if (all->items[i].work == l)
        items[phase.count++] = all->items[i];
    execute(ctx, t, &(struct schedule){.items = items, .nitems = phase.count, .phases = &phase, .nphases = 1},
            1);
  }
}

/* `items`: room for the loops one by one, or NULL. */
static int run(struct op_context *ctx, const struct tiled *t, struct launch *const *launches,
               struct item *items, struct error *err) {
  const double start = clock_seconds();
  int code = OP_OK;
  if (items)
    execute_loop_by_loop(ctx, t, items);
  else
    execute(ctx, t, &t->tiles.schedule, threads_of(t));
  for (int i = 0; !code && i < t->n; i++) {
    code = launch_results(ctx, launches[i], err);
    loop_mark_written(ctx, t->loops[i], t->loops[i]->backend->space);
  }
  ctx->counters->tiled += !items;
  note_times(ctx, t, launches, start, clock_seconds() - start);
  return code;
}

static bool can(struct launch *const *launches, int n) {
  bool all = n > 1;
  for (int i = 0; all && i < n; i++)
    all = launches[i]->loop->backend->work && launches[i]->loop->nparts == 1 && !tune_wants(launches[i]);
  return all;
}

/* What fails here fails before anything has changed; only tiles that are wrong are worth an error. */
int tiled_run(struct op_context *ctx, struct launch *const *launches, int n, bool loop_by_loop, bool *ran,
              struct error *err) {
  struct tiled *t = can(launches, n) ? find(ctx, launches, n) : NULL;
  struct item *items = NULL;
  *ran = false;
  if (!t || (t->seen++ == 0 && forced_bytes(ctx) <= 0 && !ctx->queue->check))
    return OP_OK;
  int code = t->tried ? OP_OK : cut(ctx, t, err);
  if (code == OP_ERR_PLAN)
    return code;
  if (!code && t->tiles.schedule.nitems) {
    if (loop_by_loop && !(items = array_new((size_t)t->tiles.schedule.nitems, sizeof *items)))
      code = error_memory(err, "the loops of a chain", (size_t)t->tiles.schedule.nitems * sizeof *items);
    if (!code)
      code = make_works(ctx, t, launches, err);
    *ran = !code;
  }
  if (*ran)
    code = run(ctx, t, launches, items, err);
  free(items);
  if (*ran)
    return code;
  if (code) {
    error_clear(err);
    return take_back(ctx, launches, n, err);
  }
  return OP_OK;
}
