#include "loop/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/auto/device.h"
#include "loop/auto/worth.h"
#include "loop/fused/fused.h"
#include "loop/loop.h"
#include "loop/make.h"
#include "loop/queue.h"
#include "loop/spread/segments.h"
#include "loop/tiled/tiled.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "run/team.h"
#include "tune/chains.h"
#include "tune/choose.h"

/* Loops that repeat are taken together up to so many, if nothing is tuned; loops that do not up to so many; so
 * many periods are known. */
enum { LEAST_CHAIN = 4, LONG_CHAIN = 8, LONGEST_CHAIN = 24, MOST_PERIODS = 64 };

/* Loops that come again and again in this order. */
struct period {
  struct loop **loops;
  int n, seen;
  unsigned epoch;   /* of the mesh */
  bool pays;        /* its data are large enough for tiles */
  bool tasks;       /* and there are threads for which it may be worth while to be tasks */
  bool fuses, made; /* some of its loops can be one; and are made so */
  bool aside;       /* what its ways need is made beside the loops, on a processor that these leave free */
  bool spent;       /* compiling loops that are one is paid for, and begun */
  double begun;     /* when that was begun which is being made; 0: nothing is */
  double trials;    /* seconds that trials of its loops cost, as far as they were paid for */
  struct chain_tuning *tuner; /* NULL: the first guess, or no memory */
};

/* ---- periods ---- */

/* How many of them repeat what comes `period` before. */
static int repeated(struct launch *const *launches, int n, int period) {
  int i = period;
  while (i < n && launches[i]->loop == launches[i - period]->loop)
    i++;
  return i;
}

/* The length of what repeats from the first launch on, and how often; once: no longer than is good. */
static int find_period(struct launch *const *launches, int n, int *times) {
  for (int period = 1; 2 * period <= n; period++) {
    *times = repeated(launches, n, period) / period;
    if (*times >= 2)
      return period;
  }
  *times = 1;
  return n < LONGEST_CHAIN ? n : LONGEST_CHAIN;
}

static void period_free(struct op_context *ctx, struct period *p) {
  chain_tuning_close(ctx, p->tuner);
  free(p->loops);
  free(p);
}

static void forget_all(struct op_context *ctx) {
  for (int i = 0; i < ctx->periods->count; i++)
    period_free(ctx, ctx->periods->items[i]);
  list_free(ctx->periods);
  tiled_forget(ctx);
}

static bool any_uses(const struct op_context *ctx, const void *object) {
  bool found = false;
  for (int i = 0; i < ctx->periods->count; i++) {
    const struct period *p = ctx->periods->items[i];
    for (int l = 0; l < p->n; l++)
      found |= loop_uses(p->loops[l], object);
  }
  return found;
}

/* A program that makes and frees a temporary in each step would never know a chain. */
void chains_forget(struct op_context *ctx, const void *object) {
  if (!object || any_uses(ctx, object))
    forget_all(ctx);
  if (!object && ctx->queue)
    segments_forget(ctx);
  fused_forget(ctx, object);
}

void chains_stay(struct op_context *ctx) {
  tiled_stay(ctx);
}

void loop_forget(struct op_context *ctx, const void *object) {
  struct loop_table *table = ctx->loops;
  chains_forget(ctx, object);
  for (size_t b = 0; b < table->nbuckets; b++)
    for (struct loop **link = &table->buckets[b]; *link;) {
      struct loop *loop = *link;
      if (object && !loop_uses(loop, object)) {
        link = &loop->next;
        continue;
      }
      *link = loop->next;
      if (ctx->queue)
        watch_forget(&ctx->queue->watch, loop);
      loop_free(ctx, loop);
      table->count--;
    }
  if (!object) {
    free(table->buckets);
    *table = (struct loop_table){.next_order = table->next_order};
  }
}

