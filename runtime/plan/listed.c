#include "plan/listed.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "mesh/order.h"
#include "plan/plan.h"
#include "plan/plan_staging.h"

/* ---- plans ---- */

/* The targets of a column of elements `list`, behind each other. */
static int copy_column(struct plan_column *to, const struct plan_column *from, const int *list, long n,
                       struct error *err) {
  long long *first = array_new((size_t)n + 1, sizeof *first);
  for (long i = 0; first && i < n; i++)
    first[i + 1] = first[i] + column_place(from, list[i] + 1) - column_place(from, list[i]);
  int *table = first ? array_new((size_t)first[n], sizeof *table) : NULL;
  *to = *from;
  to->table = table;
  to->first = first;
  to->arity = 1;
  to->column = 0;
  if (!table)
    return error_memory(err, "elements in a list", (size_t)n * sizeof *first);
  for (long i = 0, next = 0; i < n; i++)
    for (long p = column_place(from, list[i]); p < column_place(from, list[i] + 1); p++)
      table[next++] = column_target(from, p);
  return OP_OK;
}

int plan_of_list(struct plan *plan, const struct plan_request *r, const int *list, long n, int block_size,
                 struct error *err) {
  struct plan_column *columns = array_new((size_t)r->ncolumns, sizeof *columns);
  int status =
      columns ? OP_OK : error_memory(err, "elements in a list", (size_t)r->ncolumns * sizeof *columns);
  for (int c = 0; c < r->ncolumns && !status; c++)
    status = copy_column(&columns[c], &r->columns[c], list, n, err);
  const struct plan_request request = {
      .size = n, .block_size = block_size, .columns = columns, .ncolumns = r->ncolumns};
  if (!status)
    status = plan_build(plan, &request, NULL, err);
  for (int c = 0; columns && c < r->ncolumns; c++) {
    free((void *)columns[c].table);
    free((void *)columns[c].first);
  }
  free(columns);
  return status;
}

/* ---- an order ---- */

/* The targets of each element, of all columns that lead to the first one's set. */
struct targets {
  long long *first; /* of elements, and the end */
  int *table;
  int *order, *place; /* of targets */
};

static bool fill(struct targets *t, const struct plan_request *r) {
  const int target = r->columns[0].target;
  t->first = array_new((size_t)r->size + 1, sizeof *t->first);
  for (long e = 0; t->first && e < r->size; e++) {
    t->first[e + 1] = t->first[e];
    for (int c = 0; c < r->ncolumns; c++)
      if (r->columns[c].target == target)
        t->first[e + 1] += column_place(&r->columns[c], e + 1) - column_place(&r->columns[c], e);
  }
  t->table = t->first ? array_new((size_t)t->first[r->size], sizeof *t->table) : NULL;
  if (!t->table)
    return false;
  int *next = t->table;
  for (long e = 0; e < r->size; e++)
    for (int c = 0; c < r->ncolumns; c++)
      for (long p = column_place(&r->columns[c], e);
           r->columns[c].target == target && p < column_place(&r->columns[c], e + 1); p++)
        *next++ = column_target(&r->columns[c], p);
  return true;
}

static bool make_targets(struct targets *t, const struct plan_request *r) {
  const size_t size = (size_t)r->columns[0].target_size;
  t->order = array_new(size, sizeof *t->order);
  t->place = array_new(size, sizeof *t->place);
  return t->order && t->place && fill(t, r);
}

int list_neighbours(int *list, const struct plan_request *r, struct team *team, struct error *err) {
  const long size = r->columns[0].target_size;
  struct targets t = {0};
  int code =
      make_targets(&t, r) ? OP_OK : error_memory(err, "elements in a list", (size_t)size * sizeof *t.order);
  const struct order_table table = {.table = t.table, .first = t.first, .rows = r->size, .arity = 1};
  if (!code)
    code = order_rcm(t.order, size, &table, team, err);
  for (long i = 0; !code && i < size; i++)
    t.place[t.order[i]] = (int)i;
  if (!code)
    code = order_by_targets(list, &table, t.place, size, team, err);
  free(t.first);
  free(t.table);
  free(t.order);
  free(t.place);
  return code;
}

/* Elements sorted by the number of their targets, within windows that stay in the caches: those of a strip then have as
 * many, and whether a loop over targets ends is foreseen. Items and their results stay as they are. */

/* Elements of a window; longer rows than the buckets tell apart stay in their order. */
enum { WINDOW = 2048, BUCKETS = 64 };

static int bucket_of(const long long *first, int e) {
  const long long length = first[e + 1] - first[e];
  return length < BUCKETS ? (int)length : BUCKETS - 1;
}

static void sort_window(const long long *first, int *list, long n) {
  int place[BUCKETS + 1] = {0}, room[WINDOW];
  memcpy(room, list, (size_t)n * sizeof *list);
  for (long i = 0; i < n; i++)
    place[bucket_of(first, room[i]) + 1]++;
  for (int b = 0; b < BUCKETS; b++)
    place[b + 1] += place[b];
  for (long i = 0; i < n; i++)
    list[place[bucket_of(first, room[i])]++] = room[i];
}

static void add_sorted(struct schedule *out, const struct schedule *in, const struct item *item, long *length,
                       const long long *first) {
  const long begin = *length;
  for (long p = item->begin; p < item->end; p++)
    out->list[(*length)++] = item->work == WORK_LIST ? in->list[p] : (int)p;
  for (long from = begin; from < *length; from += WINDOW)
    sort_window(first, out->list + from, *length - from < WINDOW ? *length - from : WINDOW);
  schedule_add_item(out, WORK_LIST, begin, *length, item->owner);
}

int schedule_sorted(struct schedule *out, const struct schedule *in, const long long *first,
                    struct error *err) {
  long length = 0;
  for (int i = 0; i < in->nitems; i++)
    length += in->items[i].end - in->items[i].begin;
  const int status = schedule_new(out, in->nitems, in->nphases, length, err);
  if (status)
    return status;
  length = 0;
  for (int p = 0; p < in->nphases; p++) {
    const struct phase *phase = &in->phases[p];
    schedule_add_phase(out, phase->owned);
    for (int i = 0; i < phase->count; i++)
      add_sorted(out, in, &in->items[phase->first + i], &length, first);
  }
  out->threads = in->threads;
  out->waits = in->waits;
  return OP_OK;
}
