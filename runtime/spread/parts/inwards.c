/* New numbers for elements that have just come to their owners: those beside the copies last, by how many steps they are from
 * them. Then what waits for messages lies behind what does not, and so does what waits for that, as far as loops follow one another:
 * so tiles go on across exchanges (loop/chain/regions.h), also of loops that add in the order of their elements. Those of the same
 * distance keep the program's order: rows of a grid stay rows. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "grown.h"
#include "mesh/order.h"

struct inwards {
  struct growth *g;
  int **
      steps; /* of each set, by ids: how far it is from copies; INT_MAX: it is not reached; NULL: not known yet */
};

static int no_memory(struct error *err) {
  return error_memory(err, "the order of a mesh", 0);
}

/* Maps of entries do not lead anywhere: entries go with their elements. */
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

static int order_first(struct inwards *in, const struct grown_map *base, struct error *err) {
  const struct grown_set *set = &in->g->sets[base->to];
  struct order_table table;
  int *rows = join_rows(in->g, base, &table);
  int *steps = in->steps[base->to] = array_new((size_t)set->ids.count, sizeof *steps);
  const int code =
      rows && steps ? order_steps(steps, set->ids.count, set->owned, &table, err) : no_memory(err);
  free(rows);
  return code;
}

/* An element of the set that a map leads from is as near as the nearest that it names; one that it leads to, as the nearest that
 * names it. */
static void carry_steps(const struct inwards *in, const struct grown_map *map, bool back) {
  int *from = in->steps[map->from], *to = in->steps[map->to];
  for (long e = 0; e < in->g->sets[map->from].owned; e++)
    for (int j = 0; j < map->arity; j++) {
      int *known = back ? &to[map->owned[e * map->arity + j]] : &from[e],
          *next = back ? &from[e] : &to[map->owned[e * map->arity + j]];
      *next = *known < *next ? *known : *next;
    }
}

/* *found: one more set that a map connects with one whose steps are known has them. */
static int order_next(struct inwards *in, bool *found, struct error *err) {
  const struct grown_map *map = NULL;
  for (int m = 0; m < in->g->nmaps && !map; m++)
    if (leads(in->g, &in->g->maps[m]) && !in->steps[in->g->maps[m].from] != !in->steps[in->g->maps[m].to])
      map = &in->g->maps[m];
  *found = map != NULL;
  if (!map)
    return OP_OK;
  const bool back = !in->steps[map->from];
  const int next = back ? map->from : map->to;
  const size_t count = (size_t)in->g->sets[next].ids.count;
  in->steps[next] = array_new(count, sizeof **in->steps);
  if (!in->steps[next])
    return no_memory(err);
  for (size_t i = 0; i < count; i++)
    in->steps[next][i] = INT_MAX;
  carry_steps(in, map, back);
  return OP_OK;
}

/* The farthest first; those of one distance keep their order. What reaches copies was told to others already, and stays. */
static int take_order(const struct inwards *in, int s, struct built_set *out, struct error *err) {
  const struct grown_set *set = &in->g->sets[s];
  int *steps = in->steps[s], most = 0;
  for (long id = 0; steps && id < set->owned; id++)
    most = steps[id] > most && steps[id] < INT_MAX ? steps[id] : most;
  long *at = array_new((size_t)most + 3, sizeof *at); /* where those of so many steps go */
  if (!at)
    return no_memory(err);
  for (long id = 0; steps && id < set->owned; id++) {
    steps[id] = steps[id] < INT_MAX ? most + 1 - steps[id] : 0;
    at[steps[id] + 1] += !set->reaches_out[id];
  }
  for (int step = 0; step <= most; step++)
    at[step + 1] += at[step];
  for (long id = 0; steps && id < set->owned; id++)
    if (!set->reaches_out[id]) {
      const long place = at[steps[id]]++;
      set->place[id] = (int)place;
      out->order[place] = (int)id;
    }
  free(at);
  return OP_OK;
}

int grown_inwards(struct growth *g, int set, struct built *built, struct error *err) {
  const size_t nsets = (size_t)g->nsets;
  struct inwards in = {g, array_new(nsets, sizeof *in.steps)};
  const struct grown_map *base = find_base(g, set);
  int code = in.steps ? OP_OK : no_memory(err);
  if (!code && base)
    code = order_first(&in, base, err);
  for (bool found = base != NULL; !code && found;)
    code = order_next(&in, &found, err);
  for (int s = 0; !code && base && s < g->nsets; s++)
    code =
        g->sets[s].begin ? grown_order_entries(g, s, built, err) : take_order(&in, s, &built->sets[s], err);
  for (int s = 0; in.steps && s < g->nsets; s++)
    free(in.steps[s]);
  free(in.steps);
  return code;
}
