/* Verifying the schedule of loops that follow one another: whatever built it, with phases or with items that wait for one
 * another. Each element of each loop runs once. What two items do to one target is looked at loop by loop, from the
 * accesses alone: where one must come before the other, the schedule must say so. */
#include <limits.h>
#include <string.h>

#include "base/list.h"
#include "plan/plan_staging.h"
#include "plan/tasks.h"

#define WRONG(...) return error_mistake(err, OP_ERR_PLAN, __VA_ARGS__)

/* The number of items that are looked for at a time, among those that others wait for. */
enum { AT_ONCE = 1024, WORDS = AT_ONCE / 64 };

/* The items that changed a target last, in one loop, and those that read it since: lists, by their places in `done`
 * counted from 1, so that 0 is none. */
struct past {
  int writers, readers;
};
struct done {
  int item, next;
};

struct check {
  struct arrays arrays; /* but for those that grow */
  const struct schedule *s;
  const struct tasks_loop *loops;
  const long *sizes;
  int nloops;
  long begin;
  int *phase;          /* of items */
  int *order;          /* items, each behind those that it waits for; with phases as they stand */
  struct past **pasts; /* of dats that some loop changes: of the others nobody minds anything */
  int ndats;
  struct done *done;
  size_t ndone;
  int unused;         /* those that are in no list any more, as a list */
  struct wait *pairs; /* items that wait, some way: to be verified together */
  size_t npairs;
  int *met; /* of items: the last one that must come behind it, as far as is known */
  struct error *err;
  int code; /* of what failed, if anything */
};

/* ---- items and elements ---- */

/* Works of one loop are ranges and its list. */
static int loop_of(const struct check *c, const struct item *item) {
  return c->nloops == 1 ? 0 : item->work;
}

static bool is_listed(const struct check *c, const struct item *item) {
  return c->s->list && item->work == WORK_LIST;
}

/* Counted from the first one of the loop. */
static long element_at(const struct check *c, const struct item *item, long position) {
  return (is_listed(c, item) ? c->s->list[position] : position) - c->begin;
}

static int verify_items(const struct check *c, int loop, struct error *err) {
  const long size = c->sizes[loop];
  bool *met = array_new((size_t)size, sizeof *met);
  long count = 0;
  int code = met ? OP_OK : error_memory(err, "the check of a schedule", (size_t)size);
  for (int i = 0; !code && i < c->s->nitems; i++) {
    const struct item *item = &c->s->items[i];
    const long first = is_listed(c, item) ? 0 : c->begin,
               most = is_listed(c, item) ? c->s->list_length : c->begin + size;
    if (loop_of(c, item) != loop)
      continue;
    if (item->begin < first || item->begin > item->end || item->end > most)
      code = error_mistake(err, OP_ERR_PLAN,
                           "item %d of loop %d goes from %ld to %ld, expected a range in %ld to %ld", i, loop,
                           item->begin, item->end, first, most);
    for (long p = item->begin; !code && p < item->end; p++, count++) {
      const long e = element_at(c, item, p);
      if (e < 0 || e >= size)
        code = error_mistake(err, OP_ERR_PLAN, "item %d lists element %ld of loop %d, which has %ld", i, e,
                             loop, size);
      else if (met[e])
        code = error_mistake(err, OP_ERR_PLAN,
                             "element %ld of loop %d runs twice, the second time in item %d", e, loop, i);
      else
        met[e] = true;
    }
  }
  free(met);
  if (!code && count < size)
    WRONG("%ld elements of loop %d never run", size - count, loop);
  return code;
}

static int verify_phases(const struct check *c, struct error *err) {
  const struct schedule *s = c->s;
  int next = 0;
  if (s->waits && s->nphases != 1)
    WRONG("items that wait for one another are in %d phases, expected one", s->nphases);
  for (int p = 0; p < s->nphases; p++) {
    const struct phase *phase = &s->phases[p];
    if (phase->first != next || phase->count < 0 || phase->count > s->nitems - next)
      WRONG("phase %d begins at item %d, expected %d", p, phase->first, next);
    next += phase->count;
    for (int i = phase->first; i < next; i++) {
      const struct item *item = &s->items[i];
      const int works = c->nloops == 1 && s->list ? WORK_LIST + 1 : c->nloops;
      if (item->work < 0 || item->work >= works)
        WRONG("item %d is of work %d, there are %d", i, item->work, works);
      if (phase->owned != (item->owner >= 0) || (s->waits && phase->owned))
        WRONG("item %d has owner %d in a phase %s owners", i, item->owner, phase->owned ? "with" : "without");
      c->phase[i] = p;
    }
  }
  if (next != s->nitems)
    WRONG("the phases have %d items of %d", next, s->nitems);
  return OP_OK;
}

