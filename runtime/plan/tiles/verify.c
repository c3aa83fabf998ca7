/* Verifying the tiles of a chain: whatever built them. */
#include <string.h>

#include "base/size.h"
#include "plan/tiles/tiles.h"

#define WRONG(...) return error_mistake(err, OP_ERR_PLAN, __VA_ARGS__)

/* Those who did something to an element of a dat, the last phase of theirs only. */
enum { SEVERAL = -2 };
struct who {
  int phase, owner, item; /* the last item; owner SEVERAL: they ran side by side */
  int loop;               /* the last one */
};

struct value {
  struct who reader, writer; /* phase -1: nobody */
};

struct check {
  const struct tiles *tiles;
  const struct chain *chain;
  int *phase_of;         /* of items */
  int **items;           /* of each loop and element, who runs it: item + 1 */
  struct value **values; /* of each dat */
};

static int verify_item(const struct check *c, int i, int phase, struct error *err) {
  const struct item *item = &c->tiles->schedule.items[i];
  if (item->work < 0 || item->work >= c->chain->nloops)
    WRONG("chain: item %d is of loop %d, there are %d", i, item->work, c->chain->nloops);
  const struct chain_loop *loop = &c->chain->loops[item->work];
  const long size = c->chain->sets[loop->set].size;
  const int slots = loop->combines ? c->tiles->nslots[item->work] : 1;
  if (item->begin < 0 || item->begin >= item->end || item->end > size)
    WRONG("chain: item %d goes from %ld to %ld of %ld elements", i, item->begin, item->end, size);
  if (item->owner < 0)
    WRONG("chain: item %d has no owner", i);
  if (item->slot < 0 || item->slot >= slots)
    WRONG("chain: item %d has slot %d of %d", i, item->slot, slots);
  c->phase_of[i] = phase;
  for (long e = item->begin; e < item->end; e++) {
    if (c->items[item->work][e])
      WRONG("chain: element %ld of loop %d runs twice, the second time in item %d", e, item->work, i);
    c->items[item->work][e] = i + 1;
  }
  return OP_OK;
}

static int verify_items(const struct check *c, struct error *err) {
  const struct schedule *s = &c->tiles->schedule;
  int next = 0, status = OP_OK;
  for (int p = 0; p < s->nphases; p++) {
    if (s->phases[p].first != next || s->phases[p].count < 0 || s->phases[p].count > s->nitems - next)
      WRONG("chain: phase %d begins at item %d, expected %d", p, s->phases[p].first, next);
    next += s->phases[p].count;
    for (int i = s->phases[p].first; i < next && !status; i++)
      status = verify_item(c, i, p, err);
  }
  if (!status && next != s->nitems)
    WRONG("chain: the phases have %d items of %d", next, s->nitems);
  for (int l = 0; l < c->chain->nloops && !status; l++)
    for (long e = 0; e < c->chain->sets[c->chain->loops[l].set].size; e++)
      if (!c->items[l][e])
        WRONG("chain: element %ld of loop %d never runs", e, l);
  return status;
}

/* Items with one slot follow one another: nobody adds to it at the same time. */
static int verify_slots(const struct check *c, int loop, struct error *err) {
  const struct schedule *s = &c->tiles->schedule;
  const int nslots = c->tiles->nslots[loop];
  int *last = array_new((size_t)nslots, sizeof *last), status = OP_OK;
  if (!last)
    return error_memory(err, "the check of a chain", (size_t)nslots * sizeof *last);
  for (int i = 0; i < s->nitems && !status; i++) {
    const struct item *item = &s->items[i];
    if (item->work != loop)
      continue;
    const int before = last[item->slot] - 1;
    if (before >= 0 && c->phase_of[before] == c->phase_of[i] && s->items[before].owner != item->owner)
      status = error_mistake(err, OP_ERR_PLAN, "chain: items %d and %d of loop %d share slot %d side by side",
                             before, i, loop, item->slot);
    last[item->slot] = i + 1;
  }
  free(last);
  return status;
}

static bool is_before(const struct who *a, const struct who *b) {
  return a->phase < b->phase || (a->phase == b->phase && a->owner == b->owner && a->item < b->item);
}

static void join(struct who *all, const struct who *one) {
  if (all->phase < one->phase)
    *all = *one;
  else if (all->phase == one->phase) {
    all->owner = all->owner == one->owner ? one->owner : SEVERAL;
    all->item = all->item < one->item ? one->item : all->item;
  }
  all->loop = one->loop;
}

