#include "numbers.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* ---- stretches ---- */

static bool begins_stretch(const long long *number, long i) {
  return i == 0 || number[i] != number[i - 1] + 1;
}

static bool list_stretches(struct numbers *n) {
  const long long *number = n->number;
  for (n->sorted = n->count > 0; n->sorted < n->count && number[n->sorted] > number[n->sorted - 1];)
    n->sorted++;
  for (long i = 0; i < n->sorted; i++)
    n->nstretches += begins_stretch(number, i);
  n->stretches = array_new((size_t)n->nstretches + 1, sizeof *n->stretches);
  if (!n->stretches)
    return false;
  long next = 0;
  for (long i = 0; i < n->sorted; i++)
    if (begins_stretch(number, i))
      n->stretches[next++] = (int)i;
  n->stretches[next] = (int)n->sorted;
  return true;
}

/* About as many buckets as stretches. */
static bool fill_buckets(struct numbers *n) {
  if (!n->sorted)
    return true;
  const uint64_t range = (uint64_t)(n->number[n->sorted - 1] - n->number[0]);
  while (range >> n->shift > (uint64_t)n->nstretches)
    n->shift++;
  const long buckets = (long)(range >> n->shift) + 1;
  n->buckets = array_new((size_t)buckets + 1, sizeof *n->buckets);
  if (!n->buckets)
    return false;
  for (long b = 0, s = 0; b < buckets; b++) {
    const uint64_t begin = (uint64_t)b << n->shift;
    while (s + 1 < n->nstretches && (uint64_t)(n->number[n->stretches[s + 1]] - n->number[0]) <= begin)
      s++;
    n->buckets[b] = (int)s;
  }
  n->buckets[buckets] = (int)n->nstretches - 1;
  return true;
}

static int find_sorted(const struct numbers *n, long long number) {
  if (!n->sorted || number < n->number[0] || number > n->number[n->sorted - 1])
    return -1;
  if (n->nstretches == 1)
    return (int)(number - n->number[0]);
  const uint64_t bucket = (uint64_t)(number - n->number[0]) >> n->shift;
  int low = n->buckets[bucket], high = n->buckets[bucket + 1];
  while (low < high) {
    const int middle = high - (high - low) / 2;
    if (n->number[n->stretches[middle]] <= number)
      low = middle;
    else
      high = middle - 1;
  }
  const long id = n->stretches[low] + (long)(number - n->number[n->stretches[low]]);
  return id < n->stretches[low + 1] ? (int)id : -1;
}

/* ---- slots ---- */

/* Numbers near each other are looked up one after the other, so that 16 of them share a place in memory. */
enum { NEAR_BITS = 4 };

static size_t slot_of(const struct numbers *n, long long number) {
  const uint64_t group = (uint64_t)number >> NEAR_BITS;
  const uint64_t mixed = (group * 0x9e3779b97f4a7c15u) >> 20;
  return (size_t)(mixed << NEAR_BITS | ((uint64_t)number & ((1u << NEAR_BITS) - 1))) & n->mask;
}

static void place(struct numbers *n, int id) {
  size_t s = slot_of(n, n->number[id]);
  while (n->slots[s])
    s = (s + 1) & n->mask;
  n->slots[s] = id + 1;
  n->used++;
}

/* At most half of the slots are used. */
static bool grow(struct numbers *n, size_t wanted) {
  size_t slots = n->slots ? n->mask + 1 : 64;
  while (slots < 2 * wanted)
    slots *= 2;
  if (n->slots && slots == n->mask + 1)
    return true;
  int *fresh = array_new(slots, sizeof *fresh);
  if (!fresh)
    return false;
  free(n->slots);
  n->slots = fresh;
  n->mask = slots - 1;
  n->used = 0;
  for (long id = n->sorted; id < n->count; id++)
    place(n, (int)id);
  return true;
}

/* ---- all together ---- */

bool numbers_take(struct numbers *n, long long *number, long count) {
  *n = (struct numbers){.number = number, .count = count, .capacity = count};
  return number && count <= INT_MAX && list_stretches(n) && fill_buckets(n) &&
         grow(n, (size_t)(count - n->sorted) + 1);
}

bool numbers_new(struct numbers *n, const long long *number, long count) {
  long long *copy = array_new((size_t)count, sizeof *copy);
  if (copy && count)
    memcpy(copy, number, (size_t)count * sizeof *copy);
  return numbers_take(n, copy, count);
}

void numbers_free(struct numbers *n) {
  free(n->number);
  free(n->stretches);
  free(n->buckets);
  free(n->slots);
  *n = (struct numbers){0};
}

int numbers_find(const struct numbers *n, long long number) {
  const int id = find_sorted(n, number);
  if (id >= 0)
    return id;
  for (size_t s = slot_of(n, number); n->slots[s]; s = (s + 1) & n->mask)
    if (n->number[n->slots[s] - 1] == number)
      return n->slots[s] - 1;
  return -1;
}

int numbers_add(struct numbers *n, long long number) {
  int id = numbers_find(n, number);
  if (id >= 0)
    return id;
  if (n->count == INT_MAX || !grow(n, n->used + 1))
    return -1;
  if (n->count == n->capacity) {
    long capacity = n->capacity + n->capacity / 16 + 64;
    long long *fresh = array_resize(n->number, (size_t)capacity, sizeof *fresh);
    if (!fresh)
      return -1;
    n->number = fresh;
    n->capacity = capacity;
  }
  n->number[n->count] = number;
  place(n, (int)n->count);
  return (int)n->count++;
}

