#include "loop/spread/segments.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/size.h"
#include "base/text.h"
#include "context/context.h"
#include "loop/loop.h"
#include "loop/queue.h"
#include "loop/spread/deep.h"
#include "loop/spread/depths.h"
#include "loop/spread/regions.h"
#include "loop/tiled/describe.h"
#include "mesh/data.h"
#include "mesh/guest.h"
#include "plan/depth/depth.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/exchange.h"

/* So many chains are known. */
enum { MOST_CHAINS = 64 };

/* Loops that came in this order, which all ranks agreed on. */
struct known {
  unsigned epoch; /* of the mesh */
  uint64_t hash;
  int n;
  size_t *orders; /* of the loops: no two have the same, also where one was freed */
  struct depths depths;
  struct deep **deep;        /* of each segment; NULL: loops run as deep as they do by themselves */
  int layers;                /* loop_depths_find's */
  struct layers_facts facts; /* layers > 1 */
};

static void known_free(struct op_context *ctx, struct known *k) {
  for (int s = 0; k->deep && s < k->depths.nsegments; s++)
    deep_free(ctx, k->deep[s]);
  free(k->deep);
  depths_free(&k->depths);
  free(k->facts.first);
  free(k->facts.last);
  free(k->orders);
  free(k);
}

void segments_forget(struct op_context *ctx) {
  for (int i = 0; i < ctx->queue->known.count; i++)
    known_free(ctx, ctx->queue->known.items[i]);
  list_free(&ctx->queue->known);
}

static bool is_of(const struct known *k, const struct op_context *ctx, struct launch *const *launches,
                  int n) {
  bool same = k->n == n && k->epoch == ctx->mesh->epoch;
  for (int i = 0; same && i < n; i++)
    same = k->orders[i] == launches[i]->loop->key.order;
  return same;
}

/* ---- a chain for the first time ---- */

/* In several layers as soon as the mesh has them. */
static int find_depths(struct op_context *ctx, struct known *k, struct loop *const *loops,
                       const struct tiled_description *d, struct error *err) {
  const int asked = layers_asked(ctx);
  int code = loop_depths_find(ctx, loops, k->n, d, asked, &k->depths, &k->layers, err);
  const bool there = k->layers < 2 || layers_are_there(ctx, d);
  if (!code && asked > 1 && k->layers < 2)
    log_line(ctx->log, LOG_INFO, "chain",
             "%d loops of ranks from %s on: OP2_LAYERS=%d exchanges no less often", k->n, loops[0]->name,
             asked);
  if (code || there)
    return code;
  code = layers_want(ctx, d, err);
  depths_free(&k->depths);
  return code ? code : loop_depths_find(ctx, loops, k->n, d, 1, &k->depths, &k->layers, err);
}

/* What it spares. */
static int find_costs(struct op_context *ctx, struct known *k, struct loop *const *loops,
                      const struct tiled_description *d, const struct copies_set *sets, struct error *err) {
  struct layers_facts *f = &k->facts;
  struct depths one = {0};
  struct copies_set *few = deep_sets(d, 1);
  int code = few ? loop_depths_of_one(ctx, loops, k->n, d, &one, err)
                 : error_memory(err, "the segments of a chain", 0);
  if (!code)
    code = layers_cost(loops, d, few, &one, &f->one, err);
  if (!code)
    code = layers_cost(loops, d, sets, &k->depths, &f->here, err);
  f->loops = k->n;
  f->layers = k->layers;
  f->first = name_copy(loops[0]->name);
  f->last = name_copy(loops[k->n - 1]->name);
  for (int i = 0; i < k->n; i++) {
    const struct loop_stats *s = &loops[i]->stats;
    f->seconds += s->calls ? fmax(0, s->seconds - s->waiting_seconds) / (double)s->calls : 0;
  }
  if (!code && (!f->first || !f->last))
    code = error_memory(err, "the segments of a chain", 0);
  depths_free(&one);
  free(few);
  return code;
}

