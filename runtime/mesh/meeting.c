#include "mesh/meeting.h"

#include <string.h>

#include "base/list.h"
#include "mesh/mesh.h"

/* The result for a set of columns. Another map never has the number of one that is freed. */
struct meeting_kept {
  struct meeting_kept *next;
  unsigned epoch;
  struct meeting found;
  int count;
  struct kept_column {
    int map, idx;
    bool entry;
  } columns[];
};

enum { BITS = 8 };

struct look {
  const struct set *from;
  const struct meeting_column *columns;
  int count;
  unsigned char *seen; /* a bit for each target */
};

static long column_begin(const struct meeting_column *c, long e) {
  return !c->map ? e : map_begin(c->map, e) + (c->idx < 0 ? 0 : c->idx);
}
static long column_end(const struct meeting_column *c, long e) {
  return c->map && c->idx < 0 ? map_end(c->map, e) : column_begin(c, e) + 1;
}
static long column_target(const struct meeting_column *c, long place) {
  const int *table = !c->map ? NULL : c->entry ? c->map->numbers : c->map->table;
  return table ? table[place] : place;
}

static bool was_seen(unsigned char *seen, long target) {
  const unsigned char bit = (unsigned char)(1u << target % BITS);
  const bool was = seen[target / BITS] & bit;
  seen[target / BITS] |= bit;
  return was;
}

/* ---- is any target met twice? ---- */

/* One column of some elements, or all of them, without a branch. */
static bool mark_rows(unsigned char *seen, const struct meeting_column *c, long begin, long end) {
  const int *table = c->map->table;
  const long arity = c->map->arity, step = c->idx < 0 ? 1 : arity;
  unsigned met = 0;
  for (long place = column_begin(c, begin); place < end * arity; place += step) {
    const unsigned target = (unsigned)table[place], bit = 1u << target % BITS;
    met |= seen[target / BITS] & bit;
    seen[target / BITS] = (unsigned char)(seen[target / BITS] | bit);
  }
  return met;
}

static bool mark_range(unsigned char *seen, const struct meeting_column *c, long begin, long end) {
  bool met = false;
  if (c->map && !c->map->first)
    return mark_rows(seen, c, begin, end);
  for (long e = begin; e < end; e++)
    for (long p = column_begin(c, e), last = column_end(c, e); p < last; p++)
      met |= was_seen(seen, column_target(c, p));
  return met;
}

enum { STEP = 1024 };

/* Most loops end here: nothing is. */
static bool any_twice(const struct look *l) {
  const long size = l->from->extents[EXTENT_EXEC];
  bool met = false;
  for (long from = 0; from < size && !met; from += STEP)
    for (int c = 0; c < l->count; c++)
      met |= mark_range(l->seen, &l->columns[c], from, size - from > STEP ? from + STEP : size);
  return met;
}

/* ---- by which elements? ---- */

/* How often the element comes to the target, up to the column and place that are given. */
static bool comes_to(const struct look *l, long e, long target, int columns, long place) {
  for (int c = 0; c <= columns && c < l->count; c++)
    for (long p = column_begin(&l->columns[c], e), end = column_end(&l->columns[c], e);
         p < end && !(c == columns && p == place); p++)
      if (column_target(&l->columns[c], p) == target)
        return true;
  return false;
}

/* The second of two elements with one target; -1: no two have one. */
static long find_second(const struct look *l, long *target) {
  for (long e = 0; e < l->from->extents[EXTENT_EXEC]; e++)
    for (int c = 0; c < l->count; c++)
      for (long p = column_begin(&l->columns[c], e), end = column_end(&l->columns[c], e); p < end; p++) {
        *target = column_target(&l->columns[c], p);
        if (was_seen(l->seen, *target) && !comes_to(l, e, *target, c, p))
          return e;
      }
  return -1;
}

static void find(const struct look *l, const struct set *to, struct meeting *out) {
  *out = (struct meeting){.first = -1, .second = -1, .target = -1};
  if (l->from->extents[EXTENT_EXEC] == 0 || !any_twice(l))
    return;
  out->repeats = true;
  memset(l->seen, 0, (size_t)to->extents[EXTENT_NONEXEC] / BITS + 1);
  out->second = find_second(l, &out->target);
  while (out->second >= 0 && ++out->first < out->second && !comes_to(l, out->first, out->target, l->count, 0))
    continue;
}

/* ---- what is kept ---- */

void meeting_free(struct map *keeper) {
  for (struct meeting_kept *next; keeper->meetings; keeper->meetings = next) {
    next = keeper->meetings->next;
    free(keeper->meetings);
  }
}

static struct kept_column kept_of(const struct meeting_column *c) {
  return (struct kept_column){.map = c->map ? c->map->id : -2, .idx = c->idx, .entry = c->entry};
}

static bool is_of(const struct meeting_kept *k, const struct meeting_column *columns, int count) {
  bool same = k->count == count;
  for (int c = 0; same && c < count; c++) {
    const struct kept_column one = kept_of(&columns[c]);
    same = k->columns[c].map == one.map && k->columns[c].idx == one.idx && k->columns[c].entry == one.entry;
  }
  return same;
}

static const struct meeting_kept *find_kept(struct map *keeper, unsigned epoch,
                                            const struct meeting_column *columns, int count) {
  if (keeper->meetings && keeper->meetings->epoch != epoch)
    meeting_free(keeper);
  for (const struct meeting_kept *k = keeper->meetings; k; k = k->next)
    if (is_of(k, columns, count))
      return k;
  return NULL;
}

int meeting_find(struct map *keeper, unsigned epoch, const struct set *to,
                 const struct meeting_column *columns, int count, struct meeting *out, struct error *err) {
  const size_t room = (size_t)to->extents[EXTENT_NONEXEC] / BITS + 1,
               bytes = sizeof(struct meeting_kept) + (size_t)count * sizeof(struct kept_column);
  const struct meeting_kept *known = find_kept(keeper, epoch, columns, count);
  if (known) {
    *out = known->found;
    return OP_OK;
  }
  struct meeting_kept *kept = calloc(1, bytes);
  const struct look l = {
      .from = keeper->from, .columns = columns, .count = count, .seen = array_new(room, 1)};
  if (!kept || !l.seen) {
    free(kept);
    free(l.seen);
    return error_memory_of(err, "the look for elements that meet by map", keeper->name, room);
  }
  *kept = (struct meeting_kept){.next = keeper->meetings, .epoch = epoch, .count = count};
  for (int c = 0; c < count; c++)
    kept->columns[c] = kept_of(&columns[c]);
  find(&l, to, &kept->found);
  keeper->meetings = kept;
  *out = kept->found;
  free(l.seen);
  return OP_OK;
}
