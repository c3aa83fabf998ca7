#include "ranks.h"

#include <string.h>

#include "plan/early.h"

enum { FAR = 1000 };

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 29) * 0x94d049bb133111ebu;
  return x ^ x >> 32;
}

static int draw(struct world *w, int below) {
  w->random = w->random * 6364136223846793005u + 1442695040888963407u;
  return (int)((uint32_t)(w->random >> 33) % (uint32_t)(below > 0 ? below : 1));
}

/* ---- meshes ---- */

static int size_of(const struct world *w, int set) {
  return (int)w->sets[set].size;
}

static int near(struct world *w, int e, int from, int to, bool periodic) {
  const int place = e * to / from + draw(w, 5) - 2;
  return periodic ? (place + to) % to : place < 0 ? 0 : place < to ? place : to - 1;
}

static void fill(struct world *w, int m) {
  const struct chain_map *map = &w->maps[m];
  const int from = size_of(w, map->from), to = size_of(w, map->to), shape = draw(w, 5);
  const long end = map->first ? (long)map->first[from] : (long)from * map->arity;
  for (long i = 0; i < end; i++) {
    const int e = (int)(i * from / end);
    w->tables[m][i] = shape == 0 ? draw(w, to) : near(w, e, from, to, shape == 1);
  }
}

/* Each element a target of its own: the next ones in turn, from some place on. */
static void fill_injective(struct world *w, int m) {
  const int from = size_of(w, w->maps[m].from), to = size_of(w, w->maps[m].to), begin = draw(w, to);
  for (int e = 0; e < from; e++)
    w->tables[m][e] = (begin + e) % to;
}

static void make_rows(struct world *w, int m, int from) {
  long long *first = w->firsts[m];
  first[0] = 0;
  for (int e = 0; e < size_of(w, from); e++)
    first[e + 1] = first[e] + draw(w, ARITY_MOST);
  w->maps[m].first = first;
  w->maps[m].arity = 1;
}

static void make_map(struct world *w, int m) {
  const int from = draw(w, w->chain.nsets), to = draw(w, w->chain.nsets);
  const bool once = size_of(w, from) <= size_of(w, to) && draw(w, 3) == 0;
  w->maps[m] = (struct chain_map){.from = from, .to = to, .arity = 1, .table = w->tables[m]};
  w->injective[m] = once;
  if (once) {
    fill_injective(w, m);
    return;
  }
  w->maps[m].arity = 1 + draw(w, ARITY_MOST);
  if (draw(w, 4) == 0)
    make_rows(w, m, from);
  fill(w, m);
}

/* Entries of a ragged map, as a set: they are where their elements are. */
static void make_entries(struct world *w, int from) {
  const int m = w->chain.nmaps, set = w->chain.nsets;
  w->maps[m] = (struct chain_map){.from = from, .to = set};
  make_rows(w, m, from);
  const long long entries = w->firsts[m][size_of(w, from)];
  if (entries < 1 || entries > SIZE_MOST)
    return;
  w->sets[w->chain.nsets++] = (struct chain_set){"entries", (long)entries};
  w->chain.nmaps++;
}

static bool is_own(const struct world *w, int m) {
  return !w->maps[m].table;
}

static void make_mesh(struct world *w) {
  w->chain.nsets = 2 + draw(w, SETS_MOST - 2);
  for (int s = 0; s < w->chain.nsets; s++)
    w->sets[s] = (struct chain_set){"elements", 5 + draw(w, SIZE_MOST - 4)};
  const int maps = 2 + draw(w, MAPS_MOST - 2);
  for (int m = 0; m < maps; m++)
    make_map(w, m);
  w->chain.nmaps = maps;
  if (draw(w, 3) == 0 && w->chain.nsets < SETS_MOST && maps < MAPS_MOST)
    make_entries(w, draw(w, w->chain.nsets));
}

/* ---- chains ---- */