static bool is_of(const struct period *p, struct launch *const *launches, int n) {
  bool same = p->n == n;
  for (int i = 0; same && i < n; i++)
    same = p->loops[i] == launches[i]->loop;
  return same;
}

/* OP2_FUSE */
static bool may_fuse(const struct op_context *ctx) {
  return strcmp(env_value(ctx->env, ENV_FUSE), "off") != 0;
}

static bool always_fuses(const struct op_context *ctx) {
  return strcmp(env_value(ctx->env, ENV_FUSE), "on") == 0;
}

/* OP2_LAZY=auto */
static const struct watch *watch_of(const struct op_context *ctx) {
  return ctx->queue->watch.on ? &ctx->queue->watch : NULL;
}

/* No clock can tell how to run them: what is known of the device does. */
static bool on_device(struct launch *const *launches) {
  return launches[0]->loop->backend->expect;
}

static struct period *period_new(struct op_context *ctx, struct launch *const *launches, int n) {
  struct period *p = calloc(1, sizeof *p);
  if (!p)
    return NULL;
  *p = (struct period){
      .loops = array_new((size_t)n, sizeof(struct loop *)), .n = n, .epoch = ctx->mesh->epoch};
  for (int i = 0; p->loops && i < n; i++)
    p->loops[i] = launches[i]->loop;
  p->pays = p->loops && launches[0]->loop->backend->work && tiled_pays(ctx, p->loops, n);
  p->tasks = p->loops && launches[0]->loop->backend->work && tiled_pays_as_tasks(p->loops, n);
  p->fuses = p->loops && may_fuse(ctx) && fused_any(p->loops, n) &&
             (!on_device(launches) || watch_of(ctx) || device_fuses(ctx, p->loops, n));
  if (p->loops && list_add(ctx->periods, p))
    return p;
  period_free(ctx, p);
  return NULL;
}

/* NULL: there are too many already, or no memory. What is of another numbering goes. */
static struct period *get_period(struct op_context *ctx, struct launch *const *launches, int n) {
  if (ctx->periods->count && ((const struct period *)ctx->periods->items[0])->epoch != ctx->mesh->epoch)
    forget_all(ctx);
  for (int i = 0; i < ctx->periods->count; i++)
    if (is_of(ctx->periods->items[i], launches, n))
      return ctx->periods->items[i];
  return ctx->periods->count < MOST_PERIODS ? period_new(ctx, launches, n) : NULL;
}

bool chain_tell(const struct op_context *ctx, int i, struct chain_facts *out, bool *more) {
  *more = i < ctx->periods->count;
  const struct period *p = *more ? ctx->periods->items[i] : NULL;
  if (!p || !p->tuner)
    return false;
  *out = (struct chain_facts){.first = p->loops[0]->name, .last = p->loops[p->n - 1]->name, .loops = p->n};
  chain_tuning_tell(p->tuner, &out->tried);
  return true;
}

/* ---- running them ---- */

/* OP2_TILES and OP2_TASKS, for tests: the size of a tile or a block; then chains are cut at their first run, whatever the
 * mesh. */
static double forced_bytes(const struct op_context *ctx) {
  const double blocks = (double)env_number(ctx->env, ENV_TASKS, 0);
  return blocks > 0 ? blocks : (double)env_number(ctx->env, ENV_TILES, 0);
}

static bool forces_tasks(const struct op_context *ctx) {
  return env_number(ctx->env, ENV_TASKS, 0) > 0;
}

/* Not before all loops are known as they are one by one, unless they are known to gain by waiting. */
static bool can(const struct op_context *ctx, struct launch *const *launches, int n) {
  for (int i = 0; i < n; i++)
    if (launches[i]->loop->ready.nparts != 1 || (!watch_of(ctx) && tune_wants(launches[i]->loop)))
      return false;
  return true;
}

