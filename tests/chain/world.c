#include "world.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 29) * 0x94d049bb133111ebu;
  return x ^ x >> 32;
}

uint32_t world_random(struct world *w, long below) {
  w->random = w->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(w->random >> 33) % (uint32_t)(below > 0 ? below : 1);
}

/* ---- meshes ----------------------------------------------------------------------------------------*/

static void make_sets(struct world *w, long largest) {
  static const char *const names[WORLD_SETS] = {"cells", "edges", "border", "nodes", "others"};
  w->chain.nsets = 2 + (int)world_random(w, WORLD_SETS - 1);
  for (int s = 0; s < w->chain.nsets; s++) {
    const long small = largest / 64, any = world_random(w, largest + 1);
    const long sizes[] = {largest, largest - largest / 3, small - small / 3, any, any, world_random(w, 2)};
    w->sets[s] = (struct chain_set){names[s], sizes[s < 3 ? (uint32_t)s : world_random(w, 6)]};
    if (world_random(w, 12) == 0)
      w->sets[s].size = world_random(w, 2);
  }
}

enum shape { NEAR, STRAIGHT, ROUND, PERIODIC, FAR, STAR, SHAPES };

static long target_of(struct world *w, enum shape shape, long e, int column, long from, long to) {
  const long place = e * to / (from > 0 ? from : 1), across = to > 100 ? 20 : 1;
  long target = place;
  switch (shape) {
  case NEAR: target = place + world_random(w, 7) - 3 + (column > 1 ? across : 0); break;
  case STRAIGHT: target = place + column * across; break;
  case PERIODIC: target = (place + world_random(w, 9) - 4 + to) % to; break;
  case ROUND: /* up on one side, down on the other */
    target = 2 * e < from ? 2 * place : 2 * (to - place) - 1;
    break;
  case STAR: target = world_random(w, 4) ? place : 0; break;
  default: target = world_random(w, to);
  }
  return target < 0 ? 0 : target < to ? target : to - 1;
}

static void fill(struct world *w, int m, enum shape shape) {
  const struct chain_map *map = &w->maps[m];
  const long from = w->sets[map->from].size, to = w->sets[map->to].size;
  for (long e = 0; e < from; e++)
    for (int c = 0; c < map->arity; c++) {
      const bool repeats = c > 0 && world_random(w, 9) == 0;
      int *entry = &w->tables[m][e * map->arity + c];
      *entry = repeats ? entry[-1] : (int)target_of(w, shape, e, c, from, to);
    }
}

/* Neighbours change places now and then. */
static void fill_injective(struct world *w, int m) {
  const long from = w->sets[w->maps[m].from].size;
  for (long e = 0; e < from; e++)
    w->tables[m][e] = (int)e;
  for (long e = 1; e < from; e++) {
    const long other = e - 1 - world_random(w, e < 9 ? e : 9);
    const int kept = w->tables[m][e];
    w->tables[m][e] = w->tables[m][other];
    w->tables[m][other] = kept;
  }
}

/* None to five targets for each element, near its place; and a map to its entries, where there is room for their set. */
static void make_ragged(struct world *w, int from, int to) {
  const int m = w->chain.nmaps++, nsets = w->chain.nsets;
  const long size = w->sets[from].size;
  long long *first = w->firsts[m] = calloc((size_t)size + 1, sizeof *first);
  for (long e = 0; e < size; e++)
    first[e + 1] = first[e] + (to >= 0 && w->sets[to].size == 0 ? 0 : world_random(w, 6));
  w->tables[m] = calloc((size_t)first[size] + 1, sizeof(int));
  w->maps[m] = (struct chain_map){.from = from, .to = to, .arity = 1, .table = w->tables[m], .first = first};
  for (long e = 0; e < size; e++)
    for (long long i = first[e]; i < first[e + 1]; i++)
      w->tables[m][i] = (int)target_of(w, NEAR, e, 0, size, w->sets[to].size);
  if (nsets == WORLD_SETS || w->chain.nmaps == WORLD_MAPS)
    return;
  w->sets[nsets] = (struct chain_set){"entries", (long)first[size]};
  w->injective[w->chain.nmaps] = true;
  w->maps[w->chain.nmaps++] = (struct chain_map){.from = from, .to = nsets, .arity = 1, .first = first};
  w->chain.nsets++;
}

