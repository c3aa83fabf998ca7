/* Sums in the order of the elements, as a serial loop makes them, by blocks of a device that nobody orders: the block of
 * a target's first summand adds to the target itself, from what is there on, as far as one summand of its own follows the
 * other. All later summands of the target are kept one by one, in rows that follow one another, and are added when all
 * blocks have ended. So each target is changed by one block and then once more, with the same bits in any order of the
 * blocks and for any size of theirs. Blocks are patches, so that few targets have summands in several of them.
 *
 * Of each block the plan lists its targets, in rising order, and behind them the later summands that it has: these as
 * ~place, the number of the row in which one is kept. */
#include <stdlib.h>

#include "base/list.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"
#include "plan/warps.h"

/* ---- building ----------------------------------------------------------------------------------------*/

struct ordering {
  const struct plan *plan;
  struct plan_staging *staging;
  struct reverse_map summands; /* of each target, by elements and then by columns */
  const int *position;         /* of each element in the list */
  long *next;                  /* per block: where its next target is listed */
  int *placed;                 /* per block: how many summands are */
};

static int block_of(const struct ordering *o, int summand) {
  return o->position[summand / o->staging->ncolumns] / o->plan->block_size;
}

/* Behind the last summand that the target's first block adds. */
static int leading_end(const struct ordering *o, long target) {
  const struct reverse_map *m = &o->summands;
  int i = m->first[target];
  const int end = m->first[target + 1], block = i < end ? block_of(o, m->entries[i]) : 0;
  while (i < end && block_of(o, m->entries[i]) == block)
    i++;
  return i;
}

/* How long each block's list is, and how much is added later. */
static long count(const struct ordering *o) {
  const struct reverse_map *m = &o->summands;
  struct plan_staging *s = o->staging;
  long late = 0;
  for (long t = 0; t < m->size; t++) {
    const int own = leading_end(o, t);
    if (own > m->first[t])
      s->first[block_of(o, m->entries[m->first[t]]) + 1]++;
    for (int i = own; i < m->first[t + 1]; i++)
      s->first[block_of(o, m->entries[i]) + 1]++;
    late += m->first[t + 1] - own;
    s->nlate += own < m->first[t + 1];
  }
  for (int b = 0; b < o->plan->nblocks; b++) {
    s->max_targets = s->first[b + 1] > s->max_targets ? (int)s->first[b + 1] : s->max_targets;
    s->first[b + 1] += s->first[b];
  }
  return late;
}

static void place_summand(const struct ordering *o, int block, int summand) {
  const struct plan_staging *s = o->staging;
  const int size = o->plan->block_size, position = o->position[summand / s->ncolumns],
            column = summand % s->ncolumns;
  sum_set(s, s->slots, block_begin(o->plan, block) * s->ncolumns + o->placed[block]++,
          column * size + position % size);
}

static void end_target(const struct ordering *o, int block, int target) {
  sum_set(o->staging, o->staging->last, o->next[block], o->placed[block] - 1);
  o->staging->targets[o->next[block]++] = target;
}

static void place_own(const struct ordering *o, long target) {
  const struct reverse_map *m = &o->summands;
  const int begin = m->first[target], end = leading_end(o, target);
  for (int i = begin; i < end; i++)
    place_summand(o, block_of(o, m->entries[i]), m->entries[i]);
  if (end > begin)
    end_target(o, block_of(o, m->entries[begin]), (int)target);
}

static void place_late(const struct ordering *o, long target, int *row, int *place) {
  const struct reverse_map *m = &o->summands;
  struct plan_staging *s = o->staging;
  int i = leading_end(o, target);
  if (i == m->first[target + 1])
    return;
  s->late[*row] = (int)target;
  s->late_first[(*row)++] = *place;
  for (; i < m->first[target + 1]; i++) {
    const int block = block_of(o, m->entries[i]);
    place_summand(o, block, m->entries[i]);
    end_target(o, block, ~(*place)++);
  }
}

