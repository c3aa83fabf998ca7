#include "build.h"

#include <limits.h>
#include <stdlib.h>

#include "base/list.h"
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

bool homes_note(struct homes *homes, long long number, int rank) {
  struct home *last = homes->count ? &homes->list[homes->count - 1] : NULL;
  if (last && last->rank == rank) {
    last->first = number < last->first ? number : last->first;
    return true;
  }
  struct home *list = array_more(homes->list, (size_t)homes->count, sizeof *list);
  if (!list)
    return false;
  homes->list = list;
  list[homes->count++] = (struct home){number, rank};
  return true;
}

/* Its place in the list; `near` is mostly it. */
static int home_of(const struct homes *homes, long long number, int near) {
  int low = 0, high = homes->count - 1;
  if (homes->list[near].first <= number && (near == high || homes->list[near + 1].first > number))
    return near;
  while (low < high) {
    const int middle = high - (high - low) / 2;
    if (homes->list[middle].first <= number)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* ---- elements and those who declared them: two parcels for each set ---- */

enum { NUMBERS, HOMES, PARCELS };

/* For each rank the declarers of what goes there. */
static bool list_homes(struct parcel *leaving, const struct share_set *set, int rank) {
  const struct tally *to = &leaving[NUMBERS].to;
  const struct homes own = {.list = &(struct home){set->first, rank}, .count = 1};
  const struct homes *homes = set->homes.count ? &set->homes : &own;
  const long long *number = leaving[NUMBERS].items;
  int near = 0;
  bool good = true;
  for (int i = 0; good && i < to->count; i++) {
    struct homes going = {0};
    for (long k = 0; good && k < to->items[i]; k++, number++) {
      near = home_of(homes, *number, near);
      good = homes_note(&going, *number, homes->list[near].rank);
    }
    homes_tidy(&going);
    for (int h = 0; good && h < going.count; h++)
      good = parcel_add(&leaving[HOMES], to->ranks[i], &going.list[h]);
    homes_free(&going);
  }
  return good;
}

/* In the order of sending. */
static int list_leaving(struct parcel *leaving, const struct share_set *set, const int *part, int rank,
                        struct error *err) {
  long long *numbers = array_new((size_t)set->owned, sizeof *numbers);
  leaving[NUMBERS] = (struct parcel){.items = numbers, .item_bytes = sizeof *numbers};
  leaving[HOMES].item_bytes = sizeof(struct home);
  int *order = leaving[NUMBERS].here = tally_group(&leaving[NUMBERS].to, part, NULL, set->owned);
  const bool good = numbers && order;
  for (long i = 0; good && i < set->owned; i++)
    numbers[i] = set->numbers[order[i]];
  return good && list_homes(leaving, set, rank) ? OP_OK : no_memory(err);
}

static int take_arrivals(struct parcel *leaving, struct comm *comm, struct share_set *set,
                         struct halo_exchange *route, struct error *err) {
  struct mail *in = &leaving[NUMBERS].in, *homes = &leaving[HOMES].in;
  if (in->total > INT_MAX)
    return error_set(err, OP_ERR_SIZE,
                     "rank %d would own %ld elements of one set; a rank holds at most %d: use more ranks",
                     comm->rank, in->total, INT_MAX);
  int *places = array_new((size_t)in->total, sizeof *places);
  int code = places ? sort_arrivals(set, in, places, err) : no_memory(err);
  free(in->items);
  in->items = places;
  if (!code)
    code = parcel_sides(&leaving[NUMBERS], &route->send, &route->receive, err);
  homes_free(&set->homes);
  set->homes = (struct homes){homes->items, (int)homes->total};
  homes->items = NULL;
  homes_tidy(&set->homes);
  return code;
}

static int move_sets(struct comm *comm, struct share *share, int **part, struct halo_exchange *routes,
                     struct error *err) {
  const int n = PARCELS * share->nsets;
  struct parcel *parcels = array_new((size_t)n, sizeof *parcels);
  int code = parcels ? OP_OK : no_memory(err);
  for (int s = 0; !code && s < share->nsets; s++) {
    code = list_leaving(&parcels[PARCELS * s], &share->sets[s], part[s], comm->rank, err);
    free(part[s]);
    part[s] = NULL;
  }
  if (!code)
    code = parcels_send(comm, parcels, n, err);
  for (int s = 0; !code && s < share->nsets; s++)
    code = take_arrivals(&parcels[PARCELS * s], comm, &share->sets[s], &routes[s], err);
  parcels_free(parcels, n);
  return code;
}

/* Entries come in the order of their numbers, as their elements do. */
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

/* The entries and rows of maps, behind the elements. */
static int follow_routes(struct comm *comm, struct share *share, const struct halo_exchange *routes,
                         struct error *err) {
  int code = OP_OK;
  for (int s = 0; !code && s < share->nsets; s++) {
    struct share_set *set = &share->sets[s];
    if (set->begin && routes[set->of].send.first)
      code = move_begin(comm, set, &routes[set->of], err);
  }
  for (int s = 0; !code && s < share->nsets; s++)
    if (routes[s].send.first)
      code = move_rows(comm, share, s, &routes[s], err);
  return code;
}

int share_move(struct comm *comm, struct share *share, int **part, struct halo_exchange *routes,
               struct error *err) {
  for (int s = 0; s < share->nsets; s++)
    routes[s] = (struct halo_exchange){0};
  const int code = move_sets(comm, share, part, routes, err);
  return code ? code : follow_routes(comm, share, routes, err);
}

int route_here(struct halo_exchange *route, int rank, int *order, long count, struct error *err) {
  struct parcel p = {.here = order};
  int *places = p.in.items = array_new((size_t)count, sizeof *places);
  for (long i = 0; places && i < count; i++)
    places[i] = (int)i;
  const bool good = tally_add(&p.to, rank, count) && tally_add(&p.in.from, rank, count);
  const int code = good ? parcel_sides(&p, &route->send, &route->receive, err) : no_memory(err);
  parcel_free(&p);
  return code;
}

static int reorder_set(struct share_set *set, const int *order, int rank, struct halo_exchange *route,
                       struct error *err) {
  const size_t owned = (size_t)set->owned;
  int *copy = array_new(owned, sizeof *copy);
  long long *numbers = array_new(owned, sizeof *numbers);
  for (size_t e = 0; copy && numbers && e < owned; e++) {
    copy[e] = order[e];
    numbers[e] = set->numbers[order[e]];
  }
  const int code = route_here(route, rank, copy, set->owned, err);
  if (code || !numbers) {
    free(numbers);
    return code ? code : no_memory(err);
  }
  free(set->numbers);
  set->numbers = numbers;
  return OP_OK;
}

int share_reorder(struct comm *comm, struct share *share, int *const *order, struct halo_exchange *routes,
                  struct error *err) {
  int code = OP_OK;
  for (int s = 0; !code && s < share->nsets; s++)
    if (order[s])
      code = reorder_set(&share->sets[s], order[s], comm->rank, &routes[s], err);
  return code ? code : follow_routes(comm, share, routes, err);
}