/* A dat that is there twice is read twice or added to twice. */
static bool suits(const struct world *w, int loop, const struct chain_access *a) {
  const bool writes = a->use == CHAIN_WRITES || a->use == CHAIN_OVERWRITES;
  for (int i = 0; i < w->loops[loop].naccesses; i++) {
    const struct chain_access *other = &w->accesses[loop][i];
    if (other->dat == a->dat && (other->use != a->use || writes))
      return false;
  }
  return !writes || a->map < 0 || a->own || w->injective[a->map];
}

static bool finds(struct world *w, int set, struct chain_access *a) {
  a->dat = draw(w, w->chain.ndats);
  a->use = (enum chain_use)draw(w, 4);
  a->map = draw(w, w->chain.nmaps + 1) - 1;
  if (a->map < 0)
    return w->dats[a->dat] == set;
  const struct chain_map *map = &w->maps[a->map];
  const bool vector = draw(w, 2);
  a->first = vector ? 0 : draw(w, map->arity);
  a->count = vector ? map->arity : 1;
  a->own = is_own(w, a->map);
  return map->from == set && w->dats[a->dat] == map->to;
}

static void make_loop(struct world *w, int l) {
  struct chain_loop *loop = &w->loops[l];
  loop->set = draw(w, 3) ? w->maps[draw(w, w->chain.nmaps)].from : draw(w, w->chain.nsets);
  loop->accesses = w->accesses[l];
  loop->combines = draw(w, 3) == 0;
  w->starts[l] = draw(w, 4) == 0;
  w->subset[l] = draw(w, 5) == 0;
  w->partial[l] = draw(w, 8) == 0;
  loop->whole = !w->subset[l] && !w->partial[l];
  const int wanted = 1 + draw(w, ACCESSES_MOST);
  for (int i = 0; i < 40 * wanted && loop->naccesses < wanted; i++) {
    struct chain_access a = {0};
    if (finds(w, loop->set, &a) && suits(w, l, &a)) {
      w->accesses[l][loop->naccesses++] = a;
      w->changed[a.dat] |= a.use != CHAIN_READS;
    }
  }
}

static void make_chain(struct world *w) {
  w->chain.ndats = w->chain.nsets + draw(w, DATS_MOST - w->chain.nsets + 1);
  for (int d = 0; d < w->chain.ndats; d++)
    w->dats[d] = d < w->chain.nsets ? d : draw(w, w->chain.nsets);
  w->chain.nloops = 2 + draw(w, LOOPS_MOST - 1);
  for (int l = 0; l < w->chain.nloops; l++)
    make_loop(w, l);
}

/* ---- parts ---- */

static long row_begin(const struct world *w, int m, int e) {
  return w->maps[m].first ? (long)w->firsts[m][e] : (long)e * w->maps[m].arity;
}

static long row_end(const struct world *w, int m, int e) {
  return row_begin(w, m, e + 1);
}

static void share_out(struct world *w) {
  const bool wild = draw(w, 4) == 0;
  w->nranks = 2 + draw(w, RANKS_MOST - 1);
  for (int s = 0; s < w->chain.nsets; s++)
    for (int e = 0; e < size_of(w, s); e++) {
      const int rank = e * w->nranks / size_of(w, s);
      w->owner[s][e] = wild || draw(w, 12) == 0 ? draw(w, w->nranks) : rank;
    }
  for (int m = 0; m < w->chain.nmaps; m++)
    for (int e = 0; is_own(w, m) && e < size_of(w, w->maps[m].from); e++)
      for (long i = row_begin(w, m, e); i < row_end(w, m, e); i++)
        w->owner[w->maps[m].to][i] = w->owner[w->maps[m].from][e];
}

