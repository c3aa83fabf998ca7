/* Chains of ranks that came before. */
#include <math.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/log.h"
#include "base/text.h"
#include "context/context.h"
#include "loop/chain/depths.h"
#include "loop/chain/queue.h"
#include "loop/chain/segments.h"
#include "loop/chain/tiled_describe.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "record/sites.h"

/* So many chains are known. */
enum { MOST_CHAINS = 64 };

/* The description that a chain is made from. */
struct described {
  struct loop **loops;
  struct tiled_description d;
  struct copies_set *sets;
};

void known_chain_free(struct op_context *ctx, struct known_chain *k) {
  for (int s = 0; k->deep && k->regions && s < k->depths.nsegments; s++) {
    deep_free(ctx, k->deep[s]);
    region_free(k->regions[s]);
  }
  if (k->whole)
    known_chain_free(ctx, k->whole);
  depths_free(&k->depths);
  arrays_free(&k->memory);
  free(k);
}

void segments_forget(struct op_context *ctx) {
  for (int i = 0; i < ctx->queue->known.count; i++)
    known_chain_free(ctx, ctx->queue->known.items[i]);
  list_free(&ctx->queue->known);
}

static bool is_of(const struct known_chain *k, const struct op_context *ctx, struct launch *const *launches,
                  int n) {
  bool same = k->n == n && k->epoch == ctx->mesh->epoch;
  for (int i = 0; same && i < n; i++)
    same = k->orders[i] == launches[i]->loop->key.order;
  return same;
}

/* ---- a chain for the first time ---- */

static void described_free(struct described *from) {
  tiled_describe_free(NULL, &from->d);
  free(from->loops);
  free(from->sets);
}

