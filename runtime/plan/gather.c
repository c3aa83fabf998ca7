#include "plan/gather.h"

#include <limits.h>
#include <string.h>

#include "base/list.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"

static long count_places(const struct plan_column *c, long size) {
  return column_place(c, size) - column_place(c, 0);
}

/* The number of entries. -1: no memory. */
static long number_entries(struct reverse_map *map, struct arrays *arrays, long size,
                           const struct plan_column *columns, int ncolumns) {
  bool ragged = false;
  for (int c = 0; c < ncolumns; c++)
    ragged |= columns[c].first != NULL;
  if (!ragged)
    return size * ncolumns;
  map->begin = arrays_add(arrays, (size_t)ncolumns + 1, sizeof *map->begin);
  for (int c = 0; map->begin && c < ncolumns; c++)
    map->begin[c + 1] = map->begin[c] + count_places(&columns[c], size);
  return map->begin ? map->begin[ncolumns] : -1;
}

static int entry_of(const struct reverse_map *map, const struct plan_column *columns, int c, long e,
                    long place) {
  return (int)(map->begin ? map->begin[c] + place - column_place(&columns[c], 0) : e * map->columns + c);
}

/* The element that comes e-th. */
static long nth(const int *order, long e) {
  return order ? order[e] : e;
}

static void fill(struct reverse_map *map, long size, const struct plan_column *columns, const int *order) {
  int *next = map->first + 1;
  for (int c = 0; c < map->columns; c++)
    for (long p = column_place(&columns[c], 0); p < column_place(&columns[c], size); p++)
      next[column_target(&columns[c], p) + 1]++;
  for (long t = 0; t < map->size; t++)
    next[t + 1] += next[t];
  for (long i = 0, e; i < size; i++)
    for (int c = 0; c < map->columns; c++)
      for (long p = column_place(&columns[c], e = nth(order, i)); p < column_place(&columns[c], e + 1); p++)
        map->entries[next[column_target(&columns[c], p)]++] = entry_of(map, columns, c, e, p);
}

int reverse_build(struct reverse_map *map, struct arrays *arrays, long size,
                  const struct plan_column *columns, int ncolumns, const int *order, struct error *err) {
  *map = (struct reverse_map){.size = ncolumns > 0 ? columns[0].target_size : 0, .columns = ncolumns};
  const long count = number_entries(map, arrays, size, columns, ncolumns);
  if (count > INT_MAX)
    return error_set(err, OP_ERR_SIZE, "%ld elements with %ld targets are too many to be turned round", size,
                     count);
  map->first = arrays_add(arrays, (size_t)map->size + 2, sizeof *map->first);
  map->entries = count < 0 ? NULL : arrays_add(arrays, (size_t)count, sizeof *map->entries);
  if (arrays->failed)
    return error_memory(err, "a reverse map", (size_t)(count < 0 ? ncolumns : count) * sizeof *map->entries);
  fill(map, size, columns, order);
  return OP_OK;
}

/* The element that has the place. */
static long element_of(const struct plan_column *c, long size, long place) {
  long low = 0, high = size;
  while (c->first && low + 1 < high) {
    const long middle = (low + high) / 2;
    if (c->first[middle] <= place)
      low = middle;
    else
      high = middle;
  }
  return c->first ? low : place;
}

/* Entries of a target stand by numbers of elements, then by elements, by columns, by places. */
enum { KEYS = 4 };
static bool is_before(const long a[KEYS], const long b[KEYS]) {
  for (int i = 0; i < KEYS; i++)
    if (a[i] != b[i])
      return a[i] < b[i];
  return false;
}

int reverse_verify(const struct reverse_map *map, long size, const struct plan_column *columns,
                   const struct plan_request *by, struct error *err) {
  const long count = map->begin ? map->begin[map->columns] : size * map->columns;
  if (map->first[0] != 0 || map->first[map->size] != count)
    return error_mistake(err, OP_ERR_PLAN, "a reverse map goes from %d to %d, expected 0 to %ld",
                         map->first[0], map->first[map->size], count);
  for (long t = 0; t < map->size; t++) {
    long last[KEYS] = {-1};
    for (int i = map->first[t]; i < map->first[t + 1]; i++) {
      const int entry = map->entries[i];
      long place = 0;
      const bool inside = entry >= 0 && entry < count;
      const struct plan_column *c = inside ? &columns[reverse_column(map, entry, &place)] : NULL;
      place += c ? column_place(c, 0) : 0;
      const long element = c ? element_of(c, size, place) : -1;
      const long now[KEYS] = {by && c ? plan_number(by, element) : element, element, c ? c - columns : 0,
                              place};
      if (!is_before(last, now))
        return error_mistake(err, OP_ERR_PLAN,
                             "entry %d of target %ld of a reverse map is out of range or order", entry, t);
      memcpy(last, now, sizeof last);
      if (column_target(c, place) != t)
        return error_mistake(err, OP_ERR_PLAN, "element %ld is listed at target %ld, but does not reach it",
                             element, t);
    }
  }
  return OP_OK;
}