/* How to cut at first. */
static struct chain_way guess(const struct op_context *ctx, double bytes, int n, int times) {
  const struct watch *w = watch_of(ctx);
  const int periods = w ? w->guess.periods : n < LONG_CHAIN ? LONG_CHAIN / n : 1;
  return (struct chain_way){.bytes = bytes, .periods = periods < times ? periods : times};
}

/* Of a compile behind the program, what the program feels. */
static const double felt = 0.3;

/* Seconds that making what is not there yet for a way takes: tiles, or fused loops. `begun`: it ran before, if there are fused
 * loops. */
static double making_of(struct op_context *ctx, const struct period *p, struct launch *const *launches,
                        const struct chain_way *way, int times, bool begun) {
  double compile = 0.1;
  for (int i = 0; i < p->n; i++) /* there are two at least */
    compile = fmax(compile, 2 * p->loops[i]->ready.code_seconds);
  if (watch_of(ctx))
    compile *= felt;
  const int periods = way->periods < times ? way->periods : times;
  const bool known = way->fused ? begun && p->made : tiled_is_known(ctx, launches, p->n * periods, way);
  return (way->fused && !p->made && !p->spent ? compile : 0) +
         (way->bytes > 0 && !known ? chain_tuning_cutting(p->tuner, way, periods) : 0);
}

/* Is what a way needs there, of the loops? Code is compiled and tiles are cut behind the program, both at once. */
static bool prepare_loops(struct op_context *ctx, const struct period *p, struct loop *const *loops, int n,
                          const struct chain_way *way) {
  bool made = true;
  for (int i = 0; way->bytes > 0 && i < n && made; i++) {
    const struct backend *b = loops[i]->backend;
    made = !b->has_work || b->has_work(ctx, loops[i], loops[i]->ready.variant);
  }
  return (!(way->bytes > 0) || !p->aside || tiled_prepare(ctx, loops, n, way)) && made;
}

/* A processor on which so little gets done is not free. */
static void look_at_clock(struct period *p, bool made) {
  const double patience = 1, now = clock_seconds();
  if (!made && p->begun > 0 && now - p->begun > patience)
    p->aside = false;
  p->begun = made ? 0 : p->begun > 0 ? p->begun : now;
}

/* The same of so many periods; what it needs is made if it is not. */
static bool prepare(struct op_context *ctx, struct period *p, struct launch *const *launches, int times,
                    const struct chain_way *way) {
  const int n = p->n * (way->periods < times ? way->periods : times);
  struct loop **loops = array_new((size_t)n, sizeof *loops);
  int count = n;
  if (chain_tuning_is_made(p->tuner, way) || !loops) {
    free(loops);
    return true;
  }
  for (int i = 0; i < n; i++)
    loops[i] = launches[i]->loop;
  bool made = !way->fused || fused_prepare(ctx, launches, n, loops, &count);
  p->made |= made && way->fused;
  made = made && prepare_loops(ctx, p, loops, count, way);
  if (made)
    chain_tuning_made(p->tuner, way);
  if (p->aside)
    look_at_clock(p, made);
  free(loops);
  return made;
}

/* Can it be compared now? What is made on a free processor costs nothing; a compile behind loops that have all is paid first. */
static bool can_begin(struct op_context *ctx, struct period *p, struct launch *const *launches,
                      const struct chain_way *way, int times) {
  if (p->aside)
    return prepare(ctx, p, launches, times, way) && chain_tuning_can_begin(p->tuner, 0);
  const double making = making_of(ctx, p, launches, way, times, false);
  if (!chain_tuning_can_begin(p->tuner, making))
    return false;
  if (!watch_of(ctx) || !way->fused)
    return true;
  if (!p->spent)
    chain_tuning_spend(p->tuner, making);
  p->spent = true;
  return prepare(ctx, p, launches, times, way);
}

/* Of the ways that nobody compared yet the first that can be compared is next. One that is being made comes before those behind
 * it. */
