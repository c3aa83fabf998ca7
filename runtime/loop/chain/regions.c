#include "loop/chain/regions.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "exec/executor.h"
#include "loop/chain/deep.h"
#include "loop/chain/tiled.h"
#include "loop/chain/worth.h"
#include "loop/choose.h"
#include "loop/loop.h"
#include "mesh/halo.h"
#include "plan/early.h"

/* The elements of one loop that are in no tile: owned ones, whose results have a slot behind those of tiles, and
 * copies. */
struct pieces {
  struct schedule own[WHEN_REST + 1], copies[WHEN_REST + 1];
};

struct regions {
  int segment, nsegments, first, n; /* of the chain; their loops */
  struct tiles early;               /* an item's work is the number of its loop, from the first on */
  struct pieces *pieces;
  struct work *works;
  int threads;
};

void region_free(struct regions *r) {
  if (!r)
    return;
  for (int l = 0; r->pieces && l < r->n; l++)
    for (int w = 0; w <= WHEN_REST; w++) {
      schedule_free(&r->pieces[l].own[w]);
      schedule_free(&r->pieces[l].copies[w]);
    }
  tiles_free(&r->early);
  free(r->pieces);
  free(r->works);
  free(r);
}

static int no_memory(struct error *err) {
  return error_memory(err, "the regions of a chain", 0);
}

/* ---- when elements run ---- */

/* The parts that a region is made from. */
struct making {
  struct tiled_description *d;
  const struct copies_set *sets;
  const struct depths *depths;
  struct deep *const *deep;   /* of segments */
  unsigned char **when;       /* of loops, from the first on */
  long counts[WHEN_REST + 1]; /* of what the rank owns */
  double bytes;               /* of a tile */
  bool forced;
  bool ordered; /* additions, as by loops one by one */
};

static int find_when(struct making *m, const struct regions *r, struct error *err) {
  const size_t ndats = (size_t)m->d->chain.ndats;
  struct early_segment *segments = array_new((size_t)r->nsegments, sizeof *segments);
  struct copies_list *sent = array_new((size_t)r->nsegments * ndats, sizeof *sent);
  int code = segments && sent ? OP_OK : no_memory(err);
  for (int i = 0; !code && i < r->nsegments; i++) {
    const int next = r->segment + i + 1;
    segments[i] = (struct early_segment){.end = m->depths->first[next],
                                         .copies = deep_copies(m->deep[next - 1]),
                                         .sent = sent + (size_t)i * ndats};
    if (next < m->depths->nsegments && m->deep[next])
      deep_sent(m->deep[next], sent + (size_t)i * ndats);
  }
  if (!code)
    code = early_find(&m->when, &m->d->chain, m->sets, r->first, segments, r->nsegments, m->ordered, err);
  free(segments);
  free(sent);
  return code;
}

static long owned_of(const struct making *m, const struct regions *r, int l) {
  return m->sets[m->d->chain.loops[r->first + l].set].owned;
}

static void count(struct making *m, const struct regions *r) {
  for (int l = 0; l < r->n; l++)
    for (long e = 0; e < owned_of(m, r, l); e++)
      m->counts[m->when[l][e]]++;
}

/* Elements in no tile run on one thread. */
static bool is_mostly_early(const struct making *m, const struct regions *r) {
  enum { ALONE = 4, WITH_THREADS = 16 };
  const long others = m->counts[WHEN_RIM] + m->counts[WHEN_REST];
  return m->counts[WHEN_EARLY] > 0 &&
         (m->forced || others * (r->threads > 1 ? WITH_THREADS : ALONE) <= m->counts[WHEN_EARLY]);
}

/* ---- tiles ---- */

/* For each loop the elements that are in tiles. */
static bool **find_early(const struct making *m, const struct regions *r, struct arrays *memory) {
  bool **early = arrays_add(memory, (size_t)r->n, sizeof *early);
  for (int l = 0; early && l < r->n; l++) {
    early[l] = arrays_add(memory, (size_t)owned_of(m, r, l), sizeof **early);
    for (long e = 0; early[l] && e < owned_of(m, r, l); e++)
      early[l][e] = m->when[l][e] == WHEN_EARLY;
  }
  return early;
}

/* For each map the elements in tiles of loops that reach changed dats by it. Only their rows are looked at, as others
 * may lead to copies. */
