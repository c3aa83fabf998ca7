#include "move.h"

#include <limits.h>
#include <stdlib.h>

#include "base/size.h"
#include "entries.h"
#include "mail.h"
#include "numbers.h"

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

static int move_set(struct comm *comm, struct share_set *set, const int *part, struct halo_exchange *route,
                    struct error *err) {
  const int ranks = comm->size;
  long *counts = array_new((size_t)ranks, sizeof *counts);
  int *elements = array_new((size_t)set->owned, sizeof *elements), *places = NULL;
  long long *numbers = array_new((size_t)set->owned, sizeof *numbers);
  struct mail in = {0};
  int code = counts && elements && numbers ? list_departures(set, part, ranks, counts, elements, numbers, err)
                                           : no_memory(err);
  if (!code)
    code = mail_send(comm, numbers, counts, sizeof *numbers, &in, err);
  if (!code && in.total > INT_MAX)
    code = error_set(err, OP_ERR_SIZE,
                     "rank %d would own %ld elements of one set; a rank holds at most %d: use more ranks",
                     comm->rank, in.total, INT_MAX);
  if (!code && !(places = array_new((size_t)in.total, sizeof *places)))
    code = no_memory(err);
  if (!code)
    code = sort_arrivals(set, &in, places, err);
  if (!code) {
    code = side_from_counts(&route->send, ranks, counts, elements, err);
    elements = NULL;
  }
  if (!code) {
    code = side_from_counts(&route->receive, ranks, in.counts, places, err);
    places = NULL;
  }
  mail_free(&in);
  free(numbers);
  free(places);
  free(elements);
  free(counts);
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

int share_move(struct comm *comm, struct share *share, int **part, struct halo_exchange *routes,
               struct error *err) {
  int code = OP_OK;
  for (int s = 0; s < share->nsets; s++)
    routes[s] = (struct halo_exchange){0};
  for (int s = 0; !code && s < share->nsets; s++) {
    code = move_set(comm, &share->sets[s], part[s], &routes[s], err);
    free(part[s]);
    part[s] = NULL;
    if (!code && share->sets[s].begin)
      code = move_begin(comm, &share->sets[s], &routes[share->sets[s].of], err);
  }
  for (int m = 0; !code && m < share->nmaps; m++) {
    struct share_map *map = &share->maps[m];
    const struct halo_exchange *route = &routes[share_rows_of(map)];
    const size_t arity = (size_t)share_width(map);
    struct rows rows;
    code = rows_new(&rows, (size_t)share->sets[share_rows_of(map)].owned * arity, map->rows.wide)
               ? carry_rows(comm, &route->send, &route->receive, arity * rows_entry_bytes(&rows),
                            map->rows.entries, rows.entries, err)
               : no_memory(err);
    free(map->rows.entries);
    map->rows = rows;
  }
  return code;
}
