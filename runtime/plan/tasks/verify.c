/* Verifying items that wait for one another: whatever built them. What must be in order is collected as pairs, from the
 * accesses alone; then it is looked whether a way of waiting leads from one to the other. */
#include <limits.h>
#include <string.h>

#include "base/size.h"
#include "plan/plan_inner.h"
#include "plan/tasks/tasks.h"

#define WRONG(...) return error_mistake(err, OP_ERR_PLAN, __VA_ARGS__)

/* So many items at a time are looked for among those that others wait for. */
enum { AT_ONCE = 1024, WORDS = AT_ONCE / 64 };

/* The item that changed a target last, and a list of those that read it since, by their places in `readings` counted from
 * 1; counted from 1 as well, so that 0 is none. */
struct past {
  int changed, readings;
};
struct reading {
  int item, next;
};

struct check {
  const struct schedule *s;
  const struct tasks_loop *loops;
  const long *sizes;
  int nloops;
  long begin;
  int *order;          /* items, each behind those that it waits for */
  struct past **pasts; /* of dats */
  int ndats;
  struct reading *readings;
  size_t nreadings;
  struct wait *pairs;
  size_t npairs;
  int *met; /* of items: the last one that must come behind it, as far as is known */
};

static int verify_items(const struct check *c, int loop, struct error *err) {
  const long size = c->sizes[loop];
  bool *met = array_new((size_t)size, sizeof *met), *slots = array_new((size_t)c->s->nitems, sizeof *slots);
  long count = 0;
  int code = met && slots ? OP_OK : error_memory(err, "the check of tasks", (size_t)size);
  for (int i = 0; !code && i < c->s->nitems; i++) {
    const struct item *item = &c->s->items[i];
    const long begin = item->begin - c->begin, end = item->end - c->begin;
    if (item->work != loop)
      continue;
    if (begin < 0 || begin > end || end > size || item->owner >= 0)
      code = error_mistake(err, OP_ERR_PLAN, "item %d goes from %ld to %ld of %ld elements, with owner %d", i,
                           begin, end, size, item->owner);
    else if (item->slot < 0 || item->slot >= c->s->nitems || slots[item->slot])
      code =
          error_mistake(err, OP_ERR_PLAN, "item %d has the slot %d, and so has another one", i, item->slot);
    else
      slots[item->slot] = true;
    for (long e = begin; !code && e < end; e++, count++) {
      if (met[e])
        code = error_mistake(err, OP_ERR_PLAN,
                             "element %ld of loop %d runs twice, the second time in item %d", e, loop, i);
      else
        met[e] = true;
    }
  }
  free(met);
  free(slots);
  if (!code && count < size)
    WRONG("%ld elements of loop %d never run", size - count, loop);
  return code;
}

static int verify_form(struct check *c, struct error *err) {
  const struct schedule *s = c->s;
  int code = OP_OK;
  if (s->nphases != 1 || s->phases[0].first != 0 || s->phases[0].count != s->nitems || s->phases[0].owned)
    WRONG("items that wait for one another are in %d phases, expected one without owners", s->nphases);
  for (int i = 0; i < s->nitems; i++)
    if (s->items[i].work < 0 || s->items[i].work >= c->nloops)
      WRONG("item %d is of work %d, there are %d", i, s->items[i].work, c->nloops);
  for (int l = 0; !code && l < c->nloops; l++)
    code = verify_items(c, l, err);
  if (code)
    return code;
  int *left = array_new((size_t)s->nitems, sizeof *left);
  if (!left)
    return error_memory(err, "the check of tasks", (size_t)s->nitems * sizeof *left);
  const int ordered = waits_order(s->waits, c->order, left);
  free(left);
  if (ordered < s->nitems)
    WRONG("%d items wait for one another in a circle", s->nitems - ordered);
  return OP_OK;
}

/* ---- what must be in order ---- */

static bool must_follow(struct check *c, int item, int before) {
  if (before == item || c->met[before] == item)
    return true;
  c->met[before] = item;
  struct wait *pairs = array_more(c->pairs, c->npairs, sizeof *pairs);
  if (pairs) {
    c->pairs = pairs;
    pairs[c->npairs++] = (struct wait){item, before};
  }
  return pairs;
}