/* One more half layer: elements with a target above, or the targets of those above. */
static void deepen(struct world *w, int r, int depth) {
  for (int m = 0; m < w->chain.nmaps; m++)
    for (int e = 0; !is_own(w, m) && e < size_of(w, w->maps[m].from); e++)
      for (long i = row_begin(w, m, e); i < row_end(w, m, e); i++) {
        int *from = &w->depth[r][w->maps[m].from][e];
        int *to = &w->depth[r][w->maps[m].to][w->tables[m][i]];
        if (depth % 2 && *to<depth && * from> depth)
          *from = depth;
        if (depth % 2 == 0 && *from<depth && * to> depth)
          *to = depth;
      }
}

static void find_entries(struct world *w, int r) {
  for (int m = 0; m < w->chain.nmaps; m++)
    for (int e = 0; is_own(w, m) && e < size_of(w, w->maps[m].from); e++)
      for (long i = row_begin(w, m, e); i < row_end(w, m, e); i++)
        w->depth[r][w->maps[m].to][i] = w->depth[r][w->maps[m].from][e];
}

static void find_fringe(struct world *w, int r) {
  for (int m = 0; m < w->chain.nmaps; m++)
    for (int e = 0; e < size_of(w, w->maps[m].from); e++)
      for (long i = row_begin(w, m, e); i < row_end(w, m, e); i++)
        w->fringe[r][w->maps[m].to][is_own(w, m) ? i : w->tables[m][i]] |=
            w->depth[r][w->maps[m].from][e] <= 2 * w->wish.layers;
}

static void find_depths(struct world *w, int r) {
  for (int s = 0; s < w->chain.nsets; s++)
    for (int e = 0; e < size_of(w, s); e++)
      w->depth[r][s][e] = w->owner[s][e] == r ? 0 : FAR;
  for (int depth = 1; depth <= 2 * w->wish.layers + 2; depth++)
    deepen(w, r, depth);
  find_entries(w, r);
  find_fringe(w, r);
  for (int s = 0; s < w->chain.nsets; s++)
    for (int e = 0; e < size_of(w, s); e++)
      w->neighbours[r][w->owner[s][e]] |= w->depth[r][s][e] <= 2;
}

void world_make(struct world *w, uint64_t seed, const struct depth_wish *wish) {
  memset(w, 0, sizeof *w);
  w->random = mix(seed, 77);
  w->wish = *wish;
  w->chain = (struct chain){.sets = w->sets, .maps = w->maps, .dats = w->dats, .loops = w->loops};
  make_mesh(w);
  make_chain(w);
  share_out(w);
  for (int r = 0; r < w->nranks; r++)
    find_depths(w, r);
}

/* ---- running ---- */

static bool keeps_all(const struct world *w, int dat) {
  return w->wish.fringe && !w->changed[dat];
}

static bool is_there(const struct world *w, int r, int dat, long e) {
  const int set = w->dats[dat];
  return w->depth[r][set][e] <= 2 * w->wish.layers || (keeps_all(w, dat) && w->fringe[r][set][e]);
}

static bool is_member(const struct world *w, int l, int e) {
  return !w->subset[l] || mix((uint64_t)l, (uint64_t)e) % 3 != 0;
}

/* One element, on a rank or (-1) on the whole mesh. */
struct turn {
  struct world *w;
  int loop, rank, element;
  uint64_t known;
};

/* The row that an access of the element reaches; without a row or a copy here the access is wrong. */
static uint64_t *reach(const struct turn *t, const struct chain_access *a, long k) {
  struct world *w = t->w;
  const int m = a->map;
  const long place = m < 0 ? 0 : row_begin(w, m, t->element) + (w->maps[m].first ? 0 : a->first) + k;
  const long e = m < 0 ? t->element : is_own(w, m) ? place : w->tables[m][place];
  if (t->rank < 0)
    return &w->whole[a->dat][e];
  const int depth = w->depth[t->rank][w->loops[t->loop].set][t->element];
  if (m >= 0 && depth > 2 * w->wish.layers - !keeps_all(w, a->dat))
    w->wrong = "an element has no row here";
  if (!is_there(w, t->rank, a->dat, e))
    w->wrong = "an element reaches what has no copy here";
  return &w->values[t->rank][a->dat][e];
}

