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

static int make_list(struct copies_list *list, const bool *marks, long begin, long end, struct error *err) {
  long count = 0;
  for (long e = begin; e < end; e++)
    count += marks[e];
  list->elements = array_new((size_t)count, sizeof *list->elements);
  if (!list->elements)
    return error_memory(err, "the copies that a chain runs on", (size_t)count * sizeof *list->elements);
  for (long e = begin; e < end; e++)
    if (marks[e])
      list->elements[list->count++] = (int)e;
  return OP_OK;
}

static int find(struct finder *f, struct deep_copies *c, int first, int end, struct error *err) {
  int code = OP_OK;
  for (int l = end - 1; !code && l >= first; l--) {
    const struct chain_loop *loop = &f->chain->loops[l];
    find_runs(f, loop);
    for (int i = 0; i < loop->naccesses; i++)
      forget_overwritten(f, loop, loop->accesses[i].dat);
    find_needed(f, loop);
    code = make_list(&c->run[l - first], f->runs, f->sets[loop->set].owned, f->sets[loop->set].all, err);
  }
  for (int d = 0; !code && d < c->ndats; d++)
    code = make_list(&c->need[d], f->needed[d], set_of(f, d)->owned, set_of(f, d)->all, err);
  return code;
}

static bool make_room(struct finder *f) {
  long most = 0;
  for (int s = 0; s < f->chain->nsets; s++)
    most = f->sets[s].all > most ? f->sets[s].all : most;
  f->runs = array_new((size_t)most, sizeof *f->runs);
  f->needed = array_new((size_t)f->chain->ndats, sizeof *f->needed);
  bool all = f->runs && f->needed;
  for (int d = 0; all && d < f->chain->ndats; d++) {
    f->needed[d] = array_new((size_t)set_of(f, d)->all, sizeof *f->needed[d]);
    all = f->needed[d];
  }
  return all;
}

int deep_copies_find(struct deep_copies *c, const struct chain *chain, const struct copies_set *sets,
                     int first, int end, struct error *err) {
  struct finder f = {.chain = chain, .sets = sets};
  *c = (struct deep_copies){.run = array_new((size_t)(end - first), sizeof *c->run),
                            .need = array_new((size_t)chain->ndats, sizeof *c->need),
                            .nloops = end - first,
                            .ndats = chain->ndats};
  int code =
      make_room(&f) && c->run && c->need ? OP_OK : error_memory(err, "the copies that a chain runs on", 0);
  if (!code)
    code = find(&f, c, first, end, err);
  for (int d = 0; f.needed && d < chain->ndats; d++)
    free(f.needed[d]);
  free(f.needed);
  free(f.runs);
  if (code)
    deep_copies_free(c);
  return code;
}

void deep_copies_free(struct deep_copies *c) {
  for (int l = 0; c->run && l < c->nloops; l++)
    free(c->run[l].elements);
  for (int d = 0; c->need && d < c->ndats; d++)
    free(c->need[d].elements);
  free(c->run);
  free(c->need);
  *c = (struct deep_copies){0};
}