static void look_further(struct op_context *ctx, struct period *p, struct launch *const *launches,
                         int times) {
  struct chain_way way;
  if (watch_of(ctx) && !p->aside && tune_is_disturbed(ctx)) /* its times would say nothing */
    return;
  for (int i = chain_tuning_later(p->tuner, 0, &way); i >= 0; i = chain_tuning_later(p->tuner, i + 1, &way))
    if (can_begin(ctx, p, launches, &way, times)) {
      chain_tuning_begin(p->tuner, i);
      return;
    } else if (p->aside)
      return;
}

/* `way` has no bytes and is not fused where what comes next is still being made. */
static bool choose(struct op_context *ctx, struct period *p, struct launch *const *launches, int times,
                   struct chain_way *out) {
  look_further(ctx, p, launches, times);
  struct chain_way way = chain_tuning_next(p->tuner);
  for (double making; !chain_tuning_is_best(p->tuner) &&
                      (making = making_of(ctx, p, launches, &way, times, true)) > 0 &&
                      !chain_tuning_can_spend(p->tuner, making);) {
    chain_tuning_postpone(p->tuner);
    way = chain_tuning_next(p->tuner);
  }
  const bool made = !p->aside || (!way.fused && way.bytes <= 0) || prepare(ctx, p, launches, times, &way);
  way.stays = watch_of(ctx) && !chain_tuning_may_rest(p->tuner, 0);
  way.periods = way.periods < times ? way.periods : times;
  *out = made ? way : (struct chain_way){.periods = times};
  return made;
}

/* What came of running a way. */
struct ran {
  bool tiled, fused; /* at least some of it */
  bool trying;       /* variants of fused loops */
  bool coming;       /* fused loops are being compiled */
  double making;     /* seconds that making fused loops ready took */
};

/* In tiles. What cannot, as somewhere in it each element may need any other, is halved: each half may be cut, and so
 * on. */
static int run_in_tiles(struct op_context *ctx, struct launch *const *launches, int n,
                        const struct chain_way *way, struct ran *ran, struct error *err) {
  bool tiled = false;
  int code = n > 1 ? tiled_run(ctx, launches, n, way, &tiled, err) : OP_OK;
  ran->tiled |= tiled;
  if (code || tiled)
    return code;
  if (n < LEAST_CHAIN)
    return loop_run_all_ready(ctx, launches, n, err);
  code = run_in_tiles(ctx, launches, n / 2, way, ran, err);
  return code ? code : run_in_tiles(ctx, launches + n / 2, n - n / 2, way, ran, err);
}

static int run_way(struct op_context *ctx, struct launch *const *launches, int n, const struct chain_way *way,
                   struct ran *ran, struct error *err) {
  return way->bytes > 0 ? run_in_tiles(ctx, launches, n, way, ran, err)
                        : loop_run_all_ready(ctx, launches, n, err);
}

static int run_fused(struct op_context *ctx, struct launch *const *launches, int n,
                     const struct chain_way *way, struct ran *ran, struct error *err) {
  struct fused_launches fused;
  const double start = clock_seconds();
  const bool any = fused_begin(ctx, launches, n, way, &fused);
  ran->coming |= fused.coming;
  ran->making += clock_seconds() - start;
  ran->fused |= any;
  if (!any)
    return run_way(ctx, launches, n, way, ran, err);
  ran->trying |= fused.trying && !way->forced;
  const int code = fused.trying && !way->forced ? loop_run_all_ready(ctx, fused.items, fused.n, err)
                                                : run_way(ctx, fused.items, fused.n, way, ran, err);
  fused_end(&fused);
  return code;
}

/* Some periods in a row, in pieces of whole ones. */
static int run_periods(struct op_context *ctx, int n, struct launch *const *launches, int times,
                       const struct chain_way *way, struct ran *ran, struct error *err) {
  int code = OP_OK;
  *ran = (struct ran){0};
  for (int done = 0, piece; !code && done < times; done += piece) {
    struct launch *const *first = launches + done * n;
    piece = times - done < way->periods ? times - done : way->periods;
    code = (way->fused ? run_fused : run_way)(ctx, first, n * piece, way, ran, err);
  }
  return code;
}

