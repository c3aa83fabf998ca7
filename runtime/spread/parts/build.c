#include "build.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "directory.h"
#include "grown.h"
#include "mail.h"
#include "mesh/data.h"
#include "numbers.h"
#include "ranks/comm.h"

/* ---- memory ---- */

void share_free(struct share *share) {
  for (int s = 0; share->sets && s < share->nsets; s++) {
    free(share->sets[s].numbers);
    free(share->sets[s].begin);
    homes_free(&share->sets[s].homes);
  }
  for (int m = 0; share->maps && m < share->nmaps; m++)
    free(share->maps[m].rows.entries);
  for (int s = 0; share->brought && s < share->nsets; s++)
    halo_exchange_free(&share->brought[s]);
  free(share->brought);
  free(share->sets);
  free(share->maps);
  *share = (struct share){0};
}

void built_free(struct built *built) {
  for (int s = 0; built->sets && s < built->nsets; s++) {
    distribution_free(built->sets[s].spread);
    free(built->sets[s].order);
    free(built->sets[s].first);
  }
  for (int m = 0; built->maps && m < built->nmaps; m++) {
    data_memory_free(built->maps[m].table);
    map_halo_free(built->maps[m].halo);
  }
  free(built->sets);
  free(built->maps);
  *built = (struct built){0};
}

static void growth_free(struct growth *g) {
  for (int s = 0; g->sets && s < g->nsets; s++) {
    struct grown_set *set = &g->sets[s];
    numbers_free(&set->ids);
    directory_free(&set->owners);
    free(set->owner);
    free(set->place);
    free(set->exec_ids);
    free(set->nonexec_ids);
    tally_free(&set->exec_from);
    tally_free(&set->nonexec_from);
    homes_free(&set->homes);
    free(set->remote);
    free(set->final);
    free(set->reaches_out);
    free(set->begin);
  }
  for (int m = 0; g->maps && m < g->nmaps; m++) {
    free(g->maps[m].owned);
    free(g->maps[m].exec);
  }
  free(g->sets);
  free(g->maps);
  tally_free(&g->owners);
  free(g->seen);
}

static int no_memory(struct error *err) {
  return error_memory(err, "the halos of a mesh", 0);
}

/* ---- ids ---- */

/* Numbers that are not owned here get ids behind the owned ones. The rows are taken over: narrow ones become the
 * ids where they are. */
static int *translate(struct grown_set *to, struct rows *rows, size_t entries) {
  int *ids = rows->wide ? array_new(entries, sizeof *ids) : rows->entries;
  bool good = ids != NULL;
  for (size_t i = 0; good && i < entries; i++)
    good = (ids[i] = numbers_add(&to->ids, rows_get(rows, i))) >= 0;
  if (rows->entries != ids)
    free(rows->entries);
  *rows = (struct rows){0};
  if (good)
    return ids;
  free(ids);
  return NULL;
}

static int begin_set(struct share_set *from, struct grown_set *set, struct error *err) {
  set->owned = from->owned;
  set->total = from->total;
  set->first = from->first;
  set->homes = from->homes;
  from->homes = (struct homes){0};
  set->begin = from->begin;
  set->of = from->of;
  from->begin = NULL;
  const bool good = numbers_take(&set->ids, from->numbers, from->owned);
  from->numbers = NULL;
  return good ? OP_OK : no_memory(err);
}

static int make_directories(struct growth *g, struct error *err) {
  struct telling *told = array_new((size_t)g->nsets, sizeof *told);
  if (!told)
    return no_memory(err);
  for (int s = 0; s < g->nsets; s++) {
    struct grown_set *set = &g->sets[s];
    told[s] = (struct telling){&set->owners, set->total, set->ids.number, NULL, set->owned, g->comm->rank};
  }
  const int code = directories_make(g->comm, told, g->nsets, err);
  free(told);
  return code;
}