static bool **find_seen(const struct tiled_description *d, const struct regions *r, bool *const *early,
                        struct arrays *memory) {
  bool **seen = arrays_add(memory, (size_t)d->chain.nmaps, sizeof *seen);
  for (int m = 0; seen && m < d->chain.nmaps; m++)
    seen[m] = arrays_add(memory, (size_t)d->chain.sets[d->maps[m].from].size, sizeof **seen);
  for (int l = 0; !memory->failed && l < r->n; l++) {
    const struct chain_loop *loop = &d->chain.loops[r->first + l];
    for (int i = 0; i < loop->naccesses; i++) {
      const struct chain_access *a = &loop->accesses[i];
      const bool changed = a->map >= 0 && chain_changes(&d->chain, a->dat, d->chain.nloops);
      for (long e = 0; changed && e < d->chain.sets[loop->set].size; e++)
        seen[a->map][e] |= early[l][e];
    }
  }
  return seen;
}

static bool any_adds(const struct tiled_description *d, const struct regions *r, int set) {
  bool any = false;
  for (int l = r->first; l < r->first + r->n; l++)
    for (int i = 0; d->chain.loops[l].set == set && i < d->chain.loops[l].naccesses; i++)
      any |= d->chain.loops[l].accesses[i].map >= 0 && d->chain.loops[l].accesses[i].use == CHAIN_ADDS;
  return any;
}

static bool ascends(const long long *numbers, long begin, long end) {
  bool all = true;
  for (long e = begin + 1; e < end; e++)
    all &= numbers[e] > numbers[e - 1];
  return all;
}

/* The order of the program's numbers: elements that reach copies are numbered behind the core, and lie among it.
 * NULL: there is no such order, and tiles do without, or no memory. */
static int *find_order(const struct tiled_description *d, const struct copies_set *s, int set,
                       struct arrays *memory) {
  const struct set *of = d->known[0][set];
  const long long *numbers = of->spread ? of->spread->numbers : NULL;
  int *order =
      numbers && s->core < s->owned && ascends(numbers, 0, s->core) && ascends(numbers, s->core, s->owned)
          ? arrays_add(memory, (size_t)s->owned, sizeof *order)
          : NULL;
  for (long p = 0, core = 0, border = s->core; order && p < s->owned; p++) {
    const bool next = core < s->core && (border == s->owned || numbers[core] < numbers[border]);
    order[p] = (int)(next ? core++ : border++);
  }
  return order;
}

static int **find_orders(const struct tiled_description *d, const struct regions *r,
                         const struct copies_set *sets, struct arrays *memory) {
  int **orders = arrays_add(memory, (size_t)d->chain.nsets, sizeof *orders);
  for (int s = 0; orders && s < d->chain.nsets; s++)
    orders[s] = any_adds(d, r, s) ? NULL : find_order(d, &sets[s], s, memory);
  return orders;
}

static int build(struct op_context *ctx, struct regions *r, const struct chain *chain,
                 struct tiles_wish *wish, struct error *err) {
  int code = tiles_build(&r->early, chain, wish, ctx->team, err);
  if (!code && text_str(&r->early.refused)[0]) {
    tiles_free(&r->early);
    tiled_wish_periodic(wish);
    code = tiles_build(&r->early, chain, wish, ctx->team, err);
  }
  return code;
}

/* The schedule has no items where tiles are refused. */
static int cut(struct op_context *ctx, struct regions *r, const struct making *m, bool *const *early,
               struct error *err) {
  struct tiled_description *d = m->d;
  const struct chain chain = {d->chain.sets,
                              d->chain.nsets,
                              d->chain.maps,
                              d->chain.nmaps,
                              d->chain.dats,
                              d->chain.ndats,
                              d->chain.loops + r->first,
                              r->n};
  struct tiles_wish wish = tiled_wish(d->bytes, m->bytes, m->forced);
  struct arrays memory = {0};
  bool **seen = find_seen(d, r, early, &memory);
  wish.orders = find_orders(d, r, m->sets, &memory);
  for (int i = 0; seen && i < d->chain.nmaps; i++)
    d->maps[i].seen = seen[i];
  int code = memory.failed ? no_memory(err) : build(ctx, r, &chain, &wish, err);
  for (int i = 0; i < d->chain.nmaps; i++)
    d->maps[i].seen = NULL;
  arrays_free(&memory);
  if (!code)
    tiled_refuse_gaps(&r->early, m->forced);
  if (!code && r->early.schedule.nitems)
    code = tiles_keep(&r->early, early, err);
  if (!code && r->early.schedule.nitems)
    tiles_deal(&r->early, r->threads);
  return code;
}

/* ---- what is in no tile ---- */

/* Make a schedule of a loop's elements that run at `when`: among these copies, or (NULL) among the elements that the rank owns. Their
 * results have a slot behind those of tiles. */