/* In several layers as soon as the mesh has them. */
static int find_depths(struct op_context *ctx, struct known_chain *k, struct loop *const *loops,
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

/* Names of sites stay where loops are forgotten. */
static const char *name_of(const struct loop *loop) {
  return loop->site ? loop->site->name : "";
}

/* Costs in one layer and in several. */
static int find_costs(const struct op_context *ctx, struct known_chain *k, const struct described *from,
                      struct error *err) {
  struct layers_facts *f = &k->facts;
  struct depths one = {0};
  struct copies_set *few = deep_sets(&from->d, 1);
  *f = (struct layers_facts){.first = name_of(from->loops[0]),
                             .last = name_of(from->loops[k->n - 1]),
                             .loops = k->n,
                             .layers = k->layers};
  for (int i = 0; i < k->n; i++) {
    const struct loop_stats *s = &from->loops[i]->stats;
    f->seconds += s->calls ? fmax(0, s->seconds - s->waiting_seconds) / (double)s->calls : 0;
  }
  int code = few ? loop_depths_in(ctx, from->loops, k->n, &from->d, 1, &one, err)
                 : error_memory(err, "the segments of a chain", 0);
  if (!code)
    code = layers_cost(from->loops, &from->d, few, &one, &f->one, err);
  if (!code)
    code = layers_cost(from->loops, &from->d, from->sets, &k->depths, &f->here, err);
  depths_free(&one);
  free(few);
  return code;
}

static int make_deep(const struct op_context *ctx, struct known_chain *k, struct described *from,
                     struct error *err) {
  const size_t n = (size_t)k->depths.nsegments;
  k->deep = arrays_add(&k->memory, n, sizeof *k->deep);
  k->regions = arrays_add(&k->memory, n, sizeof *k->regions);
  k->waits = arrays_add(&k->memory, n, sizeof *k->waits);
  k->ahead = arrays_add(&k->memory, (size_t)k->n, sizeof *k->ahead);
  from->sets = deep_sets(&from->d, k->layers);
  int code = !k->memory.failed && from->sets
                 ? OP_OK
                 : error_memory(err, "the segments of a chain", n * sizeof *k->deep);
  for (int s = 0; !code && s < k->depths.nsegments; s++)
    if (!(loop_keeps_to_itself(from->loops[k->depths.first[s]]) ||
          (k->layers > 1 && loop_keeps_apart(from->loops[k->depths.first[s]]))))
      code = deep_new(from->loops, &from->d, from->sets, k->layers, &k->depths, s, &k->deep[s], err);
  return code || k->layers < 2 ? code : find_costs(ctx, k, from, err);
}

static int describe(struct op_context *ctx, struct known_chain *k, struct launch *const *launches,
                    struct described *from, struct error *err) {
  from->loops = array_new((size_t)k->n, sizeof(struct loop *));
  if (!from->loops)
    return error_memory(err, "the segments of a chain", (size_t)k->n * sizeof(struct loop *));
  for (int i = 0; i < k->n; i++)
    from->loops[i] = launches[i]->loop;
  int code = tiled_describe(from->loops, k->n, &from->d, err);
  if (!code)
    code = find_depths(ctx, k, from->loops, &from->d, err);
  return code || !k->layers ? code : make_deep(ctx, k, from, err);
}

/* So many segments from this one on share copies. */
static int deep_from(const struct known_chain *k, int segment) {
  int n = 0;
  while (segment + n < k->depths.nsegments && k->deep[segment + n])
    n++;
  return n;
}

/* A matter of this rank alone: what fails runs loop by loop. But where any rank has one, what no loop of the chain changes travels
 * before all others' messages. */
static int make_regions(struct op_context *ctx, struct known_chain *k, struct described *from,
                        struct error *err) {
  struct error ignored = {0};
  double any = 0;
  for (int s = 0, n; s < k->depths.nsegments; s += n) {
    const int most = deep_from(k, s);
    if (most)
      region_new(ctx, from->loops, &from->d, from->sets, &k->depths, k->deep, s, most, &k->regions[s],
                 &ignored);
    n = k->regions[s] ? region_segments(k->regions[s]) : 1;
    any += k->regions[s] != NULL;
  }
  for (int s = 0; s < k->depths.nsegments; s++)
    if (k->deep[s])
      ahead_find(from->loops, &from->d, from->sets, &k->depths, k->deep[s], s, k->ahead, &ignored);
  error_free(&ignored);
  const int code = agree_on_largest(ctx->agreement, OP_OK, &any, 1, err);
  k->early = any > 0;
  return code;
}

/* Take the costs of the rank that has the highest. */
static int agree_on_costs(struct op_context *ctx, struct known_chain *k, struct error *err) {
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
  *out = ((const struct known_chain *)known->items[i])->facts;
  return out->runs > 0;
}

/* Make out who sends what to whom, and how the chain runs here. Collective. */
static int connect(struct op_context *ctx, struct known_chain *k, struct described *from, struct error *err) {
  int code = OP_OK;
  for (int s = 0; k->deep && !code && s < k->depths.nsegments; s++)
    if (k->deep[s])
      code = deep_connect(ctx, k->deep[s], err);
  if (!code && k->layers > 1)
    code = agree_on_costs(ctx, k, err);
  if (!code && k->deep)
    code = make_regions(ctx, k, from, err);
  return code;
}

/* Local. `list`: it is added there; NULL: it is not. */
static struct known_chain *known_new(struct op_context *ctx, struct launch *const *launches, int n,
                                     struct described *from, struct list *list, struct error *err) {
  struct known_chain *k = array_new(1, sizeof *k);
  if (k) {
    *k = (struct known_chain){.epoch = ctx->mesh->epoch, .hash = 14695981039346656037u, .n = n};
    k->orders = arrays_add(&k->memory, (size_t)n, sizeof *k->orders);
  }
  for (int i = 0; k && k->orders && i < n; i++) {
    k->orders[i] = launches[i]->loop->key.order;
    k->hash = (k->hash ^ k->orders[i]) * 1099511628211u;
  }
  if (k && k->orders && describe(ctx, k, launches, from, err) == OP_OK && (!list || list_add(list, k)))
    return k;
  if (!err->code)
    error_memory(err, "the segments of a chain", sizeof *k);
  if (k)
    known_chain_free(ctx, k);
  return NULL;
}

/* *out NULL: some rank has no memory. Collective. */
static int make(struct op_context *ctx, struct launch *const *launches, int n, struct list *list,
                struct known_chain **out, struct error *err) {
  struct error own = {0};
  struct described from = {0};
  struct known_chain *k = known_new(ctx, launches, n, &from, list, &own);
  int code = agree_on_success(ctx->agreement, own.code, &own);
  const bool all = !code;
  error_free(&own);
  if (all)
    code = connect(ctx, k, &from, err);
  described_free(&from);
  *out = code ? NULL : k;
  if (code && list) /* half of it is connected: nobody may find it */
    segments_forget(ctx);
  else if (code && k)
    known_chain_free(ctx, k);
  return all ? code : OP_OK;
}

int known_chain_make(struct op_context *ctx, struct launch *const *launches, int n, struct known_chain **out,
                     struct error *err) {
  return make(ctx, launches, n, NULL, out, err);
}

/* Compare the loops' names: the first one that differs between ranks is named. */
static int agree_on_loops(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  struct text facts = {0};
  text_addf(&facts, "call\t%s, which runs what waits\nloops that wait\t%d\n", ctx->agreement->where, n);
  for (int i = 0; i < n; i++)
    text_addf(&facts, "loop %d of those that wait\t%s\n", i + 1, launches[i]->loop->name);
  const int code = agree_named(ctx, &(struct agreement){.facts = &facts}, err);
  text_free(&facts);
  return code;
}

static struct known_chain *find_known(const struct op_context *ctx, struct launch *const *launches, int n) {
  const struct list *known = &ctx->queue->known;
  for (int i = 0; i < known->count; i++)
    if (is_of(known->items[i], ctx, launches, n))
      return known->items[i];
  return NULL;
}

int known_chain_get(struct op_context *ctx, struct launch *const *launches, int n, struct known_chain **out,
                    struct error *err) {
  *out = find_known(ctx, launches, n);
  const int code =
      *out && !space_is_device(launches[0]->loop->space) ? OP_OK : agree_on_loops(ctx, launches, n, err);
  if (code || *out)
    return code;
  if (ctx->queue->known.count == MOST_CHAINS)
    segments_forget(ctx);
  return make(ctx, launches, n, &ctx->queue->known, out, err);
}