static int find_order(const struct check *c, struct error *err) {
  const int n = c->s->nitems;
  for (int i = 0; i < n; i++)
    c->order[i] = i;
  const int ordered = c->s->waits ? waits_order(c->s->waits, c->order, c->met) : n;
  for (int i = 0; i < n; i++)
    c->met[i] = -1;
  if (ordered < n)
    WRONG("%d items wait for one another in a circle", n - ordered);
  return OP_OK;
}

/* ---- what must be in order ---- */

static int no_memory(struct check *c) {
  return c->code = error_memory(c->err, "the check of a schedule", c->npairs * sizeof *c->pairs);
}

/* True if the schedule says that the item comes behind `before`. For items that wait, verify_pairs finds it later. */
static bool follows(struct check *c, int item, int before) {
  const struct item *items = c->s->items;
  if (before == item)
    return true;
  if (!c->s->waits)
    return c->phase[before] < c->phase[item] ||
           (c->phase[before] == c->phase[item] && before < item && items[item].owner >= 0 &&
            items[before].owner == items[item].owner);
  if (c->met[before] == item)
    return true;
  c->met[before] = item;
  struct wait *pairs = array_more(c->pairs, c->npairs, sizeof *pairs);
  if (!pairs)
    return !no_memory(c);
  c->pairs = pairs;
  pairs[c->npairs++] = (struct wait){item, before};
  return true;
}

/* All of a list. `loop`: those of this one alone; -1: all. */
static bool follows_all(struct check *c, int item, int list, int loop) {
  bool good = true;
  for (; good && list > 0; list = c->done[list - 1].next)
    good = (loop >= 0 && loop_of(c, &c->s->items[c->done[list - 1].item]) != loop) ||
           follows(c, item, c->done[list - 1].item);
  return good;
}

static bool note(struct check *c, int *list, int item) {
  if (*list > 0 && c->done[*list - 1].item == item)
    return true;
  if (c->unused > 0) {
    const int place = c->unused;
    c->unused = c->done[place - 1].next;
    c->done[place - 1] = (struct done){item, *list};
    *list = place;
    return true;
  }
  struct done *done = c->ndone < INT_MAX ? array_more(c->done, c->ndone, sizeof *done) : NULL;
  if (!done)
    return !no_memory(c);
  c->done = done;
  done[c->ndone++] = (struct done){item, *list};
  *list = (int)c->ndone;
  return true;
}

static void forget(struct check *c, int *list) {
  while (*list > 0) {
    const int place = *list;
    *list = c->done[place - 1].next;
    c->done[place - 1].next = c->unused;
    c->unused = place;
  }
}

/* The steps of a loop: all its accesses are compared with earlier loops; then its writes, then its reads become the past. */
enum step { COMPARE, WRITES, READS, STEPS };

/* NULL: it is right, or there is an error already. Else what comes too early. */
static const char *visit(struct check *c, enum step step, struct past *p, int item, enum chain_use use) {
  const bool reads = use == CHAIN_READS;
  const int loop = loop_of(c, &c->s->items[item]);
  if (step == COMPARE) {
    if (!follows_all(c, item, p->writers, -1))
      return "written";
    return reads || follows_all(c, item, p->readers, -1) ? NULL : "read";
  }
  if (reads != (step == READS))
    return NULL;
  if (reads)
    return note(c, &p->readers, item), NULL;
  if (p->writers > 0 && loop_of(c, &c->s->items[c->done[p->writers - 1].item]) != loop)
    forget(c, &p->writers);
  if (use == CHAIN_ADDS && !follows_all(c, item, p->writers, loop))
    return "added to";
  if (use == CHAIN_ADDS)
    forget(c, &p->writers); /* the item comes behind all of them */
  if (p->writers == 0)
    forget(c, &p->readers);
  return note(c, &p->writers, item), NULL;
}

static int visit_access(struct check *c, enum step step, int item, const struct tasks_access *a) {
  const struct item *it = &c->s->items[item];
  struct past *pasts = c->pasts[a->at.target];
  for (long i = it->begin; pasts && i < it->end; i++) {
    const long e = element_at(c, it, i);
    for (long p = column_place(&a->at, e); p < column_place(&a->at, e + 1); p++) {
      const int target = column_target(&a->at, p);
      const char *what = visit(c, step, &pasts[target], item, a->use);
      if (what && !c->code)
        return error_mistake(c->err, OP_ERR_PLAN,
                             "element %ld of loop %d comes too early: element %d of dat %d is not %s yet by "
                             "those before it",
                             e, loop_of(c, it), target, a->at.target, what);
      if (c->code)
        return c->code;
    }
  }
  return OP_OK;
}

static int visit_loop(struct check *c, int l) {
  int code = OP_OK;
  for (enum step step = COMPARE; step < STEPS; step++)
    for (int i = 0; !code && i < c->s->nitems; i++)
      for (int a = 0; !code && loop_of(c, &c->s->items[c->order[i]]) == l && a < c->loops[l].naccesses; a++)
        code = visit_access(c, step, c->order[i], &c->loops[l].accesses[a]);
  return code;
}

