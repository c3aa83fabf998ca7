#include "plan/early.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* Marks on an element of a dat: what elements that were looked at already did to it. ADDED: by the loop that is looked at. */
enum { READ = 1, CHANGED = 2, ADDED = 4 };
/* Most of a mesh lies below all marks, since what is near other ranks has the last numbers: it is looked at by blocks of elements. */
enum { BLOCK = 16 };

struct walk {
  const struct chain *chain;
  const struct copies_set *sets;
  int first; /* loop */
  const struct early_segment *segments;
  int nsegments;
  bool ordered;          /* additions */
  bool *changed;         /* dats: by any loop of the chain; copies of the others are there */
  unsigned char **marks; /* of dats */
  long *low;             /* of dats: below it there are no marks */
  int **high;            /* of maps: the largest target of each block of BLOCK rows in the core */
  unsigned char **when;  /* of loops, from the first on */
};

static unsigned mark(const struct walk *w, int dat, long target, unsigned more) {
  unsigned char *of = &w->marks[dat][target];
  const unsigned marks = *of;
  *of |= (unsigned char)more;
  if (more && target < w->low[dat])
    w->low[dat] = target;
  return marks;
}

/* Returns the marks on all that the element reaches by the access, and adds `more` to them. */
static unsigned visit(const struct walk *w, const struct chain_loop *loop, const struct chain_access *a,
                      long e, unsigned more) {
  unsigned marks = 0;
  if (a->map < 0)
    return mark(w, a->dat, e, more);
  const struct chain_map *map = &w->chain->maps[a->map];
  for (long k = 0; e < w->sets[loop->set].rows && k < a->count; k++)
    marks |= mark(w, a->dat, chain_target(map, chain_begin(map, a, e) + k), more);
  return marks;
}

/* Marks of elements that such an access keeps its order with. */
static unsigned minded(const struct walk *w, enum chain_use use) {
  return use == CHAIN_READS                 ? CHANGED
         : use == CHAIN_ADDS && !w->ordered ? CHANGED | READ
                                            : CHANGED | READ | ADDED;
}

/* It reads what marked elements change, or changes what they read or change: the two keep their order. */
static bool minds(const struct walk *w, const struct chain_loop *loop, long e) {
  bool any = false;
  for (int i = 0; i < loop->naccesses && !any; i++) {
    const struct chain_access *a = &loop->accesses[i];
    any = (visit(w, loop, a, e, 0) & minded(w, a->use)) != 0;
  }
  return any;
}

static unsigned mark_of(enum chain_use use) {
  return use == CHAIN_READS ? READ : use == CHAIN_ADDS ? ADDED : CHANGED;
}

/* Before the next element is looked at: what adds to the same target minds, too. */
static void note(const struct walk *w, const struct chain_loop *loop, long e) {
  for (int i = 0; i < loop->naccesses; i++)
    visit(w, loop, &loop->accesses[i], e, mark_of(loop->accesses[i].use));
}

/* The loop was looked at: what it added others are not to add before. */
static void close_loop(const struct walk *w, const struct chain_loop *loop) {
  for (int i = 0; i < loop->naccesses; i++) {
    const int dat = loop->accesses[i].dat;
    unsigned char *of = w->marks[dat];
    for (long e = w->low[dat]; loop->accesses[i].use == CHAIN_ADDS && e < w->sets[w->chain->dats[dat]].all;
         e++)
      if (of[e] & ADDED)
        of[e] = (unsigned char)((of[e] & ~(unsigned)ADDED) | CHANGED);
  }
}

/* Packing reads what is sent. */
static void note_sent(const struct walk *w, const struct copies_list *sent) {
  for (int d = 0; sent && d < w->chain->ndats; d++)
    for (long i = 0; i < sent[d].count; i++)
      mark(w, d, sent[d].elements[i], READ);
}

static int first_of(const struct walk *w, int segment) {
  return segment ? w->segments[segment - 1].end : w->first;
}

static const struct copies_list *run_of(const struct walk *w, int segment, int l) {
  return &w->segments[segment].copies->run[l - first_of(w, segment)];
}