static void place_all(const struct ordering *o) {
  int row = 0, place = 0;
  for (int b = 0; b < o->plan->nblocks; b++)
    o->next[b] = o->staging->first[b];
  for (long t = 0; t < o->summands.size; t++)
    place_own(o, t);
  for (long t = 0; t < o->summands.size; t++)
    place_late(o, t, &row, &place);
  o->staging->late_first[row] = place;
}

/* The dataset that is made first says which elements are neighbours. */
static int list_elements(struct plan *plan, const struct plan_column *columns, const struct reverse_map *map,
                         int *position, struct error *err) {
  const int status = plan->list ? OP_OK : plan_patches(plan, columns, map, err);
  for (long i = 0; i < plan->size && !status; i++)
    position[plan->list[i]] = (int)i;
  return status;
}

static int order_dataset(struct plan *plan, struct plan_staging *s, const struct plan_column *columns,
                         const int *order, int *position, struct error *err) {
  struct arrays room = {0}, *own = &plan->arrays;
  struct ordering o = {.plan = plan, .staging = s, .position = position};
  int status = reverse_build(&o.summands, &room, plan->size, columns, s->ncolumns, order, err);
  if (!status)
    status = list_elements(plan, columns, &o.summands, position, err);
  if (!status && !(s->first = arrays_add(own, (size_t)plan->nblocks + 1, sizeof *s->first)))
    status = error_memory(err, "the sums of blocks", (size_t)plan->nblocks * sizeof *s->first);
  const long late = status ? 0 : count(&o);
  if (!status)
    status = sums_new(plan, s, s->first[plan->nblocks], err);
  if (!status) {
    s->targets = arrays_add(own, (size_t)s->first[plan->nblocks], sizeof *s->targets);
    s->late = arrays_add(own, (size_t)s->nlate, sizeof *s->late);
    s->late_first = arrays_add(own, (size_t)s->nlate + 1, sizeof *s->late_first);
    o.next = arrays_add(&room, (size_t)plan->nblocks, sizeof *o.next);
    o.placed = arrays_add(&room, (size_t)plan->nblocks, sizeof *o.placed);
    if (own->failed || room.failed)
      status = error_memory(err, "the sums of blocks", (size_t)late * sizeof *s->late);
    else
      place_all(&o);
  }
  arrays_free(&room);
  return status;
}

/* The dataset with the most targets of an element. */
static int first_dataset(const struct plan_request *r) {
  int first = 0;
  for (int i = 1; i < r->nstaged; i++)
    first = r->staged[i].count > r->staged[first].count ? i : first;
  return first;
}

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  struct plan_request r = sums_request(&w->request);
  struct arrays arrays = {0};
  const int n = r.nstaged;
  r.nstaged = 0;
  int status = plan_build(&e->plan, &r, team, err);
  if (status)
    return status;
  const bool sorts = !plan_in_numbers(&r);
  const int *order = sorts ? plan_sorted(&arrays, &r, err) : NULL;
  int *position = arrays_add(&arrays, (size_t)r.size, sizeof *position);
  e->plan.staging = arrays_add(&e->plan.arrays, (size_t)n, sizeof *e->plan.staging);
  e->plan.nstaging = e->plan.staging ? n : 0;
  if (arrays.failed || !e->plan.staging || (sorts && !order))
    status = error_memory(err, "the sums of blocks", (size_t)r.size * sizeof *position);
  for (int k = 0; k < n && !status; k++) {
    const int i = (first_dataset(&w->request) + k) % n;
    e->plan.staging[i].ncolumns = r.staged[i].count;
    status = order_dataset(&e->plan, &e->plan.staging[i], r.staged_columns + r.staged[i].first, order,
                           position, err);
  }
  arrays_free(&arrays);
  return status;
}

/* ---- verifying ---------------------------------------------------------------------------------------*/

#define WRONG(...) return error_mistake(err, OP_ERR_PLAN, __VA_ARGS__)

/* Summands are numbered by elements and by columns. */
struct verifying {
  const struct plan *plan;
  const struct plan_request *request;
  const struct plan_staging *staging;
  const struct plan_column *columns;
  bool *met;     /* per slot of a block */
  long *newest;  /* per target: its last summand so far as turn_of has it, -1: none */
  long *summand; /* per place: who is kept there, -1: nobody */
};