/* ---- ascending order: stretches that ascend are merged in pairs ---- */

/* Where stretches begin, and the end; NULL: no memory. */
static long *stretches_of(const long long *number, long count, long *stretches) {
  long *first = NULL, n = 0;
  for (long i = 0; i <= count; i++) {
    if (i > 0 && i < count && number[i] >= number[i - 1])
      continue;
    long *more = array_more(first, (size_t)n, sizeof *first);
    if (!more) {
      free(first);
      return NULL;
    }
    first = more;
    first[n++] = i;
  }
  *stretches = n - 1;
  return first;
}

static void merge(const long long *number, const int *from, long begin, long middle, long end, int *to) {
  long a = begin, b = middle;
  for (long i = begin; i < end; i++)
    to[i] = b == end || (a < middle && number[from[a]] <= number[from[b]]) ? from[a++] : from[b++];
}

int *numbers_order(const long long *number, long count) {
  long stretches = 0, *first = stretches_of(number, count, &stretches);
  int *order = first ? array_new((size_t)count, sizeof *order) : NULL, *other = NULL;
  for (long i = 0; order && i < count; i++)
    order[i] = (int)i;
  if (order && stretches > 1 && !(other = array_new((size_t)count, sizeof *other))) {
    free(order);
    order = NULL;
  }
  while (order && stretches > 1) {
    long merged = 0;
    for (long s = 0; s < stretches; s += 2) {
      merge(number, order, first[s], first[s + 1], first[s + 2 < stretches ? s + 2 : stretches], other);
      first[merged++] = first[s];
    }
    stretches = merged;
    first[stretches] = count;
    int *sorted = other;
    other = order;
    order = sorted;
  }
  free(first);
  free(other);
  return order;
}

bool targets_new(struct targets *t, const struct share_set *set) {
  *t = (struct targets){0};
  return numbers_new(&t->ids, set->numbers, set->owned);
}

bool targets_add(struct targets *t, const struct share *share, const struct share_map *map) {
  const long entries = share_targets(share, map);
  int *id = array_resize(t->id, (size_t)(t->entries + entries), sizeof *id);
  t->id = id ? id : t->id;
  bool good = id != NULL;
  for (long i = 0; good && i < entries; i++)
    good = (id[t->entries++] = numbers_add(&t->ids, rows_get(&map->rows, (size_t)i))) >= 0;
  return good;
}

void targets_free(struct targets *t) {
  numbers_free(&t->ids);
  free(t->id);
}

enum { NOT_YET = INT_MAX };

bool follow_leads(const struct follow_plan *plan, const struct follow_step *step,
                  const struct share_map *map) {
  const bool by_targets = step->kind == FOLLOW_TARGETS;
  const int mine = by_targets ? map->from : map->to, other = by_targets ? map->to : map->from;
  return (by_targets || step->kind == FOLLOW_SOURCES) && mine == step->set && other != step->set &&
         plan->place[other] < plan->place[step->set];
}

/* All sets are placed if there is none: kind FOLLOW_NOTHING and set -1. */
static struct follow_step next_step(const struct share *share, const struct follow_plan *plan) {
  struct follow_step step = {.set = -1};
  for (int s = 0; s < share->nsets; s++)
    if (plan->place[s] == NOT_YET && share->sets[s].begin && plan->place[share->sets[s].of] != NOT_YET)
      return (struct follow_step){s, FOLLOW_ELEMENTS};
  for (int kind = FOLLOW_TARGETS; kind <= FOLLOW_SOURCES; kind++)
    for (int s = 0; s < share->nsets; s++)
      for (int m = 0; plan->place[s] == NOT_YET && !share->sets[s].begin && m < share->nmaps; m++) {
        step = (struct follow_step){s, (enum follow_kind)kind};
        if (follow_leads(plan, &step, &share->maps[m]))
          return step;
      }
  step = (struct follow_step){-1, FOLLOW_NOTHING};
  for (int s = share->nsets - 1; s >= 0; s--)
    if (plan->place[s] == NOT_YET && !share->sets[s].begin)
      step.set = s;
  return step;
}

int follow_plan(const struct share *share, const bool *placed, struct follow_plan *plan, struct error *err) {
  const size_t sets = (size_t)share->nsets;
  *plan = (struct follow_plan){.steps = array_new(sets, sizeof *plan->steps),
                               .place = array_new(sets, sizeof *plan->place)};
  if (!plan->steps || !plan->place) {
    follow_plan_free(plan);
    return error_memory(err, "the order of sets", sets * sizeof *plan->steps);
  }
  for (size_t s = 0; s < sets; s++)
    plan->place[s] = placed[s] ? 0 : NOT_YET;
  for (struct follow_step step; (step = next_step(share, plan)).set >= 0;) {
    plan->steps[plan->count++] = step;
    plan->place[step.set] = plan->count;
  }
  return OP_OK;
}

void follow_plan_free(struct follow_plan *plan) {
  free(plan->steps);
  free(plan->place);
  *plan = (struct follow_plan){0};
}