/* Items with one slot follow one another: nobody adds to it at the same time. */
static int verify_slots(struct check *c, int l) {
  const int nslots = c->loops[l].nslots;
  int *last = array_new((size_t)nslots, sizeof *last);
  int code = last ? OP_OK : no_memory(c);
  for (int k = 0; !code && nslots > 0 && k < c->s->nitems; k++) {
    const int i = c->order[k], slot = c->s->items[i].slot;
    if (loop_of(c, &c->s->items[i]) != l)
      continue;
    if (slot < 0 || slot >= nslots)
      code = error_mistake(c->err, OP_ERR_PLAN, "item %d of loop %d has slot %d of %d", i, l, slot, nslots);
    else if (last[slot] > 0 && !follows(c, i, last[slot] - 1))
      code = error_mistake(c->err, OP_ERR_PLAN, "items %d and %d of loop %d share slot %d side by side",
                           last[slot] - 1, i, l, slot);
    else
      last[slot] = i + 1;
  }
  free(last);
  return code ? code : c->code;
}

static void make_pasts(struct check *c) {
  for (int l = 0; l < c->nloops; l++)
    for (int a = 0; a < c->loops[l].naccesses; a++)
      if (c->loops[l].accesses[a].at.target >= c->ndats)
        c->ndats = c->loops[l].accesses[a].at.target + 1;
  c->pasts = arrays_add(&c->arrays, (size_t)c->ndats, sizeof *c->pasts);
  for (int l = 0; l < c->nloops; l++)
    for (int a = 0; c->pasts && a < c->loops[l].naccesses; a++) {
      const struct tasks_access *access = &c->loops[l].accesses[a];
      struct past **past = &c->pasts[access->at.target];
      if (access->use != CHAIN_READS && !*past)
        *past = arrays_add(&c->arrays, (size_t)access->at.target_size, sizeof **past);
    }
}

/* ---- do items wait, some way ---- */

/* `behind`: of each item, which of the items first .. first + AT_ONCE - 1 it waits for, some way. */
static void follow(const struct check *c, int first, uint64_t (*behind)[WORDS]) {
  memset(behind, 0, (size_t)c->s->nitems * sizeof *behind);
  for (int k = 0; k < c->s->nitems; k++) {
    const int i = c->order[k];
    int count;
    const int *after = waits_after(c->s->waits, i, &count);
    for (int n = 0; n < count; n++) {
      uint64_t *to = behind[after[n]];
      for (int w = 0; w < WORDS; w++)
        to[w] |= behind[i][w];
      if (i >= first && i < first + AT_ONCE)
        to[(i - first) / 64] |= (uint64_t)1 << ((i - first) % 64);
    }
  }
}

static int verify_pairs(const struct check *c, struct error *err) {
  uint64_t(*behind)[WORDS] = array_new((size_t)c->s->nitems, sizeof *behind);
  int code = behind ? OP_OK : error_memory(err, "the check of a schedule", sizeof *behind);
  for (int first = 0; !code && c->s->waits && first < c->s->nitems; first += AT_ONCE) {
    follow(c, first, behind);
    for (size_t i = 0; !code && i < c->npairs; i++) {
      const struct wait *p = &c->pairs[i];
      const int bit = p->before - first;
      if (bit >= 0 && bit < AT_ONCE && !(behind[p->item][bit / 64] >> (bit % 64) & 1))
        code = error_mistake(
            err, OP_ERR_PLAN,
            "item %d touches what item %d touches, and one of them changes it; it does not wait", p->item,
            p->before);
    }
  }
  free(behind);
  return code;
}

/* ---- all of it ---- */

int tasks_verify(const struct schedule *s, const struct tasks_loop *loops, const long *sizes, int nloops,
                 long begin, struct error *err) {
  const size_t n = (size_t)s->nitems;
  struct check c = {.s = s, .loops = loops, .sizes = sizes, .nloops = nloops, .begin = begin, .err = err};
  c.phase = arrays_add(&c.arrays, n, sizeof *c.phase);
  c.order = arrays_add(&c.arrays, n, sizeof *c.order);
  c.met = arrays_add(&c.arrays, n, sizeof *c.met);
  make_pasts(&c);
  int code = c.arrays.failed ? no_memory(&c) : OP_OK;
  if (!code)
    code = verify_phases(&c, err);
  for (int l = 0; !code && l < nloops; l++)
    code = verify_items(&c, l, err);
  if (!code)
    code = find_order(&c, err);
  for (int l = 0; !code && l < nloops; l++) {
    code = visit_loop(&c, l);
    if (!code)
      code = verify_slots(&c, l);
  }
  if (!code)
    code = verify_pairs(&c, err);
  arrays_free(&c.arrays);
  free(c.done);
  free(c.pairs);
  return code;
}