/* Sets of one mesh are numbered alike, but for one map in a while. */
static void make_maps(struct world *w) {
  const int nsets = w->chain.nsets, wanted = 1 + (int)world_random(w, WORLD_MAPS);
  const bool chaos = world_random(w, 6) == 0;
  w->periodic = world_random(w, 3) == 0;
  for (int i = 0; i < wanted; i++) {
    const int m = w->chain.nmaps, from = (int)world_random(w, nsets), to = (int)world_random(w, nsets);
    const bool fits = w->sets[from].size <= w->sets[to].size && world_random(w, 3) == 0;
    if (w->chain.nmaps == WORLD_MAPS || (w->sets[from].size > 0 && w->sets[to].size == 0))
      continue;
    if (world_random(w, 4) == 0) {
      make_ragged(w, from, to);
      continue;
    }
    const int arity = fits ? 1 : 1 + (int)world_random(w, 4);
    w->tables[m] = calloc((size_t)(w->sets[from].size * arity) + 1, sizeof(int));
    w->maps[m] = (struct chain_map){.from = from, .to = to, .arity = arity, .table = w->tables[m]};
    w->injective[m] = fits;
    const bool round = w->sets[from].size * 64 < w->sets[to].size;
    if (fits)
      fill_injective(w, m);
    else
      fill(w, m,
           chaos         ? world_random(w, SHAPES)
           : round       ? ROUND
           : w->periodic ? PERIODIC
                         : world_random(w, 2));
    w->chain.nmaps++;
  }
}

/* ---- chains ----------------------------------------------------------------------------------------*/

/* A dat that is there twice is read twice or added to twice. */
static bool suits(const struct world *w, int loop, const struct chain_access *a) {
  for (int i = 0; i < w->loops[loop].naccesses; i++) {
    const struct chain_access *other = &w->accesses[loop][i];
    if (other->dat == a->dat && (other->use != a->use || a->use == CHAIN_WRITES))
      return false;
  }
  return a->use != CHAIN_WRITES || a->map < 0 || w->injective[a->map];
}

static bool finds(struct world *w, int set, struct chain_access *a) {
  a->dat = (int)world_random(w, w->chain.ndats);
  a->use = (enum chain_use)world_random(w, 3);
  a->map = (int)world_random(w, w->chain.nmaps + 1) - 1;
  if (a->map < 0)
    return w->dats[a->dat] == set;
  const struct chain_map *map = &w->maps[a->map];
  const bool vector = world_random(w, 2);
  a->first = vector ? 0 : (int)world_random(w, map->arity);
  a->count = vector ? map->arity : 1;
  return map->from == set && w->dats[a->dat] == map->to;
}

static void make_loop(struct world *w, int l) {
  struct chain_loop *loop = &w->loops[l];
  /* Sets with maps are of more interest. */
  const bool maps = w->chain.nmaps > 0 && world_random(w, 3);
  loop->set = maps ? w->maps[world_random(w, w->chain.nmaps)].from : (int)world_random(w, w->chain.nsets);
  loop->accesses = w->accesses[l];
  loop->combines = world_random(w, 3) == 0;
  const int wanted = 1 + (int)world_random(w, WORLD_ACCESSES);
  for (int i = 0; i < 40 * wanted && loop->naccesses < wanted; i++) {
    struct chain_access a = {0};
    if (finds(w, loop->set, &a) && suits(w, l, &a))
      w->accesses[l][loop->naccesses++] = a;
  }
}

void world_make(struct world *w, uint64_t seed, long largest) {
  memset(w, 0, sizeof *w);
  w->random = mix(seed, 77);
  w->chain = (struct chain){.sets = w->sets, .maps = w->maps, .dats = w->dats, .loops = w->loops};
  make_sets(w, largest);
  make_maps(w);
  w->chain.ndats = w->chain.nsets + (int)world_random(w, WORLD_DATS - w->chain.nsets + 1);
  for (int d = 0; d < w->chain.ndats; d++) {
    w->dats[d] = d < w->chain.nsets ? d : (int)world_random(w, w->chain.nsets);
    w->values[d] = calloc((size_t)w->sets[w->dats[d]].size + 1, sizeof(uint64_t));
  }
  w->chain.nloops = 2 + (int)world_random(w, WORLD_LOOPS - 1);
  for (int l = 0; l < w->chain.nloops; l++)
    make_loop(w, l);
}

void world_free(struct world *w) {
  for (int m = 0; m < WORLD_MAPS; m++) {
    free(w->tables[m]);
    free(w->firsts[m]);
  }
  for (int d = 0; d < WORLD_DATS; d++)
    free(w->values[d]);
  for (int l = 0; l < WORLD_LOOPS; l++)
    free(w->slots[l]);
}

/* ---- running ---------------------------------------------------------------------------------------*/

void world_start(struct world *w, const struct tiles *t) {
  for (int d = 0; d < w->chain.ndats; d++)
    for (long e = 0; e < w->sets[w->dats[d]].size; e++)
      w->values[d][e] = mix((uint64_t)d, (uint64_t)e);
  for (int l = 0; l < w->chain.nloops; l++) {
    const int nslots = t ? t->nslots[l] : 1;
    free(w->slots[l]);
    w->slots[l] = calloc(2 * (size_t)(nslots + 1), sizeof(uint64_t));
  }
}

static uint64_t *value_at(const struct world *w, const struct chain_access *a, long e, long column) {
  const struct chain_map *map = a->map < 0 ? NULL : &w->maps[a->map];
  return &w->values[a->dat][map ? chain_target(map, chain_begin(map, a, e) + column) : e];
}

static long count_at(const struct world *w, const struct chain_access *a, long e) {
  return a->map < 0 ? 1 : chain_count(&w->maps[a->map], a, e);
}