static int target_of(const struct verifying *v, long summand) {
  return column_target(&v->columns[summand % v->staging->ncolumns], summand / v->staging->ncolumns);
}

/* When a serial loop has it. */
static long turn_of(const struct verifying *v, long summand) {
  const int n = v->staging->ncolumns;
  return plan_number(v->request, summand / n) * n + summand % n;
}

/* The summands `from` .. `to` of the block are those of target t of its list. */
static int verify_target(const struct verifying *v, int b, long t, long from, long to, struct error *err) {
  const struct plan_staging *s = v->staging;
  const long begin = block_begin(v->plan, b), n = block_end(v->plan, b) - begin;
  const int target = s->targets[t], kept = target < 0 ? ~target : -1;
  if (target >= v->columns->target_size || kept >= s->late_first[s->nlate])
    WRONG("block %d lists target %d, which is none", b, target);
  if (target < 0 && from != to)
    WRONG("block %d keeps %ld summands in row %d", b, to - from + 1, kept);
  if (t > s->first[b] && target >= 0 && target <= s->targets[t - 1])
    WRONG("the targets of block %d are not sorted: %d after %d", b, target, s->targets[t - 1]);
  if (t > s->first[b] && target >= 0 && s->targets[t - 1] < 0)
    WRONG("block %d lists target %d behind summands that are kept", b, target);
  if (target >= 0 && v->newest[target] >= 0)
    WRONG("target %d is of block %d and of an earlier one", target, b);
  if (target < 0 && v->summand[kept] >= 0)
    WRONG("two summands are kept in row %d", kept);
  for (long at = from; at <= to; at++) {
    const int slot = sum_entry(s, s->slots, begin * s->ncolumns + at), c = slot / v->plan->block_size;
    const long place = slot % v->plan->block_size;
    if (c >= s->ncolumns || place >= n || v->met[slot])
      WRONG("block %d: summand %ld is %d, which %s", b, at, slot,
            c < s->ncolumns && place < n ? "occurs twice" : "no element has");
    const long e = v->plan->list[begin + place], summand = e * s->ncolumns + c;
    v->met[slot] = true;
    if (target < 0) {
      v->summand[kept] = summand;
      continue;
    }
    if (target_of(v, summand) != target || turn_of(v, summand) <= v->newest[target])
      WRONG("block %d: element %ld adds to target %d by column %d, and is a summand of target %d behind %ld",
            b, e, target_of(v, summand), c, target, v->newest[target]);
    v->newest[target] = turn_of(v, summand);
  }
  return OP_OK;
}

static int verify_block(const struct verifying *v, int b, struct error *err) {
  const struct plan_staging *s = v->staging;
  const long all = (block_end(v->plan, b) - block_begin(v->plan, b)) * s->ncolumns;
  long at = 0;
  for (long i = 0; i < (long)v->plan->block_size * s->ncolumns; i++)
    v->met[i] = false;
  for (long t = s->first[b]; t < s->first[b + 1]; t++) {
    const long last = sum_entry(s, s->last, t);
    if (last < at || last >= all)
      WRONG("block %d: the summands of target %d end at %ld, after %ld of %ld", b, s->targets[t], last, at,
            all);
    const int status = verify_target(v, b, t, at, last, err);
    if (status)
      return status;
    at = last + 1;
  }
  if (at != all)
    WRONG("block %d has %ld summands, expected %ld", b, at, all);
  return OP_OK;
}