static int make_piece(const struct regions *r, const struct making *m, const struct copies_list *copies,
                      int l, enum when when, struct schedule *out, struct error *err) {
  const struct copies_set *set = &m->sets[m->d->chain.loops[r->first + l].set];
  const long count = copies ? copies->count : set->owned;
  struct copies_list some = {.elements = array_new((size_t)count, sizeof *some.elements)};
  int code = some.elements ? OP_OK : no_memory(err);
  for (long i = 0; !code && i < count; i++) {
    const int e = copies ? copies->elements[i] : (int)i;
    if (m->when[l][e] == when)
      some.elements[some.count++] = e;
  }
  if (!code)
    code = deep_schedule_new(out, set->rows, &some, copies ? 0 : r->early.nslots[l], err);
  free(some.elements);
  return code;
}

static int make_pieces(struct regions *r, const struct making *m, struct error *err) {
  int code = OP_OK;
  for (int s = r->segment; s < r->segment + r->nsegments; s++)
    for (int l = m->depths->first[s]; l < m->depths->first[s + 1]; l++)
      for (enum when when = WHEN_RIM; !code && when <= WHEN_REST; when++) {
        const struct copies_list *run = &deep_copies(m->deep[s])->run[l - m->depths->first[s]];
        struct pieces *p = &r->pieces[l - r->first];
        code = make_piece(r, m, NULL, l - r->first, when, &p->own[when], err);
        if (!code)
          code = make_piece(r, m, run, l - r->first, when, &p->copies[when], err);
      }
  return code;
}

/* ---- making one ---- */

static int make(struct op_context *ctx, struct regions *r, struct making *m, struct error *err) {
  int code = find_when(m, r, err);
  if (code)
    return code;
  count(m, r);
  if (!is_mostly_early(m, r)) {
    text_addf(&r->early.refused, "too much of it waits for messages, %ld elements of %ld",
              m->counts[WHEN_RIM] + m->counts[WHEN_REST],
              m->counts[WHEN_RIM] + m->counts[WHEN_REST] + m->counts[WHEN_EARLY]);
    return OP_OK;
  }
  struct arrays memory = {0};
  bool **early = find_early(m, r, &memory);
  code = memory.failed ? no_memory(err) : cut(ctx, r, m, early, err);
  arrays_free(&memory);
  return !code && r->early.schedule.nitems ? make_pieces(r, m, err) : code;
}

static void say(const struct op_context *ctx, const struct regions *r, const struct making *m,
                const struct loop *first) {
  if (!r->early.schedule.nitems)
    log_line(ctx->log, LOG_INFO, "chain", "%d loops of ranks from %s on: no tiles: %s", r->n, first->name,
             text_str(&r->early.refused));
  else
    log_line(ctx->log, LOG_DEBUG, "chain",
             "%d loops of ranks from %s on, in %d segments: %ld elements in %d tiles; behind messages %ld "
             "before the next ones, %ld after",
             r->n, first->name, r->nsegments, m->counts[WHEN_EARLY], r->early.ntiles, m->counts[WHEN_RIM],
             m->counts[WHEN_REST]);
}

static int make_region(struct op_context *ctx, struct loop *const *loops, struct making *m, int segment,
                       int nsegments, struct regions **out, struct error *err) {
  const int first = m->depths->first[segment], n = m->depths->first[segment + nsegments] - first;
  struct regions *r = array_new(1, sizeof *r);
  *out = NULL;
  if (!r)
    return no_memory(err);
  *r = (struct regions){.segment = segment,
                        .nsegments = nsegments,
                        .first = first,
                        .n = n,
                        .threads = loops_threads(loops + first, n)};
  r->pieces = array_new((size_t)n, sizeof *r->pieces);
  r->works = array_new((size_t)n, sizeof *r->works);
  memset(m->counts, 0, sizeof m->counts);
  const int code = r->pieces && r->works ? make(ctx, r, m, err) : no_memory(err);
  if (!code)
    say(ctx, r, m, loops[first]);
  early_free(m->when, n);
  m->when = NULL;
  if (!code && r->early.schedule.nitems)
    *out = r;
  else
    region_free(r);
  return code;
}

/* Across so many segments tiles are cut: as many as the caches hold the front of, as of periods of one process. The messages of all
 * but the first are then sent and awaited behind the tiles, with little to do meanwhile. */
static int segments_of_tiles(const struct op_context *ctx, struct loop *const *loops, const struct making *m,
                             int segment, int most) {
  const int first = m->depths->first[segment];
  const int periods = worth_periods(ctx, loops + first, m->depths->first[segment + 1] - first);
  int n = 1;
  while (n < periods && n < most && m->deep[segment + n])
    n++;
  return n;
}

