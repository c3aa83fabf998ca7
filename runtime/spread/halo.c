#include "spread/halo.h"

#include <stdlib.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/exchange.h"
#include "spread/parts/mail.h"

/* True if each element that `map` reaches bears the mark. */
static bool all_marked(const struct map *map, const bool *marks) {
  const struct halo_side *side = &map->halo->receive;
  for (long i = 0; i < side->first[side->count]; i++)
    if (!marks[side->elements[i]])
      return false;
  return true;
}

/* For each map of the mesh whether `map` covers it on this rank. */
static int find_covered(struct op_context *ctx, const struct map *map, long long *covered,
                        struct error *err) {
  const struct list *maps = &ctx->mesh->maps;
  const size_t elements = (size_t)map->to->extents[EXTENT_NONEXEC];
  const struct halo_side *side = &map->halo->receive;
  bool *marks = array_new(elements, sizeof *marks);
  if (!marks)
    return error_memory(err, "what halos have in common", elements);
  for (long i = 0; i < side->first[side->count]; i++)
    marks[side->elements[i]] = true;
  for (int m = 0; m < maps->count; m++) {
    const struct map *other = maps->items[m];
    covered[m] = other != map && other->to == map->to && other->halo && all_marked(other, marks);
  }
  free(marks);
  return OP_OK;
}

static int make_cover(struct op_context *ctx, const struct map *map, struct halo_cover **out,
                      struct error *err) {
  const struct list *maps = &ctx->mesh->maps;
  const size_t nmaps = (size_t)maps->count;
  long long *covered = array_new(nmaps, sizeof *covered);
  struct halo_cover *cover = calloc(1, sizeof *cover + nmaps * sizeof *cover->others);
  int code = covered && cover ? find_covered(ctx, map, covered, err)
                              : error_memory(err, "what halos have in common", nmaps * sizeof *covered);
  code = agree_on_success(ctx->comm, code, err);
  if (!code)
    code = ctx->comm->table->reduce_all(ctx->comm, covered, maps->count, COMM_LLONG, COMM_MIN, err);
  for (int m = 0; !code && m < maps->count; m++)
    if (covered[m])
      cover->others[cover->count++] = maps->items[m];
  free(covered);
  if (code) {
    free(cover);
    return code;
  }
  cover->map = map;
  *out = cover;
  return OP_OK;
}

int halo_cover_get(struct op_context *ctx, struct halo_cover **covers, const struct map *map,
                   const struct halo_cover **out, struct error *err) {
  struct halo_cover *cover = *covers;
  while (cover && cover->map != map)
    cover = cover->next;
  if (!cover) {
    const int code = make_cover(ctx, map, &cover, err);
    if (code)
      return code;
    cover->next = *covers;
    *covers = cover;
  }
  *out = cover;
  return OP_OK;
}

void halo_covers_free(struct halo_cover *covers) {
  for (struct halo_cover *next; covers; covers = next) {
    next = covers->next;
    free(covers);
  }
}

/* How deep copies of others' elements are the newest, and which maps' parts of them are beyond that. */

/* All copies that a rank has: what is executed here as well, and what that reaches. */
enum { DEPTH_ALL = 2, DEPTH_EXECUTED = 1 };

static struct halo_part *find_part(const struct dat *dat, const struct map *map) {
  for (int i = 0; i < dat->halo.nparts; i++)
    if (dat->halo.parts[i].map == map)
      return &dat->halo.parts[i];
  return NULL;
}

static void forget_old_mesh(struct op_context *ctx, struct dat *dat) {
  if (dat->halo.epoch == ctx->mesh->epoch)
    return;
  dat->halo.epoch = ctx->mesh->epoch;
  halo_is_old(dat);
}

void halo_is_old(struct dat *dat) {
  dat->halo.version = 0;
  for (int i = 0; i < dat->halo.nparts; i++)
    dat->halo.parts[i].version = 0;
}

int halo_depth(struct op_context *ctx, struct dat *dat) {
  forget_old_mesh(ctx, dat);
  return dat->halo.version == dat->version ? dat->halo.depth : 0;
}

bool halo_is_current(struct op_context *ctx, struct dat *dat, const struct map *map) {
  const int depth = halo_depth(ctx, dat);
  const struct halo_part *part = find_part(dat, map);
  return depth >= (map ? DEPTH_ALL : DEPTH_EXECUTED) || (part && part->version == dat->version);
}

static bool any_is_current(struct op_context *ctx, struct dat *dat) {
  bool any = halo_depth(ctx, dat) > 0;
  for (int i = 0; i < dat->halo.nparts; i++)
    any |= dat->halo.parts[i].version == dat->version;
  return any;
}

int halo_bring(struct op_context *ctx, struct dat *dat, enum space space, struct error *err) {
  return dat_is_current(dat, space, REGION_COPIES) || !any_is_current(ctx, dat)
             ? OP_OK
             : dat_need(ctx, dat, space, REGION_COPIES, err);
}

static void set_depth(struct dat *dat, int depth) {
  dat->halo.depth = depth;
  dat->halo.version = dat->version;
}

void halo_computed(struct op_context *ctx, struct dat *dat, enum space space, int depth) {
  forget_old_mesh(ctx, dat);
  set_depth(dat, depth);
  if (depth > 0)
    dat_got_copies(dat, space);
}

int halo_keep_part(struct dat *dat, const struct map *map, struct error *err) {
  if (!map || find_part(dat, map))
    return OP_OK;
  struct halo_part *parts = array_resize(dat->halo.parts, (size_t)dat->halo.nparts + 1, sizeof *parts);
  if (!parts)
    return error_memory(err, "the parts of a halo", ((size_t)dat->halo.nparts + 1) * sizeof *parts);
  dat->halo.parts = parts;
  parts[dat->halo.nparts++] = (struct halo_part){.map = map};
  return OP_OK;
}

