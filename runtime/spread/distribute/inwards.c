/* New numbers for elements that have just come to their owners: inwards from the copies. Then what waits for messages lies behind
 * what does not, and so does what waits for that, as far as loops follow one another: so tiles go on across exchanges
 * (loop/spread/regions.h), also of loops that add in the order of their elements. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "grown.h"
#include "mesh/order/order.h"

/* Of each set, NULL: it has none yet. Copies stay behind what is owned. */
struct inwards {
  struct growth *g;
  int **order; /* new places: ids */
  int **place; /* ids: new places */
};

static int no_memory(struct error *err) {
  return error_memory(err, "the order of a mesh", 0);
}

/* Of entries nothing is known but that they go with their elements. */
static bool leads(const struct growth *g, const struct grown_map *map) {
  return !g->sets[map->from].begin && !g->sets[map->to].begin;
}

static long entries_of(const struct growth *g, const struct grown_map *map) {
  return g->sets[map->from].owned * map->arity;
}

/* The map by whose rows elements of the set are neighbours, or by which elements that it leads to are. */
static const struct grown_map *find_base(const struct growth *g, int set) {
  const struct grown_map *base = NULL;
  for (int m = 0; m < g->nmaps; m++) {
    const struct grown_map *map = &g->maps[m];
    if (!leads(g, map) || (map->from != set && map->to != set))
      continue;
    const bool better = base && (map->to == set) != (base->to == set)
                            ? map->to == set
                            : base && entries_of(g, map) > entries_of(g, base);
    if (!base || better)
      base = map;
  }
  return base;
}

/* Rows of what is executed here; from a set to itself each with the element. */
static int *join_rows(const struct growth *g, const struct grown_map *map, struct order_table *out) {
  const struct grown_set *from = &g->sets[map->from];
  const bool self = map->from == map->to;
  const int arity = map->arity + self;
  *out = (struct order_table){.rows = from->owned + from->exec, .arity = arity};
  int *rows = array_new((size_t)out->rows * (size_t)arity, sizeof *rows), *next = rows;
  for (long e = 0; rows && e < out->rows; e++, next += map->arity) {
    const bool owned = e < from->owned;
    memcpy(next, owned ? map->owned + e * map->arity : map->exec + (e - from->owned) * map->arity,
           (size_t)map->arity * sizeof *next);
    if (self)
      *(next++ + map->arity) = owned ? (int)e : from->exec_ids[e - from->owned];
  }
  out->table = rows;
  return rows;
}

static bool make_room(struct inwards *in, int s) {
  const size_t all = (size_t)in->g->sets[s].ids.count;
  in->order[s] = array_new(all, sizeof **in->order);
  in->place[s] = array_new(all, sizeof **in->place);
  return in->order[s] && in->place[s];
}

static void settle(const struct inwards *in, int s) {
  const struct grown_set *set = &in->g->sets[s];
  long next = 0;
  for (long i = 0; i < set->ids.count; i++)
    if (in->order[s][i] < set->owned)
      in->order[s][next++] = in->order[s][i];
  for (long i = 0; i < set->ids.count; i++) {
    in->order[s][i] = i < set->owned ? in->order[s][i] : (int)i;
    in->place[s][in->order[s][i]] = (int)i;
  }
}

static int order_first(struct inwards *in, const struct grown_map *base, struct error *err) {
  const struct grown_set *set = &in->g->sets[base->to];
  struct order_table table;
  int *rows = join_rows(in->g, base, &table);
  int code = rows && make_room(in, base->to) ? OP_OK : no_memory(err);
  if (!code)
    code = order_inwards(in->order[base->to], set->ids.count, set->owned, &table, err);
  free(rows);
  if (!code)
    settle(in, base->to);
  return code;
}

/* *found: one more set that a map connects with an ordered one has its order. */
static int order_next(struct inwards *in, bool *found, struct error *err) {
  const struct grown_map *map = NULL;
  for (int m = 0; m < in->g->nmaps && !map; m++)
    if (leads(in->g, &in->g->maps[m]) && !in->order[in->g->maps[m].from] != !in->order[in->g->maps[m].to])
      map = &in->g->maps[m];
  *found = map != NULL;
  if (!map)
    return OP_OK;
  const struct grown_set *from = &in->g->sets[map->from], *to = &in->g->sets[map->to];
  const struct order_table table = {.table = map->owned, .rows = from->owned, .arity = map->arity};
  const int next = in->order[map->from] ? map->to : map->from;
  int code = make_room(in, next) ? OP_OK : no_memory(err);
  for (long i = from->owned; !code && next == map->from && i < from->ids.count; i++)
    in->order[next][i] = (int)i;
  if (!code)
    code = next == map->from
               ? order_by_targets(in->order[next], &table, in->place[map->to], to->ids.count, NULL, err)
               : order_by_sources(in->order[next], to->ids.count, &table, in->order[map->from], err);
  if (!code)
    settle(in, next);
  return code;
}

/* What reaches copies was told to others already, and stays. */
static void take_order(const struct inwards *in, int s, struct built_set *out) {
  const struct grown_set *set = &in->g->sets[s];
  long next = 0;
  for (long i = 0; in->order[s] && i < set->owned; i++) {
    const int id = in->order[s][i];
    if (set->reaches_out[id])
      continue;
    set->place[id] = (int)next;
    out->order[next++] = id;
  }
}

int grown_inwards(struct growth *g, int set, struct built *built, struct error *err) {
  const size_t nsets = (size_t)g->nsets;
  struct inwards in = {g, array_new(nsets, sizeof *in.order), array_new(nsets, sizeof *in.place)};
  const struct grown_map *base = find_base(g, set);
  int code = in.order && in.place ? OP_OK : no_memory(err);
  if (!code && base)
    code = order_first(&in, base, err);
  for (bool found = base != NULL; !code && found;)
    code = order_next(&in, &found, err);
  for (int s = 0; !code && base && s < g->nsets; s++)
    if (g->sets[s].begin)
      code = grown_order_entries(g, s, built, err);
    else
      take_order(&in, s, &built->sets[s]);
  for (int s = 0; in.order && in.place && s < g->nsets; s++) {
    free(in.order[s]);
    free(in.place[s]);
  }
  free(in.order);
  free(in.place);
  return code;
}
