#include "spread/halo_rows.h"

#include <stdlib.h>

#include "base/size.h"
#include "context/context.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "spread/distribute/mail.h"

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

/* Lists by rank. */
struct lists {
  struct tally ranks;
  int *elements;
};

/* Sort the copies that this rank needs by owner, and list what each owner is to be told. */
static int sort_wishes(const struct set *set, const int *copies, long count, struct lists *own, int *codes,
                       struct error *err) {
  const long all = set_rows(set) - set->extents[EXTENT_OWNED];
  struct place *places = array_new((size_t)all, sizeof *places);
  int *ranks = array_new((size_t)count, sizeof *ranks);
  long *order = array_new((size_t)count, sizeof *order);
  bool good = places && ranks && order;
  if (good) {
    find_places(set, places);
    for (long i = 0; i < count; i++)
      ranks[i] = places[copies[i] - set->extents[EXTENT_OWNED]].rank;
    good = tally_group(&own->ranks, ranks, count, order);
  }
  for (long i = 0; good && i < count; i++) {
    own->elements[i] = copies[order[i]];
    codes[i] = places[copies[order[i]] - set->extents[EXTENT_OWNED]].code;
  }
  free(places);
  free(ranks);
  free(order);
  return good ? OP_OK : no_memory(err, (size_t)all * sizeof *places);
}

static int take_wishes(const struct set *set, const struct mail *in, struct lists *others,
                       struct error *err) {
  const int *codes = in->items;
  others->elements = array_new((size_t)in->total, sizeof *others->elements);
  if (!others->elements)
    return no_memory(err, (size_t)in->total * sizeof *others->elements);
  for (long r = 0, at = 0; r < in->from.count; r++)
    for (long i = 0; i < in->from.items[r]; i++, at++)
      others->elements[at] = element_of(set, in->from.ranks[r], codes[at]);
  return OP_OK;
}

int halo_rows_connect(struct op_context *ctx, const struct set *set, const int *copies, long count,
                      struct halo_exchange *out, struct error *err) {
  struct comm *comm = ctx->comm;
  struct lists own = {.elements = array_new((size_t)count, sizeof *own.elements)};
  struct lists others = {0};
  struct mail in = {0};
  int *codes = array_new((size_t)count, sizeof *codes);
  *out = (struct halo_exchange){0};
  int code = own.elements && codes ? OP_OK : no_memory(err, (size_t)count * sizeof *codes);
  if (!code)
    code = sort_wishes(set, copies, count, &own, codes, err);
  if (code)
    free(codes);
  else
    code = mail_send(comm, codes, &own.ranks, sizeof *codes, &in, err);
  if (!code)
    code = take_wishes(set, &in, &others, err);
  if (!code) {
    code = side_from_tally(&out->send, &in.from, others.elements, err);
    others.elements = NULL;
  }
  if (!code) {
    code = side_from_tally(&out->receive, &own.ranks, own.elements, err);
    own.elements = NULL;
  }
  mail_free(&in);
  tally_free(&own.ranks);
  free(own.elements);
  free(others.elements);
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