/* Trials of its loops, while these ran as called, are paid from the same share. */
static void pay_trials(struct period *p) {
  double trials = 0;
  for (int i = 0; i < p->n; i++)
    trials += p->loops[i]->stats.trial_seconds;
  chain_tuning_spend(p->tuner, trials - p->trials);
  p->trials = trials;
}

/* What came of it is told. */
static int tell_tuner(struct op_context *ctx, const struct period *p, const struct chain_way *way,
                      const struct ran *ran, int times, double seconds, struct error *err) {
  if (ran->trying || (watch_of(ctx) && !p->aside && tune_is_disturbed(ctx)))
    chain_tuning_passed(p->tuner, times, seconds);
  else if ((way->bytes > 0 && !ran->tiled) || (way->fused && !ran->fused))
    return chain_tuning_reject(p->tuner, err);
  else
    chain_tuning_ran(ctx, p->tuner, times, seconds);
  return OP_OK;
}

static int run_as_called(struct op_context *ctx, const struct period *p, struct launch *const *launches,
                         int times, struct error *err) {
  const double start = clock_seconds();
  const int code = loop_run_all_ready(ctx, launches, p->n * times, err);
  ctx->queue->watch.gained = true;
  chain_tuning_called(p->tuner, times, (clock_seconds() - start) / times);
  return code;
}

/* Of the periods that wait some, in a way; *done: how many. What cutting and compiling cost is no time of the way, but of
 * trying it. */
static int run_and_tune(struct op_context *ctx, struct period *p, struct launch *const *launches, int waiting,
                        int *done, struct error *err) {
  struct chain_way way;
  const bool was_settled = chain_tuning_is_settled(p->tuner), was_open = chain_tuning_is_open(p->tuner);
  *done = waiting;
  if (!choose(ctx, p, launches, waiting, &way))
    return run_as_called(ctx, p, launches, waiting, err);
  const int times = *done = chain_tuning_piece(p->tuner, &way, waiting);
  const double start = clock_seconds(), cut_before = tiled_seconds(ctx);
  struct ran ran;
  int code = run_periods(ctx, p->n, launches, times, &way, &ran, err);
  const double preparing = tiled_seconds(ctx) - cut_before + (p->made ? 0 : ran.making);
  if (code)
    return code;
  p->made |= ran.fused;
  ctx->queue->watch.gained |= was_open || ran.tiled || ran.fused;
  chain_tuning_paid(p->tuner, preparing);
  if (watch_of(ctx))
    pay_trials(p);
  code = tell_tuner(ctx, p, &way, &ran, times, (clock_seconds() - start - preparing) / times, err);
  if (!was_settled && chain_tuning_is_settled(p->tuner)) {
    const struct chain_way best = chain_tuning_next(p->tuner);
    tiled_forget_others(ctx, p->loops[0], &best);
  }
  ctx->queue->watch.may_rest = chain_tuning_may_rest(p->tuner, ctx->queue->watch.rested);
  ctx->queue->watch.rested = 0;
  if (code)
    error_clear(err); /* it runs on as it did */
  return OP_OK;
}

static int run_pieces(struct op_context *ctx, struct period *p, struct launch *const *launches, int times,
                      struct error *err) {
  int code = OP_OK;
  for (int done = 0, piece = 0; !code && done < times; done += piece)
    code = run_and_tune(ctx, p, launches + done * p->n, times - done, &piece, err);
  return code;
}

/* OP2_FUSE=on, for those who know, and for tests. */
static int run_always_fused(struct op_context *ctx, struct launch *const *launches, int n, int times,
                            struct error *err) {
  struct chain_way way = guess(ctx, forced_bytes(ctx), n, times);
  struct ran ran;
  way.fused = true;
  way.forced = way.bytes > 0;
  way.tasks = forces_tasks(ctx);
  way.periods = way.forced ? way.periods : times;
  const int code = run_periods(ctx, n, launches, times, &way, &ran, err);
  ctx->queue->watch.gained |= ran.tiled || ran.fused;
  return code;
}

