/* Verifying the tiles of a chain: whatever built them. One dat says nothing of another: threads share them out. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "plan/tiles/tiles.h"

#define WRONG(...) return error_mistake(err, OP_ERR_PLAN, __VA_ARGS__)

/* Items have numbers here, in each phase owner by owner; in front of a phase's own there is one that means several owners.
 * So it is a matter of ranges what was over before an item. */
struct turn {
  int before, end;      /* the last numbers of the phases before, and of this one */
  int first, last, own; /* of its owner in this phase, and the item's own */
};

/* Who did something to an element of a dat, in the last phase in which anybody did: the last item, or that there were
 * several owners; 0: nobody. */
struct value {
  int reader, writer;
};

enum fault_kind { NO_FAULT, NOT_WRITTEN, NOT_READ, ADDS_TOO };
struct fault {
  enum fault_kind kind;
  int loop;
  long element, target;
};

struct check {
  const struct tiles *tiles;
  const struct chain *chain;
  int *phase;            /* of items */
  struct turn *turns;    /* of items */
  int *items, *first;    /* items of each loop in their order, and where those of each loop begin */
  struct value **values; /* of dats that some loop changes: of the others nobody minds anything */
  struct fault *faults;  /* of dats */
  atomic_int next;       /* the dat that is looked at next */
};

/* ---- each element runs once ------------------------------------------------------------------------*/

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
  c->phase[i] = phase;
  c->first[item->work + 1]++;
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
  return status;
}

static void sort_by_loop(const struct check *c) {
  const struct schedule *s = &c->tiles->schedule;
  const int nloops = c->chain->nloops;
  for (int l = 0; l < nloops; l++)
    c->first[l + 1] += c->first[l];
  for (int i = 0; i < s->nitems; i++)
    c->items[c->first[s->items[i].work]++] = i;
  memmove(c->first + 1, c->first, (size_t)nloops * sizeof *c->first);
  c->first[0] = 0;
}

