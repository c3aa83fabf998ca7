/* The targets that the elements of each warp of a device add to, and what they add to each: a warp's sums
 * are made near it, and each target is added to once. It is a plan whose blocks are the warps (or blocks of the device),
 * without colours: nobody waits, since what is added to a target is added atomically. */
#include "plan/warps.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"

enum { BYTE_ENTRIES = 256, MOST_ENTRIES = 65536 };

/* ---- what plans of sums share --------------------------------------------------------------------------*/

static int bytes_for(const struct plan *plan, const struct plan_staging *s) {
  return (long)plan->block_size * s->ncolumns <= BYTE_ENTRIES ? 1 : 2;
}

int sums_new(struct plan *plan, struct plan_staging *s, long targets, struct error *err) {
  if ((long)plan->block_size * s->ncolumns > MOST_ENTRIES)
    return error_set(
        err, OP_ERR_SIZE,
        "a block of %d elements with %d targets each has more than %d summands; use smaller blocks",
        plan->block_size, s->ncolumns, MOST_ENTRIES);
  s->entry_bytes = bytes_for(plan, s);
  s->last = arrays_add(&plan->arrays, (size_t)targets, (size_t)s->entry_bytes);
  s->slots = arrays_add(&plan->arrays, (size_t)plan->size * (size_t)s->ncolumns, (size_t)s->entry_bytes);
  return plan->arrays.failed ? error_memory(err, "the sums of warps",
                                            (size_t)plan->size * (size_t)s->ncolumns * (size_t)s->entry_bytes)
                             : OP_OK;
}

int sums_verify_bytes(const struct plan *plan, const struct plan_staging *s, struct error *err) {
  return s->entry_bytes == bytes_for(plan, s)
             ? OP_OK
             : error_mistake(err, OP_ERR_PLAN, "%d summands of a warp have numbers of %d bytes",
                             plan->block_size * s->ncolumns, s->entry_bytes);
}

struct plan_request sums_request(const struct plan_request *r) {
  struct plan_request out = *r;
  out.ncolumns = 0;
  out.element_colours = false;
  return out;
}

int sums_verify_blocks(const struct plan *plan, const struct plan_request *request, int level,
                       struct error *err) {
  struct plan_request r = sums_request(request);
  struct plan colours = *plan;
  colours.nstaging = r.nstaged = 0;
  const int status = plan_verify(&colours, &r, level, err);
  return status || plan->nstaging == request->nstaged
             ? status
             : error_mistake(err, OP_ERR_PLAN, "the plan has sums of %d datasets, %d were asked for",
                             plan->nstaging, request->nstaged);
}

/* ---- building: the staging of the same blocks, turned round ------------------------------------------*/

struct turning {
  const struct plan *plan;
  struct plan_staging *staging;
  int *place[PLAN_MOST_THREADS]; /* per target of a block, and one more */
};

/* In the order of the elements. */
static void turn_block(const struct turning *t, int *place, int b) {
  const struct plan_staging *s = t->staging;
  const long begin = block_begin(t->plan, b), end = block_end(t->plan, b), base = begin * s->ncolumns;
  const long first = s->first[b], n = s->first[b + 1] - first;
  memset(place, 0, ((size_t)n + 1) * sizeof *place);
  for (int c = 0; c < s->ncolumns; c++)
    for (long e = begin; e < end; e++)
      place[s->local[c][e] + 1]++;
  for (long i = 0; i < n; i++)
    place[i + 1] += place[i];
  for (long e = begin; e < end; e++)
    for (int c = 0; c < s->ncolumns; c++)
      sum_set(s, s->slots, base + place[s->local[c][e]]++, c * t->plan->block_size + (int)(e - begin));
  for (long i = 0; i < n; i++)
    sum_set(s, s->last, first + i, place[i] - 1);
}

static void turn_blocks(void *argument, int thread, int threads) {
  const struct turning *t = argument;
  const long n = t->plan->nblocks;
  for (int b = (int)(n * thread / threads), end = (int)(n * (thread + 1) / threads); b < end; b++)
    turn_block(t, t->place[thread], b);
}

