/* Tiles of a part of a chain's elements. */
#include "plan/tiles/tiles.h"

/* The next elements of the item, from *begin on, that follow one another and are kept. */
static bool next_kept(const struct item *item, const bool *keep, long *begin, long *end) {
  while (*begin < item->end && !keep[*begin])
    ++*begin;
  for (*end = *begin; *end < item->end && keep[*end];)
    ++*end;
  return *begin < *end;
}

static long count(const struct schedule *s, bool *const *keep) {
  long items = 0;
  for (int i = 0; i < s->nitems; i++)
    for (long begin = s->items[i].begin, end; next_kept(&s->items[i], keep[s->items[i].work], &begin, &end);
         begin = end)
      items++;
  return items;
}

static void add(struct schedule *to, const struct item *item, const bool *keep) {
  for (long begin = item->begin, end; next_kept(item, keep, &begin, &end); begin = end) {
    struct item *part = &to->items[to->nitems++];
    *part = *item;
    part->begin = begin;
    part->end = end;
    to->phases[to->nphases - 1].count++;
  }
}

int tiles_keep(struct tiles *t, bool *const *keep, struct error *err) {
  const struct schedule *all = &t->schedule;
  struct schedule kept;
  int code = schedule_new(&kept, count(all, keep), all->nphases, 0, err);
  for (int p = 0; !code && p < all->nphases; p++) {
    schedule_add_phase(&kept, all->phases[p].owned);
    for (int i = all->phases[p].first; i < all->phases[p].first + all->phases[p].count; i++)
      add(&kept, &all->items[i], keep[all->items[i].work]);
  }
  if (code)
    return code;
  kept.threads = all->threads;
  schedule_free(&t->schedule);
  t->schedule = kept;
  return OP_OK;
}