/* Seconds of a period of loops that ran one by one; 0: some did not. */
static double seconds_as_called(const struct period *p) {
  double seconds = 0;
  for (int i = 0; i < p->n; i++) {
    const struct loop_stats *s = &p->loops[i]->stats;
    if (s->calls < 1 || !(s->seconds > 0))
      return 0;
    seconds += loop_usual_seconds(p->loops[i]);
  }
  return seconds;
}

static int threads_of(const struct period *p) {
  int threads = 1;
  for (int i = 0; i < p->n; i++)
    threads = p->loops[i]->ready.threads > threads ? p->loops[i]->ready.threads : threads;
  return threads;
}

/* About two barriers for each loop, by what one costs the team. */
static double barriers(const struct op_context *ctx, const struct period *p) {
  enum { EACH = 2 };
  const int threads = threads_of(p);
  double takes = 0;
  if (threads < 2 || !ctx->team)
    return 0;
  team_best(ctx->team, 0, EACH * p->n, threads, &takes);
  return takes;
}

static void open_tuner(struct op_context *ctx, struct period *p, int times, struct error *err) {
  double bytes = 0;
  for (int i = 0; i < p->n; i++)
    bytes += p->loops[i]->stats.bytes;
  const struct chain_wish wish = {.fuse = p->fuses,
                                  .tiles = p->pays,
                                  .tasks = p->tasks,
                                  .periods = times,
                                  .guess = guess(ctx, worth_tile_bytes(ctx), p->n, times),
                                  .called = watch_of(ctx) ? seconds_as_called(p) : 0,
                                  .fused = p->fuses && bytes > 0 ? fused_bytes(p->loops, p->n) / bytes : 0,
                                  .barriers = barriers(ctx, p)};
  if (chain_tuning_open(ctx, p->loops, p->n, &wish, &p->tuner, err))
    error_clear(err);
  p->aside = p->tuner && chain_tuning_shares(p->tuner) && watch_of(ctx) && team_cpus() > threads_of(p);
  for (int i = 0; i < p->n; i++)
    p->trials += p->loops[i]->stats.trial_seconds;
}

/* Of a period that the program lets wait (OP2_LAZY=on) it is known when it comes again. */
static bool fuses_on_device(const struct op_context *ctx, struct period *p, bool at_once) {
  const bool again = p->seen++ > 0 || at_once;
  return p->fuses && again && (!watch_of(ctx) || watch_of(ctx)->guess.fused);
}

/* Neighbours as one where it pays, and all of a period given at once. */
static int run_on_device(struct op_context *ctx, struct launch *const *launches, int n, int times, bool fuses,
                         struct error *err) {
  const struct chain_way way = {.fused = true, .periods = 1, .stays = true, .behind = true};
  const long long graphs = ctx->counters->graphs;
  struct ran ran = {0};
  const int code = fuses ? run_periods(ctx, n, launches, times, &way, &ran, err)
                         : loop_run_all_ready(ctx, launches, n * times, err);
  ctx->queue->watch.gained |= ran.fused || ran.coming || ctx->counters->graphs > graphs;
  return code;
}