/* In one layer all segments run deep or none does. */
static int make_segments(struct op_context *ctx, struct known *k, struct loop *const *loops,
                         struct tiled_description *d, struct error *err) {
  struct copies_set *sets = deep_sets(d, k->layers);
  k->deep = array_new((size_t)k->depths.nsegments, sizeof *k->deep);
  int code = sets && k->deep ? OP_OK : error_memory(err, "the segments of a chain", 0);
  for (int s = 0; !code && s < k->depths.nsegments; s++)
    if (k->layers == 1 || !loop_keeps_apart(loops[k->depths.first[s]]))
      code = deep_new(ctx, loops, d, sets, k->layers, &k->depths, s, &k->deep[s], err);
  if (!code && k->layers > 1)
    code = find_costs(ctx, k, loops, d, sets, err);
  free(sets);
  return code;
}

static int describe(struct op_context *ctx, struct known *k, struct launch *const *launches,
                    struct error *err) {
  struct tiled_description d;
  struct loop **loops = array_new((size_t)k->n, sizeof *loops);
  if (!loops)
    return error_memory(err, "the segments of a chain", (size_t)k->n * sizeof *loops);
  for (int i = 0; i < k->n; i++)
    loops[i] = launches[i]->loop;
  int code = tiled_describe(loops, k->n, &d, err);
  if (!code)
    code = find_depths(ctx, k, loops, &d, err);
  if (!code && k->layers)
    code = make_segments(ctx, k, loops, &d, err);
  tiled_describe_free(NULL, &d);
  free(loops);
  return code;
}

static struct known *known_new(struct op_context *ctx, struct launch *const *launches, int n,
                               struct error *err) {
  struct known *k = calloc(1, sizeof *k);
  size_t *orders = array_new((size_t)n, sizeof *orders);
  if (!k || !orders) {
    error_memory(err, "the segments of a chain", (size_t)n * sizeof *orders);
    free(k);
    free(orders);
    return NULL;
  }
  *k = (struct known){.epoch = ctx->mesh->epoch, .hash = 14695981039346656037u, .n = n, .orders = orders};
  for (int i = 0; i < n; i++) {
    orders[i] = launches[i]->loop->key.order;
    k->hash = (k->hash ^ orders[i]) * 1099511628211u;
  }
  if (describe(ctx, k, launches, err) == OP_OK && list_add(&ctx->queue->known, k))
    return k;
  if (!err->code)
    error_memory(err, "the segments of a chain", sizeof *k);
  known_free(ctx, k);
  return NULL;
}

/* Which loops they are, for ranks that have others: the first one that differs is named. */
static int agree_on_loops(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  struct text facts = {0};
  text_addf(&facts, "call\t%s, which runs what waits\nloops that wait\t%d\n", ctx->agreement->where, n);
  for (int i = 0; i < n; i++)
    text_addf(&facts, "loop %d of those that wait\t%s\n", i + 1, launches[i]->loop->name);
  const int code = agree_named(ctx, &(struct agreement){.facts = &facts}, err);
  text_free(&facts);
  return code;
}

static struct known *find_known(const struct op_context *ctx, struct launch *const *launches, int n) {
  const struct list *known = &ctx->queue->known;
  for (int i = 0; i < known->count; i++)
    if (is_of(known->items[i], ctx, launches, n))
      return known->items[i];
  return NULL;
}

/* Of the rank that it costs most. */
static int agree_on_costs(struct op_context *ctx, struct known *k, struct error *err) {
  struct layers_facts *f = &k->facts;
  double values[] = {f->one.bytes, f->one.twice, f->here.bytes, f->here.twice, f->seconds};
  const int code = agree_on_largest(ctx->agreement, OP_OK, values, 5, err);
  f->one.bytes = values[0];
  f->one.twice = values[1];
  f->here.bytes = values[2];
  f->here.twice = values[3];
  f->seconds = values[4];
  f->gain = layers_gain(ctx, &f->one, &f->here, f->seconds);
  log_line(
      ctx->log, LOG_INFO, "chain",
      "%d loops of ranks from %s on, in %d layers: %d exchanges, %.1f kB received at most and %.2f%% run "
      "twice, in place of %d, %.1f kB and %.2f%%; by a model of this machine that saves %.3g us a run",
      f->loops, f->first, f->layers, f->here.exchanges, f->here.bytes / 1e3, 100 * f->here.twice,
      f->one.exchanges, f->one.bytes / 1e3, 100 * f->one.twice, 1e6 * f->gain);
  return code;
}

