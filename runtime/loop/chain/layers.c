#include "loop/chain/layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/chain/depths.h"
#include "loop/chain/queue.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "plan/copies.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/recorder.h"
#include "spread/spread.h"

struct layers {
  int *maps; /* ids of those that rings are to follow; */
  int nmaps;
  int nfollowed;   /* of the first of them they do */
  bool wanted;     /* more than there is */
  bool failed;     /* there was no memory */
  unsigned waited; /* times that layers_make could have begun */
  int builds;
  /* Seconds of a message between two ranks both of which send (0: not measured), and of each byte of it. */
  double latency, byte;
};

int layers_asked(const struct op_context *ctx) {
  return comm_alone(ctx->comm) ? 1 : (int)env_number(ctx->env, ENV_LAYERS, 1);
}

void layers_warn(const struct op_context *ctx) {
  const int asked = layers_asked(ctx);
  if (asked < 2 || ctx->comm->rank > 0)
    return;
  if (!ctx->queue)
    log_line(ctx->log, LOG_WARN, "chain",
             "OP2_LAYERS=%d has no effect, as no loops wait; set OP2_LAZY=on, or leave it at auto", asked);
  else if (strcmp(env_value(ctx->env, ENV_FP), "strict") == 0)
    log_line(
        ctx->log, LOG_WARN, "chain",
        "OP2_LAYERS=%d with OP2_FP=strict: loops that add through maps keep to one layer, because copies "
        "of others' elements are added up in another order than by their owners",
        asked);
}

void layers_free(struct op_context *ctx) {
  struct layers *l = ctx->queue ? ctx->queue->layers : NULL;
  if (!l)
    return;
  free(l->maps);
  free(l);
  ctx->queue->layers = NULL;
}

/* ---- which maps ---- */

static bool is_needed(const struct tiled_description *d, int map) {
  return map_may_grow(d->of[map]) && chain_needs_map(&d->chain, map);
}

/* Its place among those that are to be followed; -1: it is not. */
static int place_of(const struct layers *l, const struct map *map) {
  int place = l->nmaps - 1;
  while (place >= 0 && l->maps[place] != map->id)
    place--;
  return place;
}

static bool mesh_has_them(const struct op_context *ctx) {
  const struct mesh *mesh = ctx->mesh;
  const struct set *set = mesh->sets.count ? mesh->sets.items[0] : NULL;
  return set && set->spread && set->spread->layers;
}

bool layers_are_there(const struct op_context *ctx, const struct tiled_description *d) {
  const struct layers *l = ctx->queue->layers;
  bool there = l && mesh_has_them(ctx);
  for (int m = 0; there && m < d->chain.nmaps; m++)
    if (is_needed(d, m)) {
      const int place = place_of(l, d->of[m]);
      there = place >= 0 && place < l->nfollowed;
    }
  return there;
}

static int no_memory(struct error *err) {
  return error_memory(err, "the layers of a chain", 0);
}

int layers_want(struct op_context *ctx, const struct tiled_description *d, struct error *err) {
  struct layers *l = ctx->queue->layers;
  if (!l && !(l = ctx->queue->layers = array_new(1, sizeof *l)))
    return no_memory(err);
  for (int m = 0; m < d->chain.nmaps; m++) {
    if (!is_needed(d, m) || place_of(l, d->of[m]) >= 0)
      continue;
    int *maps = array_resize(l->maps, (size_t)l->nmaps + 1, sizeof *maps);
    if (!maps)
      return no_memory(err);
    l->maps = maps;
    maps[l->nmaps++] = d->of[m]->id;
  }
  l->waited = l->wanted ? l->waited : 0;
  l->wanted = !l->failed;
  return OP_OK;
}

bool layers_are_wanted(const struct op_context *ctx) {
  struct layers *l = ctx->queue->layers;
  if (!l || !l->wanted || (ctx->recorder && ctx->recorder->derives) || !mesh_is_distributed(ctx))
    return false;
  l->waited++; /* where dats are lent ranks meet less and less often */
  return (l->waited & (l->waited - 1)) == 0;
}

/* ---- how long messages take ---- */

enum { SMALL = 64, LARGE = 1 << 18, SMALL_ROUNDS = 64, LARGE_ROUNDS = 4 };

/* Seconds of a round in which pairs of ranks send each other so much. A rank that has no other takes part in as many. */
static int time_rounds(struct comm *comm, unsigned char *buffer, size_t bytes, int rounds, double *seconds,
                       struct error *err) {
  int other = comm->rank ^ 1, code = OP_OK;
  const struct comm_messages messages = {other < comm->size, &other, &bytes};
  double start = 0;
  for (int i = 0; !code && i <= rounds; i++) {
    start = i == 1 ? clock_seconds() : start; /* the first is for connections */
    code = comm->table->exchange(comm, buffer, &messages, buffer + bytes, &messages, err);
  }
  *seconds = (clock_seconds() - start) / rounds;
  return code;
}

