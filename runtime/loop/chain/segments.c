#include "loop/chain/segments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/chain/deep.h"
#include "loop/chain/depths.h"
#include "loop/chain/fused.h"
#include "loop/chain/queue.h"
#include "loop/chain/regions.h"
#include "loop/chains.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "mesh/guest.h"
#include "plan/early.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/sites.h"
#include "spread/exchange.h"

/* ---- a segment ---- */

/* The state of a dat in the segment so far. */
enum became { UNCHANGED, CHANGED, OVERWRITTEN };

struct needs {
  struct arrays memory;
  struct halo_need *items;
  int count;
  const struct dat **dats; /* that are not unchanged */
  enum became *became;
  int ndats;
};

static enum became *find(const struct needs *s, const struct dat *dat) {
  for (int i = 0; i < s->ndats; i++)
    if (s->dats[i] == dat)
      return &s->became[i];
  return NULL;
}

static void add(struct op_context *ctx, struct needs *s, struct dat *dat, const struct map *map) {
  bool there = halo_is_current(ctx, dat, map);
  for (int i = 0; i < s->count; i++)
    there |= s->items[i].dat == dat && s->items[i].map == map;
  if (!there)
    s->items[s->count++] = (struct halo_need){.dat = dat, .map = map};
}

/* A dat that changed before is read again only by copies, which change it alike if they were the newest. */
static void add_loop(struct op_context *ctx, struct needs *s, const struct loop *loop) {
  for (int i = 0; i < loop->ready.nneeds; i++) {
    const struct halo_need *need = &loop->ready.needs[i];
    const enum became *became = find(s, need->dat);
    if (!became || *became == CHANGED)
      add(ctx, s, need->dat, became ? NULL : need->map);
  }
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form != DESC_DAT || !arg->present || arg->access == OP_READ)
      continue;
    enum became *became = find(s, arg->dat);
    if (!became) {
      s->dats[s->ndats] = arg->dat;
      became = &s->became[s->ndats++];
      *became = CHANGED;
    }
    if (arg->access == OP_WRITE && !arg->map && !loop->compiled)
      *became = OVERWRITTEN;
  }
}

/* All that the segment's loops need and is old. */
static int find_needs(struct op_context *ctx, struct needs *s, struct launch *const *launches, int n,
                      struct error *err) {
  size_t most = 0;
  for (int i = 0; i < n; i++)
    most += (size_t)launches[i]->loop->nargs;
  *s = (struct needs){0};
  s->items = arrays_add(&s->memory, most, sizeof *s->items);
  s->dats = arrays_add(&s->memory, most, sizeof *s->dats);
  s->became = arrays_add(&s->memory, most, sizeof *s->became);
  if (s->memory.failed)
    return error_memory(err, "what a chain needs of other ranks", most * sizeof *s->items);
  for (int i = 0; i < n; i++)
    add_loop(ctx, s, launches[i]->loop);
  return OP_OK;
}

/* ---- running it ---- */

/* The first of the loops that reaches others' elements. */
static struct launch *first_to_wait(struct launch *const *launches, int n) {
  for (int i = 0; i < n; i++)
    if (launches[i]->loop->ready.nparts > 1)
      return launches[i];
  return NULL;
}

static struct exchange_header header_of(const struct op_context *ctx, const struct known_chain *k) {
  return (struct exchange_header){ctx->queue->flushes, (uint32_t)k->n, k->hash};
}

