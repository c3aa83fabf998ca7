/* The mesh as arrays: what this rank owns, in global numbers. What was declared since elements went to their owners goes
 * there now. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/halo.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "spread/parts/build.h"
#include "spread/parts/mail.h"
#include "spread/spread.h"

static int no_memory(struct error *err) {
  return error_memory(err, "the distribution of a mesh", 0);
}

/* The way of rows that were declared. NULL: their elements are where they were declared. */
static const struct halo_exchange *way_home(const struct share *share, const struct set *set) {
  if (set->spread)
    return &set->spread->home;
  return set->entries_of && way_home(share, set->entries_of->from) ? &share->brought[set->id] : NULL;
}

static int bring_numbers(struct comm *comm, const struct halo_exchange *way, const struct set *set,
                         long long *numbers, struct error *err) {
  long long *declared = array_new((size_t)set->size, sizeof *declared);
  if (!declared)
    return no_memory(err);
  for (long e = 0; e < set->size; e++)
    declared[e] = spread_number(set, e);
  const int code = carry_rows(comm, &way->send, &way->receive, sizeof *declared, declared, numbers, err);
  free(declared);
  return code;
}

/* List the ranks that declared the numbers that came along a way. A rank whose elements have no entries declared none. */
static int list_homes(const struct halo_side *came, const long long *numbers, struct homes *homes,
                      struct error *err) {
  bool good = true;
  for (int i = 0; good && i < came->count; i++) {
    long long lowest = LLONG_MAX;
    for (long k = came->first[i]; k < came->first[i + 1]; k++)
      lowest = numbers[came->elements[k]] < lowest ? numbers[came->elements[k]] : lowest;
    good = came->first[i] == came->first[i + 1] || homes_note(homes, lowest, came->ranks[i]);
  }
  homes_tidy(homes);
  return good ? OP_OK : no_memory(err);
}

/* Entries of a new ragged map go after their elements. */
static int bring_entries(struct comm *comm, struct share *share, const struct set *set, struct error *err) {
  const struct map *map = set->entries_of;
  const struct halo_exchange *elements = way_home(share, map->from);
  struct share_set *out = &share->sets[set->id];
  int code = entries_carry_first(comm, elements, map->first, &out->begin, err);
  if (!code)
    code = entries_route(elements, map->first, out->begin, &share->brought[set->id], err);
  if (code)
    return code;
  out->owned = (long)out->begin[share->sets[map->from->id].owned];
  if (!(out->numbers = array_new((size_t)out->owned, sizeof *out->numbers)))
    return no_memory(err);
  code = bring_numbers(comm, &share->brought[set->id], set, out->numbers, err);
  return code ? code : list_homes(&share->brought[set->id].receive, out->numbers, &out->homes, err);
}

static int share_set_of(struct comm *comm, struct share *share, const struct set *set, struct error *err) {
  const struct map *map = set->entries_of;
  struct share_set *out = &share->sets[set->id];
  *out = (struct share_set){
      .total = set->global_size, .first = set->global_first, .of = map ? map->from->id : -1};
  if (map && !set->spread && way_home(share, map->from))
    return bring_entries(comm, share, set, err);
  out->owned = set->extents[EXTENT_OWNED];
  if (!(out->numbers = array_new((size_t)out->owned, sizeof *out->numbers)))
    return no_memory(err);
  for (long e = 0; e < out->owned; e++)
    out->numbers[e] = set->spread ? set->spread->numbers[e] : spread_number(set, e);
  if (set->spread && list_homes(&set->spread->home.receive, out->numbers, &out->homes, err))
    return err->code;
  if (!map)
    return OP_OK;
  const size_t elements = (size_t)share->sets[out->of].owned;
  if (!(out->begin = array_new(elements + 1, sizeof *out->begin)))
    return no_memory(err);
  memcpy(out->begin, map->first, (elements + 1) * sizeof *out->begin);
  return OP_OK;
}

/* Rows that were declared go to the owners of their elements; the others are in local numbers already. */
static int share_map_of(struct comm *comm, const struct share *share, const struct map *map,
                        struct share_map *out, struct error *err) {
  *out = (struct share_map){.from = map->from->id,
                            .to = map->to->id,
                            .arity = map->arity,
                            .entries = map->entries ? map->entries->id : -1};
  const struct halo_exchange *way = way_home(share, map->entries ? map->entries : map->from);
  const size_t width = (size_t)share_width(out);
  const size_t entries = (size_t)share->sets[share_rows_of(out)].owned * width;
  if (map->global.entries && !way) {
    out->rows = map->global;
    return OP_OK;
  }
  if (!rows_new(&out->rows, entries, rows_wide(map->to->global_size)))
    return no_memory(err);
  if (map->global.entries)
    return carry_rows(comm, &way->send, &way->receive, width * rows_entry_bytes(&out->rows),
                      map->global.entries, out->rows.entries, err);
  for (size_t i = 0; i < entries; i++)
    rows_set(&out->rows, i, map->to->spread->numbers[map->table[i]]);
  return OP_OK;
}

int spread_share(struct op_context *ctx, struct share *share, struct error *err) {
  struct mesh *mesh = ctx->mesh;
  *share = (struct share){.nsets = mesh->sets.count,
                          .nmaps = mesh->maps.count,
                          .sets = array_new((size_t)mesh->sets.count, sizeof *share->sets),
                          .maps = array_new((size_t)mesh->maps.count, sizeof *share->maps),
                          .brought = array_new((size_t)mesh->sets.count, sizeof *share->brought)};
  int code = share->sets && share->maps && share->brought ? OP_OK : no_memory(err);
  for (int i = 0; !code && i < share->nsets; i++)
    code = share_set_of(ctx->comm, share, mesh->sets.items[i], err);
  for (int i = 0; !code && i < share->nmaps; i++)
    code = share_map_of(ctx->comm, share, mesh->maps.items[i], &share->maps[i], err);
  if (code)
    spread_give_back(ctx, share);
  return code;
}

void spread_give_back(struct op_context *ctx, struct share *share) {
  for (int m = 0; share->maps && m < share->nmaps; m++)
    if (share->maps[m].rows.entries == ((struct map *)ctx->mesh->maps.items[m])->global.entries)
      share->maps[m].rows.entries = NULL;
  share_free(share);
}