int schedule_gather(struct schedule *s, const struct plan_request *request, const struct reverse_map *maps,
                    int nmaps, struct error *err) {
  struct schedule chunks;
  int status = schedule_request_chunks(&chunks, request, err);
  long nitems = chunks.nitems;
  for (int i = 0; i < nmaps; i++)
    nitems += maps[i].size / schedule_chunk_size(maps[i].size, false) + 1;
  if (!status)
    status = schedule_new(s, nitems, 2, 0, err);
  if (!status) {
    schedule_add_phase(s, false);
    for (int i = 0; i < chunks.nitems; i++)
      schedule_add_item(s, 0, chunks.items[i].begin, chunks.items[i].end, -1);
    schedule_add_phase(s, false);
    for (int i = 0; i < nmaps; i++)
      schedule_add_chunks(s, 1 + i, maps[i].size, schedule_chunk_size(maps[i].size, false));
  }
  schedule_free(&chunks);
  return status;
}

/* Items from `first` on that are of this work stand one after the other and go from begin to end: how many they
 * are, -1 if they do not. */
static int count_run(const struct schedule *s, int first, int work, long begin, long end) {
  int i = first;
  for (; i < s->nitems && s->items[i].work == work; i++) {
    const struct item *item = &s->items[i];
    if (item->begin != begin || item->end < begin || item->slot != i || item->owner >= 0)
      return -1;
    begin = item->end;
  }
  return begin == end ? i - first : -1;
}

/* OP_ERR_PLAN unless it runs each of `size` elements from `begin` on once, and then each target of these maps once. */
static int schedule_verify_gather(const struct schedule *s, long begin, long size,
                                  const struct reverse_map *maps, int nmaps, struct error *err) {
  const int elements = count_run(s, 0, 0, begin, begin + size);
  int next = elements;
  if (elements < 0)
    return error_mistake(err, OP_ERR_PLAN, "the elements of a gather form do not run once each, in order");
  for (int i = 0; i < nmaps; i++) {
    const int targets = count_run(s, next, 1 + i, 0, maps[i].size);
    if (targets < 0)
      return error_mistake(err, OP_ERR_PLAN,
                           "the targets of reverse map %d do not collect once each, in order", i);
    next += targets;
  }
  const bool apart = s->nphases == 2 && s->phases[0].first == 0 && s->phases[0].count == elements &&
                     s->phases[1].first == elements && s->phases[1].count == s->nitems - elements;
  if (next != s->nitems || s->nslots != s->nitems || !apart)
    return error_mistake(err, OP_ERR_PLAN, "a gather form does not collect in a phase of its own");
  return OP_OK;
}

/* ---- the row ---------------------------------------------------------------------------------------*/

/* How many of the columns from `first` on have its target set, moved up to it in their order. */
static int same_target(struct plan_column *columns, int ncolumns, int first) {
  int n = 1;
  for (int c = first + 1; c < ncolumns; c++)
    if (columns[c].target == columns[first].target) {
      struct plan_column column = columns[c];
      memmove(&columns[first + n + 1], &columns[first + n], (size_t)(c - first - n) * sizeof column);
      columns[first + n++] = column;
    }
  return n;
}

struct plan_column *plan_by_target(struct arrays *arrays, const struct plan_request *r) {
  struct plan_column *columns = arrays_add(arrays, (size_t)r->ncolumns, sizeof *columns);
  if (columns && r->ncolumns)
    memcpy(columns, r->columns, (size_t)r->ncolumns * sizeof *columns);
  for (int first = 0; columns && first < r->ncolumns;)
    first += same_target(columns, r->ncolumns, first);
  return columns;
}