static long count(const struct turn *t, const struct chain_access *a) {
  const int m = a->map;
  return m < 0                 ? 1
         : t->w->maps[m].first ? row_end(t->w, m, t->element) - row_begin(t->w, m, t->element)
                               : a->count;
}

static void change(const struct turn *t, int i) {
  const struct chain_access *a = &t->w->loops[t->loop].accesses[i];
  const bool leaves = t->w->partial[t->loop] && a->use == CHAIN_OVERWRITES && t->known % 2;
  for (long k = 0; k < count(t, a) && a->use != CHAIN_READS && !leaves; k++) {
    const uint64_t new = mix(t->known, (uint64_t)i * 8 + (uint64_t)k);
    uint64_t *value = reach(t, a, k);
    *value = a->use == CHAIN_ADDS ? *value + new : new;
  }
}

static uint64_t run_element(struct world *w, int l, int r, int e, uint64_t start) {
  const struct chain_loop *loop = &w->loops[l];
  struct turn t = {.w = w, .loop = l, .rank = r, .element = e};
  t.known = mix(mix((uint64_t)l, (uint64_t)e), w->starts[l] ? start : 0);
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    for (long k = 0; k < count(&t, a) && (a->use == CHAIN_READS || a->use == CHAIN_WRITES); k++)
      t.known = mix(t.known, *reach(&t, a, k));
  }
  for (int i = 0; i < loop->naccesses; i++)
    change(&t, i);
  return t.known;
}

static uint64_t run_whole(struct world *w, int l) {
  uint64_t sum = 0;
  for (int e = 0; e < size_of(w, w->loops[l].set); e++)
    if (is_member(w, l, e))
      sum += run_element(w, l, -1, e, w->sum);
  return sum;
}

/* Elements of a rank that are not deeper; the sum of those that it owns. */
static uint64_t run_rank(struct world *w, int l, int r, int run, enum mistake mistake) {
  const int set = w->loops[l].set;
  uint64_t sum = 0;
  for (int e = 0; e < size_of(w, set); e++) {
    const int depth = w->depth[r][set][e];
    if (depth > run || (mistake == FOREIGN_NOT_RUN && depth > 0))
      continue;
    if (w->subset[l] && depth > 2 * w->wish.layers - 1)
      w->wrong = "nobody knows here whether the subset has an element";
    if (!is_member(w, l, e))
      continue;
    const uint64_t known = run_element(w, l, r, e, w->sums);
    sum += depth == 0 || mistake == SUMS_COUNT_COPIES ? known : 0;
  }
  return sum;
}

static void keep_owned(struct world *w) {
  for (int d = 0; d < w->chain.ndats; d++)
    for (int e = 0; e < size_of(w, w->dats[d]); e++)
      w->before[d][e] = w->values[w->owner[w->dats[d]][e]][d][e];
}

static void bring_up_to_date(struct world *w, int d, int need, enum mistake mistake) {
  const int set = w->dats[d], end = mistake == ONE_HALF_LAYER_TOO_FEW ? need - 1 : need;
  for (int r = 0; r < w->nranks; r++)
    for (int e = 0; e < size_of(w, set); e++) {
      const int owner = w->owner[set][e], depth = w->depth[r][set][e];
      if (depth <= w->valid[d] || depth > end || !is_there(w, r, d, e))
        continue;
      if (mistake == DIRECT_NEIGHBOURS_ONLY && !w->neighbours[r][owner])
        continue;
      w->values[r][d][e] = mistake == PACKED_BEFORE_LAST_WRITER ? w->before[d][e] : w->values[owner][d][e];
    }
  w->valid[d] = need;
}