static bool note_reading(struct check *c, struct past *p, int item) {
  struct reading *readings =
      c->nreadings < INT_MAX ? array_more(c->readings, c->nreadings, sizeof *readings) : NULL;
  if (!readings)
    return false;
  c->readings = readings;
  readings[c->nreadings++] = (struct reading){item, p->readings};
  p->readings = (int)c->nreadings;
  return true;
}

static bool touch(struct check *c, struct past *p, int item, bool reads) {
  bool whole = p->changed == 0 || must_follow(c, item, p->changed - 1);
  if (reads)
    return whole &&
           ((p->readings > 0 && c->readings[p->readings - 1].item == item) || note_reading(c, p, item));
  for (int r = p->readings; whole && r > 0; r = c->readings[r - 1].next)
    whole = must_follow(c, item, c->readings[r - 1].item);
  *p = (struct past){.changed = item + 1};
  return whole;
}

static bool touch_all(struct check *c, int item) {
  const struct item *it = &c->s->items[item];
  const struct tasks_loop *loop = &c->loops[it->work];
  bool whole = true;
  for (int reads = 1; reads >= 0; reads--)
    for (int a = 0; a < loop->naccesses; a++) {
      const struct tasks_access *access = &loop->accesses[a];
      if (access->reads != (reads != 0))
        continue;
      for (long p = column_place(&access->at, it->begin - c->begin);
           whole && p < column_place(&access->at, it->end - c->begin); p++)
        whole = touch(c, &c->pasts[access->at.target][column_target(&access->at, p)], item, access->reads);
    }
  return whole;
}

static bool make_pasts(struct check *c) {
  for (int l = 0; l < c->nloops; l++)
    for (int a = 0; a < c->loops[l].naccesses; a++)
      if (c->loops[l].accesses[a].at.target >= c->ndats)
        c->ndats = c->loops[l].accesses[a].at.target + 1;
  c->pasts = array_new((size_t)c->ndats, sizeof *c->pasts);
  bool whole = c->pasts;
  for (int l = 0; l < c->nloops; l++)
    for (int a = 0; whole && a < c->loops[l].naccesses; a++) {
      const struct plan_column *at = &c->loops[l].accesses[a].at;
      if (!c->pasts[at->target])
        whole = (c->pasts[at->target] = array_new((size_t)at->target_size, sizeof **c->pasts));
    }
  for (int i = 0; i < c->s->nitems; i++)
    c->met[i] = -1;
  return whole;
}

static int find_pairs(struct check *c, struct error *err) {
  bool whole = make_pasts(c);
  for (int l = 0; l < c->nloops; l++)
    for (int i = 0; whole && i < c->s->nitems; i++)
      if (c->s->items[c->order[i]].work == l)
        whole = touch_all(c, c->order[i]);
  return whole ? OP_OK : error_memory(err, "the check of tasks", c->npairs * sizeof *c->pairs);
}

/* ---- is it ---- */

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
  int code = behind ? OP_OK : error_memory(err, "the check of tasks", sizeof *behind);
  for (int first = 0; !code && first < c->s->nitems; first += AT_ONCE) {
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

int tasks_verify(const struct schedule *s, const struct tasks_loop *loops, const long *sizes, int nloops,
                 long begin, struct error *err) {
  struct check c = {.s = s, .loops = loops, .sizes = sizes, .nloops = nloops, .begin = begin};
  c.order = array_new((size_t)s->nitems, sizeof *c.order);
  c.met = array_new((size_t)s->nitems, sizeof *c.met);
  int code =
      c.order && c.met ? OP_OK : error_memory(err, "the check of tasks", (size_t)s->nitems * sizeof(int));
  if (!code)
    code = verify_form(&c, err);
  if (!code)
    code = find_pairs(&c, err);
  if (!code)
    code = verify_pairs(&c, err);
  for (int d = 0; c.pasts && d < c.ndats; d++)
    free(c.pasts[d]);
  free(c.pasts);
  free(c.readings);
  free(c.order);
  free(c.met);
  free(c.pairs);
  return code;
}
