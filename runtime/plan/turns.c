/* Owner ranges that add in the order of the elements: bit for bit what one thread makes that runs all of them in turn, on any
 * number of threads.
 *
 * Each thread owns a contiguous range of every target set. Elements that follow one another and have all targets in one
 * range are run by its owner, straight into memory. All others write what they add into rows of their own first, in a
 * phase before; and each owner comes to those rows, between its own elements, where their turn is. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"

/* Shorter runs are apart: a call and a strip's tail each cost more. */
static const long least_run = 64;
static const long apart_piece = 512;
enum { between = 0xffff, most_threads = between };

struct turns {
  struct arrays arrays;
  const struct plan_request *request;
  struct plan_column *columns; /* by target */
  int *set;                    /* of each column: its target set, and which column of that it is */
  int *column;
  int *columns_of; /* of each set */
  int nsets, threads;
  unsigned short *owner; /* of each element */
  long *entries;         /* of each set and owner: where the next one goes, and where the item begins */
  long *begun;
  long *item; /* of each owner: where its next one goes */
  long napart;
  struct plan_entry *out; /* NULL: only counted */
};

static long *of_owner(long *all, const struct turns *t, int set, int owner) {
  return &all[(long)set * t->threads + owner];
}

/* ---- who owns what -------------------------------------------------------------------------------------*/

static void find_owners(struct turns *t) {
  const struct plan_request *r = t->request;
  for (long e = 0; e < r->size; e++) {
    int owner = -1;
    for (int c = 0; c < r->ncolumns && owner != between; c++) {
      const struct plan_column *column = &t->columns[c];
      const int of = owner_of(column->target_size, column_target(column, e), t->threads);
      owner = owner < 0 || owner == of ? of : between;
    }
    t->owner[e] = (unsigned short)(owner < 0 ? 0 : owner);
  }
}

static long run_end(const struct turns *t, long e) {
  long end = e + 1;
  while (end < t->request->size && t->owner[end] == t->owner[e])
    end++;
  return end;
}

/* ---- what each owner does ------------------------------------------------------------------------------*/

static void add_item(struct turns *t, int owner, int work, long begin, long end) {
  const long at = t->item[owner]++;
  if (t->out)
    t->out->schedule.items[at] =
        (struct item){.begin = begin, .end = end, .work = work, .owner = owner, .slot = (int)at};
}

/* Rows that wait for their turn. */
static void add_waiting(struct turns *t, int owner) {
  for (int s = 0; s < t->nsets; s++) {
    long *begun = of_owner(t->begun, t, s, owner);
    const long now = *of_owner(t->entries, t, s, owner);
    if (now > *begun)
      add_item(t, owner, WORK_TURNED + s, *begun, now);
    *begun = now;
  }
}

static void add_apart(struct turns *t, long e) {
  const struct plan_request *r = t->request;
  if (t->out)
    t->out->schedule.list[t->napart] = (int)e;
  t->napart++;
  for (int c = 0; c < r->ncolumns; c++) {
    const struct plan_column *column = &t->columns[c];
    const int target = column_target(column, e), set = t->set[c];
    const long at = (*of_owner(t->entries, t, set, owner_of(column->target_size, target, t->threads)))++;
    if (!t->out)
      continue;
    int *pair = t->out->reverse[set].entries + 2 * at;
    pair[0] = (int)(e * t->columns_of[set] + t->column[c]);
    pair[1] = target;
  }
}

/* In the order of the elements. */
static void walk(struct turns *t) {
  for (long e = 0, end; e < t->request->size; e = end) {
    end = run_end(t, e);
    if (t->owner[e] != between && end - e >= least_run) {
      add_waiting(t, t->owner[e]);
      add_item(t, t->owner[e], WORK_RANGE, e, end);
      continue;
    }
    for (long i = e; i < end; i++)
      add_apart(t, i);
  }
  for (int owner = 0; owner < t->threads; owner++)
    add_waiting(t, owner);
}

/* ---- the whole -----------------------------------------------------------------------------------------*/

/* Counts become places; returns the end. */
static long begin_at(long *counts, long n, long first) {
  for (long i = 0; i < n; i++) {
    const long count = counts[i];
    counts[i] = first;
    first += count;
  }
  return first;
}

static void number_sets(struct turns *t) {
  for (int c = 0; c < t->request->ncolumns; c++) {
    const bool same = c > 0 && t->columns[c].target == t->columns[c - 1].target;
    t->set[c] = same ? t->nsets - 1 : t->nsets++;
    t->column[c] = t->columns_of[t->set[c]]++;
  }
}

