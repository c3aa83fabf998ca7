#include "move.h"

#include <limits.h>
#include <stdlib.h>

#include "base/size.h"
#include "entries.h"
#include "numbers.h"
#include "parcels.h"

void exchange_free(struct halo_exchange *exchange) {
  halo_side_free(&exchange->send);
  halo_side_free(&exchange->receive);
}

static int no_memory(struct error *err) {
  return error_memory(err, "the moving of a mesh", 0);
}

/* Who arrives, sorted, replaces what was there; `places` says where each went. */
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

/* What leaves for whom, in the order of sending. */
static int list_departures(const struct share_set *set, const int *part, int ranks, long *counts,
                           int *elements, long long *numbers, struct error *err) {
  long *first = array_new((size_t)ranks + 1, sizeof *first);
  long *order = array_new((size_t)set->owned, sizeof *order);
  int code = first && order ? OP_OK : no_memory(err);
  if (!code)
    sort_by_rank(part, set->owned, ranks, counts, first, order);
  for (long i = 0; !code && i < set->owned; i++) {
    elements[i] = (int)order[i];
    numbers[i] = set->numbers[order[i]];
  }
  free(first);
  free(order);
  return code;
}

/* The elements of a set that leave. To be freed also after an error. */
struct leaving {
  long *counts;
  int *elements;
  long long *numbers;
  struct mail in;
};

static int list_leaving(struct leaving *l, const struct share_set *set, const int *part, int ranks,
                        struct error *err) {
  l->counts = array_new((size_t)ranks, sizeof *l->counts);
  l->elements = array_new((size_t)set->owned, sizeof *l->elements);
  l->numbers = array_new((size_t)set->owned, sizeof *l->numbers);
  return l->counts && l->elements && l->numbers
             ? list_departures(set, part, ranks, l->counts, l->elements, l->numbers, err)
             : no_memory(err);
}

static int take_arrivals(struct leaving *l, struct comm *comm, struct share_set *set,
                         struct halo_exchange *route, struct error *err) {
  if (l->in.total > INT_MAX)
    return error_set(err, OP_ERR_SIZE,
                     "rank %d would own %ld elements of one set; a rank holds at most %d: use more ranks",
                     comm->rank, l->in.total, INT_MAX);
  int *places = array_new((size_t)l->in.total, sizeof *places);
  int code = places ? sort_arrivals(set, &l->in, places, err) : no_memory(err);
  if (!code) {
    code = side_from_counts(&route->send, comm->size, l->counts, l->elements, err);
    l->elements = NULL;
  }
  if (!code) {
    code = side_from_counts(&route->receive, comm->size, l->in.counts, places, err);
    places = NULL;
  }
  free(places);
  return code;
}

static int move_sets(struct comm *comm, struct share *share, int **part, struct halo_exchange *routes,
                     struct error *err) {
  struct leaving *all = array_new((size_t)share->nsets, sizeof *all);
  struct parcel *parcels = array_new((size_t)share->nsets, sizeof *parcels);
  int code = all && parcels ? OP_OK : no_memory(err);
  for (int s = 0; !code && s < share->nsets; s++) {
    code = list_leaving(&all[s], &share->sets[s], part[s], comm->size, err);
    free(part[s]);
    part[s] = NULL;
    parcels[s] = (struct parcel){all[s].numbers, all[s].counts, sizeof *all[s].numbers, &all[s].in};
  }
  if (!code)
    code = parcels_send(comm, parcels, share->nsets, err);
  for (int s = 0; !code && s < share->nsets; s++)
    code = take_arrivals(&all[s], comm, &share->sets[s], &routes[s], err);
  for (int s = 0; all && s < share->nsets; s++) {
    mail_free(&all[s].in);
    free(all[s].numbers);
    free(all[s].elements);
    free(all[s].counts);
  }
  free(all);
  free(parcels);
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

/* Of all maps whose rows go with the elements of the set. */
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