static int turn_dataset(struct plan *plan, struct plan_staging *s, struct team *team, struct error *err) {
  struct turning t = {.plan = plan, .staging = s};
  struct arrays arrays = {0};
  const int threads = plan_threads(plan, team);
  int status = sums_new(plan, s, s->first[plan->nblocks], err);
  for (int i = 0; i < threads; i++)
    t.place[i] = arrays_add(&arrays, (size_t)s->max_targets + 1, sizeof **t.place);
  if (!status && arrays.failed)
    status = error_memory(err, "the sums of warps", (size_t)s->max_targets);
  if (!status)
    team_run(team, threads, turn_blocks, &t);
  arrays_free(&arrays);
  s->local = NULL;
  return status;
}

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  const struct plan_request r = sums_request(&w->request);
  int status = plan_build(&e->plan, &r, team, err);
  for (int i = 0; i < e->plan.nstaging && !status; i++)
    status = turn_dataset(&e->plan, &e->plan.staging[i], team, err);
  arrays_free(&e->plan.locals);
  return status;
}

/* ---- verifying ---------------------------------------------------------------------------------------*/

/* Each summand of the block once, under its own target. `met`: per slot. */
static int verify_block(const struct plan *p, const struct plan_request *r, int dataset, int b, bool *met,
                        struct error *err) {
  const struct plan_staging *s = &p->staging[dataset];
  const struct plan_column *columns = r->staged_columns + r->staged[dataset].first;
  const long begin = block_begin(p, b), n = block_end(p, b) - begin;
  long at = 0;
  memset(met, 0, (size_t)p->block_size * (size_t)s->ncolumns * sizeof *met);
  for (long t = s->first[b]; t < s->first[b + 1]; t++) {
    const long last = sum_entry(s, s->last, t);
    if (last < at || last >= n * s->ncolumns)
      return error_mistake(err, OP_ERR_PLAN,
                           "warp %d: the summands of target %d end at %ld, after %ld of %ld", b,
                           s->targets[t], last, at, n * s->ncolumns);
    for (; at <= last; at++) {
      const int slot = sum_entry(s, s->slots, begin * s->ncolumns + at), c = slot / p->block_size;
      const long e = slot % p->block_size;
      if (c >= s->ncolumns || e >= n || met[slot])
        return error_mistake(err, OP_ERR_PLAN, "warp %d: summand %ld is %d, which %s", b, at, slot,
                             c < s->ncolumns && e < n ? "occurs twice" : "no element has");
      met[slot] = true;
      if (column_target(&columns[c], begin + e) != s->targets[t])
        return error_mistake(
            err, OP_ERR_PLAN,
            "warp %d: element %ld adds to target %d by column %d, and is a summand of target %d", b,
            begin + e, column_target(&columns[c], begin + e), c, s->targets[t]);
    }
  }
  if (at != n * s->ncolumns)
    return error_mistake(err, OP_ERR_PLAN, "warp %d has %ld summands, expected %ld", b, at, n * s->ncolumns);
  return OP_OK;
}

static int verify_dataset(const struct plan *p, const struct plan_request *r, int dataset, int level,
                          struct error *err) {
  const struct plan_staging *s = &p->staging[dataset];
  int status = plan_verify_staged_counts(p, r, dataset, err);
  if (!status)
    status = sums_verify_bytes(p, s, err);
  if (status || level < 2)
    return status;
  status = plan_verify_columns(r->staged_columns + r->staged[dataset].first, s->ncolumns, p->size, err);
  if (!status)
    status = plan_verify_staged_targets(p, r, dataset, err);
  bool *met = array_new((size_t)p->block_size * (size_t)s->ncolumns, sizeof *met);
  if (!met)
    status = error_memory(err, "the check of a plan", (size_t)p->block_size * (size_t)s->ncolumns);
  for (int b = 0; b < p->nblocks && !status; b++)
    status = verify_block(p, r, dataset, b, met, err);
  free(met);
  return status;
}

static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  int status = sums_verify_blocks(&e->plan, &w->request, level, err);
  for (int i = 0; i < e->plan.nstaging && !status && level > 0; i++)
    status = verify_dataset(&e->plan, &w->request, i, level, err);
  return status;
}

static void describe(const struct plan_entry *e, struct text *out) {
  text_addf(out, ", %d warps of %d", e->plan.nblocks, e->plan.block_size);
}

