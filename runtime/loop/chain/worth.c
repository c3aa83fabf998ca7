#include "loop/chain/worth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "exec/caches.h"
#include "loop/chain/depths.h"
#include "loop/chain/fused.h"
#include "loop/chain/queue.h"
#include "loop/chain/tiled.h"
#include "loop/choose.h"
#include "loop/meet.h"
#include "loop/tuner.h"
#include "mesh/data.h"
#include "ranks/agree.h"
#include "ranks/comm.h"

/* The part of a chain's spared memory time that is gained; instructions bound the rest (airfoil, one and two threads:
 * 0.2 to 0.3). */
static const double gained_share = 0.25;
/* Bytes a second of a thread: loops that move less, on a quiet machine or a busy one, do not wait for memory. */
static const double slow_rate = 0.5e9;
/* The least gain, as a part of a period's time; and in how many more periods it must pay back the cutting. */
static const double least_gain = 0.03;
enum { MORE_PERIODS = 100 };
/* Seconds that cutting takes for an element or an entry of a map. */
static const double cut_seconds = 3e-9;
/* Loops of a chain: more periods are cut together as long as there are fewer, and so many periods at most. */
enum { LONG_CHAIN = 16, MOST_PERIODS = 8 };

/* A part of a period: loops that follow one another, and between which nobody looks. */
struct part {
  struct loop *loops[WATCH_MOST];
  int n, threads;
  bool whole;     /* all of the period, so that several periods are one chain */
  double seconds; /* as called */
};

static double cache_bytes(const struct op_context *ctx, int threads) {
  return (double)(ctx->cache_bytes ? ctx->cache_bytes : caches_bytes(ctx->env, threads));
}

double worth_tile_bytes(const struct op_context *ctx) {
  const double least = 128e3, last = (double)env_number(ctx->env, ENV_L3, 0),
               own = (double)caches_own_bytes(ctx->env);
  const double most = last > 0 && last < own ? last / 2 : own / 2;
  double bytes = least;
  while (2 * bytes <= most)
    bytes *= 2;
  return most < least ? most : bytes;
}

bool worth_is_forced(const struct op_context *ctx) {
  return env_number(ctx->env, ENV_TILES, 0) > 0 || env_number(ctx->env, ENV_TASKS, 0) > 0;
}

/* ---- which loops may wait ---- */

/* A global that other loops have on the device, and this one on the host. */
static bool has_apart(const struct op_context *ctx, const struct loop *loop) {
  bool any = false;
  for (int i = 0; loop->ready.hands_on && !ctx->queue->check && i < loop->nargs; i++)
    any |= loop->args[i].gbl && loop->args[i].present && !loop->desc.args[i].kept;
  return any && space_is_device(loop->space);
}

/* Programs of OP2 look at the memory that loops run on, unless they promised not to; a function of theirs may look at
 * anything. With ranks other units of them look at halos too. */
static bool may_be_looked_at(const struct op_context *ctx, const struct loop *loop) {
  return loop->compiled && (loop->ranged || !ctx->untouched || !comm_alone(ctx->comm));
}

/* The program sees when such a kernel runs. Code from the cache came without facts. */
static bool speaks(struct op_context *ctx, const struct loop *loop) {
  struct error ignored = {0};
  loop_facts(ctx, (struct loop *)loop, true, &ignored);
  error_free(&ignored);
  return (loop->facts.known ? loop->facts.says : loop->desc.says) & SAYS_SPEAKS;
}

/* Asked once for each variant, since it takes as long as many launches. */
static bool expect(struct op_context *ctx, struct loop *loop, struct expected *out) {
  struct expected *known = &loop->ready.expected;
  const int variant = loop->ready.variant + 1;
  if (known->variant != variant && loop->backend->expect && loop->backend->expect(ctx, loop, known))
    known->variant = variant;
  *out = *known;
  return known->variant == variant;
}

/* The same on all ranks, which do not know the same facts. On a device trials are waited for one by one: they come first. */
static bool may_wait(struct op_context *ctx, const struct loop *loop) {
  const bool alone = comm_alone(ctx->comm);
  return loop && loop_may_wait(ctx, loop) && loop->stats.calls > 0 &&
         !(alone ? speaks(ctx, loop) : loop->desc.says & SAYS_SPEAKS) &&
         !(loop->backend->expect && (loop->ready.nparts != 1 || tune_wants(loop)));
}

/* Tiles would add in another order, and on devices fused loops. What looks at loops from outside looks at one after the other. A kernel that is a function of the program may look at
 * anything in it, and waits in tests only. */
