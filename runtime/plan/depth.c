#include "plan/depth.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

static int larger(int a, int b) {
  return a > b ? a : b;
}

static int smaller(int a, int b) {
  return a < b ? a : b;
}

static bool is_odd(int depth) {
  return depth % 2 != 0;
}

/* ---- one loop ---- */

static bool is_mapped(const struct chain_access *a) {
  return a->map >= 0 && !a->own;
}

static bool reads(const struct chain_access *a) {
  return a->use == CHAIN_READS || a->use == CHAIN_WRITES;
}

/* Nothing is left of the dat's old values: there is no access to it but such that overwrite each element's own. */
static bool overwrites(const struct chain_loop *loop, int dat) {
  bool all = loop->whole;
  for (int i = 0; i < loop->naccesses; i++)
    if (loop->accesses[i].dat == dat)
      all &= loop->accesses[i].use == CHAIN_OVERWRITES && !is_mapped(&loop->accesses[i]);
  return all;
}

/* How deep elements must run, so that what they change by the access is valid to `need`: to all that has a target there. Also
 * where nobody needs it, what others add to a rank's own is added here. */
static int depth_changed(int need, bool mapped) {
  return !mapped ? larger(need, 0) : is_odd(need) ? need + 2 : need + 1;
}

int depth_read(int run, bool mapped) {
  return !mapped ? run : is_odd(run) ? run + 1 : run + 2;
}

/* Elements of this depth are the last all of whose changes through maps are known, if elements run so deep. */
static int depth_complete(int run) {
  return is_odd(run) ? run - 1 : run - 2;
}

int depth_before(const struct chain_loop *loop, int *need) {
  int run = loop->gives;
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    if (a->use != CHAIN_READS)
      run = larger(run, depth_changed(need[a->dat], is_mapped(a)));
  }
  for (int i = 0; i < loop->naccesses; i++)
    if (overwrites(loop, loop->accesses[i].dat))
      need[loop->accesses[i].dat] = DEPTH_NONE;
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    if (reads(a))
      need[a->dat] = larger(need[a->dat], depth_read(run, is_mapped(a)));
  }
  return run;
}

void depth_behind(const struct chain_loop *loop, int run, int *valid) {
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    if (a->use == CHAIN_READS)
      continue;
    if (overwrites(loop, a->dat))
      valid[a->dat] = run;
    else
      valid[a->dat] = smaller(valid[a->dat], is_mapped(a) ? depth_complete(run) : run);
  }
}

/* ---- a chain ---- */

/* The cost of segments, compared in this order. */
struct cost {
  int exchanges;
  double weight;
  int segments;
};

struct builder {
  const struct chain *chain;
  const struct depth_wish *wish;
  bool *changed;     /* dats */
  int *need;         /* of dats, before a loop */
  struct cost *best; /* of the loops before each, and all */
  int *from;         /* where the last of their segments begins */
};

static int run_alone(const struct chain_loop *loop) {
  bool changes = loop->gives;
  for (int i = 0; i < loop->naccesses; i++)
    changes |= loop->accesses[i].use != CHAIN_READS && is_mapped(&loop->accesses[i]);
  return changes;
}

/* Brings old values that the loop reads up to date. */
static struct depth_cost bring(const struct chain_loop *loop, const size_t *bytes, int *valid) {
  struct depth_cost cost = {0};
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    const int need = reads(a) ? depth_read(run_alone(loop), is_mapped(a)) : 0;
    if (need <= valid[a->dat])
      continue;
    cost.exchanges = 1;
    cost.weight += need * (double)bytes[a->dat];
    valid[a->dat] = need;
  }
  return cost;
}

int depths_of_single_loops(const struct chain *chain, const size_t *bytes, struct depth_cost *out,
                           struct error *err) {
  int *valid = array_new((size_t)chain->ndats, sizeof *valid);
  if (!valid)
    return error_memory(err, "the depths of loops", (size_t)chain->ndats * sizeof *valid);
  for (int turn = 0; turn < 2; turn++) {
    *out = (struct depth_cost){0};
    for (int l = 0; l < chain->nloops; l++) {
      const struct depth_cost cost = bring(&chain->loops[l], bytes, valid);
      out->exchanges += cost.exchanges;
      out->weight += cost.weight;
      depth_behind(&chain->loops[l], run_alone(&chain->loops[l]), valid);
    }
  }
  free(valid);
  return OP_OK;
}

/* True if there are rows for all that the elements reach, and copies of it. A target that is only added to is reached as
 * well. Also of a subset it is known only so deep which elements it has. */
