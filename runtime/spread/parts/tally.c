#include "tally.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* Few ranks are looked through. */
enum { FEW = 8 };

void tally_free(struct tally *t) {
  free(t->ranks);
  free(t->items);
  free(t->slots);
  *t = (struct tally){0};
}

static int slot_of(const struct tally *t, int rank) {
  int s = (int)(((unsigned)rank * 0x9e3779b9u) >> 7) & t->mask;
  while (t->slots[s] && t->ranks[t->slots[s] - 1] != rank)
    s = (s + 1) & t->mask;
  return s;
}

/* At most half of the slots are used. */
static bool make_slots(struct tally *t, int room) {
  int *slots = array_new(2 * (size_t)room, sizeof *slots);
  if (!slots)
    return false;
  free(t->slots);
  t->slots = slots;
  t->mask = 2 * room - 1;
  for (int i = 0; i < t->count; i++)
    slots[slot_of(t, t->ranks[i])] = i + 1;
  return true;
}

static bool grow(struct tally *t) {
  const int room = t->room ? 2 * t->room : FEW;
  int *ranks = array_resize(t->ranks, (size_t)room, sizeof *ranks);
  t->ranks = ranks ? ranks : t->ranks;
  long *items = array_resize(t->items, (size_t)room, sizeof *items);
  t->items = items ? items : t->items;
  if (!ranks || !items || (room > FEW && !make_slots(t, room)))
    return false;
  t->room = room;
  return true;
}

int tally_place(struct tally *t, int rank) {
  if (t->last < t->count && t->ranks[t->last] == rank)
    return t->last;
  int place = t->slots ? t->slots[slot_of(t, rank)] - 1 : t->count - 1;
  while (!t->slots && place >= 0 && t->ranks[place] != rank)
    place--;
  t->last = place < 0 ? t->last : place;
  return place;
}

bool tally_add(struct tally *t, int rank, long items) {
  if (!items)
    return true;
  int place = tally_place(t, rank);
  if (place < 0) {
    if (t->count == t->room && !grow(t))
      return false;
    place = t->last = t->count++;
    t->ranks[place] = rank;
    t->items[place] = 0;
    if (t->slots)
      t->slots[slot_of(t, rank)] = place + 1;
  }
  t->items[place] += items;
  return true;
}

bool tally_copy(struct tally *to, const struct tally *from) {
  bool good = true;
  *to = (struct tally){0};
  for (int i = 0; good && i < from->count; i++)
    good = tally_add(to, from->ranks[i], from->items[i]);
  return good;
}

struct line {
  int rank;
  long items;
};

static int by_rank(const void *a, const void *b) {
  const struct line *x = a, *y = b;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

bool tally_sort(struct tally *t) {
  bool sorted = true;
  for (int i = 1; i < t->count; i++)
    sorted &= t->ranks[i] > t->ranks[i - 1];
  if (sorted)
    return true;
  struct line *lines = array_new((size_t)t->count, sizeof *lines);
  if (!lines)
    return false;
  for (int i = 0; i < t->count; i++)
    lines[i] = (struct line){t->ranks[i], t->items[i]};
  qsort(lines, (size_t)t->count, sizeof *lines, by_rank);
  for (int i = 0; i < t->count; i++) {
    t->ranks[i] = lines[i].rank;
    t->items[i] = lines[i].items;
  }
  free(lines);
  return !t->slots || make_slots(t, t->room);
}

long tally_total(const struct tally *t) {
  long total = 0;
  for (int i = 0; i < t->count; i++)
    total += t->items[i];
  return total;
}

long *tally_first(const struct tally *t) {
  long *first = array_new((size_t)t->count + 1, sizeof *first);
  for (int i = 0; first && i < t->count; i++)
    first[i + 1] = first[i] + t->items[i];
  return first;
}

bool tally_group(struct tally *t, const int *rank_of, long count, long *order) {
  bool good = true;
  *t = (struct tally){0};
  for (long i = 0; good && i < count; i++)
    good = tally_add(t, rank_of[i], 1);
  good = good && tally_sort(t);
  long *next = good ? tally_first(t) : NULL;
  for (long i = 0; next && i < count; i++)
    order[next[tally_place(t, rank_of[i])]++] = i;
  good = next != NULL;
  free(next);
  return good;
}

bool tally_side(struct tally *t, const struct halo_side *side) {
  bool good = true;
  *t = (struct tally){0};
  for (int i = 0; good && i < side->count; i++)
    good = tally_add(t, side->ranks[i], side->first[i + 1] - side->first[i]);
  return good;
}