/* The rows that a rank owns are right, and so is each copy that a depth claims. */
static void compare(struct world *w) {
  for (int r = 0; r < w->nranks; r++)
    for (int d = 0; d < w->chain.ndats; d++)
      for (int e = 0; e < size_of(w, w->dats[d]); e++) {
        const int depth = w->depth[r][w->dats[d]][e];
        if (depth > (w->valid[d] > 0 ? w->valid[d] : 0) || !is_there(w, r, d, e) ||
            w->values[r][d][e] == w->whole[d][e])
          continue;
        w->wrong = depth ? "a copy is old" : "an owned value is wrong";
      }
  if (w->sum != w->sums)
    w->wrong = "a sum is wrong";
}

static void run_loop(struct world *w, int l, int run, enum mistake mistake) {
  const struct chain_loop *loop = &w->loops[l];
  uint64_t sums = 0;
  const uint64_t sum = run_whole(w, l);
  keep_owned(w);
  for (int r = 0; r < w->nranks; r++)
    sums += run_rank(w, l, r, run, mistake);
  if (loop->combines) {
    w->sum = sum;
    w->sums = sums;
  }
  depth_behind(loop, run, w->valid);
}

/* Owners have values; copies have others, and those that are valid already the same. */
void world_start(struct world *w) {
  for (int d = 0; d < w->chain.ndats; d++) {
    w->valid[d] = draw(w, 3) ? 0 : draw(w, 2 * w->wish.layers + 1);
    for (int e = 0; e < size_of(w, w->dats[d]); e++) {
      w->whole[d][e] = mix((uint64_t)d, (uint64_t)e);
      for (int r = 0; r < w->nranks; r++) {
        const bool known = w->depth[r][w->dats[d]][e] <= w->valid[d];
        w->values[r][d][e] = known ? w->whole[d][e] : mix((uint64_t)(r + 1) * 1000, (uint64_t)e);
      }
    }
  }
  w->sum = w->sums = 1;
  keep_owned(w);
}

/* ---- chosen elements ---- */

/* Segments, as they run together. */
struct part {
  struct world *w;
  const struct depths *d;
  int segment, n, first, end; /* the first of so many; their loops */
  struct choice *choice;
  uint64_t sums[LOOPS_MOST];
};

/* The number-th of what is chosen; NULL: there are fewer. */
static bool *find_chosen(const struct part *p, long at) {
  const struct world *w = p->w;
  for (int r = 0; r < w->nranks; r++) {
    for (int l = p->first; l < p->end; l++)
      for (int e = 0; e < size_of(w, w->loops[l].set); e++)
        if (p->choice->run[r][l][e] && is_member(w, l, e) && at-- == 0)
          return &p->choice->run[r][l][e];
    for (int s = 0; s < p->n; s++)
      for (int dat = 0; dat < w->chain.ndats; dat++)
        for (int e = 0; w->changed[dat] && e < size_of(w, w->dats[dat]); e++)
          if (p->choice->need[s][r][dat][e] && at-- == 0)
            return &p->choice->need[s][r][dat][e];
  }
  return NULL;
}

static void pack(const struct part *p, int s, int r) {
  struct world *w = p->w;
  for (int dat = 0; dat < w->chain.ndats; dat++)
    for (int e = 0; e < size_of(w, w->dats[dat]); e++)
      if (w->owner[w->dats[dat]][e] == r)
        w->packed[s][dat][e] = w->values[r][dat][e];
}

/* Copies hold what no loop changes, and what came for the segment, else nothing that anybody could use. */
static void fill_copies(const struct part *p, int s, int r, bool came) {
  struct world *w = p->w;
  for (int dat = 0; dat < w->chain.ndats; dat++)
    for (int e = 0; e < size_of(w, w->dats[dat]); e++) {
      if (w->depth[r][w->dats[dat]][e] == 0)
        continue;
      if (keeps_all(w, dat) && is_there(w, r, dat, e))
        w->values[r][dat][e] = w->whole[dat][e];
      else if (!came || p->choice->need[s][r][dat][e])
        w->values[r][dat][e] = !came ? mix((uint64_t)(r + 1) * 1000, (uint64_t)e)
                               : s   ? w->packed[s - 1][dat][e]
                                     : w->before[dat][e];
    }
}