/* What is compared runs by the first guess, and from the first time on; so does what is known to come again. */
static int run_some(struct op_context *ctx, struct launch *const *launches, int n, int times,
                    bool loop_by_loop, struct error *err) {
  const double forced = forced_bytes(ctx);
  const bool tunes = forced <= 0 && !ctx->queue->check,
             at_once = !tunes || (watch_of(ctx) && watch_expects(watch_of(ctx), n));
  if (always_fuses(ctx) && !loop_by_loop)
    return run_always_fused(ctx, launches, n, times, err);
  struct period *p = n * times > 1 && can(ctx, launches, n * times) ? get_period(ctx, launches, n) : NULL;
  struct ran ran;
  ctx->queue->watch.gained |= on_device(launches) && n * times == 1; /* the rest of a period may gain */
  if (p && on_device(launches))
    return run_on_device(ctx, launches, n, times, fuses_on_device(ctx, p, at_once) && !loop_by_loop, err);
  if (!p || (forced <= 0 && !p->pays && !p->fuses && !p->tasks) || (p->seen++ == 0 && !at_once))
    return loop_run_all_ready(ctx, launches, n * times, err);
  if (tunes && p->seen == (at_once ? 1 : 2))
    open_tuner(ctx, p, times, err);
  if (p->tuner)
    return run_pieces(ctx, p, launches, times, err);
  struct chain_way way = guess(ctx, forced > 0 ? forced : p->pays ? worth_tile_bytes(ctx) : 0, n, times);
  way.fused = p->fuses && forced <= 0 && !loop_by_loop;
  way.loop_by_loop = loop_by_loop;
  way.forced = forced > 0;
  way.tasks = forces_tasks(ctx);
  const int code = run_periods(ctx, n, launches, times, &way, &ran, err);
  ctx->queue->watch.gained |= ran.tiled || ran.fused;
  return code;
}

/* Where many periods wait nobody knows which of their loops is the first: that which the program called first, so that what
 * is remembered is found again. Returns how many come before it. */
static int lead_in(const struct op_context *ctx, struct launch *const *launches, int period, int times) {
  enum { MANY_PERIODS = 16 };
  int first = 0;
  if (times < MANY_PERIODS || watch_of(ctx) || forced_bytes(ctx) > 0 || always_fuses(ctx) ||
      ctx->queue->check)
    return 0;
  for (int i = 1; i < period; i++)
    if (launches[i]->loop->key.order < launches[first]->loop->key.order)
      first = i;
  return first;
}

/* So that the next ones begin with that loop. */
int chain_whole_periods(const struct op_context *ctx, struct launch *const *launches, int n) {
  int times;
  const int period = find_period(launches, n, &times), lead = lead_in(ctx, launches, period, times);
  return times > 1 ? lead + period * (lead ? times - 1 : times) : n;
}

static int run(struct op_context *ctx, struct launch *const *launches, int n, bool loop_by_loop,
               struct error *err) {
  int code = OP_OK;
  if (!comm_alone(ctx->comm))
    return (loop_by_loop ? loop_run_all_ready : segments_run)(ctx, launches, n, err);
  for (int first = 0, times; !code && first < n;) {
    const int known = watch_of(ctx) ? watch_period(watch_of(ctx), n - first) : 0;
    const int period = known ? known : find_period(launches + first, n - first, &times);
    times = known ? (n - first) / known : times;
    const int lead = lead_in(ctx, launches + first, period, times);
    code = lead ? loop_run_all_ready(ctx, launches + first, lead, err)
                : run_some(ctx, launches + first, period, times, loop_by_loop, err);
    first += lead ? lead : period * times;
  }
  return code;
}

int chain_run_singly(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  return run(ctx, launches, n, true, err);
}

/* What a device does between two messages of ranks it may be given in one call. */
static int run_on_ranks(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  const struct backend *b = launches[0]->loop->backend;
  const enum space space = launches[0]->loop->space;
  struct error ignored = {0};
  int code = b->hold ? b->hold(ctx, space, true, err) : OP_OK;
  if (!code)
    code = run(ctx, launches, n, false, err);
  const int status = b->hold ? b->hold(ctx, space, false, code ? &ignored : err) : OP_OK;
  error_free(&ignored);
  return code ? code : status;
}

int chain_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  return comm_alone(ctx->comm) ? run(ctx, launches, n, false, err) : run_on_ranks(ctx, launches, n, err);
}