bool segments_tell(const struct op_context *ctx, int i, struct layers_facts *out, bool *more) {
  const struct list *known = ctx->queue ? &ctx->queue->known : NULL;
  *more = known && i < known->count;
  if (!*more)
    return false;
  *out = ((const struct known *)known->items[i])->facts;
  return out->runs > 0;
}

/* *out NULL: some rank has no memory. What is known is compared by the messages themselves, but for a device's. */
static int get_known(struct op_context *ctx, struct launch *const *launches, int n, struct known **out,
                     struct error *err) {
  struct error own = {0};
  *out = find_known(ctx, launches, n);
  int code =
      *out && !space_is_device(launches[0]->loop->space) ? OP_OK : agree_on_loops(ctx, launches, n, err);
  if (code || *out)
    return code;
  if (ctx->queue->known.count == MOST_CHAINS)
    segments_forget(ctx);
  *out = known_new(ctx, launches, n, &own);
  code = agree_on_success(ctx->agreement, own.code, &own);
  error_free(&own);
  if (code) {
    segments_forget(ctx);
    *out = NULL;
    return OP_OK;
  }
  for (int s = 0; (*out)->deep && !code && s < (*out)->depths.nsegments; s++)
    code = (*out)->deep[s] ? deep_connect(ctx, (*out)->deep[s], err) : OP_OK;
  if (!code && (*out)->layers > 1)
    code = agree_on_costs(ctx, *out, err);
  if (code) /* half of it is connected: nobody may find it */
    segments_forget(ctx);
  return code;
}

/* ---- a segment ---- */

/* What became of a dat in the segment so far. */
enum became { UNCHANGED, CHANGED, OVERWRITTEN };

struct needs {
  struct halo_need *items;
  int count;
  const struct dat **dats; /* that are not unchanged */
  enum became *became;
  int ndats;
};

static enum became *find(const struct needs *s, const struct dat *dat) {
  for (int i = 0; i < s->ndats; i++)
    if (s->dats[i] == dat)
      return &s->became[i];
  return NULL;
}

static void add(struct op_context *ctx, struct needs *s, struct dat *dat, const struct map *map) {
  bool there = halo_is_current(ctx, dat, map);
  for (int i = 0; i < s->count; i++)
    there |= s->items[i].dat == dat && s->items[i].map == map;
  if (!there)
    s->items[s->count++] = (struct halo_need){.dat = dat, .map = map};
}

/* Of a dat that changed before only what runs on copies is read again, which changes them alike if they were the newest. */
static void add_loop(struct op_context *ctx, struct needs *s, const struct loop *loop) {
  for (int i = 0; i < loop->ready.nneeds; i++) {
    const struct halo_need *need = &loop->ready.needs[i];
    const enum became *became = find(s, need->dat);
    if (!became || *became == CHANGED)
      add(ctx, s, need->dat, became ? NULL : need->map);
  }
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form != DESC_DAT || !arg->present || arg->access == OP_READ)
      continue;
    enum became *became = find(s, arg->dat);
    if (!became) {
      s->dats[s->ndats] = arg->dat;
      became = &s->became[s->ndats++];
      *became = CHANGED;
    }
    if (arg->access == OP_WRITE && !arg->map && !loop->compiled)
      *became = OVERWRITTEN;
  }
}

static void needs_free(struct needs *s) {
  free(s->items);
  free((void *)s->dats);
  free(s->became);
}

/* All that the segment's loops need and is old. */
static int find_needs(struct op_context *ctx, struct needs *s, struct launch *const *launches, int n,
                      struct error *err) {
  size_t most = 0;
  for (int i = 0; i < n; i++)
    most += (size_t)launches[i]->loop->nargs;
  *s = (struct needs){.items = array_new(most, sizeof *s->items),
                      .dats = array_new(most, sizeof *s->dats),
                      .became = array_new(most, sizeof *s->became)};
  if (!s->items || !s->dats || !s->became)
    return error_memory(err, "what a chain needs of other ranks", most * sizeof *s->items);
  for (int i = 0; i < n; i++)
    add_loop(ctx, s, launches[i]->loop);
  return OP_OK;
}

