#include "tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

void tally_free(struct tally *t) {
  free(t->ranks);
  free(t->items);
  *t = (struct tally){0};
}

/* The first place whose rank is not below this one. */
static int find(const struct tally *t, int rank) {
  int low = 0, high = t->count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (t->ranks[middle] < rank)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int tally_place(struct tally *t, int rank) {
  if (t->last < t->count && t->ranks[t->last] == rank)
    return t->last;
  const int place = find(t, rank);
  if (place == t->count || t->ranks[place] != rank)
    return -1;
  return t->last = place;
}

/* A rank that gets nothing yet, at this place. */
static bool insert(struct tally *t, int place, int rank) {
  int *ranks = array_more(t->ranks, (size_t)t->count, sizeof *ranks);
  t->ranks = ranks ? ranks : t->ranks;
  long *items = array_more(t->items, (size_t)t->count, sizeof *items);
  t->items = items ? items : t->items;
  if (!ranks || !items)
    return false;
  memmove(ranks + place + 1, ranks + place, (size_t)(t->count - place) * sizeof *ranks);
  memmove(items + place + 1, items + place, (size_t)(t->count - place) * sizeof *items);
  ranks[place] = rank;
  items[place] = 0;
  t->count++;
  t->last = place;
  return true;
}

bool tally_add(struct tally *t, int rank, long items) {
  if (!items)
    return true;
  if (tally_place(t, rank) < 0 && !insert(t, find(t, rank), rank))
    return false;
  t->items[t->last] += items;
  t->total += items;
  return true;
}

long *tally_first(const struct tally *t) {
  long *first = array_new((size_t)t->count + 1, sizeof *first);
  for (int i = 0; first && i < t->count; i++)
    first[i + 1] = first[i] + t->items[i];
  return first;
}

int *tally_group(struct tally *t, const int *rank_of, const bool *chosen, long count) {
  bool good = true;
  *t = (struct tally){0};
  for (long i = 0; good && i < count; i++)
    good = (chosen && !chosen[i]) || tally_add(t, rank_of[i], 1);
  long *next = good ? tally_first(t) : NULL;
  int *order = next ? array_new((size_t)t->total, sizeof *order) : NULL;
  for (long i = 0; order && i < count; i++)
    if (!chosen || chosen[i])
      order[next[tally_place(t, rank_of[i])]++] = (int)i;
  free(next);
  return order;
}

bool tally_side(struct tally *t, const struct halo_side *side) {
  bool good = true;
  *t = (struct tally){0};
  for (int i = 0; good && i < side->count; i++)
    good = tally_add(t, side->ranks[i], side->first[i + 1] - side->first[i]);
  return good;
}