bool loop_may_wait(const struct op_context *ctx, const struct loop *loop) {
  const struct backend *b = loop->backend;
  return (b->may_wait || (b->work && worth_is_forced(ctx))) && !loop->form && !loop->ordered &&
         !(loop->reproducible && space_is_device(loop->space)) && !may_be_looked_at(ctx, loop) &&
         loop->ready.most_elements > 0 && !has_apart(ctx, loop);
}

/* Begins behind a call that ends chains; if there is none, with the loop that the program called first, so that what is
 * remembered of the period is found again. */
static int find_first(const struct watched *period, int n) {
  int first = -1;
  for (int i = 0; i < n && first < 0; i++)
    if (watched_ends(&period[i]) && period[(i + 1) % n].loop)
      first = (i + 1) % n;
  if (first >= 0)
    return first;
  first = 0;
  for (int i = 1; i < n; i++)
    for (int k = 0; k < n; k++) {
      const size_t a = period[(i + k) % n].loop->key.order, b = period[(first + k) % n].loop->key.order;
      if (a < b)
        first = i;
      if (a != b)
        break;
    }
  return first;
}

static void rotate(struct watched *period, int n, int first) {
  struct watched old[WATCH_MOST];
  memcpy(old, period, (size_t)n * sizeof *old);
  for (int i = 0; i < n; i++)
    period[i] = old[(first + i) % n];
}

/* ---- what a part is worth ---- */

/* The distance between an element's targets, for most elements. */
static double spread(const struct map *map) {
  enum { SAMPLES = TIMES_MOST, MOSTLY = SAMPLES - SAMPLES / 8 - 1 };
  const long size = map->from->extents[EXTENT_OWNED];
  double spreads[SAMPLES] = {0};
  for (int s = 0; s < SAMPLES && size > 0; s++) {
    const long e = (2 * s + 1) * size / (2 * SAMPLES), end = map_end(map, e);
    long low = 0, high = 0;
    for (long i = map_begin(map, e); i < end; i++) {
      low = i == map_begin(map, e) || map->table[i] < low ? map->table[i] : low;
      high = i == map_begin(map, e) || map->table[i] > high ? map->table[i] : high;
    }
    spreads[s] = (double)(high - low);
  }
  times_sort(spreads, SAMPLES);
  return spreads[MOSTLY];
}

/* Bytes of what lies between the place where the first loop is and that where the last one is: they must stay in a core's
 * cache. */
static double front_bytes(const struct part *p) {
  double bytes = 0;
  for (int l = 0; l < p->n; l++)
    for (int i = 0; i < p->loops[l]->nargs; i++) {
      const struct loop_arg *arg = &p->loops[l]->args[i];
      bool known = !arg->dat || arg_is_own(arg) || !arg->present;
      for (int k = 0; k < i && !known; k++)
        known = p->loops[l]->args[k].dat == arg->dat;
      if (!known)
        bytes += spread(arg->map) * (double)arg->dat->row_bytes;
    }
  return bytes;
}

static int periods_of(const struct op_context *ctx, const struct part *p) {
  const double own = (double)caches_own_bytes(ctx->env), front = front_bytes(p);
  int periods = 1;
  while (p->whole && periods < MOST_PERIODS && periods * p->n < LONG_CHAIN && 2 * periods * front <= own)
    periods *= 2;
  return periods;
}

int worth_periods(const struct op_context *ctx, struct loop *const *loops, int n) {
  struct part p = {.whole = true};
  for (int i = 0; i < n && n <= WATCH_MOST; i++) {
    p.whole &= !loops[i]->ready.tells;
    p.loops[p.n++] = loops[i];
  }
  return periods_of(ctx, &p);
}

static double cutting(const struct part *p, int periods) {
  double pieces = 0;
  for (int l = 0; l < p->n; l++) {
    pieces += periods * (double)p->loops[l]->set->extents[EXTENT_OWNED];
    for (int i = 0; i < p->loops[l]->nargs; i++) {
      const struct map *map = p->loops[l]->args[i].map;
      bool known = !map;
      for (int k = 0; k < l && !known; k++)
        known = loop_uses(p->loops[k], map);
      for (int k = 0; k < i && !known; k++)
        known = p->loops[l]->args[k].map == map;
      if (!known)
        pieces += (double)map_begin(map, map->from->extents[EXTENT_OWNED]);
    }
  }
  return pieces * cut_seconds / p->threads;
}