/* What earlier loops did must be over. */
static int verify_order(struct value *v, const struct who *now, const struct chain_access *a, long element,
                        long target, struct error *err) {
  if (!is_before(&v->writer, now))
    WRONG(
        "chain: element %ld of loop %d comes too early: element %ld of dat %d is not written yet by loop %d",
        element, now->loop, target, a->dat, v->writer.loop);
  if (a->use != CHAIN_READS && !is_before(&v->reader, now))
    WRONG("chain: element %ld of loop %d comes too early: element %ld of dat %d is not read yet by loop %d",
          element, now->loop, target, a->dat, v->reader.loop);
  return OP_OK;
}

/* Now this loop did it too, and others of its elements must not have done so at the same time. */
static int enter(struct value *v, const struct who *now, const struct chain_access *a, long element,
                 long target, struct error *err) {
  const struct who *w = &v->writer;
  if (a->use == CHAIN_ADDS && w->loop == now->loop && w->phase == now->phase && w->owner != now->owner)
    WRONG("chain: element %ld of loop %d adds to element %ld of dat %d while another one does", element,
          now->loop, target, a->dat);
  join(a->use == CHAIN_READS ? &v->reader : &v->writer, now);
  return OP_OK;
}

typedef int visit(struct value *v, const struct who *now, const struct chain_access *a, long element,
                  long target, struct error *err);

/* Of the elements that run in this phase, or of all (-1). */
static int visit_access(const struct check *c, int l, const struct chain_access *a, int phase, visit *f,
                        struct error *err) {
  const struct chain_map *map = a->map < 0 ? NULL : &c->chain->maps[a->map];
  const long size = c->chain->sets[c->chain->loops[l].set].size;
  int status = OP_OK;
  for (long e = 0; e < size && !status; e++) {
    const int item = c->items[l][e] - 1;
    const struct who now = {c->phase_of[item], c->tiles->schedule.items[item].owner, item, l};
    const long count = phase >= 0 && phase != now.phase ? 0 : map ? chain_count(map, a, e) : 1;
    const long begin = map ? chain_begin(map, a, e) : e;
    for (long k = 0; k < count && !status; k++) {
      const long target = map ? chain_target(map, begin + k) : e;
      status = f(&c->values[a->dat][target], &now, a, e, target, err);
    }
  }
  return status;
}

/* Its elements are entered in the order of phases, for only the last one of each value is kept. */
static int verify_loop(const struct check *c, int l, struct error *err) {
  const struct chain_loop *loop = &c->chain->loops[l];
  int status = loop->combines ? verify_slots(c, l, err) : OP_OK;
  for (int a = 0; a < loop->naccesses && !status; a++)
    status = visit_access(c, l, &loop->accesses[a], -1, verify_order, err);
  for (int p = 0; p < c->tiles->schedule.nphases; p++)
    for (int a = 0; a < loop->naccesses && !status; a++)
      status = visit_access(c, l, &loop->accesses[a], p, enter, err);
  return status;
}

static int new_check(struct check *c, struct error *err) {
  bool all = true;
  c->phase_of = array_new((size_t)c->tiles->schedule.nitems, sizeof *c->phase_of);
  c->items = array_new((size_t)c->chain->nloops, sizeof *c->items);
  c->values = array_new((size_t)c->chain->ndats, sizeof *c->values);
  all = c->phase_of && c->items && c->values;
  for (int l = 0; l < c->chain->nloops && all; l++) {
    c->items[l] = array_new((size_t)c->chain->sets[c->chain->loops[l].set].size, sizeof **c->items);
    all = c->items[l];
  }
  for (int d = 0; d < c->chain->ndats && all; d++) {
    const long size = c->chain->sets[c->chain->dats[d]].size;
    c->values[d] = array_new((size_t)size, sizeof **c->values);
    all = c->values[d];
    for (long e = 0; e < size && all; e++)
      c->values[d][e].reader.phase = c->values[d][e].writer.phase = c->values[d][e].writer.loop = -1;
  }
  return all ? OP_OK : error_memory(err, "the check of a chain", sizeof(struct value));
}

static void free_check(struct check *c) {
  for (int l = 0; c->items && l < c->chain->nloops; l++)
    free(c->items[l]);
  for (int d = 0; c->values && d < c->chain->ndats; d++)
    free(c->values[d]);
  free(c->phase_of);
  free(c->items);
  free(c->values);
}

int tiles_verify(const struct tiles *t, const struct chain *chain, struct error *err) {
  struct check c = {.tiles = t, .chain = chain};
  int status = new_check(&c, err);
  if (!status)
    status = verify_items(&c, err);
  for (int l = 0; l < chain->nloops && !status; l++)
    status = verify_loop(&c, l, err);
  free_check(&c);
  return status;
}