const struct strategy strategy_warps = {.name = "warps",
                                        .looks = LOOKS_AT_BLOCKS | LOOKS_AT_STAGING,
                                        .columns = COLUMNS_WRITTEN,
                                        .build = build,
                                        .verify = verify,
                                        .describe = describe};

/* Elements in patches: blocks of neighbours, so that few targets have elements of several blocks. */

/* Targets that lead on: those of the patch that grows, and those where earlier ones ended, which the next one begins at. */
struct growing {
  const struct reverse_map *map; /* elements of each target */
  const struct plan_column *columns;
  int *patch;      /* per element, -1: none yet */
  int *next;       /* per target: the first of its entries that was not looked at */
  int *met;        /* per target: the patch, and 1, whose queue it was in last */
  int *queue;      /* of the patch */
  int *left;       /* of the earlier ones, in their order */
  long begin, end; /* of `left` */
  long element;    /* the first one that may have no patch */
};

/* The target's next element without a patch, -1: none. */
static long next_element(const struct growing *g, int target) {
  int *next = &g->next[target];
  for (; *next < g->map->first[target + 1]; (*next)++) {
    const long e = g->map->entries[*next] / g->map->columns;
    if (g->patch[e] < 0)
      return e;
  }
  return -1;
}

/* Where a patch begins, or goes on if its queue is empty: there are elements without one. */
static int seed(struct growing *g) {
  while (g->begin < g->end) {
    const int target = g->left[g->begin++];
    if (next_element(g, target) >= 0)
      return target;
  }
  while (g->patch[g->element] >= 0)
    g->element++;
  return column_target(&g->columns[0], g->element);
}

static void grow(struct growing *g, int patch, long elements) {
  long at = 0, end = 0;
  while (elements > 0) {
    if (at == end) {
      g->queue[end++] = seed(g);
      g->met[g->queue[at]] = patch + 1;
    }
    for (long e; elements > 0 && (e = next_element(g, g->queue[at])) >= 0; elements--) {
      g->patch[e] = patch;
      for (int c = 0; c < g->map->columns; c++) {
        const int target = column_target(&g->columns[c], e);
        if (g->met[target] != patch + 1)
          g->queue[end++] = target;
        g->met[target] = patch + 1;
      }
    }
    at += elements > 0;
  }
  while (at < end)
    g->left[g->end++] = g->queue[at++];
}

/* The elements of each patch stand in their own order. */
static void list_patches(struct plan *plan, const int *patch, int *next) {
  for (long e = 0; e < plan->size; e++)
    plan->list[(long)patch[e] * plan->block_size + next[patch[e]]++] = (int)e;
}

int plan_patches(struct plan *plan, const struct plan_column *columns, const struct reverse_map *map,
                 struct error *err) {
  const size_t targets = (size_t)map->size, entries = (size_t)map->first[map->size],
               of_patch = (size_t)plan->block_size * (size_t)map->columns + 1 + (size_t)plan->block_size;
  struct arrays a = {0};
  struct growing g = {.map = map,
                      .columns = columns,
                      .patch = arrays_add(&a, (size_t)plan->size, sizeof *g.patch),
                      .next = arrays_add(&a, targets, sizeof *g.next),
                      .met = arrays_add(&a, targets, sizeof *g.met),
                      .queue = arrays_add(&a, of_patch, sizeof *g.queue),
                      .left = arrays_add(&a, entries + (size_t)plan->size + 1, sizeof *g.left)};
  int *listed = arrays_add(&a, (size_t)plan->nblocks, sizeof *listed), code = OP_OK;
  plan->list = arrays_add(&plan->arrays, (size_t)plan->size, sizeof *plan->list);
  if (a.failed || plan->arrays.failed)
    code = error_memory(err, "patches", (entries + (size_t)plan->size) * sizeof *g.left);
  for (long e = 0; e < plan->size && !code; e++)
    g.patch[e] = -1;
  for (size_t t = 0; t < targets && !code; t++)
    g.next[t] = map->first[t];
  for (int b = 0; b < plan->nblocks && !code; b++)
    grow(&g, b, block_end(plan, b) - block_begin(plan, b));
  if (!code)
    list_patches(plan, g.patch, listed);
  arrays_free(&a);
  return code;
}
