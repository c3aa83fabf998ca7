#include "grown.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mail.h"
#include "mesh/data.h"
#include "ranks/comm.h"

static int no_memory(struct error *err) {
  return error_memory(err, "the halos of a mesh", 0);
}

/* ---- copies that are only read ---- */

struct copy {
  int remote, id;
};

static int by_remote(const void *a, const void *b) {
  const struct copy *x = a, *y = b;
  return (x->remote > y->remote) - (x->remote < y->remote);
}

static int by_value(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* List the ids of copies that are only read, together by owner. */
static int list_nonexec(struct grown_set *set, struct parcel *asked, struct error *err) {
  const long foreign = set->ids.count - set->owned;
  bool *read = array_new((size_t)foreign, sizeof *read);
  set->nonexec = foreign - set->exec;
  for (long i = 0; read && i < foreign; i++)
    read[i] = true;
  for (long i = 0; read && i < set->exec; i++)
    read[set->exec_ids[i] - set->owned] = false;
  int *ids = set->nonexec_ids = read ? tally_group(&asked->to, set->owner, read, foreign) : NULL;
  for (long i = 0; ids && i < set->nonexec; i++)
    ids[i] += (int)set->owned;
  free(read);
  return ids ? OP_OK : no_memory(err);
}

/* Owners look up what they are asked for, answer with their own numbers, and send in ascending order from now on. */
static int answer(const struct grown_set *set, struct mail *asked, struct parcel *told, struct built_set *out,
                  struct error *err) {
  int *elements = array_new((size_t)asked->total, sizeof *elements);
  int *answers = array_new((size_t)asked->total, sizeof *answers);
  told->items = answers;
  told->item_bytes = sizeof *answers;
  if (!elements || !answers) {
    free(elements);
    return no_memory(err);
  }
  for (long i = 0; i < asked->total; i++) {
    const int id = numbers_find(&set->ids, ((const long long *)asked->items)[i]);
    answers[i] = elements[i] = set->place[id];
  }
  for (long r = 0, at = 0; r < asked->from.count; at += asked->from.items[r++])
    qsort(elements + at, (size_t)asked->from.items[r], sizeof *elements, by_value);
  const int code = side_from_tally(&out->spread->nonexec.send, &asked->from, elements, err);
  told->to = asked->from;
  asked->from = (struct tally){0};
  return code;
}

static int sort_copies(struct grown_set *set, const int *remote, struct error *err) {
  struct copy *copies = array_new((size_t)set->nonexec, sizeof *copies);
  int *all = array_resize(set->remote, (size_t)(set->exec + set->nonexec), sizeof *all);
  set->remote = all ? all : set->remote;
  if (!copies || !all) {
    free(copies);
    return no_memory(err);
  }
  for (long i = 0; i < set->nonexec; i++)
    copies[i] = (struct copy){remote[i], set->nonexec_ids[i]};
  for (long r = 0, at = 0; r < set->nonexec_from.count; at += set->nonexec_from.items[r++])
    qsort(copies + at, (size_t)set->nonexec_from.items[r], sizeof *copies, by_remote);
  for (long i = 0; i < set->nonexec; i++) {
    set->nonexec_ids[i] = copies[i].id;
    set->remote[set->exec + i] = copies[i].remote;
  }
  free(copies);
  return OP_OK;
}

static int list_wanted(struct grown_set *set, struct parcel *asked, struct error *err) {
  const int code = list_nonexec(set, asked, err);
  if (code)
    return code;
  long long *numbers = array_new((size_t)set->nonexec, sizeof *numbers);
  asked->items = numbers;
  asked->item_bytes = sizeof *numbers;
  if (!numbers)
    return no_memory(err);
  for (long i = 0; i < set->nonexec; i++)
    numbers[i] = set->ids.number[set->nonexec_ids[i]];
  return OP_OK;
}

/* Numbers there, the owners' own numbers back. */
static int find_nonexec(struct growth *g, struct built *built, struct error *err) {
  const size_t n = (size_t)g->nsets;
  struct parcel *asked = array_new(n, sizeof *asked), *told = array_new(n, sizeof *told);
  int code = asked && told ? OP_OK : no_memory(err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = list_wanted(&g->sets[s], &asked[s], err);
  if (!code)
    code = parcels_send(g->comm, asked, g->nsets, err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = answer(&g->sets[s], &asked[s].in, &told[s], &built->sets[s], err);
  if (!code)
    code = parcels_send(g->comm, told, g->nsets, err);
  for (int s = 0; !code && s < g->nsets; s++) {
    g->sets[s].nonexec_from = asked[s].to;
    asked[s].to = (struct tally){0};
    code = sort_copies(&g->sets[s], told[s].in.items, err);
  }
  parcels_free(asked, g->nsets);
  parcels_free(told, g->nsets);
  return code;
}

/* ---- numbers ---- */

/* Copies lie one after the other, so that the receiving side is a range. */
static int receive_range(struct halo_side *side, const struct tally *from, long begin, long count,
                         struct error *err) {
  int *elements = array_new((size_t)count, sizeof *elements);
  for (long i = 0; elements && i < count; i++)
    elements[i] = (int)(begin + i);
  return side_from_tally(side, from, elements, err);
}

/* Local numbers of all, and the receiving sides. */
static int number_set(struct growth *g, int s, struct built_set *out, struct error *err) {
  struct grown_set *set = &g->sets[s];
  const long exec = set->owned + set->exec, nonexec = exec + set->nonexec;
  const long extents[EXTENTS] = {set->core, set->owned, exec, nonexec};
  memcpy(out->extents, extents, sizeof extents);
  struct distribution *spread = out->spread;
  set->final = array_new((size_t)nonexec, sizeof *set->final);
  spread->numbers = array_new((size_t)nonexec, sizeof *spread->numbers);
  if (!set->final || !spread->numbers)
    return no_memory(err);
  if (set->owned)
    memcpy(set->final, set->place, (size_t)set->owned * sizeof *set->final);
  free(set->place);
  set->place = NULL;
  for (long i = 0; i < set->exec; i++)
    set->final[set->exec_ids[i]] = (int)(set->owned + i);
  for (long i = 0; i < set->nonexec; i++)
    set->final[set->nonexec_ids[i]] = (int)(exec + i);
  for (long id = 0; id < nonexec; id++)
    spread->numbers[set->final[id]] = set->ids.number[id];
  numbers_free(&set->ids);
  int code = receive_range(&spread->exec.receive, &set->exec_from, set->owned, set->exec, err);
  if (!code)
    code = receive_range(&spread->nonexec.receive, &set->nonexec_from, exec, set->nonexec, err);
  return code;
}

/* ---- the way from and to the declaring ranks ---- */

/* Owned elements by the user's numbers, so also by the ranks that declared them, who are told the numbers. As they came, they
 * mostly ascend already. */
static int list_home(const struct growth *g, const struct grown_set *set, const long long *numbers,
                     struct parcel *home, struct error *err) {
  const struct homes own = {.list = &(struct home){set->first, g->comm->rank}, .count = 1};
  const struct homes *homes = set->homes.count ? &set->homes : &own;
  long long *came = array_new((size_t)set->owned, sizeof *came);
  struct rows there;
  bool good = rows_new(&there, (size_t)set->owned, rows_wide(set->total)) && came;
  home->items = there.entries;
  home->item_bytes = rows_entry_bytes(&there);
  for (long id = 0; good && id < set->owned; id++)
    came[id] = numbers[set->final[id]];
  int *order = home->here = good ? numbers_order(came, set->owned) : NULL;
  good = order != NULL;
  for (long i = 0, h = 0; good && i < set->owned; i++) {
    const long long number = came[order[i]];
    while (h + 1 < homes->count && homes->list[h + 1].first <= number)
      h++;
    good = tally_add(&home->to, homes->list[h].rank, 1);
    rows_set(&there, (size_t)i, number);
    order[i] = set->final[order[i]];
  }
  free(came);
  return good ? OP_OK : no_memory(err);
}

/* Numbers become places among what this rank declared. */
static int take_home(const struct grown_set *set, struct parcel *home, struct error *err) {
  const struct rows came = {home->in.items, rows_wide(set->total)};
  int *places = array_new((size_t)home->in.total, sizeof *places);
  if (!places)
    return no_memory(err);
  for (long i = 0; i < home->in.total; i++)
    places[i] = (int)(rows_get(&came, (size_t)i) - set->first);
  free(home->in.items);
  home->in.items = places;
  return OP_OK;
}

static int find_homes(struct growth *g, struct built *built, struct error *err) {
  const size_t n = (size_t)g->nsets;
  struct parcel *homes = array_new(n, sizeof *homes);
  int code = homes ? OP_OK : no_memory(err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = list_home(g, &g->sets[s], built->sets[s].spread->numbers, &homes[s], err);
  if (!code)
    code = parcels_send(g->comm, homes, g->nsets, err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = take_home(&g->sets[s], &homes[s], err);
  for (int s = 0; !code && s < g->nsets; s++) {
    struct halo_exchange *home = &built->sets[s].spread->home;
    code = parcel_sides(&homes[s], &home->receive, &home->send, err);
  }
  parcels_free(homes, g->nsets);
  return code;
}

/* ---- maps ---- */

static int make_table(struct growth *g, int m, struct built_map *out, struct error *err) {
  struct grown_map *map = &g->maps[m];
  const struct grown_set *from = &g->sets[map->from], *to = &g->sets[map->to];
  const size_t arity = (size_t)map->arity;
  out->table =
      data_memory(NULL, ((size_t)(from->owned + from->exec) * arity + MAP_SLACK) * sizeof *out->table,
                  data_table_number(m));
  if (!out->table)
    return no_memory(err);
  for (long e = 0; e < from->owned; e++)
    for (size_t k = 0; k < arity; k++)
      out->table[(size_t)from->final[e] * arity + k] = to->final[map->owned[(size_t)e * arity + k]];
  int *exec = out->table + (size_t)from->owned * arity;
  for (size_t i = 0; i < (size_t)from->exec * arity; i++)
    exec[i] = to->final[map->exec[i]];
  free(map->owned);
  free(map->exec);
  map->owned = map->exec = NULL;
  return OP_OK;
}

/* The rank that owns a copy, found by its place among the copies of one kind. */
static void owners_of_copies(const struct grown_set *set, int *owner) {
  const struct tally *const kinds[] = {&set->exec_from, &set->nonexec_from};
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
    for (int r = 0; r < kinds[kind]->count; r++)
      for (long k = 0; k < kinds[kind]->items[r]; k++)
        *owner++ = kinds[kind]->ranks[r];
}

/* Copies that a table names, together by owner and ascending: their local numbers and their owners'. */
static int list_reached(struct growth *g, const struct grown_map *map, const int *table, struct parcel *halo,
                        struct error *err) {
  const struct grown_set *from = &g->sets[map->from], *to = &g->sets[map->to];
  const long copies = to->exec + to->nonexec;
  const size_t entries = (size_t)(from->owned + from->exec) * (size_t)map->arity;
  bool *reached = array_new((size_t)copies, sizeof *reached);
  int *owner = array_new((size_t)copies, sizeof *owner);
  if (reached && owner) {
    for (size_t i = 0; i < entries; i++)
      if (table[i] >= to->owned)
        reached[table[i] - to->owned] = true;
    owners_of_copies(to, owner);
    halo->here = tally_group(&halo->to, owner, reached, copies);
  }
  free(reached);
  free(owner);
  int *there = halo->here ? array_new((size_t)halo->to.total, sizeof *there) : NULL;
  halo->items = there;
  halo->item_bytes = sizeof *there;
  for (long i = 0; there && i < halo->to.total; i++) {
    there[i] = to->remote[halo->here[i]];
    halo->here[i] += (int)to->owned;
  }
  return there ? OP_OK : no_memory(err);
}

static int find_map_halos(struct growth *g, struct built *built, struct error *err) {
  const size_t n = (size_t)g->nmaps;
  struct parcel *halos = array_new(n, sizeof *halos);
  int code = halos ? OP_OK : no_memory(err);
  for (int m = 0; !code && m < g->nmaps; m++) {
    struct built_map *out = &built->maps[m];
    out->halo = array_new(1, sizeof *out->halo);
    code = out->halo ? list_reached(g, &g->maps[m], out->table, &halos[m], err) : no_memory(err);
  }
  if (!code)
    code = parcels_send(g->comm, halos, g->nmaps, err);
  for (int m = 0; !code && m < g->nmaps; m++)
    code = parcel_sides(&halos[m], &built->maps[m].halo->receive, &built->maps[m].halo->send, err);
  parcels_free(halos, g->nmaps);
  return code;
}

int grown_finish(struct growth *g, struct built *built, struct error *err) {
  int code = find_nonexec(g, built, err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = number_set(g, s, &built->sets[s], err);
  if (!code)
    code = find_homes(g, built, err);
  for (int m = 0; !code && m < g->nmaps; m++)
    code = make_table(g, m, &built->maps[m], err);
  return code ? code : find_map_halos(g, built, err);
}
