/* Which targets the elements of each warp of a device add to, and which of what they add belongs to each: a warp's sums
 * are made near it, and each target is added to once. It is a plan whose blocks are the warps (or blocks of the device),
 * without colours: nobody waits, since what is added to a target is added atomically. */
#include <string.h>

#include "base/size.h"
#include "plan/plan_inner.h"
#include "plan/strategy.h"

enum { BYTE_ENTRIES = 256, MOST_ENTRIES = 65536 };

static int entry(const struct plan_staging *s, const void *entries, long at) {
  return s->entry_bytes == 1 ? ((const unsigned char *)entries)[at] : ((const unsigned short *)entries)[at];
}

static void set_entry(const struct plan_staging *s, void *entries, long at, int value) {
  if (s->entry_bytes == 1)
    ((unsigned char *)entries)[at] = (unsigned char)value;
  else
    ((unsigned short *)entries)[at] = (unsigned short)value;
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
      set_entry(s, s->slots, base + place[s->local[c][e]]++, c * t->plan->block_size + (int)(e - begin));
  for (long i = 0; i < n; i++)
    set_entry(s, s->last, first + i, place[i] - 1);
}

static void turn_blocks(void *argument, int thread, int threads) {
  const struct turning *t = argument;
  const long n = t->plan->nblocks;
  for (int b = (int)(n * thread / threads), end = (int)(n * (thread + 1) / threads); b < end; b++)
    turn_block(t, t->place[thread], b);
}

static int turn_dataset(const struct plan *plan, struct plan_staging *s, struct team *team,
                        struct error *err) {
  struct turning t = {.plan = plan, .staging = s};
  const int threads = plan_threads(plan, team);
  const long entries = (long)plan->block_size * s->ncolumns;
  if (entries > MOST_ENTRIES)
    return error_set(
        err, OP_ERR_SIZE,
        "a block of %d elements with %d targets each has more than %d summands; use smaller blocks",
        plan->block_size, s->ncolumns, MOST_ENTRIES);
  s->entry_bytes = entries <= BYTE_ENTRIES ? 1 : 2;
  s->last = array_new((size_t)s->first[plan->nblocks], (size_t)s->entry_bytes);
  s->slots = array_new((size_t)plan->size * (size_t)s->ncolumns, (size_t)s->entry_bytes);
  bool there = s->last && s->slots;
  for (int i = 0; i < threads && there; i++)
    there = (t.place[i] = array_new((size_t)s->max_targets + 1, sizeof **t.place)) != NULL;
  if (there && threads > 1)
    team_run(team, threads, turn_blocks, &t);
  else if (there)
    turn_blocks(&t, 0, 1);
  for (int i = 0; i < threads; i++)
    free(t.place[i]);
  for (int c = 0; c < s->ncolumns; c++)
    free(s->local[c]);
  free(s->local);
  s->local = NULL;
  return there ? OP_OK
               : error_memory(err, "the sums of warps",
                              (size_t)plan->size * (size_t)s->ncolumns * (size_t)s->entry_bytes);
}

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  struct plan_request r = w->request;
  r.ncolumns = 0;
  r.element_colours = false;
  int status = plan_build(&e->plan, &r, team, err);
  for (int i = 0; i < e->plan.nstaging && !status; i++)
    status = turn_dataset(&e->plan, &e->plan.staging[i], team, err);
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
    const long last = entry(s, s->last, t);
    if (last < at || last >= n * s->ncolumns)
      return error_mistake(err, OP_ERR_PLAN,
                           "warp %d: the summands of target %d end at %ld, after %ld of %ld", b,
                           s->targets[t], last, at, n * s->ncolumns);
    for (; at <= last; at++) {
      const int slot = entry(s, s->slots, begin * s->ncolumns + at), c = slot / p->block_size;
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
  if (!status && s->entry_bytes != ((long)p->block_size * s->ncolumns <= BYTE_ENTRIES ? 1 : 2))
    status = error_mistake(err, OP_ERR_PLAN, "%d summands of a warp have numbers of %d bytes",
                           p->block_size * s->ncolumns, s->entry_bytes);
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
  struct plan_request r = w->request;
  r.ncolumns = 0;
  r.element_colours = false;
  struct plan colours = e->plan;
  colours.nstaging = r.nstaged = 0;
  int status = plan_verify(&colours, &r, level, err);
  if (!status && e->plan.nstaging != w->request.nstaged)
    status = error_mistake(err, OP_ERR_PLAN, "the plan has sums of %d datasets, %d were asked for",
                           e->plan.nstaging, w->request.nstaged);
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