static int begin(struct growth *g, struct share *share, struct error *err) {
  g->nsets = share->nsets;
  g->nmaps = share->nmaps;
  g->sets = array_new((size_t)g->nsets, sizeof *g->sets);
  g->maps = array_new((size_t)g->nmaps, sizeof *g->maps);
  if (!g->sets || !g->maps)
    return no_memory(err);
  int code = OP_OK;
  for (int s = 0; !code && s < g->nsets; s++)
    code = begin_set(&share->sets[s], &g->sets[s], err);
  if (!code)
    code = make_directories(g, err);
  for (int m = 0; !code && m < g->nmaps; m++) {
    struct share_map *from = &share->maps[m];
    struct grown_map *map = &g->maps[m];
    *map = (struct grown_map){.from = share_rows_of(from), .to = from->to, .arity = share_width(from)};
    map->owned =
        translate(&g->sets[map->to], &from->rows, (size_t)g->sets[map->from].owned * (size_t)map->arity);
    if (!map->owned)
      code = no_memory(err);
  }
  return code;
}

static int prepare_question(struct grown_set *set, struct question *q, struct error *err) {
  const long foreign = set->ids.count - set->owned;
  int *owner = array_resize(set->owner, (size_t)foreign, sizeof *owner);
  if (!owner)
    return no_memory(err);
  set->owner = owner;
  *q = (struct question){&set->owners, set->ids.number + set->owned + set->asked, foreign - set->asked,
                         owner + set->asked};
  return OP_OK;
}

static int check_answers(struct grown_set *set, const struct question *q, struct error *err) {
  for (long i = 0; i < q->count; i++)
    if (q->values[i] < 0)
      return error_mistake(err, OP_ERR_INTERNAL, "no rank owns element %lld of a set", q->numbers[i]);
  set->asked += q->count;
  return OP_OK;
}