static void run_element(struct world *w, int l, long e, uint64_t *slot) {
  const struct chain_loop *loop = &w->loops[l];
  uint64_t known = mix((uint64_t)l, (uint64_t)e);
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    for (long c = 0; c < count_at(w, a, e) && a->use != CHAIN_ADDS; c++)
      known = mix(known, *value_at(w, a, e, c));
  }
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    for (long c = 0; c < count_at(w, a, e); c++) {
      const uint64_t new = mix(known, (uint64_t)(i * 8 + c));
      if (a->use == CHAIN_WRITES)
        *value_at(w, a, e, c) = new;
      else if (a->use == CHAIN_ADDS)
        *value_at(w, a, e, c) += new;
    }
  }
  if (slot) {
    slot[0] += known;
    slot[1] = mix(slot[1], known);
  }
}

void world_run(struct world *w, int loop, long begin, long end, uint64_t *slot) {
  for (long e = begin; e < end; e++)
    run_element(w, loop, e, slot);
}

static void sum_slots(struct world *w, const struct tiles *t) {
  for (int l = 0; l < w->chain.nloops; l++) {
    w->sum[l] = 0;
    for (int s = 0; s < (t ? t->nslots[l] : 1); s++)
      w->sum[l] += w->slots[l][2 * s];
  }
}

void world_run_singly(struct world *w) {
  world_start(w, NULL);
  for (int l = 0; l < w->chain.nloops; l++)
    world_run(w, l, 0, w->sets[w->loops[l].set].size, w->loops[l].combines ? w->slots[l] : NULL);
  sum_slots(w, NULL);
}

static void run_item(struct world *w, const struct item *item) {
  uint64_t *slot = w->loops[item->work].combines ? w->slots[item->work] + 2 * item->slot : NULL;
  world_run(w, item->work, item->begin, item->end, slot);
}

static void run_phase(struct world *w, const struct schedule *s, const struct phase *phase, int *next,
                      enum world_order order) {
  int nowners = 0, left = phase->count, turn = 0;
  for (int i = 0; i < phase->count; i++)
    nowners = nowners <= s->items[phase->first + i].owner ? s->items[phase->first + i].owner + 1 : nowners;
  for (int o = 0; o < nowners; o++)
    next[o] = 0;
  while (left > 0) {
    const int owner = order == ORDER_UP     ? turn
                      : order == ORDER_DOWN ? nowners - 1 - turn
                                            : (int)world_random(w, nowners);
    while (next[owner] < phase->count && s->items[phase->first + next[owner]].owner != owner)
      next[owner]++;
    if (next[owner] == phase->count) {
      turn++;
      continue;
    }
    run_item(w, &s->items[phase->first + next[owner]++]);
    left--;
  }
}

void world_run_tiles(struct world *w, const struct tiles *t, enum world_order order) {
  const struct schedule *s = &t->schedule;
  int *next = calloc((size_t)t->nchunks + 1, sizeof *next);
  world_start(w, t);
  for (int p = 0; p < s->nphases; p++)
    run_phase(w, s, &s->phases[p], next, order);
  sum_slots(w, t);
  free(next);
}

/* The frame: the world, the slot, the loop. */
static void run_range(void *const *frame, const int *list, long begin, long end) {
  (void)list;
  world_run(frame[0], *(const int *)frame[2], begin, end, frame[1]);
}

void world_run_threads(struct world *w, const struct tiles *t, struct team *team, int threads) {
  struct work works[WORLD_LOOPS];
  void *frames[WORLD_LOOPS][3];
  int numbers[WORLD_LOOPS];
  const struct reduction result = {.index = 1, .offset = 0, .bytes = 2 * sizeof(uint64_t)};
  world_start(w, t);
  for (int l = 0; l < w->chain.nloops; l++) {
    numbers[l] = l;
    frames[l][0] = w;
    frames[l][1] = NULL;
    frames[l][2] = &numbers[l];
    works[l] = (struct work){.function = run_range,
                             .frame = frames[l],
                             .nframe = 3,
                             .reductions = &result,
                             .nreductions = w->loops[l].combines,
                             .slots = (unsigned char *)w->slots[l],
                             .slot_bytes = 2 * sizeof(uint64_t)};
  }
  executor_run(team,
               &(struct execution){
                   .schedule = &t->schedule, .works = works, .nworks = w->chain.nloops, .threads = threads});
  sum_slots(w, t);
}

uint64_t world_outcome(const struct world *w, const struct tiles *slots) {
  uint64_t outcome = 0;
  for (int d = 0; d < w->chain.ndats; d++)
    for (long e = 0; e < w->sets[w->dats[d]].size; e++)
      outcome = mix(outcome, w->values[d][e]);
  for (int l = 0; l < w->chain.nloops; l++) {
    outcome = mix(outcome, w->sum[l]);
    for (int s = 0; slots && s < slots->nslots[l]; s++)
      outcome = mix(outcome, w->slots[l][2 * s + 1]);
  }
  return outcome;
}
