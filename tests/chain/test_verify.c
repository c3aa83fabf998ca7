/* The verifier of tiles says of schedules what the definition says, which looks at all pairs of accesses: of tiles of
 * random chains, and of such with faults put in. */
#include <stdlib.h>
#include <string.h>

#include "../exec/expect.h"
#include "plan/tasks.h"
#include "world.h"

enum { CASES = 3000 };

static int phase_of(const struct tiles *t, int item) {
  int p = 0;
  while (item >= t->schedule.phases[p].first + t->schedule.phases[p].count)
    p++;
  return p;
}

static int item_of(const struct tiles *t, int loop, long element, int *count) {
  int found = -1;
  *count = 0;
  for (int i = 0; i < t->schedule.nitems; i++) {
    const struct item *item = &t->schedule.items[i];
    if (item->work == loop && item->begin <= element && element < item->end) {
      found = i;
      ++*count;
    }
  }
  return found;
}

/* ---- the definition --------------------------------------------------------------------------------*/

/* An access of an element to a target, and the item and phase in which it happens. */
struct event {
  int loop, dat, item, phase, owner;
  enum chain_use use;
  long target;
};

static bool all_once(const struct world *w, const struct tiles *t) {
  for (int l = 0; l < w->chain.nloops; l++)
    for (long e = 0, size = w->sets[w->loops[l].set].size; e < size; e++) {
      int count;
      item_of(t, l, e, &count);
      if (count != 1)
        return false;
    }
  return true;
}

static long list_events(const struct world *w, const struct tiles *t, struct event *out) {
  long n = 0;
  for (int l = 0; l < w->chain.nloops; l++)
    for (int i = 0; i < t->schedule.nitems; i++)
      for (int a = 0; t->schedule.items[i].work == l && a < w->loops[l].naccesses; a++) {
        const struct item *item = &t->schedule.items[i];
        const struct chain_access *access = &w->loops[l].accesses[a];
        const struct chain_map *map = access->map < 0 ? NULL : &w->maps[access->map];
        for (long e = item->begin; e < item->end; e++)
          for (long k = 0; k < (map ? chain_count(map, access, e) : 1); k++, n++)
            if (out)
              out[n] = (struct event){.loop = l,
                                      .dat = access->dat,
                                      .item = i,
                                      .phase = phase_of(t, i),
                                      .owner = item->owner,
                                      .use = access->use,
                                      .target = map ? chain_target(map, chain_begin(map, access, e) + k) : e};
      }
  return n;
}

static bool is_pair_right(const struct event *a, const struct event *b) {
  const bool together = a->phase == b->phase && a->owner != b->owner;
  if (a->dat != b->dat || a->target != b->target || (a->use == CHAIN_READS && b->use == CHAIN_READS))
    return true;
  if (a->loop == b->loop)
    return a->use != CHAIN_ADDS || !together;
  return a->phase < b->phase || (a->phase == b->phase && a->owner == b->owner && a->item < b->item);
}

static bool is_slot_shared(const struct world *w, const struct tiles *t) {
  for (int i = 0; i < t->schedule.nitems; i++)
    for (int k = 0; k < i; k++) {
      const struct item *a = &t->schedule.items[i], *b = &t->schedule.items[k];
      if (a->work == b->work && w->loops[a->work].combines && a->slot == b->slot && a->owner != b->owner &&
          phase_of(t, i) == phase_of(t, k))
        return true;
    }
  return false;
}

static bool is_right(const struct world *w, const struct tiles *t) {
  if (!all_once(w, t) || is_slot_shared(w, t))
    return false;
  const long n = list_events(w, t, NULL);
  struct event *events = calloc((size_t)n + 1, sizeof *events);
  list_events(w, t, events);
  bool right = true;
  for (long a = 0; right && a < n; a++)
    for (long b = a + 1; right && b < n; b++)
      right = is_pair_right(&events[a], &events[b]);
  free(events);
  return right;
}

/* ---- faults ----------------------------------------------------------------------------------------*/

static void exchange(struct item *a, struct item *b) {
  const struct item kept = *a;
  *a = *b;
  *b = kept;
}

static void put_fault(struct world *w, struct tiles *t) {
  struct schedule *s = &t->schedule;
  const int i = (int)world_random(w, s->nitems), other = (int)world_random(w, s->nitems);
  switch (world_random(w, 6)) {
  case 0: exchange(&s->items[i], &s->items[other]); break;
  case 1: s->items[i].owner = (int)world_random(w, t->nchunks + 1); break;
  case 2: s->items[i].begin -= s->items[i].begin > 0; break;
  case 3: s->items[i].end -= s->items[i].end - s->items[i].begin > 1; break;
  case 4: exchange(&s->items[i], &s->items[i ? i - 1 : 0]); break;
  default: break; /* none */
  }
}

TEST(verdicts_are_the_definitions) {
  struct error err = {0};
  long right = 0;
  for (uint64_t seed = 0; seed < CASES; seed++) {
    struct world w;
    struct tiles t;
    world_make(&w, seed, 20 + (long)(seed % 3) * 20);
    const struct tiles_wish wish = {.tiles = 1 + (int)world_random(&w, 8),
                                    .chunks = 1 + (int)world_random(&w, 4),
                                    .step = 1 << world_random(&w, 3),
                                    .small = 16,
                                    .blocks = 8,
                                    .wraps = w.periodic,
                                    .always = true};
    expect_ok(tiles_build(&t, &w.chain, &wish, NULL, &err), &err);
    if (t.schedule.nitems)
      put_fault(&w, &t);
    const bool expected = is_right(&w, &t);
    const int code = chain_verify(&t, &w.chain, &err);
    if ((code == OP_OK) != expected)
      fail_msg("case %ld: it should be %s; %s", (long)seed, expected ? "right" : "wrong",
               error_message(&err));
    error_clear(&err);
    right += expected;
    tiles_free(&t);
    world_free(&w);
  }
  assert_true(right > CASES / 10 && right < CASES - CASES / 10);
  error_free(&err);
}
