#include "plan/tiles.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "plan/plan_staging.h"
#include "plan/tiles_closure.h"

/* Bounds of all loops, one behind the other. */
struct cuts {
  int nloops;
  long *left,
      *right; /* of each cut: what is before it, and where what is behind begins; both 0 at the first cut */
  int *tile;  /* that begins there */
  int count;  /* the last one is the end */
};

struct making {
  struct arrays arrays;
  struct tiles *tiles;
  const struct chain *chain;
  struct closure closure;
  struct cuts cuts;
  int ntiles, last_tile; /* the chain ends with the last one, but for what goes round a periodic mesh */
  long *from, *to;       /* of loops */
  int *sorted, *spare;   /* room for the elements of a small set */
  bool counting;         /* items are only counted */
  long nitems;
};

/* ---- cuts ------------------------------------------------------------------------------------------*/

static long *left_of(const struct cuts *c, int cut) {
  return c->left + (long)cut * c->nloops;
}

static long *right_of(const struct cuts *c, int cut) {
  return c->right + (long)cut * c->nloops;
}

/* True if the next cut leaves the gap of this one alone, and the targets to which elements of one loop there add. */
static bool is_apart(const struct closure *b, const long *right, const long *next_left) {
  for (int l = 0; l < b->chain->nloops; l++)
    if (closure_meet(b, l, right[l]) > next_left[l])
      return false;
  return true;
}

static int make_cuts(struct making *m, int chunks, struct error *err) {
  struct cuts *c = &m->cuts;
  const size_t n = ((size_t)chunks + 1) * (size_t)c->nloops;
  c->left = arrays_add(&m->arrays, n, sizeof *c->left);
  c->right = arrays_add(&m->arrays, n, sizeof *c->right);
  c->tile = arrays_add(&m->arrays, (size_t)chunks + 1, sizeof *c->tile);
  if (m->arrays.failed)
    return error_memory(err, "the cuts of a chain", 2 * n * sizeof *c->left);
  c->count = 1;
  const size_t bytes = (size_t)c->nloops * sizeof *c->left;
  memcpy(right_of(c, 0), m->closure.first, bytes);
  for (int cut = 1; cut < chunks; cut++) {
    const int tile = (int)((long)m->last_tile * cut / chunks);
    long *left = left_of(c, c->count);
    closure_left(&m->closure, tile, m->ntiles, left);
    closure_right(&m->closure, left, right_of(c, c->count));
    if (is_apart(&m->closure, right_of(c, c->count - 1), left))
      c->tile[c->count++] = tile;
  }
  while (c->count > 1 && !is_apart(&m->closure, right_of(c, c->count - 1), m->closure.last))
    c->count--;
  memcpy(left_of(c, c->count), m->closure.last, bytes);
  c->tile[c->count] = m->last_tile;
  return OP_OK;
}

/* ---- items -----------------------------------------------------------------------------------------*/

static void add(struct making *m, int loop, long begin, long end, int slot, int owner) {
  struct schedule *s = &m->tiles->schedule;
  m->nitems++;
  if (m->counting)
    return;
  s->items[s->nitems++] =
      (struct item){.begin = begin, .end = end, .work = loop, .owner = owner, .slot = slot};
  s->phases[s->nphases - 1].count++;
}

/* Elements at these positions, which are of one block: those that follow one another as one item. A border that runs
 * round a domain has two sides next to a tile, whose elements take turns in the order of targets: in their own order
 * they are two items, and not one each. */
static void add_block(struct making *m, int loop, long begin, long end, int slot, int owner) {
  const int *order = m->closure.orders[m->chain->loops[loop].set].element;
  const long n = end - begin;
  if (!order) {
    add(m, loop, begin, end, slot, owner);
    return;
  }
  int *element = memcpy(m->sorted, order + begin, (size_t)n * sizeof *element);
  plan_sort_list(element, m->spare, n, NULL);
  for (long p = 0, next; p < n; p = next) {
    for (next = p + 1; next < n && element[next] == element[next - 1] + 1;)
      next++;
    add(m, loop, element[p], element[next - 1] + 1, slot, owner);
  }
}

static void add_range(struct making *m, int loop, long begin, long end, int owner) {
  const bool combines = m->chain->loops[loop].combines;
  const long block = m->closure.block[loop];
  for (long next; begin < end; begin = next) {
    next = combines ? (begin / block + 1) * block : end;
    next = next < end ? next : end;
    add_block(m, loop, begin, next, combines ? (int)(begin / block) : 0, owner);
  }
}

/* All loops, from where they are to `to`. */
static void add_tile(struct making *m, long *from, const long *to, int owner) {
  for (int l = 0; l < m->cuts.nloops; l++) {
    add_range(m, l, from[l], to[l], owner);
    from[l] = from[l] < to[l] ? to[l] : from[l];
  }
}

static void add_chunk(struct making *m, int chunk) {
  const long *end = left_of(&m->cuts, chunk + 1);
  memcpy(m->from, right_of(&m->cuts, chunk), (size_t)m->cuts.nloops * sizeof *m->from);
  for (int t = m->cuts.tile[chunk] + 1; t < m->cuts.tile[chunk + 1]; t++) {
    closure_left(&m->closure, t, m->ntiles, m->to);
    add_tile(m, m->from, m->to, chunk);
  }
  add_tile(m, m->from, end, chunk);
}

/* Both ends together, as they are one where the mesh goes round. */
static void add_ends(struct making *m, int owner) {
  const struct closure *c = &m->closure;
  for (int l = 0; l < m->cuts.nloops; l++) {
    add_range(m, l, 0, c->first[l], owner);
    add_range(m, l, larger(c->first[l], c->last[l]), chain_size(m->chain, l), owner);
  }
}