/* Seconds of a period that it gains; 0: it does not pay. */
static double gain_of(const struct op_context *ctx, const struct part *p, int periods) {
  const struct tiled_bytes b = tiled_bytes(p->loops, p->n);
  const double spared = periods * b.called > 0 ? 1 - b.moved / (periods * b.called) : 0;
  const double rate = p->seconds > 0 ? b.called / p->seconds / p->threads : 0;
  const double gain = gained_share * fmin(1, rate / slow_rate) * fmax(0, spared) * p->seconds;
  if (p->n * periods < 2 || b.data < cache_bytes(ctx, p->threads) || gain < least_gain * p->seconds)
    return 0;
  return gain * MORE_PERIODS >= cutting(p, periods) ? gain : 0;
}

double loop_usual_seconds(const struct loop *loop) {
  const struct loop_stats *s = &loop->stats;
  return s->calls > 1 ? (s->seconds - s->slowest) / (double)(s->calls - 1) : s->seconds;
}

static void begin_part(struct part *p) {
  p->n = 0;
  p->threads = 1;
  p->seconds = 0;
}

static void add_loop(struct part *p, const struct loop *loop) {
  p->loops[p->n++] = (struct loop *)loop;
  p->seconds += loop_usual_seconds(loop);
  p->threads = loop->ready.threads > p->threads ? loop->ready.threads : p->threads;
}

/* NULL: they stay several. */
static struct loop *one_of(struct op_context *ctx, struct loop *const *loops, const struct fused_group *g) {
  struct loop *members[DESC_MOST_MEMBERS];
  struct error ignored = {0};
  for (int m = 0; m < g->n; m++)
    members[m] = loops[g->members[m]];
  struct loop *one = g->n > 1 ? fused_get(ctx, members, g->n, 0, &ignored) : NULL;
  error_free(&ignored);
  return one && !one->fusion->failed ? one : NULL;
}

static bool add_group(struct op_context *ctx, struct loop *const *loops, const struct fused_group *g,
                      struct device_gain *gain) {
  struct expected all = {0}, e = {0};
  for (int m = 0; m < g->n; m++) {
    if (!expect(ctx, loops[g->members[m]], &e))
      return false;
    all.seconds += e.seconds;
    all.saved += e.saved;
  }
  struct loop *one = one_of(ctx, loops, g);
  if (one && !expect(ctx, one, &e))
    return false;
  gain->seconds += all.seconds;
  gain->graph += all.saved;
  gain->whole += one ? e.saved : all.saved;
  gain->fused += one ? all.seconds - e.seconds : 0;
  return true;
}

/* Without OP2_FUSE each is alone. */
static int make_groups(const struct op_context *ctx, struct loop *const *loops, int n,
                       struct fused_group *groups) {
  if (strcmp(env_value(ctx->env, ENV_FUSE), "off") != 0)
    return fused_groups(loops, n, groups);
  for (int i = 0; i < n; i++)
    groups[i] = (struct fused_group){.members = {i}, .n = 1};
  return n;
}

/* Loops that follow one another, and between which nobody looks. False: too little is known yet. */
static bool device_add(struct op_context *ctx, struct loop *const *loops, int n, struct device_gain *gain) {
  struct fused_group *groups = array_new((size_t)n, sizeof *groups);
  const int count = groups ? make_groups(ctx, loops, n, groups) : 0;
  struct device_gain own = {0};
  struct expected e = {0};
  bool known = groups;
  for (int g = 0; known && g < count; g++)
    known = add_group(ctx, loops, &groups[g], &own);
  if (known && expect(ctx, loops[0], &e)) {
    gain->seconds += own.seconds;
    gain->fused += own.fused;
    gain->graph += n > 1 && own.graph > e.graph ? own.graph - e.graph : 0;
    gain->whole += count > 1 && own.whole > e.graph ? own.whole - e.graph : 0;
  }
  free(groups);
  return known;
}

/* Seconds that a part of a period gains; on a device they are added to `device`. */
static double add_part(struct op_context *ctx, const struct part *p, struct chain_way *guess,
                       struct device_gain *device, bool *known) {
  if (ctx->backend->expect) {
    *known = *known && (p->n == 0 || device_add(ctx, p->loops, p->n, device));
    return 0;
  }
  const int periods = periods_of(ctx, p);
  guess->periods = periods > guess->periods ? periods : guess->periods;
  return p->n ? gain_of(ctx, p, periods) : 0;
}

/* A part of a period's time: less than this is not worth waiting, and not more than what the counts may be wrong by. */
static const double device_least_gain = 0.05;

/* Seconds that a period gains; 0: not enough to wait. *fuses: its neighbours are to be one loop. */
static double device_pays(const struct device_gain *gain, bool *fuses) {
  const double least = device_least_gain * gain->seconds;
  *fuses = gain->fused > 0 && gain->fused >= least;
  const double graph = *fuses ? gain->whole : gain->graph;
  return (*fuses ? gain->fused : 0) + (graph > 0 && graph >= least ? graph : 0);
}

