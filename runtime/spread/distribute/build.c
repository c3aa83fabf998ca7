#include "build.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
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
  }
  for (int m = 0; share->maps && m < share->nmaps; m++)
    free(share->maps[m].rows.entries);
  for (int s = 0; share->brought && s < share->nsets; s++) {
    halo_side_free(&share->brought[s].send);
    halo_side_free(&share->brought[s].receive);
  }
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
    free(set->exec_counts);
    free(set->nonexec_ids);
    free(set->nonexec_counts);
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

static int begin_set(struct growth *g, struct share_set *from, struct grown_set *set, struct error *err) {
  set->owned = from->owned;
  set->first = from->first;
  set->begin = from->begin;
  set->of = from->of;
  from->begin = NULL;
  const bool good = numbers_take(&set->ids, from->numbers, from->owned);
  from->numbers = NULL;
  if (!good)
    return no_memory(err);
  return directory_make(&set->owners, g->comm, from->first[g->comm->size], set->ids.number, set->owned, NULL,
                        g->comm->rank, err);
}

static int begin(struct growth *g, struct share *share, struct error *err) {
  g->nsets = share->nsets;
  g->nmaps = share->nmaps;
  g->sets = array_new((size_t)g->nsets, sizeof *g->sets);
  g->maps = array_new((size_t)g->nmaps, sizeof *g->maps);
  g->seen = array_new((size_t)g->comm->size, sizeof *g->seen);
  if (!g->sets || !g->maps || !g->seen)
    return no_memory(err);
  int code = OP_OK;
  for (int s = 0; !code && s < g->nsets; s++)
    code = begin_set(g, &share->sets[s], &g->sets[s], err);
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

static int ask_owners(struct growth *g, struct grown_set *set, struct error *err) {
  const long foreign = set->ids.count - set->owned;
  int *owner = array_resize(set->owner, (size_t)foreign, sizeof *owner);
  if (!owner)
    return no_memory(err);
  set->owner = owner;
  int code = directory_ask(&set->owners, g->comm, set->ids.number + set->owned + set->asked,
                           foreign - set->asked, owner + set->asked, err);
  for (long i = set->asked; !code && i < foreign; i++)
    if (owner[i] < 0)
      code = error_mistake(err, OP_ERR_INTERNAL, "no rank owns element %lld of a set",
                           set->ids.number[set->owned + i]);
  set->asked = foreign;
  return code;
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
  long *counts;
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
      if (target < 0 || g->seen[to->owner[target]] == g->stamp)
        continue;
      const int rank = to->owner[target];
      g->seen[rank] = g->stamp;
      if (r->list)
        r->list[r->counts[rank]] = r->place;
      r->counts[rank]++;
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
static int list_exports(struct growth *g, int s, const int *order, long *counts, int **list,
                        struct error *err) {
  const struct grown_set *set = &g->sets[s];
  const int ranks = g->comm->size;
  long *first = array_new((size_t)ranks + 1, sizeof *first);
  if (!first)
    return no_memory(err);
  for (long l = set->core; l < set->owned; l++, g->stamp++)
    each_rank_reached(g, s, order[l], &(struct reached){counts, NULL, 0});
  running_sum(first, counts, ranks);
  *list = array_new((size_t)first[ranks], sizeof **list);
  for (long l = set->core; *list && l < set->owned; l++, g->stamp++)
    each_rank_reached(g, s, order[l], &(struct reached){first, *list, (int)l});
  free(first);
  return *list ? OP_OK : no_memory(err);
}

/* The rows of a map, in global numbers, follow the elements that were sent. */
static int send_rows(struct growth *g, struct grown_map *map, const int *order, const int *list, long going,
                     const long *counts, const struct mail *in, struct error *err) {
  struct grown_set *to = &g->sets[map->to];
  const size_t arity = (size_t)map->arity;
  struct rows rows = {.entries = array_new((size_t)in->total * arity, sizeof(long long)), .wide = true};
  long long *out = array_new((size_t)going * arity, sizeof *out);
  int code = out && rows.entries ? OP_OK : no_memory(err);
  for (long i = 0; !code && i < going; i++)
    for (size_t k = 0; k < arity; k++)
      out[(size_t)i * arity + k] = to->ids.number[map->owned[(size_t)order[list[i]] * arity + k]];
  if (!code)
    code = mail_send_known(g->comm, out, counts, arity * sizeof *out, rows.entries, in->counts, err);
  if (!code && !(map->exec = translate(to, &rows, (size_t)in->total * arity)))
    code = no_memory(err);
  free(out);
  free(rows.entries);
  return code;
}

/* Elements that arrive are copies to be executed here: in the order of their owners, and of their owners' numbers. */
static int take_exec(struct growth *g, struct grown_set *set, const int *list, const long *counts,
                     struct mail *in, struct error *err) {
  set->exec = in->total;
  set->exec_counts = in->counts;
  in->counts = NULL;
  set->exec_ids = array_new((size_t)set->exec, sizeof *set->exec_ids);
  set->remote = array_new((size_t)set->exec, sizeof *set->remote);
  if (!set->exec_ids || !set->remote)
    return no_memory(err);
  const long long *numbers = in->items;
  for (long i = 0; i < set->exec; i++)
    if ((set->exec_ids[i] = numbers_add(&set->ids, numbers[i])) < 0)
      return no_memory(err);
  return mail_send_known(g->comm, list, counts, sizeof *list, set->remote, set->exec_counts, err);
}

static int exchange_exec(struct growth *g, int s, struct built *built, struct error *err) {
  struct grown_set *set = &g->sets[s];
  struct built_set *out = &built->sets[s];
  const size_t ranks = (size_t)g->comm->size;
  long *counts = array_new(ranks, sizeof *counts), going = 0;
  int *list = NULL;
  long long *numbers = NULL;
  struct mail in = {0};
  int code = !counts      ? no_memory(err)
             : set->begin ? grown_list_entries(g, s, built, counts, &list, err)
                          : list_exports(g, s, out->order, counts, &list, err);
  for (size_t r = 0; !code && r < ranks; r++)
    going += counts[r];
  if (!code && !(numbers = array_new((size_t)going, sizeof *numbers)))
    code = no_memory(err);
  for (long i = 0; !code && i < going; i++)
    numbers[i] = set->ids.number[out->order[list[i]]];
  if (!code)
    code = mail_send(g->comm, numbers, counts, sizeof *numbers, &in, err);
  for (int m = 0; !code && m < g->nmaps; m++)
    if (g->maps[m].from == s)
      code = send_rows(g, &g->maps[m], out->order, list, going, counts, &in, err);
  if (!code)
    code = take_exec(g, set, list, counts, &in, err);
  if (!code) {
    code = side_from_counts(&out->spread->exec.send, g->comm->size, counts, list, err);
    list = NULL;
  }
  if (!code && set->begin)
    code = grown_first(g, s, built, err);
  mail_free(&in);
  free(numbers);
  free(list);
  free(counts);
  return code;
}

/* ---- all together ---- */

static int build(struct growth *g, struct share *share, struct built *built, struct error *err) {
  int code = begin(g, share, err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = ask_owners(g, &g->sets[s], err);
  if (!code)
    code = find_reaching(g, err);
  for (int s = 0; !code && s < g->nsets; s++) {
    built->sets[s].spread = array_new(1, sizeof *built->sets[s].spread);
    code = built->sets[s].spread ? order_owned(g, s, built, err) : no_memory(err);
  }
  for (int s = 0; !code && s < g->nsets; s++)
    code = exchange_exec(g, s, built, err);
  for (int s = 0; !code && s < g->nsets; s++) {
    code = ask_owners(g, &g->sets[s], err);
    directory_free(&g->sets[s].owners);
  }
  for (int s = 0; !code && s < g->nsets; s++)
    code = grown_nonexec(g, s, &built->sets[s], err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = grown_numbers(g, s, &built->sets[s], err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = grown_home(g, s, &built->sets[s], err);
  for (int m = 0; !code && m < g->nmaps; m++)
    code = grown_table(g, m, &built->maps[m], err);
  for (int m = 0; !code && m < g->nmaps; m++)
    code = grown_map_halo(g, m, built, err);
  return code;
}

int build_halos(struct comm *comm, struct share *share, struct built *built, struct error *err) {
  struct growth g = {.comm = comm, .stamp = 1};
  *built = (struct built){.nsets = share->nsets,
                          .nmaps = share->nmaps,
                          .sets = array_new((size_t)share->nsets, sizeof *built->sets),
                          .maps = array_new((size_t)share->nmaps, sizeof *built->maps)};
  int code = built->sets && built->maps ? build(&g, share, built, err) : no_memory(err);
  growth_free(&g);
  if (code)
    built_free(built);
  return code;
}