int region_new(struct op_context *ctx, struct loop *const *loops, struct tiled_description *d,
               const struct copies_set *sets, const struct depths *depths, struct deep *const *deep,
               int segment, int most, struct regions **out, struct error *err) {
  const double forced = (double)env_number(ctx->env, ENV_TILES, 0);
  const int first = depths->first[segment], n = depths->first[segment + 1] - first;
  struct making m = {.d = d,
                     .sets = sets,
                     .depths = depths,
                     .deep = deep,
                     .bytes = forced > 0 ? forced : worth_tile_bytes(ctx),
                     .forced = forced > 0,
                     .ordered = strcmp(env_value(ctx->env, ENV_FP), "fast") != 0};
  int code = OP_OK;
  *out = NULL;
  if (!m.forced && !tiled_pays(ctx, loops + first, n))
    return OP_OK;
  for (int k = segments_of_tiles(ctx, loops, &m, segment, most); !code && !*out && k > 0; k /= 2)
    code = n * k > 1 ? make_region(ctx, loops, &m, segment, k, out, err) : OP_OK;
  return code;
}

int region_segments(const struct regions *r) {
  return r->nsegments;
}

bool region_may_run(const struct regions *r, struct launch *const *launches) {
  bool may = true;
  for (int l = 0; l < r->n && may; l++)
    may = !tune_tries(launches[r->first + l]);
  return may;
}

/* ---- running it ---- */

/* Slots of all parts but the first are none. */
static void set_slots(struct launch *launch, int count) {
  for (int p = 0; p < launch->loop->ready.nparts; p++)
    launch_set_slots(launch, p, p ? 0 : count);
}

static int make_works(struct op_context *ctx, const struct regions *r, struct launch *const *launches,
                      struct error *err) {
  int code = OP_OK;
  for (int l = 0; !code && l < r->n; l++) {
    set_slots(launches[l], launches[l]->loop->ready.nreductions ? r->early.nslots[l] + 1 : 0);
    code = launch_start_slots(launches[l], err);
    if (!code)
      code = launches[l]->loop->backend->work(ctx, launches[l], &r->works[l], err);
  }
  return code;
}

/* Run the elements of a segment that waited for messages. */
static int run_waiting(struct op_context *ctx, const struct regions *r, const struct turn *turn, int segment,
                       enum when when, struct error *err) {
  const int *first = turn->depths->first;
  int code = OP_OK;
  for (int l = first[segment] - r->first; !code && l < first[segment + 1] - r->first; l++) {
    executor_run(NULL, &(struct execution){.schedule = &r->pieces[l].own[when],
                                           .works = &r->works[l],
                                           .nworks = 1,
                                           .threads = 1,
                                           .poll = ctx->poll,
                                           .poll_context = ctx});
    code = deep_loop_run_some(turn->launches[r->first + l], &r->pieces[l].copies[when], &r->works[l], err);
  }
  return code;
}

/* The segment's outcome is complete before its rest runs, which touches nothing that is sent. *waited: seconds. */
static int run_late(struct op_context *ctx, const struct regions *r, struct turn *turn, int segment,
                    double *waited, struct error *err) {
  const int next = segment + 1;
  const struct launch *waits = turn->waits[segment];
  const double before = waits ? waits->loop->stats.waiting_seconds : 0;
  int code = turn_finish(ctx, turn, segment, err);
  *waited += waits ? waits->loop->stats.waiting_seconds - before : 0;
  if (!code)
    code = run_waiting(ctx, r, turn, segment, WHEN_RIM, err);
  for (int l = turn->depths->first[segment]; !code && l < turn->depths->first[next]; l++)
    loop_mark_written(ctx, turn->launches[l]->loop, false);
  if (!code && next < turn->depths->nsegments && turn->deep[next])
    code = turn_start(ctx, turn, next, err);
  return code ? code : run_waiting(ctx, r, turn, segment, WHEN_REST, err);
}

int region_run(struct op_context *ctx, const struct regions *r, struct turn *turn, struct error *err) {
  struct launch *const *launches = turn->launches + r->first;
  const double start = clock_seconds();
  double waited = 0;
  int code = turn_start(ctx, turn, r->segment, err);
  if (!code)
    code = make_works(ctx, r, launches, err);
  if (!code)
    executor_run(r->threads > 1 ? ctx->team : NULL, &(struct execution){.schedule = &r->early.schedule,
                                                                        .works = r->works,
                                                                        .nworks = r->n,
                                                                        .threads = r->threads,
                                                                        .poll = ctx->poll,
                                                                        .poll_context = ctx});
  for (int s = r->segment; !code && s < r->segment + r->nsegments; s++)
    code = run_late(ctx, r, turn, s, &waited, err);
  if (code)
    return code;
  loop_share_time(ctx, launches, r->n, "tiles", NULL, start, clock_seconds() - start - waited);
  ctx->counters->tiled++;
  return OP_OK;
}