/* Summands that are kept come behind those that their target has, in order. */
static int verify_late(const struct verifying *v, struct error *err) {
  const struct plan_staging *s = v->staging;
  for (int row = 0; row < s->nlate; row++) {
    const int target = s->late[row];
    if (target < 0 || target >= v->columns->target_size || (row > 0 && target <= s->late[row - 1]))
      WRONG("row %d of what is added later is of target %d, which is out of range or order", row, target);
    for (int place = s->late_first[row]; place < s->late_first[row + 1]; place++) {
      const long summand = v->summand[place];
      if (summand < 0 || target_of(v, summand) != target || turn_of(v, summand) <= v->newest[target])
        WRONG("summand %ld is kept in row %d, to be added to target %d behind summand %ld", summand, place,
              target, v->newest[target]);
      v->newest[target] = turn_of(v, summand);
    }
  }
  return OP_OK;
}

static int verify_counts(const struct plan *p, const struct plan_request *r, int dataset, struct error *err) {
  const struct plan_staging *s = &p->staging[dataset];
  int status = plan_verify_staged_counts(p, r, dataset, err);
  if (!status)
    status = sums_verify_bytes(p, s, err);
  if (!status && s->late_first[0] != 0)
    WRONG("what is added later begins in row %d", s->late_first[0]);
  for (int row = 0; row < s->nlate && !status; row++)
    if (s->late_first[row + 1] <= s->late_first[row])
      WRONG("what is added later to target %d goes from row %d to %d", s->late[row], s->late_first[row],
            s->late_first[row + 1]);
  return status;
}

static int verify_list(const struct plan *p, struct error *err) {
  bool *met = array_new((size_t)p->size, sizeof *met);
  int status = met ? OP_OK : error_memory(err, "the check of a plan", (size_t)p->size);
  for (long i = 0; i < p->size && !status; i++) {
    const int e = p->list[i];
    if (e < 0 || e >= p->size || met[e])
      status = error_mistake(err, OP_ERR_PLAN, "position %ld of the list is element %d, which %s", i, e,
                             e < 0 || e >= p->size ? "is none" : "occurs twice");
    else
      met[e] = true;
  }
  free(met);
  return status;
}

static int verify_dataset(const struct plan *p, const struct plan_request *r, int dataset,
                          struct error *err) {
  const struct plan_staging *s = &p->staging[dataset];
  struct arrays arrays = {0};
  struct verifying v = {
      .plan = p, .request = r, .staging = s, .columns = r->staged_columns + r->staged[dataset].first};
  int status = plan_verify_columns(v.columns, s->ncolumns, p->size, err);
  const long places = s->late_first[s->nlate], targets = v.columns->target_size;
  v.met = arrays_add(&arrays, (size_t)p->block_size * (size_t)s->ncolumns, sizeof *v.met);
  v.newest = arrays_add(&arrays, (size_t)targets, sizeof *v.newest);
  v.summand = arrays_add(&arrays, (size_t)places, sizeof *v.summand);
  if (arrays.failed)
    status = error_memory(err, "the check of a plan", (size_t)targets * sizeof *v.newest);
  for (long t = 0; !status && t < targets; t++)
    v.newest[t] = -1;
  for (long i = 0; !status && i < places; i++)
    v.summand[i] = -1;
  for (int b = 0; b < p->nblocks && !status; b++)
    status = verify_block(&v, b, err);
  if (!status)
    status = verify_late(&v, err);
  arrays_free(&arrays);
  return status;
}

static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  int status = sums_verify_blocks(&e->plan, &w->request, level, err);
  for (int i = 0; i < e->plan.nstaging && !status && level > 0; i++)
    status = verify_counts(&e->plan, &w->request, i, err);
  if (!status && level > 1 && e->plan.nstaging)
    status = verify_list(&e->plan, err);
  for (int i = 0; i < e->plan.nstaging && !status && level > 1; i++)
    status = verify_dataset(&e->plan, &w->request, i, err);
  return status;
}

static void describe(const struct plan_entry *e, struct text *out) {
  text_addf(out, ", %d patches of %d", e->plan.nblocks, e->plan.block_size);
}

const struct strategy strategy_ordered = {.name = "ordered",
                                          .looks = LOOKS_AT_BLOCKS | LOOKS_AT_STAGING | LOOKS_AT_NUMBERS,
                                          .columns = COLUMNS_WRITTEN,
                                          .build = build,
                                          .verify = verify,
                                          .describe = describe};