/* *waits: the launch that waits for the messages, which is launch->exchange; NULL: there are none. */
static int start_messages(struct op_context *ctx, const struct known_chain *k, struct launch *const *launches,
                          int n, struct launch **waits, struct error *err) {
  struct launch *launch = first_to_wait(launches, n);
  struct needs s;
  struct exchange *x = NULL;
  const double start = clock_seconds();
  const struct exchange_header header = header_of(ctx, k);
  *waits = NULL;
  if (!launch)
    return OP_OK;
  ctx->comm->where = launch->loop->name;
  int code = find_needs(ctx, &s, launches, n, err);
  if (!code && s.count)
    code = exchange_get(ctx, s.items, s.count, launch->loop->space, &header, &x, err);
  if (!code && x)
    code = exchange_start(ctx, x, err);
  arrays_free(&s.memory);
  if (code || !x)
    return code;
  launch->exchange = x;
  launch->stale = 0;
  loop_exchange_started(ctx, launch, start);
  *waits = launch;
  return OP_OK;
}

static int run_loops(struct op_context *ctx, struct launch *const *launches, int n, struct launch **waits,
                     struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < n; i++) {
    const bool here = launches[i] == *waits;
    code = loop_run_ready(ctx, launches[i], 0, here, err);
    *waits = here ? NULL : *waits;
  }
  return code;
}

static int run_segment(struct op_context *ctx, const struct known_chain *k, int segment,
                       struct launch *const *launches, struct error *err) {
  const int n = k->depths.first[segment + 1] - k->depths.first[segment];
  struct launch *waits = NULL;
  int code = n > 1 ? start_messages(ctx, k, launches, n, &waits, err) : OP_OK;
  if (!code)
    code = run_loops(ctx, launches, n, &waits, err);
  if (waits) { /* a loop before it failed */
    struct error ignored = {0};
    loop_exchange_finish(ctx, waits, &ignored);
    error_free(&ignored);
  }
  return code;
}

/* ---- deeper ones ---- */

/* For reports. Names of sites stay where loops are forgotten. */
static void note_single(struct op_context *ctx, const struct loop *loop) {
  struct queue *queue = ctx->queue;
  const char *name = loop->site ? loop->site->name : NULL, *why = loop_keeps_to_itself(loop);
  int i = 0;
  while (i < queue->nsingles && queue->singles[i].name != name)
    i++;
  if (!name || i == QUEUE_SINGLES)
    return;
  if (i == queue->nsingles) {
    queue->singles[queue->nsingles++] =
        (struct queue_single){.name = name, .why = why ? why : "it fills a matrix (OP2_LAYERS)"};
    log_line(ctx->log, LOG_INFO, "chain", "loop %s ends chains of ranks: %s", name, queue->singles[i].why);
  }
  queue->singles[i].times++;
}

/* Its messages travel, and more may run meanwhile than a part of the loop that waits for them. */
static bool ahead_pays(const struct turn *turn, int segment, const int *ahead) {
  const int end = turn->depths->first[segment + 1];
  int l = turn->depths->first[segment], parts = 0;
  if (!turn->waits[segment] || deep_awaits_constants(turn->deep[segment]))
    return false;
  while (l < end && turn->launches[l] != turn->waits[segment])
    l++;
  parts -= l < end && ahead[l] > 0;
  for (; l < end; l++)
    parts += ahead[l];
  return parts > 0;
}

static int ahead_run(struct op_context *ctx, struct turn *turn, int segment, const int *ahead,
                     struct error *err) {
  const int first = turn->depths->first[segment], end = turn->depths->first[segment + 1];
  struct loop_stats *s = &turn->waits[segment]->loop->stats;
  int code = OP_OK;
  for (int l = first; !code && l < end; l++)
    code = loop_run_ready_ahead(ctx, turn->launches[l], ahead[l], err);
  const double before = s->waiting_seconds;
  if (!code)
    code = turn_finish(ctx, turn, segment, err);
  s->seconds += s->waiting_seconds - before;
  for (int l = first; !code && l < end; l++)
    code = loop_run_ready(ctx, turn->launches[l], ahead[l], false, err);
  return code;
}