/* The slowest pair counts. */
static int measure(struct op_context *ctx, struct layers *l, struct error *err) {
  double seconds[2] = {0, 0};
  unsigned char *buffer = array_new(2, LARGE);
  int code = agree_on_success(ctx->agreement, buffer ? OP_OK : no_memory(err), err);
  if (!code) {
    code = time_rounds(ctx->comm, buffer, SMALL, SMALL_ROUNDS, &seconds[0], err);
    if (!code)
      code = time_rounds(ctx->comm, buffer, LARGE, LARGE_ROUNDS, &seconds[1], err);
    code = agree_on_largest(ctx->agreement, code, seconds, 2, err);
  }
  free(buffer);
  l->latency = seconds[0];
  l->byte = seconds[1] > seconds[0] ? (seconds[1] - seconds[0]) / (double)LARGE : 0;
  return code;
}

/* ---- the mesh gets them ---- */

static bool *find_followed(const struct op_context *ctx, const struct layers *l) {
  const struct list *maps = &ctx->mesh->maps;
  bool *followed = array_new((size_t)maps->count, sizeof *followed);
  for (int m = 0; followed && m < maps->count; m++)
    followed[m] = place_of(l, maps->items[m]) >= 0;
  return followed;
}

static int grow(struct op_context *ctx, struct layers *l, struct error *err) {
  bool *followed = find_followed(ctx, l);
  int code = agree_on_success(ctx->agreement, followed ? OP_OK : no_memory(err), err);
  if (!code && l->latency <= 0)
    code = measure(ctx, l, err);
  if (!code)
    code = mesh_grow(ctx, layers_asked(ctx), followed, err);
  free(followed);
  if (code == OP_ERR_MEMORY) {
    log_line(ctx->log, LOG_WARN, "chain", "OP2_LAYERS=%d: loops keep to one layer: %s", layers_asked(ctx),
             error_message(err));
    error_clear(err);
    l->failed = true;
    return OP_OK;
  }
  l->nfollowed = l->nmaps;
  l->builds++;
  return code;
}

int layers_make(struct op_context *ctx, struct error *err) {
  enum { MANY = 8 };
  struct layers *l = ctx->queue->layers;
  const double start = clock_seconds();
  double lent = ctx->mesh->lent;
  int code = agree_on_largest(ctx->agreement, OP_OK, &lent, 1, err);
  if (code || lent > 0)
    return code;
  l->wanted = false;
  ctx->comm->where = "layers of others' elements (OP2_LAYERS)";
  code = grow(ctx, l, err);
  if (code || l->failed)
    return code;
  log_line(
      ctx->log, l->builds == MANY ? LOG_WARN : LOG_INFO, "chain",
      "%d layers of others' elements made in %.3g s, for the %d. time since the mesh or the loops changed",
      layers_asked(ctx), clock_seconds() - start, l->builds);
  return OP_OK;
}

/* ---- what it costs ---- */

/* The segment's. */
static int add_cost(const struct tiled_description *d, const struct copies_set *sets,
                    const struct depths *depths, int segment, double *owned, struct layers_cost *out,
                    struct error *err) {
  const int first = depths->first[segment], end = depths->first[segment + 1];
  struct deep_copies c;
  const int code = deep_copies_find(&c, &d->chain, sets, first, end, err);
  if (code)
    return code;
  for (int i = 0; i < d->chain.ndats; i++)
    if (chain_changes(&d->chain, i, d->chain.nloops))
      out->bytes += (double)c.need[i].count * (double)d->row_bytes[i];
  for (int l = first; l < end; l++) {
    out->twice += (double)c.run[l - first].count;
    *owned += (double)sets[d->chain.loops[l].set].owned;
  }
  deep_copies_free(&c);
  return OP_OK;
}

int layers_cost(struct loop *const *loops, const struct tiled_description *d, const struct copies_set *sets,
                const struct depths *depths, struct layers_cost *out, struct error *err) {
  int code = OP_OK;
  double owned = 0;
  *out = (struct layers_cost){.exchanges = depths->exchanges};
  for (int s = 0; !code && s < depths->nsegments; s++)
    if (!loop_keeps_apart(loops[depths->first[s]]))
      code = add_cost(d, sets, depths, s, &owned, out, err);
  out->twice = owned > 0 ? out->twice / owned : 0;
  return code;
}

double layers_gain(const struct op_context *ctx, const struct layers_cost *one,
                   const struct layers_cost *several, double seconds) {
  const struct layers *l = ctx->queue->layers;
  return (one->exchanges - several->exchanges) * l->latency + (one->bytes - several->bytes) * l->byte -
         (several->twice - one->twice) * seconds;
}