static int by_begin(const void *a, const void *b) {
  const struct item *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static int verify_elements(const struct check *c, int l, struct error *err) {
  const long size = c->chain->sets[c->chain->loops[l].set].size;
  const int n = c->first[l + 1] - c->first[l];
  struct item *sorted = array_new((size_t)n, sizeof *sorted);
  long done = 0, next = size;
  if (!sorted)
    return error_memory(err, "the check of a chain", (size_t)n * sizeof *sorted);
  for (int i = 0; i < n; i++)
    sorted[i] = c->tiles->schedule.items[c->items[c->first[l] + i]];
  qsort(sorted, (size_t)n, sizeof *sorted, by_begin);
  for (int i = 0; i < n && (next = sorted[i].begin) == done; i++, next = size)
    done = sorted[i].end;
  free(sorted);
  if (next < done)
    WRONG("chain: element %ld of loop %d runs twice", next, l);
  if (next > done)
    WRONG("chain: element %ld of loop %d never runs", done, l);
  return OP_OK;
}

/* Items with one slot follow one another: nobody adds to it at the same time. */
static int verify_slots(const struct check *c, int loop, struct error *err) {
  const struct schedule *s = &c->tiles->schedule;
  const int nslots = c->tiles->nslots[loop];
  int *last = array_new((size_t)nslots, sizeof *last), status = OP_OK;
  if (!last)
    return error_memory(err, "the check of a chain", (size_t)nslots * sizeof *last);
  for (int k = c->first[loop]; k < c->first[loop + 1] && !status; k++) {
    const int i = c->items[k], slot = s->items[i].slot, before = last[slot] - 1;
    if (before >= 0 && c->phase[before] == c->phase[i] && s->items[before].owner != s->items[i].owner)
      status = error_mistake(err, OP_ERR_PLAN, "chain: items %d and %d of loop %d share slot %d side by side",
                             before, i, loop, slot);
    last[slot] = i + 1;
  }
  free(last);
  return status;
}

static int verify_loops(const struct check *c, struct error *err) {
  int status = OP_OK;
  sort_by_loop(c);
  for (int l = 0; l < c->chain->nloops && !status; l++) {
    status = verify_elements(c, l, err);
    if (!status && c->chain->loops[l].combines)
      status = verify_slots(c, l, err);
  }
  return status;
}

/* ---- the order of what they do ---------------------------------------------------------------------*/

static int by_owner(const void *a, const void *b) {
  const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;
  return x->owner != y->owner ? (x->owner > y->owner) - (x->owner < y->owner) : (x > y) - (x < y);
}

/* The items of a phase. */
static void number_items(const struct check *c, const struct item **sorted, int count, int before) {
  const int start = before + 2;
  qsort(sorted, (size_t)count, sizeof *sorted, by_owner);
  for (int i = 0, end; i < count; i = end) {
    for (end = i; end < count && sorted[end]->owner == sorted[i]->owner;)
      end++;
    for (int k = i; k < end; k++)
      c->turns[sorted[k] - c->tiles->schedule.items] =
          (struct turn){before, start + count - 1, start + i, start + end - 1, start + k};
  }
}

static int find_turns(const struct check *c, struct error *err) {
  const struct schedule *s = &c->tiles->schedule;
  const struct item **sorted = array_new((size_t)s->nitems, sizeof *sorted);
  if (!sorted)
    return error_memory(err, "the check of a chain", (size_t)s->nitems * sizeof *sorted);
  for (int i = 0; i < s->nitems; i++)
    sorted[i] = &s->items[i];
  for (int p = 0; p < s->nphases; p++)
    number_items(c, sorted + s->phases[p].first, s->phases[p].count, s->phases[p].first + p);
  free(sorted);
  return OP_OK;
}

static inline bool is_before(const struct turn *now, int who) {
  return who <= now->before || (who >= now->first && who < now->own);
}

/* What earlier loops did must be over. */
static inline enum fault_kind verify_order(const struct turn *now, enum chain_use use,
                                           const struct value *v) {
  if (!is_before(now, v->writer))
    return NOT_WRITTEN;
  return use == CHAIN_READS || is_before(now, v->reader) ? NO_FAULT : NOT_READ;
}

static inline int join(const struct turn *now, int who) {
  if (is_before(now, who))
    return now->own;
  return who > now->end || (who >= now->own && who <= now->last) ? who : now->before + 1;
}

/* Now this loop did it too. What earlier loops wrote in this phase had the same owner, else it was not over: another one
 * is that of an element of this loop. */
static inline enum fault_kind enter(const struct turn *now, enum chain_use use, struct value *v) {
  int *who = use == CHAIN_READS ? &v->reader : &v->writer;
  *who = join(now, *who);
  return use == CHAIN_ADDS && *who == now->before + 1 ? ADDS_TOO : NO_FAULT;
}

enum { ORDER = 1, ENTER = 2 };

static inline enum fault_kind visit(const struct turn *now, enum chain_use use, struct value *v,
                                    unsigned steps) {
  const enum fault_kind fault = steps & ORDER ? verify_order(now, use, v) : NO_FAULT;
  return fault || !(steps & ENTER) ? fault : enter(now, use, v);
}

/* What is wrong with an element of the item and its target. */
static bool note_fault(const struct check *c, int i, int dat, enum fault_kind kind, long element,
                       long target) {
  c->faults[dat] = (struct fault){kind, c->tiles->schedule.items[i].work, element, target};
  return false;
}

static bool visit_item(const struct check *c, int i, const struct chain_access *a, unsigned steps) {
  const struct item *item = &c->tiles->schedule.items[i];
  const struct chain_map *map = a->map < 0 ? NULL : &c->chain->maps[a->map];
  const bool single = map && map->table && !map->first && a->count == 1;
  const struct turn now = c->turns[i];
  struct value *values = c->values[a->dat];
  enum fault_kind fault;
  for (long e = item->begin; !map && e < item->end; e++)
    if ((fault = visit(&now, a->use, &values[e], steps)))
      return note_fault(c, i, a->dat, fault, e, e);
  for (long e = item->begin; single && e < item->end; e++) {
    const int target = map->table[e * map->arity + a->first];
    if ((fault = visit(&now, a->use, &values[target], steps)))
      return note_fault(c, i, a->dat, fault, e, target);
  }
  for (long e = item->begin; map && !single && e < item->end; e++)
    for (long k = 0, begin = chain_begin(map, a, e); k < chain_count(map, a, e); k++) {
      const long target = chain_target(map, begin + k);
      if ((fault = visit(&now, a->use, &values[target], steps)))
        return note_fault(c, i, a->dat, fault, e, target);
    }
  return true;
}

/* Item by item, and so phase by phase: only the last phase of each value is kept. */
static bool visit_loop(const struct check *c, int l, int dat, unsigned steps) {
  const struct chain_loop *loop = &c->chain->loops[l];
  for (int k = c->first[l]; k < c->first[l + 1]; k++)
    for (int a = 0; a < loop->naccesses; a++)
      if (loop->accesses[a].dat == dat && !visit_item(c, c->items[k], &loop->accesses[a], steps))
        return false;
  return true;
}

/* No element of the loop changes what another one touches: it has one access, a direct one, or reads only. */
static bool is_at_once(const struct chain_loop *loop, int dat) {
  bool direct = true, reads = true;
  int count = 0;
  for (int a = 0; a < loop->naccesses; a++)
    if (loop->accesses[a].dat == dat) {
      count++;
      direct &= loop->accesses[a].map < 0;
      reads &= loop->accesses[a].use == CHAIN_READS;
    }
  return reads || (direct && count == 1);
}

static void verify_dats(void *argument, int thread, int threads) {
  struct check *c = argument;
  (void)thread;
  (void)threads;
  /* relaxed: each number goes to one thread, and faults are handed on by the team's end */
  for (int d; (d = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < c->chain->ndats;) {
    bool right = true;
    for (int l = 0; c->values[d] && right && l < c->chain->nloops; l++)
      right = is_at_once(&c->chain->loops[l], d) ? visit_loop(c, l, d, ORDER | ENTER)
                                                 : visit_loop(c, l, d, ORDER) && visit_loop(c, l, d, ENTER);
  }
}

static int tell_fault(const struct fault *f, int dat, struct error *err) {
  if (f->kind == ADDS_TOO)
    WRONG("chain: element %ld of loop %d adds to element %ld of dat %d while another one does", f->element,
          f->loop, f->target, dat);
  if (f->kind)
    WRONG(
        "chain: element %ld of loop %d comes too early: element %ld of dat %d is not %s yet by earlier loops",
        f->element, f->loop, f->target, dat, f->kind == NOT_READ ? "read" : "written");
  return OP_OK;
}

/* ---- all of it -------------------------------------------------------------------------------------*/

static bool is_changed(const struct chain *chain, int dat) {
  bool changed = false;
  for (int l = 0; l < chain->nloops; l++)
    for (int a = 0; a < chain->loops[l].naccesses; a++)
      changed |= chain->loops[l].accesses[a].dat == dat && chain->loops[l].accesses[a].use != CHAIN_READS;
  return changed;
}

static int new_check(struct check *c, struct error *err) {
  const size_t items = (size_t)c->tiles->schedule.nitems, dats = (size_t)c->chain->ndats;
  c->phase = array_new(items, sizeof *c->phase);
  c->turns = array_new(items, sizeof *c->turns);
  c->items = array_new(items, sizeof *c->items);
  c->first = array_new((size_t)c->chain->nloops + 1, sizeof *c->first);
  c->values = array_new(dats, sizeof *c->values);
  c->faults = array_new(dats, sizeof *c->faults);
  bool all = c->phase && c->turns && c->items && c->first && c->values && c->faults;
  for (int d = 0; d < c->chain->ndats && all; d++)
    if (is_changed(c->chain, d)) {
      c->values[d] = array_new((size_t)c->chain->sets[c->chain->dats[d]].size, sizeof **c->values);
      all = c->values[d];
    }
  return all ? OP_OK : error_memory(err, "the check of a chain", items * sizeof *c->items);
}

static void free_check(struct check *c) {
  for (int d = 0; c->values && d < c->chain->ndats; d++)
    free(c->values[d]);
  free(c->phase);
  free(c->turns);
  free(c->items);
  free(c->first);
  free(c->values);
  free(c->faults);
}

int tiles_verify(const struct tiles *t, const struct chain *chain, struct team *team, struct error *err) {
  struct check c = {.tiles = t, .chain = chain};
  int status = new_check(&c, err);
  if (!status)
    status = verify_items(&c, err);
  if (!status)
    status = verify_loops(&c, err);
  if (!status)
    status = find_turns(&c, err);
  if (!status && team)
    team_run(team, team_threads(team), verify_dats, &c);
  else if (!status)
    verify_dats(&c, 0, 1);
  for (int d = 0; d < chain->ndats && !status; d++)
    status = tell_fault(&c.faults[d], d, err);
  free_check(&c);
  return status;
}