static int run_deep(struct op_context *ctx, const struct known_chain *k, struct turn *turn, int segment,
                    struct error *err) {
  const int first = k->depths.first[segment], end = k->depths.first[segment + 1];
  int code =
      k->deep[segment] ? turn_start(ctx, turn, segment, err) : turn_leave_results(ctx, turn, first, err);
  if (!k->deep[segment])
    note_single(ctx, turn->launches[first]->loop);
  if (!code && k->deep[segment] && ahead_pays(turn, segment, k->ahead))
    return ahead_run(ctx, turn, segment, k->ahead, err);
  return code ? code : run_loops(ctx, turn->launches + first, end - first, &turn->waits[segment], err);
}

static int run_turn(struct op_context *ctx, const struct known_chain *k, struct launch *const *launches,
                    struct error *err) {
  struct turn turn = {
      .depths = &k->depths, .deep = k->deep, .launches = launches, .early = k->early, .waits = k->waits};
  const struct exchange_header header = header_of(ctx, k);
  int code = turn_begin(ctx, &turn, &header, err);
  for (int s = 0, n; !code && s < k->depths.nsegments; s += n) {
    const struct regions *r = k->regions[s];
    const bool early = r && region_may_run(r, launches);
    n = early ? region_segments(r) : 1;
    code = early ? region_run(ctx, r, &turn, err) : run_deep(ctx, k, &turn, s, err);
  }
  if (!code)
    code = turn_leave_results(ctx, &turn, k->n, err);
  return turn_end(ctx, &turn, code);
}

static int run_known(struct op_context *ctx, const struct known_chain *k, struct launch *const *launches,
                     struct error *err) {
  int code = OP_OK;
  if (k->deep)
    return run_turn(ctx, k, launches, err);
  for (int s = 0; !code && s < k->depths.nsegments; s++)
    code = run_segment(ctx, k, s, launches + k->depths.first[s], err);
  return code;
}

/* ---- neighbours as one ---- */

/* Behind the last segment whose loops can be one with this one's. Where tiles are cut across segments, loops at both sides of a border
 * can: then what the later one makes travels, too, of border rows alone. Elsewhere those of a segment. The same on all ranks. */
static int end_of_part(const struct known_chain *k, int segment) {
  int end = segment + 1;
  while (k->early && k->deep[segment] && end < k->depths.nsegments && k->deep[end])
    end++;
  return end;
}

/* Launches of a chain, where neighbours that can be are one. */
struct whole {
  struct arrays memory;
  struct fused_launches *parts; /* by their first segments */
  struct launch **items;
  int n;
};

static void whole_end(const struct known_chain *k, struct whole *w) {
  for (int s = 0; w->parts && s < k->depths.nsegments; s++)
    fused_end(&w->parts[s]);
  arrays_free(&w->memory);
}

/* Each in the best variant known. Without memory they are the launches as they were, or fewer of them. Ranks make code
 * together where it is not there yet. */
static void whole_begin(struct op_context *ctx, const struct known_chain *k, struct launch *const *launches,
                        struct whole *w) {
  const struct chain_way way = {.fused = true, .periods = 1, .stays = true};
  *w = (struct whole){0};
  w->parts = arrays_add(&w->memory, (size_t)k->depths.nsegments, sizeof *w->parts);
  w->items = arrays_add(&w->memory, (size_t)k->n, sizeof *w->items);
  for (int s = 0, end; !w->memory.failed && s < k->depths.nsegments; s = end) {
    end = end_of_part(k, s);
    const int first = k->depths.first[s], n = k->depths.first[end] - first;
    const bool any = fused_begin(ctx, launches + first, n, &way, &w->parts[s]);
    for (int i = 0; i < (any ? w->parts[s].n : n); i++)
      w->items[w->n++] = any ? w->parts[s].items[i] : launches[first + i];
  }
}

/* True: the code of each loop that would be fused is in the cache. Ranks ask the leader of their kind; nothing is compiled. Collective. */
static bool is_code_there(struct op_context *ctx, const struct known_chain *k,
                          struct launch *const *launches) {
  bool there = true;
  for (int s = 0, end; s < k->depths.nsegments; s = end) {
    end = end_of_part(k, s);
    const int first = k->depths.first[s];
    there &= fused_prepare(ctx, launches + first, k->depths.first[end] - first, NULL, NULL);
  }
  return there;
}

