#include "distribute/numbers.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

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
  for (long id = n->run; id < n->count; id++)
    place(n, (int)id);
  return true;
}

bool numbers_new(struct numbers *n, const long long *number, long count) {
  *n = (struct numbers){.count = count, .capacity = count};
  n->number = array_new((size_t)count, sizeof *number);
  if (!n->number || count > INT_MAX)
    return false;
  if (count)
    memcpy(n->number, number, (size_t)count * sizeof *number);
  while (n->run < count && number[n->run] == number[0] + n->run)
    n->run++;
  return grow(n, (size_t)(count - n->run) + 1);
}

void numbers_free(struct numbers *n) {
  free(n->number);
  free(n->slots);
  *n = (struct numbers){0};
}

int numbers_find(const struct numbers *n, long long number) {
  if (n->run && number >= n->number[0] && number - n->number[0] < n->run)
    return (int)(number - n->number[0]);
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
    long capacity = n->capacity ? n->capacity + n->capacity / 4 + 64 : 64;
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