static void add_phase(struct making *m) {
  if (!m->counting)
    schedule_add_phase(&m->tiles->schedule, true);
}

static void add_items(struct making *m) {
  struct cuts *c = &m->cuts;
  m->nitems = 0;
  add_phase(m);
  for (int chunk = 0; chunk < c->count; chunk++)
    add_chunk(m, chunk);
  add_phase(m);
  for (int cut = 1; cut < c->count; cut++) {
    memcpy(m->from, left_of(c, cut), (size_t)c->nloops * sizeof *m->from);
    add_tile(m, m->from, right_of(c, cut), cut - 1);
  }
  add_ends(m, c->count - 1);
}

static bool make_room(struct making *m) {
  const struct chain *c = m->chain;
  long most = 0;
  for (int s = 0; s < c->nsets; s++)
    if (m->closure.orders[s].element && c->sets[s].size > most)
      most = c->sets[s].size;
  m->sorted = arrays_add(&m->arrays, (size_t)most, sizeof *m->sorted);
  m->spare = arrays_add(&m->arrays, (size_t)most, sizeof *m->spare);
  return !m->arrays.failed;
}

/* ---- all of it -------------------------------------------------------------------------------------*/

static void count(const struct making *m) {
  struct tiles *t = m->tiles;
  t->nchunks = m->cuts.count;
  t->ntiles = m->ntiles;
  for (int l = 0; l < m->cuts.nloops; l++) {
    const long size = chain_size(m->chain, l), block = m->closure.block[l];
    t->all += size;
    t->gap += m->closure.first[l] + size - larger(m->closure.first[l], m->closure.last[l]);
    for (int cut = 1; cut < m->cuts.count; cut++)
      t->gap += right_of(&m->cuts, cut)[l] - left_of(&m->cuts, cut)[l];
    t->nslots[l] = m->chain->loops[l].combines ? (int)((size + block - 1) / block) : 0;
  }
}

static int make(struct making *m, const struct tiles_wish *wish, struct team *team, struct error *err) {
  const int chunks = wish->chunks > 1 ? wish->chunks : 1;
  const size_t nloops = (size_t)m->chain->nloops;
  m->ntiles = wish->tiles > chunks ? wish->tiles : chunks;
  m->cuts.nloops = m->chain->nloops;
  m->from = arrays_add(&m->arrays, nloops, sizeof *m->from);
  m->to = arrays_add(&m->arrays, nloops, sizeof *m->to);
  m->tiles->nslots = array_new(nloops, sizeof *m->tiles->nslots);
  if (!m->from || !m->to || !m->tiles->nslots)
    return error_memory(err, "the tiles of a chain", nloops * sizeof *m->from);
  int code = closure_new(&m->closure, m->chain, wish, team, err);
  if (!code)
    code = closure_open(&m->closure, m->ntiles, &m->last_tile, err);
  if (code || (!wish->always && closure_refuse(&m->closure, &m->tiles->refused)))
    return code;
  code = make_cuts(m, chunks, err);
  if (!code && !make_room(m))
    code = error_memory(err, "the order of a small set", 0);
  if (code)
    return code;
  m->counting = true;
  add_items(m);
  m->counting = false;
  code = schedule_new(&m->tiles->schedule, m->nitems, 2, 0, err);
  if (code)
    return code;
  add_items(m);
  count(m);
  return OP_OK;
}

int tiles_build(struct tiles *t, const struct chain *chain, const struct tiles_wish *wish, struct team *team,
                struct error *err) {
  struct making m = {.tiles = t, .chain = chain};
  *t = (struct tiles){0};
  const int code = make(&m, wish, team, err);
  arrays_free(&m.closure.arrays);
  arrays_free(&m.arrays);
  if (code)
    tiles_free(t);
  return code;
}

void tiles_free(struct tiles *t) {
  schedule_free(&t->schedule);
  free(t->nslots);
  text_free(&t->refused);
  *t = (struct tiles){0};
}

void tiles_deal(struct tiles *t, int threads) {
  struct schedule *s = &t->schedule;
  for (int p = 0; p < s->nphases; p++) {
    for (int i = s->phases[p].first; i < s->phases[p].first + s->phases[p].count; i++)
      s->items[i].owner = (int)(s->items[i].owner * (long)threads / t->nchunks);
  }
  s->threads = threads;
}

/* ---- tiles of a part of a chain's elements ---- */
/* The next elements of the item, from *begin on, that follow one another and are kept. */
static bool next_kept(const struct item *item, const bool *keep, long *begin, long *end) {
  while (*begin < item->end && !keep[*begin])
    ++*begin;
  for (*end = *begin; *end < item->end && keep[*end];)
    ++*end;
  return *begin < *end;
}

static long keep_count(const struct schedule *s, bool *const *keep) {
  long items = 0;
  for (int i = 0; i < s->nitems; i++)
    for (long begin = s->items[i].begin, end; next_kept(&s->items[i], keep[s->items[i].work], &begin, &end);
         begin = end)
      items++;
  return items;
}

static void add_kept(struct schedule *to, const struct item *item, const bool *keep) {
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
  int code = schedule_new(&kept, keep_count(all, keep), all->nphases, 0, err);
  for (int p = 0; !code && p < all->nphases; p++) {
    schedule_add_phase(&kept, all->phases[p].owned);
    for (int i = all->phases[p].first; i < all->phases[p].first + all->phases[p].count; i++)
      add_kept(&kept, &all->items[i], keep[all->items[i].work]);
  }
  if (code)
    return code;
  kept.threads = all->threads;
  schedule_free(&t->schedule);
  t->schedule = kept;
  return OP_OK;
}