/* The loops of the part that begins with the segment; *end: behind its last segment. Returns how many. */
static int loops_of_part(const struct known_chain *k, struct launch *const *launches, int segment,
                         struct loop *loops[WATCH_MOST], int *end) {
  int n = 0;
  *end = end_of_part(k, segment);
  for (int l = k->depths.first[segment]; l < k->depths.first[*end] && n < WATCH_MOST; l++)
    loops[n++] = launches[l]->loop;
  return n;
}

/* Numbers of which all ranks take the largest. */
enum { SECONDS, COMPILING, MOVED, NUMBERS };

static void find_numbers(const struct known_chain *k, struct launch *const *launches,
                         double numbers[NUMBERS]) {
  double called = 0, moved = 0;
  struct loop *loops[WATCH_MOST];
  numbers[COMPILING] = 0.1;
  for (int s = 0, end; s < k->depths.nsegments; s = end) {
    const int n = loops_of_part(k, launches, s, loops, &end);
    for (int l = 0; l < n; l++) {
      const struct loop_stats *stats = &loops[l]->stats;
      called += stats->bytes;
      numbers[SECONDS] += stats->calls ? k->turns * stats->seconds / (double)stats->calls : 0;
      numbers[COMPILING] = fmax(numbers[COMPILING], 2 * loops[l]->ready.code_seconds);
    }
    moved += fused_bytes(loops, n);
  }
  numbers[MOVED] = called > 0 ? moved / called : 1;
}

/* By a model, since ranks that measure would have to meet: the fused loops must move less, of memory or, in tiles, of caches.
 * Compiling them must then pay, as it must in one process (loop/chains.h); code that is there, and OP2_TUNE=off, cost nothing.
 * All ranks ask at the same turns. */
static int wants_whole(struct op_context *ctx, struct known_chain *k, struct launch *const *launches,
                       bool *wants, struct error *err) {
  enum { FIRST_ASKED = 2 };
  static const double share = 0.05; /* of the time that trials may take */
  double numbers[NUMBERS] = {0};
  const bool always = strcmp(env_value(ctx->env, ENV_FUSE), "on") == 0,
             waits = strcmp(env_value(ctx->env, ENV_TUNE), "off") != 0;
  *wants = always;
  if (always || k->turns < FIRST_ASKED || (k->turns & (k->turns - 1)))
    return OP_OK;
  find_numbers(k, launches, numbers);
  if (waits && is_code_there(ctx, k, launches))
    numbers[COMPILING] = 0;
  const int code = agree_on_largest(ctx->agreement, OP_OK, numbers, NUMBERS, err);
  const double gain = chain_fused_gain(numbers[MOVED]), earned = fmax(share, gain) * numbers[SECONDS];
  k->fuses = !code && numbers[MOVED] <= 1 - share;
  *wants = k->fuses && (!waits || numbers[COMPILING] <= earned);
  return code;
}

static bool any_can_be_one(const struct known_chain *k, struct launch *const *launches) {
  bool any = false;
  struct loop *loops[WATCH_MOST];
  for (int s = 0, end; s < k->depths.nsegments; s = end)
    any |= fused_any(loops, loops_of_part(k, launches, s, loops, &end));
  return any;
}

