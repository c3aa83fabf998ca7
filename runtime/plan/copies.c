#include "plan/copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

struct finder {
  const struct chain *chain;
  const struct copies_set *sets;
  bool **needed; /* of dats: copies whose newest values are needed before a loop */
  bool *runs;    /* of the elements of the loop's set */
};

static const struct copies_set *set_of(const struct finder *f, int dat) {
  return &f->sets[f->chain->dats[dat]];
}

static bool is_needed(const struct finder *f, int dat, long e) {
  return e < set_of(f, dat)->owned || f->needed[dat][e];
}

/* ---- one loop ---- */

/* True if the element changes, by the access, a value that somebody needs. */
static bool changes(const struct finder *f, const struct chain_loop *loop, const struct chain_access *a,
                    long e) {
  if (a->map < 0)
    return is_needed(f, a->dat, e);
  const struct chain_map *map = &f->chain->maps[a->map];
  bool any = false;
  for (long k = 0; e < f->sets[loop->set].rows && k < a->count; k++)
    any |= is_needed(f, a->dat, chain_target(map, chain_begin(map, a, e) + k));
  return any;
}

static void find_runs(const struct finder *f, const struct chain_loop *loop) {
  const struct copies_set *set = &f->sets[loop->set];
  memset(f->runs, 0, (size_t)set->all * sizeof *f->runs);
  for (int i = 0; i < loop->naccesses; i++)
    for (long e = set->owned; loop->accesses[i].use != CHAIN_READS && e < set->all; e++)
      f->runs[e] |= changes(f, loop, &loop->accesses[i], e);
  for (long e = set->owned; loop->gives && e < set->rows; e++)
    f->runs[e] = true;
}

/* All of the dat's values are new: each copy that is needed was among those that run. */
static void forget_overwritten(const struct finder *f, const struct chain_loop *loop, int dat) {
  bool all = loop->whole;
  for (int i = 0; i < loop->naccesses; i++)
    if (loop->accesses[i].dat == dat)
      all &= loop->accesses[i].use == CHAIN_OVERWRITES && loop->accesses[i].map < 0;
  if (all)
    memset(f->needed[dat], 0, (size_t)set_of(f, dat)->all * sizeof *f->needed[dat]);
}

static void need(const struct finder *f, const struct chain_loop *loop, const struct chain_access *a,
                 long e) {
  if (a->map < 0) {
    f->needed[a->dat][e] = true;
    return;
  }
  const struct chain_map *map = &f->chain->maps[a->map];
  for (long k = 0; e < f->sets[loop->set].rows && k < a->count; k++)
    f->needed[a->dat][chain_target(map, chain_begin(map, a, e) + k)] = true;
}

static void find_needed(const struct finder *f, const struct chain_loop *loop) {
  const struct copies_set *set = &f->sets[loop->set];
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    if (a->use != CHAIN_READS && a->use != CHAIN_WRITES)
      continue;
    for (long e = set->core; e < set->all; e++)
      if (e < set->owned || f->runs[e])
        need(f, loop, a, e);
  }
}

/* ---- a segment ---- */

static void make_list(struct arrays *arrays, struct copies_list *list, const bool *marks, long begin,
                      long end) {
  long count = 0;
  for (long e = begin; e < end; e++)
    count += marks[e];
  list->elements = arrays_add(arrays, (size_t)count, sizeof *list->elements);
  for (long e = begin; list->elements && e < end; e++)
    if (marks[e])
      list->elements[list->count++] = (int)e;
}

static void find(struct finder *f, struct deep_copies *c, int first, int end) {
  for (int l = end - 1; l >= first; l--) {
    const struct chain_loop *loop = &f->chain->loops[l];
    find_runs(f, loop);
    for (int i = 0; i < loop->naccesses; i++)
      forget_overwritten(f, loop, loop->accesses[i].dat);
    find_needed(f, loop);
    make_list(&c->arrays, &c->run[l - first], f->runs, f->sets[loop->set].owned, f->sets[loop->set].all);
  }
  for (int d = 0; d < c->ndats; d++)
    make_list(&c->arrays, &c->need[d], f->needed[d], set_of(f, d)->owned, set_of(f, d)->all);
}

static void make_room(struct finder *f, struct arrays *arrays) {
  long most = 0;
  for (int s = 0; s < f->chain->nsets; s++)
    most = f->sets[s].all > most ? f->sets[s].all : most;
  f->runs = arrays_add(arrays, (size_t)most, sizeof *f->runs);
  f->needed = arrays_add(arrays, (size_t)f->chain->ndats, sizeof *f->needed);
  for (int d = 0; f->needed && d < f->chain->ndats; d++)
    f->needed[d] = arrays_add(arrays, (size_t)set_of(f, d)->all, sizeof *f->needed[d]);
}

int deep_copies_find(struct deep_copies *c, const struct chain *chain, const struct copies_set *sets,
                     int first, int end, struct error *err) {
  struct finder f = {.chain = chain, .sets = sets};
  struct arrays room = {0};
  *c = (struct deep_copies){.ndats = chain->ndats};
  c->run = arrays_add(&c->arrays, (size_t)(end - first), sizeof *c->run);
  c->need = arrays_add(&c->arrays, (size_t)chain->ndats, sizeof *c->need);
  make_room(&f, &room);
  if (!room.failed && !c->arrays.failed)
    find(&f, c, first, end);
  arrays_free(&room);
  if (!room.failed && !c->arrays.failed)
    return OP_OK;
  deep_copies_free(c);
  return error_memory(err, "the copies that a chain runs on", 0);
}

void deep_copies_free(struct deep_copies *c) {
  arrays_free(&c->arrays);
  *c = (struct deep_copies){0};
}