/* Ask for the owners of those that were met since. */
static int ask_owners(struct growth *g, struct error *err) {
  struct question *questions = array_new((size_t)g->nsets, sizeof *questions);
  int code = questions ? OP_OK : no_memory(err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = prepare_question(&g->sets[s], &questions[s], err);
  if (!code)
    code = directories_ask(g->comm, questions, g->nsets, err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = check_answers(&g->sets[s], &questions[s], err);
  free(questions);
  return code;
}

/* Elements go to ranks that own what they reach: none other is looked at from here on. */
static int list_owners(struct growth *g, struct error *err) {
  bool good = true;
  for (int s = 0; good && s < g->nsets; s++)
    for (long i = 0; good && i < g->sets[s].asked; i++)
      good = tally_add(&g->owners, g->sets[s].owner[i], 1);
  g->seen = array_new((size_t)g->owners.count, sizeof *g->seen);
  return good && g->seen ? OP_OK : no_memory(err);
}

/* ---- owned elements: core first, otherwise as they are ---- */

static int find_reaching(struct growth *g, struct error *err) {
  for (int s = 0; s < g->nsets; s++) {
    struct grown_set *set = &g->sets[s];
    if (!(set->reaches_out = array_new((size_t)set->owned, sizeof *set->reaches_out)))
      return no_memory(err);
  }
  for (int m = 0; m < g->nmaps; m++) {
    const struct grown_map *map = &g->maps[m];
    const struct grown_set *from = &g->sets[map->from];
    const long owned = g->sets[map->to].owned;
    const int *row = map->owned;
    for (long e = 0; e < from->owned; e++, row += map->arity)
      for (int k = 0; k < map->arity; k++)
        from->reaches_out[e] |= row[k] >= owned;
  }
  grown_reach_up(g);
  return OP_OK;
}

static int order_owned(struct growth *g, int s, struct built *built, struct error *err) {
  struct grown_set *set = &g->sets[s];
  struct built_set *out = &built->sets[s];
  set->place = array_new((size_t)set->owned, sizeof *set->place);
  out->order = array_new((size_t)set->owned, sizeof *out->order);
  if (!set->place || !out->order)
    return no_memory(err);
  if (set->begin)
    return grown_order_entries(g, s, built, err);
  long next = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (long e = 0; e < set->owned; e++)
      if (set->reaches_out[e] == (pass == 1)) {
        set->place[e] = (int)next;
        out->order[next++] = (int)e;
      }
    if (pass == 0)
      set->core = next;
  }
  return OP_OK;
}

/* ---- elements that are executed at their targets' owners too ---- */

/* Each rank that owns a target of owned element e, or of one of its entries, gets what is listed: a place, once. */
struct reached {
  long *counts;     /* of each of the owners */
  int *list, place; /* list NULL: only count */
};

static void each_rank_reached(struct growth *g, int s, long e, const struct reached *r) {
  for (int m = 0; m < g->nmaps; m++) {
    const struct grown_map *map = &g->maps[m];
    if (map->from != s)
      continue;
    const struct grown_set *to = &g->sets[map->to];
    for (int i = 0; i < map->arity; i++) {
      const long target = map->owned[e * map->arity + i] - to->owned;
      const int owner = target < 0 ? -1 : tally_place(&g->owners, to->owner[target]);
      if (owner < 0 || g->seen[owner] == g->stamp)
        continue;
      g->seen[owner] = g->stamp;
      if (r->list)
        r->list[r->counts[owner]] = r->place;
      r->counts[owner]++;
    }
  }
  for (int c = s + 1; c < g->nsets; c++) {
    const struct grown_set *entries = &g->sets[c];
    if (!entries->begin || entries->of != s)
      continue;
    for (long long i = entries->begin[e]; i < entries->begin[e + 1]; i++)
      each_rank_reached(g, c, (long)i, r);
  }
}

/* Lists of local numbers, ascending for each rank. */
static int list_exports(struct growth *g, int s, const int *order, struct tally *to, int **list,
                        struct error *err) {
  const struct grown_set *set = &g->sets[s];
  const int owners = g->owners.count;
  long *next = array_new((size_t)owners, sizeof *next), total = 0;
  bool good = next != NULL;
  for (long l = set->core; good && l < set->owned; l++, g->stamp++)
    each_rank_reached(g, s, order[l], &(struct reached){next, NULL, 0});
  for (int i = 0; good && i < owners; i++) {
    const long count = next[i];
    good = tally_add(to, g->owners.ranks[i], count);
    next[i] = total;
    total += count;
  }
  good = good && (*list = array_new((size_t)total, sizeof **list));
  for (long l = set->core; good && l < set->owned; l++, g->stamp++)
    each_rank_reached(g, s, order[l], &(struct reached){next, *list, (int)l});
  free(next);
  return good ? OP_OK : no_memory(err);
}

/* A rank that executes an element too is told its number, its place here, and for each map from the set the
 * numbers of its targets. */
static size_t told_bytes(const struct growth *g, int s) {
  size_t targets = 0;
  for (int m = 0; m < g->nmaps; m++)
    targets += g->maps[m].from == s ? (size_t)g->maps[m].arity : 0;
  return sizeof(int) + (1 + targets) * sizeof(long long);
}

static unsigned char *tell_number(unsigned char *to, long long number) {
  memcpy(to, &number, sizeof number);
  return to + sizeof number;
}

static int make_export(struct growth *g, int s, const struct built *built, struct parcel *p,
                       struct error *err) {
  const int *order = built->sets[s].order;
  const int code = g->sets[s].begin ? grown_list_entries(g, s, built, &p->to, &p->here, err)
                                    : list_exports(g, s, order, &p->to, &p->here, err);
  if (code)
    return code;
  p->item_bytes = told_bytes(g, s);
  unsigned char *at = p->items = array_new((size_t)p->to.total, p->item_bytes);
  if (!at)
    return no_memory(err);
  for (long i = 0; i < p->to.total; i++) {
    const int e = order[p->here[i]];
    at = tell_number(at, g->sets[s].ids.number[e]);
    memcpy(at, &p->here[i], sizeof(int));
    at += sizeof(int);
    for (int m = 0; m < g->nmaps; m++) {
      const struct grown_map *map = &g->maps[m];
      for (int k = 0; map->from == s && k < map->arity; k++)
        at = tell_number(at, g->sets[map->to].ids.number[map->owned[(long)e * map->arity + k]]);
    }
  }
  return OP_OK;
}

/* The id of a number that was told; -1: no memory. */
static int take_number(struct grown_set *set, const unsigned char **from) {
  long long number;
  memcpy(&number, *from, sizeof number);
  *from += sizeof number;
  return numbers_add(&set->ids, number);
}

static bool make_room(struct growth *g, int s) {
  struct grown_set *set = &g->sets[s];
  const size_t exec = (size_t)set->exec;
  bool good = (set->exec_ids = array_new(exec, sizeof *set->exec_ids)) != NULL;
  good &= (set->remote = array_new(exec, sizeof *set->remote)) != NULL;
  for (int m = 0; m < g->nmaps; m++) {
    struct grown_map *map = &g->maps[m];
    if (map->from == s)
      good &= (map->exec = array_new(exec * (size_t)map->arity, sizeof *map->exec)) != NULL;
  }
  return good;
}

/* Elements that arrive are copies to be executed here: in the order of their owners, and of their owners' numbers. */
static int take_export(struct growth *g, int s, struct built *built, struct parcel *p, struct error *err) {
  struct grown_set *set = &g->sets[s];
  const unsigned char *at = p->in.items;
  set->exec = p->in.total;
  set->exec_from = p->in.from;
  p->in.from = (struct tally){0};
  bool good = make_room(g, s);
  for (long i = 0; good && i < set->exec; i++) {
    good = (set->exec_ids[i] = take_number(set, &at)) >= 0;
    memcpy(&set->remote[i], at, sizeof(int));
    at += sizeof(int);
    for (int m = 0; m < g->nmaps; m++) {
      const struct grown_map *map = &g->maps[m];
      for (int k = 0; good && map->from == s && k < map->arity; k++)
        good = (map->exec[i * map->arity + k] = take_number(&g->sets[map->to], &at)) >= 0;
    }
  }
  free(p->in.items);
  p->in.items = NULL;
  if (!good)
    return no_memory(err);
  const int code = side_from_tally(&built->sets[s].spread->exec.send, &p->to, p->here, err);
  p->here = NULL;
  return !code && set->begin ? grown_first(g, s, built, err) : code;
}

/* Exchange all sets but those of entries at once (`only` < 0), or one set of entries, which go where its elements went. */
static int exchange_exec(struct growth *g, int only, struct built *built, struct error *err) {
  const int first = only < 0 ? 0 : only, end = only < 0 ? g->nsets : only + 1;
  struct parcel *parcels = array_new((size_t)g->nsets, sizeof *parcels);
  int code = parcels ? OP_OK : no_memory(err);
  for (int s = first; !code && s < end; s++)
    if (only >= 0 || !g->sets[s].begin)
      code = make_export(g, s, built, &parcels[s], err);
  if (!code)
    code = parcels_send(g->comm, parcels + first, end - first, err);
  for (int s = first; !code && s < end; s++)
    if (only >= 0 || !g->sets[s].begin)
      code = take_export(g, s, built, &parcels[s], err);
  parcels_free(parcels, g->nsets);
  return code;
}

/* ---- all together ---- */

static int build(struct growth *g, struct share *share, int from, struct built *built, struct error *err) {
  int code = begin(g, share, err);
  if (!code)
    code = ask_owners(g, err);
  if (!code)
    code = list_owners(g, err);
  if (!code)
    code = find_reaching(g, err);
  for (int s = 0; !code && s < g->nsets; s++) {
    built->sets[s].spread = array_new(1, sizeof *built->sets[s].spread);
    code = built->sets[s].spread ? order_owned(g, s, built, err) : no_memory(err);
  }
  if (!code)
    code = exchange_exec(g, -1, built, err);
  for (int s = 0; !code && s < g->nsets; s++)
    if (g->sets[s].begin)
      code = exchange_exec(g, s, built, err);
  if (!code && from >= 0)
    code = grown_inwards(g, from, built, err);
  if (!code)
    code = ask_owners(g, err);
  for (int s = 0; !code && s < g->nsets; s++)
    directory_free(&g->sets[s].owners);
  return code ? code : grown_finish(g, built, err);
}

int build_halos(struct comm *comm, struct share *share, int from, struct built *built, struct error *err) {
  struct growth g = {.comm = comm, .stamp = 1};
  *built = (struct built){.nsets = share->nsets,
                          .nmaps = share->nmaps,
                          .sets = array_new((size_t)share->nsets, sizeof *built->sets),
                          .maps = array_new((size_t)share->nmaps, sizeof *built->maps)};
  int code = built->sets && built->maps ? build(&g, share, from, built, err) : no_memory(err);
  growth_free(&g);
  if (code)
    built_free(built);
  return code;
}