/* ---- running it ---- */

/* Of the segment's loops, which run so deep, the first that reaches others' elements or runs on them. */
static struct launch *first_to_wait(struct launch *const *launches, int n, const int *run) {
  for (int i = 0; i < n; i++)
    if (launches[i]->loop->ready.nparts > 1 || run[i] > 0)
      return launches[i];
  return NULL;
}

/* launch->exchange, if *out. */
static int start_needs(struct op_context *ctx, struct launch *const *launches, int n, struct launch *launch,
                       const struct exchange_header *header, struct exchange **out, struct error *err) {
  struct needs s;
  *out = NULL;
  int code = find_needs(ctx, &s, launches, n, err);
  if (!code && s.count)
    code = exchange_get_headed(ctx, s.items, s.count, launch->loop->space, header, out, err);
  if (!code && *out)
    code = exchange_start(ctx, *out, err);
  needs_free(&s);
  return code;
}

/* *waits: the launch that waits for the messages; NULL: there are none. */
static int start_messages(struct op_context *ctx, const struct known *k, int segment,
                          struct launch *const *launches, int n, struct launch **waits, struct error *err) {
  const struct deep *deep = k->deep ? k->deep[segment] : NULL;
  struct launch *launch = first_to_wait(launches, n, k->depths.run + k->depths.first[segment]);
  struct exchange *x = NULL;
  const double start = clock_seconds();
  const struct exchange_header header = {ctx->queue->flushes, (uint32_t)k->n, k->hash};
  *waits = NULL;
  if (!launch && !deep)
    return OP_OK;
  launch = launch ? launch : launches[n - 1];
  ctx->comm->where = launch->loop->name;
  const int code = deep ? deep_start(ctx, deep, &header, &x, err)
                        : start_needs(ctx, launches, n, launch, &header, &x, err);
  if (code || !x)
    return code;
  launch->exchange = x;
  launch->stale = 0;
  loop_exchange_started(ctx, launch, start);
  *waits = launch;
  return OP_OK;
}

static int run_segment(struct op_context *ctx, const struct known *k, int segment,
                       struct launch *const *launches, struct error *err) {
  const struct deep *deep = k->deep ? k->deep[segment] : NULL;
  const int n = k->depths.first[segment + 1] - k->depths.first[segment];
  struct launch *waits = NULL;
  int code = deep ? deep_get_code(ctx, deep, launches, err) : OP_OK;
  if (!code && (n > 1 || deep))
    code = start_messages(ctx, k, segment, launches, n, &waits, err);
  if (!code && deep) {
    deep_begin(deep, launches);
    if (deep_region(deep)) {
      code = region_run(ctx, deep_region(deep), launches, waits, err);
      deep_end(deep, launches);
      return code;
    }
  }
  for (int i = 0; !code && i < n; i++) {
    const bool here = launches[i] == waits;
    code = (here ? loop_run_ready_exchanging : loop_run_ready)(ctx, launches[i], err);
    waits = here ? NULL : waits;
  }
  if (waits) { /* a loop before it failed */
    struct error ignored = {0};
    loop_exchange_finish(ctx, waits, &ignored);
    error_free(&ignored);
  }
  if (deep)
    deep_end(deep, launches);
  return code;
}

/* It works in memory that has no room for more layers. */
static bool any_is_placed(const struct op_context *ctx, struct launch *const *launches, int n) {
  bool any = false;
  for (int l = 0; ctx->mesh->lent && l < n; l++)
    for (int i = 0; i < launches[l]->loop->nargs; i++) {
      const struct dat *dat = launches[l]->loop->args[i].dat;
      any |= dat && dat->guest && dat->guest->placed;
    }
  return any;
}

int segments_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  struct known *k = NULL;
  int code = n > 1 ? get_known(ctx, launches, n, &k, err) : OP_OK;
  ctx->queue->flushes++;
  if (code || !k || (k->layers > 1 && any_is_placed(ctx, launches, n)))
    return code ? code : loop_run_all_ready(ctx, launches, n, err);
  k->facts.runs += k->layers > 1;
  for (int s = 0; !code && s < k->depths.nsegments; s++)
    code = run_segment(ctx, k, s, launches + k->depths.first[s], err);
  return code;
}