void halo_forget_map(struct dat *dat, const struct map *map) {
  struct halo_part *part = find_part(dat, map);
  if (part)
    *part = dat->halo.parts[--dat->halo.nparts];
}

void halo_received(struct dat *dat, enum space space, const struct map *map) {
  if (map)
    find_part(dat, map)->version = dat->version;
  else
    set_depth(dat, DEPTH_EXECUTED);
  dat_got_copies(dat, space);
}

/* A copy as its owner knows it: the place in the messages that the set's copies come in. */
struct place {
  int rank;
  int code; /* the place among those for this rank, times the regions that a set has, and the region */
};

static int no_memory(struct error *err, size_t bytes) {
  return error_memory(err, "rows that a chain needs", bytes);
}

/* The number of a set's regions of copies: executed here as well, only read, and each half layer behind them. */
static int regions_of(const struct set *set) {
  return set->spread->layers ? 2 * set->spread->layers + 1 : 2;
}

static const struct halo_exchange *region_of(const struct set *set, int region) {
  const struct distribution *d = set->spread;
  return region > 1 ? &d->rings.exchanges[region + 1] : region ? &d->nonexec : &d->exec;
}

/* Find the place of each of the set's copies, from the first one on. */
static void find_places(const struct set *set, struct place *places) {
  const int regions = regions_of(set);
  for (int region = 0; region < regions; region++) {
    const struct halo_side *side = &region_of(set, region)->receive;
    for (int i = 0; i < side->count; i++)
      for (long k = side->first[i]; k < side->first[i + 1]; k++)
        places[side->elements[k] - set->extents[EXTENT_OWNED]] =
            (struct place){side->ranks[i], (int)(regions * (k - side->first[i]) + region)};
  }
}

/* The element that a rank means; -1: there is none. */
static int element_of(const struct set *set, int rank, int code) {
  const int regions = regions_of(set);
  const struct halo_side *side = &region_of(set, code % regions)->send;
  for (int i = 0; i < side->count; i++)
    if (side->ranks[i] == rank)
      return side->elements[side->first[i] + code / regions];
  return -1;
}

/* Sort the copies that this rank needs by owner, and list what each owner is to be told. */
static int sort_wishes(const struct set *set, const int *copies, long count, struct parcel *wished,
                       struct error *err) {
  const long owned = set->extents[EXTENT_OWNED], all = set_rows(set) - owned;
  struct place *places = array_new((size_t)all, sizeof *places);
  int *ranks = array_new((size_t)count, sizeof *ranks), *codes = array_new((size_t)count, sizeof *codes);
  *wished = (struct parcel){.items = codes, .item_bytes = sizeof *codes};
  if (places && ranks && codes) {
    find_places(set, places);
    for (long i = 0; i < count; i++)
      ranks[i] = places[copies[i] - owned].rank;
    wished->here = tally_group(&wished->to, ranks, NULL, count);
  }
  for (long i = 0; wished->here && i < count; i++) {
    wished->here[i] = copies[wished->here[i]];
    codes[i] = places[wished->here[i] - owned].code;
  }
  free(places);
  free(ranks);
  return wished->here ? OP_OK : no_memory(err, (size_t)all * sizeof *places);
}

/* The codes that others sent become elements. */
static void take_wishes(const struct set *set, struct mail *in) {
  int *codes = in->items;
  for (long r = 0, at = 0; r < in->from.count; r++)
    for (long i = 0; i < in->from.items[r]; i++, at++)
      codes[at] = element_of(set, in->from.ranks[r], codes[at]);
}

int halo_rows_connect(struct op_context *ctx, const struct set *set, const int *copies, long count,
                      struct halo_exchange *out, struct error *err) {
  struct parcel *wished = array_new(1, sizeof *wished);
  *out = (struct halo_exchange){0};
  int code =
      wished ? sort_wishes(set, copies, count, wished, err) : no_memory(err, (size_t)count * sizeof(int));
  if (!code)
    code = parcels_send(ctx->comm, wished, 1, err);
  if (!code) {
    take_wishes(set, &wished->in);
    code = parcel_sides(wished, &out->receive, &out->send, err);
  }
  parcels_free(wished, 1);
  if (code)
    halo_exchange_free(out);
  return code;
}

/* From elements to as many rows for each. */
static int widen(struct halo_side *side, const struct map *map, bool sends, struct error *err) {
  const long count = side->first[side->count], arity = map->arity;
  int *elements = array_new((size_t)count, (size_t)arity * sizeof *elements);
  if (!elements)
    return no_memory(err, (size_t)count * (size_t)arity * sizeof *elements);
  for (long i = 0; i < count * arity; i++)
    elements[i] = sends ? map->table[side->elements[i / arity] * arity + i % arity] : (int)i;
  for (int i = 0; i <= side->count; i++)
    side->first[i] *= arity;
  free(side->elements);
  side->elements = elements;
  return OP_OK;
}

int halo_rows_connect_targets(struct op_context *ctx, const struct map *map, const int *copies, long count,
                              struct halo_exchange *out, struct error *err) {
  int code = halo_rows_connect(ctx, map->from, copies, count, out, err);
  if (!code)
    code = widen(&out->send, map, true, err);
  if (!code)
    code = widen(&out->receive, map, false, err);
  if (code)
    halo_exchange_free(out);
  return code;
}