/* Not where ranks would exchange more often then, or no longer run in tiles; nor, but in tiles, where more would travel. */
static int make_whole(struct op_context *ctx, struct known_chain *k, struct launch *const *launches,
                      struct error *err) {
  struct whole w;
  struct known_chain *whole = NULL;
  whole_begin(ctx, k, launches, &w);
  k->fuses = false;
  double most[] = {w.n, -w.n}; /* a rank without memory has others */
  int code = agree_on_largest(ctx->agreement, OP_OK, most, 2, err);
  if (!code && w.n > 1 && w.n < k->n && most[0] <= -most[1])
    code = known_chain_make(ctx, w.items, w.n, &whole, err);
  whole_end(k, &w);
  if (whole && (whole->depths.exchanges > k->depths.exchanges || !whole->deep != !k->deep ||
                (k->early ? !whole->early : whole->depths.weight > k->depths.weight)))
    known_chain_free(ctx, whole);
  else if (whole) {
    k->whole = whole;
    whole->hash = (k->hash ^ 1) * 1099511628211u; /* loops made of several have no order */
  }
  return code;
}

static int run_whole(struct op_context *ctx, const struct known_chain *k, struct launch *const *launches,
                     struct error *err) {
  struct whole w;
  whole_begin(ctx, k, launches, &w);
  const int code =
      w.n == k->whole->n ? run_known(ctx, k->whole, w.items, err) : run_known(ctx, k, launches, err);
  whole_end(k, &w);
  return code;
}

/* It works in memory that has no room for more layers. */
static bool any_is_placed(const struct op_context *ctx, struct launch *const *launches, int n) {
  bool any = false;
  for (int l = 0; ctx->mesh->lent && l < n; l++)
    for (int i = 0; i < launches[l]->loop->nargs; i++) {
      const struct dat *dat = launches[l]->loop->args[i].dat;
      any |= dat && dat->guest && dat->guest->placed;
    }
  return any;
}

int segments_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  struct known_chain *k = NULL;
  bool wants = false;
  int code = n > 1 ? known_chain_get(ctx, launches, n, &k, err) : OP_OK;
  ctx->queue->flushes++;
  if (code || !k || (k->layers > 1 && any_is_placed(ctx, launches, n)))
    return code ? code : loop_run_all_ready(ctx, launches, n, err);
  k->facts.runs += k->layers > 1;
  if (k->turns++ == 0)
    k->fuses = !space_is_device(launches[0]->loop->space) &&
               strcmp(env_value(ctx->env, ENV_FUSE), "off") != 0 && any_can_be_one(k, launches);
  if (k->fuses && !k->whole)
    code = wants_whole(ctx, k, launches, &wants, err);
  if (!code && wants)
    code = make_whole(ctx, k, launches, err);
  return code ? code : (k->whole ? run_whole : run_known)(ctx, k, launches, err);
}

/* Elements of a loop before this one run together, and so do those from it on. */
static long cut_of(const struct loop *loop) {
  return loop->ready.nresults > 1 ? loop->ready.parts[1].begin : loop->set->extents[EXTENT_OWNED];
}

/* Parts of the loop, which run from the first on, whose elements are all early. */
static int early_parts(const struct loop *loop, const unsigned char *when) {
  int p = 0;
  for (; p < loop->ready.nresults; p++)
    for (long e = loop->ready.parts[p].begin; e < loop->ready.parts[p].end; e++)
      if (when[e] != WHEN_EARLY)
        return p;
  return p;
}

int ahead_find(struct loop *const *loops, const struct tiled_description *d, const struct copies_set *sets,
               const struct depths *depths, const struct deep *deep, int segment, int *ahead,
               struct error *err) {
  const int first = depths->first[segment], n = depths->first[segment + 1] - first;
  long *cuts = array_new((size_t)n, sizeof *cuts);
  unsigned char **when = NULL;
  if (!cuts)
    return error_memory(err, "what of a chain needs no messages", (size_t)n * sizeof *cuts);
  for (int l = 0; l < n; l++)
    cuts[l] = cut_of(loops[first + l]);
  const struct early_segment one = {.end = first + n, .copies = deep_copies(deep), .cuts = cuts};
  const int code = early_find(&when, &d->chain, sets, first, &one, 1, true, err);
  for (int l = 0; !code && l < n; l++)
    ahead[first + l] = early_parts(loops[first + l], when[l]);
  early_free(when, n);
  free(cuts);
  return code;
}
