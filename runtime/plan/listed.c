#include "plan/listed.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "mesh/order.h"
#include "plan/plan.h"
#include "plan/plan_staging.h"

/* ---- plans ---- */

/* The targets of a column of elements `list`, behind each other. */
static void copy_column(struct arrays *arrays, struct plan_column *to, const struct plan_column *from,
                        const int *list, long n) {
  long long *first = arrays_add(arrays, (size_t)n + 1, sizeof *first);
  for (long i = 0; first && i < n; i++)
    first[i + 1] = first[i] + column_place(from, list[i] + 1) - column_place(from, list[i]);
  int *table = first ? arrays_add(arrays, (size_t)first[n], sizeof *table) : NULL;
  *to = (struct plan_column){
      .table = table, .first = first, .arity = 1, .target = from->target, .target_size = from->target_size};
  for (long i = 0, next = 0; table && i < n; i++)
    for (long p = column_place(from, list[i]); p < column_place(from, list[i] + 1); p++)
      table[next++] = column_target(from, p);
}

int plan_of_list(struct plan *plan, const struct plan_request *r, const int *list, long n, int block_size,
                 struct error *err) {
  struct arrays arrays = {0};
  struct plan_column *columns = arrays_add(&arrays, (size_t)r->ncolumns, sizeof *columns);
  for (int c = 0; c < r->ncolumns && !arrays.failed; c++)
    copy_column(&arrays, &columns[c], &r->columns[c], list, n);
  const struct plan_request request = {
      .size = n, .block_size = block_size, .columns = columns, .ncolumns = r->ncolumns};
  const int status = arrays.failed ? error_memory(err, "elements in a list", (size_t)n * sizeof(long long))
                                   : plan_build(plan, &request, NULL, err);
  arrays_free(&arrays);
  return status;
}

/* ---- an order ---- */

/* The targets of each element, of all columns that lead to the first one's set. */
static struct order_table targets_of(struct arrays *arrays, const struct plan_request *r) {
  const int target = r->columns[0].target;
  long long *first = arrays_add(arrays, (size_t)r->size + 1, sizeof *first);
  for (long e = 0; first && e < r->size; e++) {
    first[e + 1] = first[e];
    for (int c = 0; c < r->ncolumns; c++)
      if (r->columns[c].target == target)
        first[e + 1] += column_place(&r->columns[c], e + 1) - column_place(&r->columns[c], e);
  }
  int *table = first ? arrays_add(arrays, (size_t)first[r->size], sizeof *table) : NULL, *next = table;
  for (long e = 0; table && e < r->size; e++)
    for (int c = 0; c < r->ncolumns; c++)
      for (long p = column_place(&r->columns[c], e);
           r->columns[c].target == target && p < column_place(&r->columns[c], e + 1); p++)
        *next++ = column_target(&r->columns[c], p);
  return (struct order_table){.table = table, .first = first, .rows = r->size, .arity = 1};
}

int list_neighbours(int *list, const struct plan_request *r, struct team *team, struct error *err) {
  const long size = r->columns[0].target_size;
  struct arrays arrays = {0};
  int *order = arrays_add(&arrays, (size_t)size, sizeof *order);
  int *place = arrays_add(&arrays, (size_t)size, sizeof *place);
  const struct order_table table = targets_of(&arrays, r);
  int code = arrays.failed ? error_memory(err, "elements in a list", (size_t)size * sizeof *order)
                           : order_rcm(order, size, &table, team, err);
  for (long i = 0; !code && i < size; i++)
    place[order[i]] = (int)i;
  if (!code)
    code = order_by_targets(list, &table, place, size, team, err);
  arrays_free(&arrays);
  return code;
}

/* ---- levels: each element is behind all those with lower numbers that it shares a target with ---- */

/* The first level in which none of the element's targets is any more. Its targets are in that one then. */
static int level_of(const struct marks *m, const struct plan_request *r, long e) {
  uint32_t level = 0;
  for (int c = 0; c < r->ncolumns; c++)
    for (long p = column_place(&r->columns[c], e); p < column_place(&r->columns[c], e + 1); p++) {
      const uint32_t next = m->of_column[c][column_target(&r->columns[c], p)];
      level = next > level ? next : level;
    }
  for (int c = 0; c < r->ncolumns; c++)
    for (long p = column_place(&r->columns[c], e); p < column_place(&r->columns[c], e + 1); p++)
      m->of_column[c][column_target(&r->columns[c], p)] = level + 1;
  return (int)level;
}

/* By levels, and in each by numbers. */
static int list_levels(struct plan *plan, const int *order, const int *level, struct error *err) {
  plan->colour_first = arrays_add(&plan->arrays, (size_t)plan->ncolours + 2, sizeof *plan->colour_first);
  plan->block_map = arrays_add(&plan->arrays, (size_t)plan->size, sizeof *plan->block_map);
  if (plan->arrays.failed)
    return error_memory(err, "elements in a list", (size_t)plan->size * sizeof *plan->block_map);
  int *next = plan->colour_first + 1;
  for (long e = 0; e < plan->size; e++)
    next[level[e] + 1]++;
  for (int k = 0; k < plan->ncolours; k++)
    next[k + 1] += next[k];
  for (long i = 0; i < plan->size; i++)
    plan->block_map[next[level[order[i]]]++] = order[i];
  return OP_OK;
}

int plan_levels(struct plan *plan, const struct plan_request *r, struct error *err) {
  struct arrays arrays = {0};
  struct marks m;
  *plan = (struct plan){.size = r->size, .block_size = 1, .nblocks = (int)r->size};
  int *level = arrays_add(&arrays, (size_t)r->size, sizeof *level);
  const int *order = plan_sorted(&arrays, r, err);
  int code = order ? marks_new(&m, &arrays, r->columns, r->ncolumns, err) : err->code;
  for (long i = 0; i < r->size && !code; i++) {
    level[order[i]] = level_of(&m, r, order[i]);
    if (level[order[i]] >= plan->ncolours)
      plan->ncolours = level[order[i]] + 1;
  }
  if (!code)
    code = list_levels(plan, order, level, err);
  arrays_free(&arrays);
  if (code)
    plan_free(plan);
  return code;
}

/* ---- windows ---- */
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
