/* Verifies that each target gets the sums of its elements, in their order, by one thread. */
#include <stdlib.h>

#include "base/size.h"
#include "plan/plan_inner.h"
#include "plan/strategy.h"
#include "plan/turns/turns.h"

struct look {
  const struct plan_entry *entry;
  const struct plan_request *request;
  struct plan_column *columns; /* by target */
  long **last;                 /* of each set and target: the number of the last sum that came, from 1 */
  bool *listed;                /* elements that run apart */
  long sums, elements;
};

/* The first column of a set. */
static int first_column(const struct look *l, int set) {
  int c = 0;
  for (int s = 0; s < set; s++)
    c += l->entry->reverse[s].columns;
  return c;
}

/* Element e adds by a column to a target that the owner has, and none that comes later has done so. */
static bool adds(struct look *l, int owner, int set, long e, int column) {
  const struct reverse_map *map = &l->entry->reverse[set];
  const int target = column_target(&l->columns[first_column(l, set) + column], e);
  const long number = e * map->columns + column + 1;
  const bool good =
      owner_of(map->size, target, l->entry->schedule.threads) == owner && l->last[set][target] < number;
  l->last[set][target] = number;
  l->sums++;
  return good;
}

static bool range_adds(struct look *l, const struct item *item) {
  const long begin = item->begin - l->request->begin, end = item->end - l->request->begin;
  bool good = begin >= 0 && end <= l->request->size;
  for (long e = begin; good && e < end; e++) {
    good = !l->listed[e];
    l->elements++;
    for (int s = 0; s < l->entry->nreverse; s++)
      for (int c = 0; good && c < l->entry->reverse[s].columns; c++)
        good = adds(l, item->owner, s, e, c);
  }
  return good;
}

static bool rows_add(struct look *l, const struct item *item) {
  const int set = item->work - WORK_TURNED;
  if (set < 0 || set >= l->entry->nreverse)
    return false;
  const struct reverse_map *map = &l->entry->reverse[set];
  bool good = true;
  for (long p = item->begin; good && p < item->end; p++) {
    const int *pair = map->entries + 2 * p;
    const long e = pair[0] / map->columns;
    const int column = pair[0] % map->columns;
    good = pair[0] >= 0 && e < l->request->size && l->listed[e] &&
           column_target(&l->columns[first_column(l, set) + column], e) == pair[1] &&
           adds(l, item->owner, set, e, column);
  }
  return good;
}

static bool list_is_good(struct look *l) {
  const struct schedule *s = &l->entry->schedule;
  long next = 0;
  bool good = s->nphases == 2 && !s->phases[0].owned && s->phases[1].owned;
  for (int i = 0; good && i < s->phases[0].count; i++) {
    good = s->items[i].work == WORK_APART && s->items[i].begin == next && s->items[i].end <= s->list_length;
    next = s->items[i].end;
  }
  for (long p = 0; good && p < s->list_length; p++) {
    const long e = s->list[p] - l->request->begin;
    good = e >= 0 && e < l->request->size && !l->listed[e];
    if (good)
      l->listed[e] = true;
  }
  l->elements = s->list_length;
  return good && next == s->list_length;
}

static bool look(struct look *l) {
  const struct schedule *s = &l->entry->schedule;
  bool good = list_is_good(l);
  for (int i = 0; good && i < s->phases[1].count; i++) {
    const struct item *item = &s->items[s->phases[1].first + i];
    good = item->owner >= 0 && item->owner < s->threads &&
           (i == 0 || item->owner >= item[-1].owner) && /* those of one owner in their order */
           (item->work == WORK_RANGE ? range_adds : rows_add)(l, item);
  }
  return good && l->elements == l->request->size && l->sums == l->request->size * l->request->ncolumns;
}

int turns_verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  struct look l = {.entry = e, .request = &w->request};
  if (level < 2)
    return OP_OK;
  l.columns = plan_by_target(l.request);
  l.last = array_new((size_t)e->nreverse, sizeof *l.last);
  l.listed = array_new((size_t)l.request->size, sizeof *l.listed);
  bool room = l.columns && l.last && l.listed;
  for (int s = 0; room && s < e->nreverse; s++)
    room = (l.last[s] = array_new((size_t)e->reverse[s].size, sizeof **l.last)) != NULL;
  int status = room ? OP_OK : error_memory(err, "the check of a plan", (size_t)l.request->size);
  if (!status && !look(&l))
    status = error_mistake(err, OP_ERR_PLAN, "turns do not add in the order of the elements, each once");
  for (int s = 0; l.last && s < e->nreverse; s++)
    free(l.last[s]);
  free(l.last);
  free(l.listed);
  free(l.columns);
  return status;
}