/* Elements of the loop that run then; those that the rank owns count in sums. */
static void run_then(struct part *p, int l, int r, enum when when) {
  struct world *w = p->w;
  for (int e = 0; e < size_of(w, w->loops[l].set); e++) {
    const int depth = w->depth[r][w->loops[l].set][e];
    if (p->choice->when[r][l][e] != when || (depth && !p->choice->run[r][l][e]) || !is_member(w, l, e))
      continue;
    if (depth > p->d->run[l])
      w->wrong = "more runs than depths say";
    if (depth && when == WHEN_EARLY)
      w->wrong = "a copy does not wait";
    const uint64_t known = run_element(w, l, r, e, 0);
    p->sums[l] += depth == 0 ? known : 0;
  }
}

static void run_loops(struct part *p, int s, int r, enum when when) {
  for (int l = p->d->first[p->segment + s]; l < p->d->first[p->segment + s + 1]; l++)
    run_then(p, l, r, when);
}

static void run_part(struct part *p) {
  for (int r = 0; r < p->w->nranks; r++) {
    fill_copies(p, 0, r, false);
    for (int s = 0; s < p->n; s++)
      run_loops(p, s, r, WHEN_EARLY);
  }
  for (int s = 0; s < p->n; s++)
    for (int r = 0; r < p->w->nranks; r++) {
      fill_copies(p, s, r, true);
      run_loops(p, s, r, WHEN_RIM);
      pack(p, s, r);
      run_loops(p, s, r, WHEN_REST);
    }
}

/* The rows that were packed behind the segment are those of the whole mesh. */
static void compare_packed(const struct part *p, int s) {
  struct world *w = p->w;
  for (int r = 0; r < w->nranks; r++)
    for (int dat = 0; dat < w->chain.ndats; dat++)
      for (int e = 0; e < size_of(w, w->dats[dat]); e++)
        if (p->choice->need[s + 1][r][dat][e] && w->packed[s][dat][e] != w->whole[dat][e])
          w->wrong = "what is sent is not the newest";
}

long world_run_chosen(struct world *w, const struct depths *d, int segment, int n, struct choice *choice,
                      int spoilt) {
  struct part p = {w, d, segment, n, d->first[segment], d->first[segment + n], choice, {0}};
  long count = 0;
  while (find_chosen(&p, count))
    count++;
  if (spoilt >= 0 && count) {
    *find_chosen(&p, spoilt % count) = false;
    count = 1;
  }
  keep_owned(w);
  run_part(&p);
  memset(w->valid, 0, sizeof w->valid);
  for (int s = 0; s < n; s++) {
    for (int l = d->first[segment + s]; l < d->first[segment + s + 1]; l++) {
      w->sum = run_whole(w, l);
      w->sums = p.sums[l];
      if (w->sum != w->sums)
        w->wrong = "a sum is wrong";
    }
    if (!w->wrong)
      compare_packed(&p, s);
  }
  if (!w->wrong)
    compare(w);
  return count;
}

const char *world_run(struct world *w, const struct depths *d, enum mistake mistake) {
  world_start(w);
  for (int s = 0; s < d->nsegments && !w->wrong; s++) {
    bool sends = false;
    for (int dat = 0; dat < w->chain.ndats; dat++)
      if (depths_need(d, s)[dat] > w->valid[dat]) {
        bring_up_to_date(w, dat, depths_need(d, s)[dat], mistake);
        sends = true;
      }
    w->exchanges += sends;
    for (int l = d->first[s]; l < d->first[s + 1] && !w->wrong; l++) {
      run_loop(w, l, d->run[l], mistake);
      compare(w);
    }
  }
  return w->wrong;
}