/* `dealt`: of the elements the schedule deals out. */
static int build_for(struct plan_entry *e, const struct plan_request *r, const struct plan_request *dealt,
                     const int *order, struct error *err) {
  struct arrays arrays = {0};
  struct plan_column *columns = plan_by_target(&arrays, r);
  e->reverse = arrays_add(&e->arrays, (size_t)r->ncolumns, sizeof *e->reverse);
  int status = OP_OK;
  if (!columns || !e->reverse)
    status = error_memory(err, "reverse maps", (size_t)r->ncolumns * sizeof *e->reverse);
  for (int first = 0, n; first < r->ncolumns && !status; first += n) {
    n = same_target(columns, r->ncolumns, first);
    status = reverse_build(&e->reverse[e->nreverse++], &e->arrays, r->size, columns + first, n, order, err);
  }
  arrays_free(&arrays);
  return status ? status : schedule_gather(&e->schedule, dealt, e->reverse, e->nreverse, err);
}

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  (void)team;
  return build_for(e, &w->request, &w->request, NULL, err);
}

static int verify_for(const struct plan_entry *e, const struct plan_request *r, long dealt,
                      const struct plan_request *by, struct error *err) {
  struct arrays arrays = {0};
  struct plan_column *columns = plan_by_target(&arrays, r);
  int status = columns ? OP_OK : error_memory(err, "the check of a plan", (size_t)r->ncolumns);
  for (int i = 0, first = 0; i < e->nreverse && !status; first += e->reverse[i++].columns)
    status = reverse_verify(&e->reverse[i], r->size, columns + first, by, err);
  arrays_free(&arrays);
  return status ? status
                : schedule_verify_gather(&e->schedule, r->begin, dealt, e->reverse, e->nreverse, err);
}

static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  return level < 2 ? OP_OK : verify_for(e, &w->request, w->request.size, NULL, err);
}

static void describe(const struct plan_entry *e, struct text *out) {
  text_addf(out, ", %d reverse map%s", e->nreverse, e->nreverse == 1 ? "" : "s");
}

/* The elements in chunks of the block size, 0: of one that is chosen. */
const struct strategy strategy_gather = {.name = "gather",
                                         .columns = COLUMNS_TURNED,
                                         .looks = LOOKS_AT_BLOCKS | LOOKS_AT_ORDER,
                                         .deals = true,
                                         .apart = true,
                                         .instead_of = &strategy_colours,
                                         .build = build,
                                         .verify = verify,
                                         .describe = describe};

/* ---- the row that only collects ------------------------------------------------------------------------*/

bool plan_in_numbers(const struct plan_request *r) {
  for (long e = 1; r->numbers && e < r->size; e++)
    if (plan_number(r, e - 1) > plan_number(r, e))
      return false;
  return true;
}

static long count_runs(const int *order, long size, long owned) {
  long runs = size > 0;
  for (long p = 1; p < size; p++)
    runs += (order[p - 1] < owned) != (order[p] < owned);
  return runs;
}

int schedule_numbered(struct schedule *s, const struct plan_request *r, long owned, int copies,
                      struct error *err) {
  struct arrays arrays = {0};
  const int *order = plan_sorted(&arrays, r, err);
  int status = order ? schedule_new(s, count_runs(order, r->size, owned), 1, r->size, err) : err->code;
  if (!status)
    schedule_add_phase(s, false);
  for (long first = 0, end; !status && first < r->size; first = end) {
    const bool copied = order[first] >= owned;
    for (end = first; end < r->size && (order[end] >= owned) == copied; end++)
      s->list[end] = order[end];
    schedule_add_item(s, WORK_LIST, first, end, -1);
    s->items[s->nitems - 1].slot = copied ? copies : 0;
  }
  arrays_free(&arrays);
  return status;
}

static int build_collect(struct plan_entry *e, const struct plan_wish *w, struct team *team,
                         struct error *err) {
  const struct plan_request *r = &w->request;
  const bool sorts = !plan_in_numbers(r);
  struct plan_request none = *r;
  struct arrays arrays = {0};
  (void)team;
  none.size = 0;
  none.work = NULL;
  const int *order = sorts ? plan_sorted(&arrays, r, err) : NULL;
  const int status = sorts && !order ? err->code : build_for(e, r, &none, order, err);
  arrays_free(&arrays);
  return status;
}

static int verify_collect(const struct plan_entry *e, const struct plan_wish *w, int level,
                          struct error *err) {
  return level < 2 ? OP_OK : verify_for(e, &w->request, 0, &w->request, err);
}

const struct strategy strategy_collect = {.name = "collect",
                                          .columns = COLUMNS_TURNED,
                                          .looks = LOOKS_AT_ORDER | LOOKS_AT_NUMBERS,
                                          .apart = true,
                                          .build = build_collect,
                                          .verify = verify_collect,
                                          .describe = describe};