static bool has_rows(const struct builder *b, const struct chain_loop *loop, int run) {
  const int deepest = 2 * b->wish->layers;
  bool has = run <= (b->wish->alone ? run_alone(loop) : loop->whole ? deepest : deepest - 1);
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    if (a->map >= 0 && (b->changed[a->dat] || !b->wish->fringe))
      has &= run <= deepest - 1;
  }
  return has;
}

/* True if the loop adds to others' elements as well, though it may not. */
static bool adds_too_deep(const struct builder *b, int l, int run) {
  const struct chain_loop *loop = &b->chain->loops[l];
  bool adds = false;
  for (int i = 0; i < loop->naccesses; i++)
    adds |= loop->accesses[i].use == CHAIN_ADDS && is_mapped(&loop->accesses[i]);
  return adds && run > 1 && b->wish->limits && b->wish->limits[l].own;
}

/* Behind a segment each rank needs what it owns, and nothing else. */
static void begin_at_end(const struct builder *b) {
  memset(b->need, 0, (size_t)b->chain->ndats * sizeof *b->need);
}

/* The cost of the loops before, and of a segment that begins with the present needs. A dat that nobody changes travels once, wherever
 * segments begin. */
static struct cost add_segment(const struct builder *b, struct cost before) {
  double weight = 0;
  for (int d = 0; d < b->chain->ndats; d++)
    if (b->changed[d] && b->need[d] > 0)
      weight += b->need[d] * (b->wish->bytes ? (double)b->wish->bytes[d] : 1);
  return (struct cost){before.exchanges + (weight > 0), before.weight + weight, before.segments + 1};
}

static bool is_less(struct cost a, struct cost b) {
  if (a.exchanges != b.exchanges)
    return a.exchanges < b.exchanges;
  return a.weight < b.weight || (a.weight <= b.weight && a.segments < b.segments);
}

/* The best segments of the loops before `end`: the last of them may begin wherever it has rows. One loop alone always
 * has. */
static void find_best(const struct builder *b, int end) {
  bool apart = false;
  begin_at_end(b);
  for (int first = end - 1; first >= 0; first--) {
    const struct chain_loop *loop = &b->chain->loops[first];
    const int run = depth_before(loop, b->need);
    apart |= b->wish->limits && b->wish->limits[first].apart;
    if (!has_rows(b, loop, run) || adds_too_deep(b, first, run) || (apart && end - first > 1))
      break;
    const struct cost cost = add_segment(b, b->best[first]);
    if (first < end - 1 && !is_less(cost, b->best[end]))
      continue;
    b->best[end] = cost;
    b->from[end] = first;
  }
}

static void fill_in(const struct builder *b, struct depths *d) {
  int end = b->chain->nloops;
  d->nsegments = b->best[end].segments;
  d->exchanges = b->best[end].exchanges;
  d->weight = b->best[end].weight;
  d->first[d->nsegments] = end;
  for (int s = d->nsegments - 1; s >= 0; s--) {
    begin_at_end(b);
    d->first[s] = b->from[end];
    for (int l = end - 1; l >= d->first[s]; l--)
      d->run[l] = depth_before(&b->chain->loops[l], b->need);
    memcpy(d->need + (long)s * d->ndats, b->need, (size_t)d->ndats * sizeof *d->need);
    end = d->first[s];
  }
}

int depths_build(struct depths *d, const struct chain *chain, const struct depth_wish *wish,
                 struct error *err) {
  const size_t loops = (size_t)chain->nloops, dats = (size_t)chain->ndats;
  struct arrays room = {0};
  struct builder b = {.chain = chain,
                      .wish = wish,
                      .changed = arrays_add(&room, dats, sizeof *b.changed),
                      .need = arrays_add(&room, dats, sizeof *b.need),
                      .best = arrays_add(&room, loops + 1, sizeof *b.best),
                      .from = arrays_add(&room, loops + 1, sizeof *b.from)};
  *d = (struct depths){.ndats = chain->ndats};
  d->first = arrays_add(&d->arrays, loops + 1, sizeof *d->first);
  d->run = arrays_add(&d->arrays, loops, sizeof *d->run);
  d->need = arrays_add(&d->arrays, loops, dats * sizeof *d->need);
  const bool all = !room.failed && !d->arrays.failed;
  if (all) {
    chain_note_changed(chain, b.changed);
    for (int end = 1; end <= chain->nloops; end++)
      find_best(&b, end);
    fill_in(&b, d);
  } else
    depths_free(d);
  arrays_free(&room);
  return all ? OP_OK : error_memory(err, "the segments of a chain", loops * dats * sizeof *d->need);
}

void depths_free(struct depths *d) {
  arrays_free(&d->arrays);
  *d = (struct depths){0};
}
