#include "move.h"

#include <limits.h>
#include <stdlib.h>

#include "base/list.h"
#include "grown_entries.h"
#include "mail.h"
#include "numbers.h"

static int no_memory(struct error *err) {
  return error_memory(err, "the moving of a mesh", 0);
}

/* Replace the elements that were there by those that arrive, sorted; `places` says where each went. */
static int sort_arrivals(struct share_set *set, const struct mail *in, int *places, struct error *err) {
  const long long *arrived = in->items;
  int *order = numbers_order(arrived, in->total);
  long long *numbers = array_new((size_t)in->total, sizeof *numbers);
  const bool good = order && numbers;
  for (long i = 0; good && i < in->total; i++) {
    numbers[i] = arrived[order[i]];
    places[order[i]] = (int)i;
  }
  free(order);
  if (!good) {
    free(numbers);
    return no_memory(err);
  }
  free(set->numbers);
  set->numbers = numbers;
  set->owned = in->total;
  return OP_OK;
}

/* ---- who declared what ---- */

void homes_free(struct homes *homes) {
  free(homes->list);
  *homes = (struct homes){0};
}

static int by_first(const void *a, const void *b) {
  const struct home *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/* Keep one of each rank. */
void homes_tidy(struct homes *homes) {
  int kept = 0;
  if (homes->count)
    qsort(homes->list, (size_t)homes->count, sizeof *homes->list, by_first);
  for (int i = 0; i < homes->count; i++)
    if (!kept || homes->list[kept - 1].rank != homes->list[i].rank)
      homes->list[kept++] = homes->list[i];
  homes->count = kept;
}

static int home_of(const struct homes *homes, long long number, int near) {
  if (homes->list[near].first <= number && (near + 1 == homes->count || homes->list[near + 1].first > number))
    return near;
  int low = 0, high = homes->count - 1;
  while (low < high) {
    const int middle = high - (high - low) / 2;
    if (homes->list[middle].first <= number)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* The elements of a set that leave: their numbers, and of those that go to each rank who declared them. */
struct leaving {
  int *elements;
  struct parcel *numbers, *homes;
};

/* The declarers of what goes to one rank, each with the lowest number. */
struct noted {
  const struct homes *homes;
  struct home *lowest; /* of each; rank -1: none yet */
};

static bool note_homes(const struct noted *n, struct leaving *l, int place, const long *first, long *count) {
  const long long *numbers = l->numbers->items;
  int near = 0;
  for (int h = 0; h < n->homes->count; h++)
    n->lowest[h].rank = -1;
  for (long i = first[place]; i < first[place + 1]; i++) {
    near = home_of(n->homes, numbers[i], near);
    struct home *low = &n->lowest[near];
    if (low->rank < 0 || numbers[i] < low->first)
      *low = (struct home){numbers[i], n->homes->list[near].rank};
  }
  long here = 0;
  for (int h = 0; h < n->homes->count; h++)
    here += n->lowest[h].rank >= 0;
  struct home *all = array_resize(l->homes->items, (size_t)(*count + here), sizeof *all);
  if (!all)
    return false;
  l->homes->items = all;
  for (int h = 0; h < n->homes->count; h++)
    if (n->lowest[h].rank >= 0)
      all[(*count)++] = n->lowest[h];
  return tally_add(&l->homes->to, l->numbers->to.ranks[place], here);
}

static bool list_homes(struct leaving *l, const struct share_set *set, int rank) {
  struct home mine = {set->first, rank};
  const struct homes own = {&mine, 1}, *homes = set->homes.count ? &set->homes : &own;
  struct noted n = {homes, array_new((size_t)homes->count, sizeof *n.lowest)};
  long *first = tally_first(&l->numbers->to), count = 0;
  bool good = n.lowest && first;
  for (int i = 0; good && i < l->numbers->to.count; i++)
    good = note_homes(&n, l, i, first, &count);
  free(n.lowest);
  free(first);
  return good;
}

/* In the order of sending. */
static int list_leaving(struct leaving *l, const struct share_set *set, const int *part, int rank,
                        struct error *err) {
  l->elements = array_new((size_t)set->owned, sizeof *l->elements);
  long long *numbers = array_new((size_t)set->owned, sizeof *numbers);
  *l->numbers = (struct parcel){.items = numbers, .item_bytes = sizeof *numbers};
  l->homes->item_bytes = sizeof(struct home);
  long *order = array_new((size_t)set->owned, sizeof *order);
  bool good = l->elements && numbers && order && tally_group(&l->numbers->to, part, set->owned, order);
  for (long i = 0; good && i < set->owned; i++) {
    l->elements[i] = (int)order[i];
    numbers[i] = set->numbers[order[i]];
  }
  free(order);
  good = good && list_homes(l, set, rank);
  return good ? OP_OK : no_memory(err);
}

static int take_arrivals(struct leaving *l, struct comm *comm, struct share_set *set,
                         struct halo_exchange *route, struct error *err) {
  struct mail *in = &l->numbers->in, *homes = &l->homes->in;
  if (in->total > INT_MAX)
    return error_set(err, OP_ERR_SIZE,
                     "rank %d would own %ld elements of one set; a rank holds at most %d: use more ranks",
                     comm->rank, in->total, INT_MAX);
  int *places = array_new((size_t)in->total, sizeof *places);
  int code = places ? sort_arrivals(set, in, places, err) : no_memory(err);
  if (!code) {
    code = side_from_tally(&route->send, &l->numbers->to, l->elements, err);
    l->elements = NULL;
  }
  if (!code) {
    code = side_from_tally(&route->receive, &in->from, places, err);
    places = NULL;
  }
  free(places);
  homes_free(&set->homes);
  set->homes = (struct homes){homes->items, (int)homes->total};
  homes->items = NULL;
  homes_tidy(&set->homes);
  return code;
}

static int move_sets(struct comm *comm, struct share *share, int **part, struct halo_exchange *routes,
                     struct error *err) {
  struct leaving *all = array_new((size_t)share->nsets, sizeof *all);
  struct parcel *parcels = array_new(2 * (size_t)share->nsets, sizeof *parcels);
  int code = all && parcels ? OP_OK : no_memory(err);
  for (int s = 0; !code && s < share->nsets; s++) {
    all[s] = (struct leaving){.numbers = &parcels[2 * s], .homes = &parcels[2 * s + 1]};
    code = list_leaving(&all[s], &share->sets[s], part[s], comm->rank, err);
    free(part[s]);
    part[s] = NULL;
  }
  if (!code)
    code = parcels_send(comm, parcels, 2 * share->nsets, err);
  for (int s = 0; !code && s < share->nsets; s++)
    code = take_arrivals(&all[s], comm, &share->sets[s], &routes[s], err);
  for (int s = 0; all && s < share->nsets; s++)
    free(all[s].elements);
  free(all);
  parcels_free(parcels, 2 * share->nsets);
  return code;
}

/* They come in the order of their numbers, as their elements do. */
static int move_begin(struct comm *comm, struct share_set *set, const struct halo_exchange *elements,
                      struct error *err) {
  long long *begin = NULL;
  const int code = entries_carry_first(comm, elements, set->begin, &begin, err);
  free(set->begin);
  set->begin = begin;
  return code;
}

/* Move the rows of all maps whose rows go with the elements of the set. */
static int move_rows(struct comm *comm, struct share *share, int s, const struct halo_exchange *route,
                     struct error *err) {
  struct row_store *old = array_new((size_t)share->nmaps, sizeof *old);
  struct row_store *fresh = array_new((size_t)share->nmaps, sizeof *fresh);
  int n = 0;
  bool good = old && fresh;
  for (int m = 0; good && m < share->nmaps; m++) {
    struct share_map *map = &share->maps[m];
    struct rows rows;
    if (share_rows_of(map) != s)
      continue;
    good = rows_new(&rows, (size_t)share->sets[s].owned * (size_t)share_width(map), map->rows.wide);
    old[n] = (struct row_store){
        .memory = map->rows.entries, .value_bytes = rows_entry_bytes(&rows), .values = share_width(map)};
    fresh[n] = old[n];
    fresh[n++].memory = rows.entries;
    map->rows = rows;
  }
  int code = good ? OP_OK : no_memory(err);
  if (!code && n)
    code = carry(comm, &route->send, &route->receive, old, fresh, n, err);
  for (int i = 0; old && i < n; i++)
    free(old[i].memory);
  free(old);
  free(fresh);
  return code;
}

int share_move(struct comm *comm, struct share *share, int **part, struct halo_exchange *routes,
               struct error *err) {
  for (int s = 0; s < share->nsets; s++)
    routes[s] = (struct halo_exchange){0};
  int code = move_sets(comm, share, part, routes, err);
  for (int s = 0; !code && s < share->nsets; s++)
    if (share->sets[s].begin)
      code = move_begin(comm, &share->sets[s], &routes[share->sets[s].of], err);
  for (int s = 0; !code && s < share->nsets; s++)
    code = move_rows(comm, share, s, &routes[s], err);
  return code;
}