static int make_room(struct turns *t, struct plan_entry *out, struct error *err) {
  const long pieces = t->napart / apart_piece + (t->napart % apart_piece != 0);
  const long nitems = begin_at(t->item, t->threads, pieces);
  out->reverse = arrays_add(&out->arrays, (size_t)t->nsets, sizeof *out->reverse);
  int status = out->reverse ? schedule_new(&out->schedule, nitems, 2, t->napart, err)
                            : error_memory(err, "turns", (size_t)t->nsets * sizeof *out->reverse);
  for (int s = 0, c = 0; !status && s < t->nsets; c += t->columns_of[s++]) {
    struct reverse_map *map = &out->reverse[out->nreverse++];
    const long count = begin_at(of_owner(t->entries, t, s, 0), t->threads, 0);
    *map = (struct reverse_map){.size = t->columns[c].target_size, .columns = t->columns_of[s]};
    map->entries = arrays_add(&out->arrays, 2 * (size_t)count, sizeof *map->entries);
    if (!map->entries)
      status = error_memory(err, "turns", 2 * (size_t)count * sizeof *map->entries);
  }
  memcpy(t->begun, t->entries, (size_t)t->nsets * (size_t)t->threads * sizeof *t->begun);
  return status;
}

static void add_phases(struct schedule *s, long napart, long nitems, int threads) {
  schedule_add_phase(s, false);
  for (long begin = 0; begin < napart; begin += apart_piece)
    schedule_add_item(s, WORK_APART, begin, napart - begin > apart_piece ? begin + apart_piece : napart, -1);
  schedule_add_phase(s, true);
  s->phases[1].count = (int)(nitems - s->nitems);
  s->nitems = s->nslots = (int)nitems;
  s->threads = threads;
}

static bool turns_new(struct turns *t, const struct plan_wish *w) {
  const struct plan_request *r = &w->request;
  const size_t columns = (size_t)r->ncolumns, threads = (size_t)w->threads;
  *t = (struct turns){.request = r, .threads = w->threads};
  t->columns = plan_by_target(&t->arrays, r);
  t->set = arrays_add(&t->arrays, columns, sizeof *t->set);
  t->column = arrays_add(&t->arrays, columns, sizeof *t->column);
  t->columns_of = arrays_add(&t->arrays, columns, sizeof *t->columns_of);
  t->owner = arrays_add(&t->arrays, (size_t)r->size, sizeof *t->owner);
  t->entries = arrays_add(&t->arrays, columns * threads, sizeof *t->entries);
  t->begun = arrays_add(&t->arrays, columns * threads, sizeof *t->begun);
  t->item = arrays_add(&t->arrays, threads, sizeof *t->item);
  return !t->arrays.failed;
}

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  struct turns t;
  int status = OP_OK;
  (void)team;
  if (w->threads < 1 || w->threads > most_threads || w->request.size > INT_MAX / (w->request.ncolumns + 1))
    return error_set(err, OP_ERR_SIZE,
                     "%ld elements with %d targets on %d threads are too many to take turns", w->request.size,
                     w->request.ncolumns, w->threads);
  if (!turns_new(&t, w))
    status = error_memory(err, "turns", (size_t)w->request.size * sizeof *t.owner);
  if (!status) {
    number_sets(&t);
    find_owners(&t);
    walk(&t);
    status = make_room(&t, e, err);
  }
  if (!status) {
    const long napart = t.napart;
    t.out = e;
    t.napart = 0;
    walk(&t);
    add_phases(&e->schedule, napart, t.item[t.threads - 1], t.threads);
    e->shares = (struct owner_shares){.elements = w->request.size, .between = napart};
  }
  arrays_free(&t.arrays);
  return status;
}

/* ---- verifies that each target gets the sums of its elements, in their order, by one thread ---- */
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

static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  struct look l = {.entry = e, .request = &w->request};
  struct arrays arrays = {0};
  if (level < 2)
    return OP_OK;
  l.columns = plan_by_target(&arrays, l.request);
  l.last = arrays_add(&arrays, (size_t)e->nreverse, sizeof *l.last);
  l.listed = arrays_add(&arrays, (size_t)l.request->size, sizeof *l.listed);
  for (int s = 0; l.last && s < e->nreverse; s++)
    l.last[s] = arrays_add(&arrays, (size_t)e->reverse[s].size, sizeof **l.last);
  int status = arrays.failed ? error_memory(err, "the check of a plan", (size_t)l.request->size) : OP_OK;
  if (!status && !look(&l))
    status = error_mistake(err, OP_ERR_PLAN, "turns do not add in the order of the elements, each once");
  arrays_free(&arrays);
  return status;
}

/* ---- the row ---------------------------------------------------------------------------------------*/

static void describe(const struct plan_entry *e, struct text *out) {
  text_addf(out, ", %ld elements apart beside the ranges of %d threads", e->shares.between,
            e->schedule.threads);
}

const struct strategy strategy_turns = {.name = "turns",
                                        .columns = COLUMNS_TURNED,
                                        .looks = LOOKS_AT_THREADS | LOOKS_AT_ORDER,
                                        .deals = true,
                                        .lists = true,
                                        .apart = true,
                                        .build = build,
                                        .verify = verify,
                                        .describe = describe};