static void forget_marks(const struct walk *w) {
  for (int d = 0; d < w->chain->ndats; d++) {
    const long all = w->sets[w->chain->dats[d]].all;
    memset(w->marks[d] + w->low[d], 0, (size_t)(all - w->low[d]));
    w->low[d] = all;
  }
}

/* ---- forwards: what waits ---- */

static bool adds(const struct chain_loop *loop) {
  bool any = false;
  for (int i = 0; i < loop->naccesses; i++)
    any |= loop->accesses[i].map >= 0 && loop->accesses[i].use == CHAIN_ADDS;
  return any;
}

/* Copies of what some loop changes come, or are made by what waits for them. By any column: tables of tiles see whole rows. What
 * adds keeps its order, in which elements that reach copies of anything come last: tiles could not begin. */
static bool reaches_copies(const struct walk *w, const struct chain_loop *loop, long e) {
  bool any = e >= w->sets[loop->set].core && adds(loop);
  for (int i = 0; e >= w->sets[loop->set].core && i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    const struct chain_map *map = a->map < 0 ? NULL : &w->chain->maps[a->map];
    for (long c = 0; map && w->changed[a->dat] && c < map->arity; c++)
      any |= chain_target(map, e * map->arity + c) >= w->sets[map->to].owned;
  }
  return any;
}

/* Elements of one block reach neither copies nor marks. */
static bool are_apart(const struct walk *w, const struct chain_loop *loop, long begin, long end) {
  bool apart = end <= w->sets[loop->set].core;
  for (int i = 0; apart && i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    apart = (a->map < 0 ? end - 1 : w->high[a->map][begin / BLOCK]) < w->low[a->dat];
  }
  return apart;
}

/* The first of the elements from `e` on that is not in a block whose elements are all apart: those are early. */
static long skip_blocks(const struct walk *w, const struct chain_loop *loop, long e, long end) {
  for (long next; e < end; e = next) {
    next = (e / BLOCK + 1) * BLOCK < end ? (e / BLOCK + 1) * BLOCK : end;
    if (!are_apart(w, loop, e, next))
      break;
  }
  return e;
}

/* Returns whether any is. */
static bool find_late_owned(const struct walk *w, int l, long begin, long end) {
  const struct chain_loop *loop = &w->chain->loops[l];
  unsigned char *when = w->when[l - w->first];
  bool any = false;
  for (long e = begin; e < end; e++) {
    if (e == begin || e % BLOCK == 0)
      e = skip_blocks(w, loop, e, end);
    if (e == end)
      break;
    when[e] = reaches_copies(w, loop, e) || minds(w, loop, e) ? WHEN_REST : WHEN_EARLY;
    if (when[e] == WHEN_REST)
      note(w, loop, e);
    any |= when[e] == WHEN_REST;
  }
  return any;
}

/* All from there on. */
static void note_late(const struct walk *w, int l, long begin) {
  for (long e = begin; e < w->sets[w->chain->loops[l].set].owned; e++) {
    w->when[l - w->first][e] = WHEN_REST;
    note(w, &w->chain->loops[l], e);
  }
}

static void find_late(const struct walk *w, int s, int l) {
  const struct chain_loop *loop = &w->chain->loops[l];
  const long owned = w->sets[loop->set].owned;
  const struct copies_list *run = run_of(w, s, l);
  const long cut = w->segments[s].cuts ? w->segments[s].cuts[l - first_of(w, s)] : owned;
  const bool first = find_late_owned(w, l, 0, cut), second = find_late_owned(w, l, cut, owned);
  if (w->segments[s].cuts && (first || second))
    note_late(w, l, first ? 0 : cut);
  for (long i = 0; i < run->count; i++) {
    w->when[l - w->first][run->elements[i]] = WHEN_REST;
    note(w, loop, run->elements[i]);
  }
  close_loop(w, loop);
}

/* Values that are sent between two segments are packed when all that is early has run. */
static void walk_forwards(const struct walk *w) {
  for (int s = 0; s < w->nsegments; s++) {
    if (s > 0)
      note_sent(w, w->segments[s - 1].sent);
    for (int l = first_of(w, s); l < w->segments[s].end; l++)
      find_late(w, s, l);
  }
}

/* ---- backwards: what the next messages wait for ---- */