/* Loops that run as called count with the time that the host saw. */
static double device_worth(const struct op_context *ctx, const struct watched *period, int n,
                           const struct device_gain *device, struct chain_way *guess) {
  struct device_gain all = *device;
  for (int i = 0; i < n; i++)
    all.seconds += period[i].loop && !period[i].waits ? loop_usual_seconds(period[i].loop) : 0;
  const double gain = device_pays(&all, &guess->fused);
  log_line(
      ctx->log, LOG_DEBUG, "chain",
      "%d calls that come again, from %s: by what is known of the device %.4g us; loops made of several save "
      "%.4g us, graphs %.4g us: %s",
      n,
      period[0].loop       ? period[0].loop->name
      : period[n - 1].loop ? period[n - 1].loop->name
                           : "",
      1e6 * all.seconds, 1e6 * all.fused, 1e6 * (guess->fused ? all.whole : all.graph),
      gain > 0 ? "they wait" : "they run as called");
  return gain;
}

/* ---- ranks ---- */

/* Numbers of which all ranks take the largest when a period is found. */
enum { HELD, TRIES, SECONDS, PERIODS, NUMBERS };

static int spares_messages(struct op_context *ctx, const struct part *p, int code, bool *spares,
                           struct error *err) {
  bool less = false;
  if (!code && p->n > 1)
    code = loop_depths_spare(ctx, p->loops, p->n, &less, err);
  *spares |= less;
  return code;
}

/* All alike: it pays where less travels. For some hundred calls not before the loops' own variants are known, as none is tried
 * while they wait: ranks take long for that. `code` is what came of it on this rank: one that failed tells the others here, or
 * where they agree next. */
static int pays_together(struct op_context *ctx, const struct watched *period, int n, int code,
                         struct waiting_worth *worth, struct error *err) {
  double numbers[NUMBERS] = {
      [HELD] = ctx->queue->watch.held != 0, [SECONDS] = worth->seconds, [PERIODS] = worth->guess.periods};
  enum { PATIENCE = 3 };
  for (int i = 0; i < n; i++)
    if (period[i].waits) {
      numbers[HELD] += speaks(ctx, period[i].loop); /* as one rank may know */
      numbers[TRIES] += ctx->queue->watch.failures < PATIENCE && tune_wants_turn(period[i].loop);
    }
  code = agree_on_largest(ctx->agreement, code, numbers, NUMBERS, err);
  worth->seconds = numbers[SECONDS];
  worth->guess.periods = (int)numbers[PERIODS];
  worth->pays = !code && !(numbers[HELD] > 0 || numbers[TRIES] > 0);
  return code;
}

int worth_waiting(struct op_context *ctx, struct watched *period, int n, struct waiting_worth *worth,
                  struct error *err) {
  const bool alone = comm_alone(ctx->comm);
  struct part p = {.whole = true};
  struct device_gain device = {0};
  double tiles = 0;
  bool known = true, spares = worth_is_forced(ctx);
  int code = OP_OK;
  for (int i = 0; i < n; i++)
    period[i].waits = may_wait(ctx, period[i].loop);
  rotate(period, n, find_first(period, n));
  for (int i = 0; i < n; i++)
    p.whole &= !watched_ends(&period[i]);
  *worth = (struct waiting_worth){.guess = {.bytes = worth_tile_bytes(ctx), .periods = 1}};
  begin_part(&p);
  for (int i = 0; i < n; i++) {
    if (period[i].waits)
      add_loop(&p, period[i].loop);
    if (!watched_ends(&period[i]) && i + 1 < n)
      continue;
    if (!alone)
      code = spares_messages(ctx, &p, code, &spares, err);
    tiles += add_part(ctx, &p, &worth->guess, &device, &known);
    worth->seconds += p.seconds;
    begin_part(&p);
  }
  /* If nothing is spared, which all ranks know alike, they must not meet: some may not have come so far. */
  if (!alone)
    return spares || code ? pays_together(ctx, period, n, code, worth, err) : OP_OK;
  worth->gain = known && ctx->backend->expect ? device_worth(ctx, period, n, &device, &worth->guess) : 0;
  worth->pays =
      worth_is_forced(ctx) || worth->gain > 0 || (tiles >= least_gain * worth->seconds && tiles > 0);
  return OP_OK;
}

bool device_fuses(struct op_context *ctx, struct loop *const *loops, int n) {
  struct device_gain gain = {0};
  bool fuses = false;
  if (device_add(ctx, loops, n, &gain))
    device_pays(&gain, &fuses);
  return fuses;
}