/* An element that waits, and that marked elements wait for, belongs to the rim. */
static void look_back(const struct walk *w, const struct chain_loop *loop, long e, unsigned char *when) {
  if (*when != WHEN_REST || !minds(w, loop, e))
    return;
  *when = WHEN_RIM;
  note(w, loop, e);
}

/* Loops and elements of a segment from last to first. */
static void walk_back(const struct walk *w, int segment) {
  forget_marks(w);
  note_sent(w, w->segments[segment].sent);
  for (int l = w->segments[segment].end - 1; l >= first_of(w, segment); l--) {
    const struct chain_loop *loop = &w->chain->loops[l];
    const struct copies_list *run = run_of(w, segment, l);
    unsigned char *when = w->when[l - w->first];
    for (long i = run->count - 1; i >= 0; i--)
      look_back(w, loop, run->elements[i], &when[run->elements[i]]);
    for (long e = w->sets[loop->set].owned - 1; e >= 0; e--)
      look_back(w, loop, e, &when[e]);
    close_loop(w, loop);
  }
}

/* ---- all of it ---- */

/* Find the largest targets of blocks of a map's rows in the core; nothing without memory. Behind it a map may have fewer rows than its
 * set: rings do not follow all. */
static void find_high(const struct walk *w, const struct chain_map *map, int *high) {
  const long rows = high ? w->sets[map->from].core : 0;
  for (long e = 0; e < rows; e++) {
    const long first = map->first ? (long)map->first[e] : e * map->arity;
    const long end = map->first ? (long)map->first[e + 1] : first + map->arity;
    for (long place = first; place < end; place++)
      if (chain_target(map, place) > high[e / BLOCK])
        high[e / BLOCK] = (int)chain_target(map, place);
  }
}

void early_free(unsigned char **when, int nloops) {
  for (int l = 0; when && l < nloops; l++)
    free(when[l]);
  free(when);
}

static bool make_room(struct walk *w, struct arrays *arrays, int nloops) {
  w->changed = arrays_add(arrays, (size_t)w->chain->ndats, sizeof *w->changed);
  w->marks = arrays_add(arrays, (size_t)w->chain->ndats, sizeof *w->marks);
  w->low = arrays_add(arrays, (size_t)w->chain->ndats, sizeof *w->low);
  w->high = arrays_add(arrays, (size_t)w->chain->nmaps, sizeof *w->high);
  for (int d = 0; w->marks && w->low && d < w->chain->ndats; d++) {
    w->low[d] = w->sets[w->chain->dats[d]].all;
    w->marks[d] = arrays_add(arrays, (size_t)w->low[d], 1);
  }
  for (int m = 0; w->high && m < w->chain->nmaps; m++) {
    const struct chain_map *map = &w->chain->maps[m];
    w->high[m] = arrays_add(arrays, (size_t)(w->sets[map->from].rows / BLOCK + 1), sizeof **w->high);
    find_high(w, map, w->high[m]);
  }
  w->when = array_new((size_t)nloops, sizeof *w->when);
  bool all = w->when && !arrays->failed;
  for (int l = 0; all && l < nloops; l++)
    all = (w->when[l] = array_new((size_t)w->sets[w->chain->loops[w->first + l].set].all, 1)) != NULL;
  return all;
}

int early_find(unsigned char ***out, const struct chain *chain, const struct copies_set *sets, int first,
               const struct early_segment *segments, int nsegments, bool ordered, struct error *err) {
  const int nloops = segments[nsegments - 1].end - first;
  struct arrays arrays = {0};
  struct walk w = {.chain = chain,
                   .sets = sets,
                   .first = first,
                   .segments = segments,
                   .nsegments = nsegments,
                   .ordered = ordered};
  const bool all = make_room(&w, &arrays, nloops);
  if (all) {
    chain_note_changed(chain, w.changed);
    walk_forwards(&w);
    for (int s = 0; s < nsegments; s++)
      walk_back(&w, s);
  }
  arrays_free(&arrays);
  *out = all ? w.when : NULL;
  if (all)
    return OP_OK;
  early_free(w.when, nloops);
  return error_memory(err, "what of a chain needs no messages", 0);
}
