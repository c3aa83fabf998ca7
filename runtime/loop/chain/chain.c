/* Chains: periods of loops that wait, in the way that is best for them. */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/list.h"
#include "context/context.h"
#include "context/env.h"
#include "exec/team.h"
#include "loop/chain/fused.h"
#include "loop/chain/queue.h"
#include "loop/chain/segments.h"
#include "loop/chain/tiled.h"
#include "loop/chain/worth.h"
#include "loop/chains.h"
#include "loop/choose.h"
#include "loop/loop.h"
#include "loop/period.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"

/* Loops that repeat are taken together up to so many, if nothing is tuned; loops that do not up to so many. */
enum { LEAST_CHAIN = 4, LONG_CHAIN = 8, LONGEST_CHAIN = 24 };

/* ---- periods ---- */

/* The number of launches that repeat those `period` before them. */
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

/* A program that makes and frees a temporary in each step would never know a chain. */
static void chains_forget(struct op_context *ctx, const void *object) {
  if (!object || periods_use(ctx, object))
    periods_forget(ctx);
  if (!object && ctx->queue)
    segments_forget(ctx);
  fused_forget(ctx, object);
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

static bool always_fuses(const struct op_context *ctx) {
  return strcmp(env_value(ctx->env, ENV_FUSE), "on") == 0;
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

/* No variants are tried in a chain. On a device, where all is compared, and where all are to be tried, they are tried first. */
static bool can(const struct op_context *ctx, struct launch *const *launches, int n) {
  const bool first =
      ctx->queue->check || period_on_device(launches) || strcmp(env_value(ctx->env, ENV_TUNE), "force") == 0;
  bool all = true;
  for (int i = 0; i < n; i++)
    all &= launches[i]->loop->ready.nparts == 1 &&
           (period_watch(ctx) || !(first ? tune_wants(launches[i]->loop) : tune_tries(launches[i])));
  return all;
}

/* Over so many periods tiles are cut at first, if as many wait. */
static int wanted_periods(const struct op_context *ctx, const struct period *p, int n) {
  const struct watch *w = period_watch(ctx);
  return w                         ? w->guess.periods
         : p && !ctx->queue->check ? worth_periods(ctx, p->loops, p->n)
         : n < LONG_CHAIN          ? LONG_CHAIN / n
                                   : 1;
}

/* The first way to cut: by the model, or as tests ask. */
static struct chain_way guess(const struct op_context *ctx, const struct period *p, double bytes, int n,
                              int times) {
  const int periods = wanted_periods(ctx, p, n);
  return (struct chain_way){.bytes = bytes, .periods = periods < times ? periods : times};
}

/* The outcome of a run. */
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

/* Tell the tuner how the run went. */
static int tell_tuner(struct op_context *ctx, const struct period *p, const struct chain_way *way,
                      const struct ran *ran, int times, double seconds, struct error *err) {
  if (ran->trying || (!p->aside && tune_is_disturbed(ctx)))
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

/* Run some of the periods that wait, in one way; *done: how many. Seconds of cutting and compiling are a cost of the
 * trial, not of the way. */
static int run_and_tune(struct op_context *ctx, struct period *p, struct launch *const *launches, int waiting,
                        int *done, struct error *err) {
  struct chain_way way;
  const bool was_settled = chain_tuning_is_settled(p->tuner), was_open = chain_tuning_is_open(p->tuner);
  *done = waiting;
  if (!period_choose(ctx, p, launches, waiting, &way))
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

static int run_one_way(struct op_context *ctx, struct launch *const *launches, int n, int times,
                       struct chain_way *way, struct error *err) {
  struct ran ran;
  way->tasks = forces_tasks(ctx);
  const int code = run_periods(ctx, n, launches, times, way, &ran, err);
  ctx->queue->watch.gained |= ran.tiled || ran.fused;
  return code;
}

/* OP2_FUSE=on, for those who know, and for tests. */
static int run_always_fused(struct op_context *ctx, struct launch *const *launches, int n, int times,
                            struct error *err) {
  struct chain_way way = guess(ctx, NULL, forced_bytes(ctx), n, times);
  way.fused = true;
  way.forced = way.bytes > 0;
  way.periods = way.forced ? way.periods : times;
  return run_one_way(ctx, launches, n, times, &way, err);
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

/* About two barriers for each loop, by what one costs the team. */
static double barriers(const struct op_context *ctx, const struct period *p) {
  enum { EACH = 2 };
  const int threads = loops_threads(p->loops, p->n);
  double takes = 0;
  if (threads < 2 || !ctx->team)
    return 0;
  team_best(ctx->team, 0, EACH * p->n, threads, &takes);
  return takes;
}

/* The part of the bytes of so many periods that fused loops still move; 0: not known. */
static double fused_part(const struct period *p, int periods) {
  const int n = p->n * periods;
  struct loop **loops = p->fuses ? array_new((size_t)n, sizeof *loops) : NULL;
  double bytes = 0;
  for (int i = 0; loops && i < n; i++) {
    loops[i] = p->loops[i % p->n];
    bytes += loops[i]->stats.bytes;
  }
  const double part = bytes > 0 ? fused_bytes(loops, n) / bytes : 0;
  free(loops);
  return part;
}

static void open_tuner(struct op_context *ctx, struct period *p, int times, struct error *err) {
  const struct chain_way first = guess(ctx, p, worth_tile_bytes(ctx), p->n, times);
  const struct chain_wish wish = {.fuse = p->fuses,
                                  .tiles = p->pays,
                                  .tasks = p->tasks,
                                  .periods = times,
                                  .guess = first,
                                  .expects = period_watch(ctx) != NULL,
                                  .called = seconds_as_called(p),
                                  .fused = fused_part(p, first.periods),
                                  .barriers = barriers(ctx, p)};
  if (chain_tuning_open(ctx, p->loops, p->n, &wish, &p->tuner, err))
    error_clear(err);
  p->periods = times;
  p->aside = p->tuner && chain_tuning_shares(p->tuner) && period_watch(ctx) &&
             team_cpus() > loops_threads(p->loops, p->n);
  for (int i = 0; i < p->n; i++)
    p->trials += p->loops[i]->stats.trial_seconds;
}

/* A program may look at its results more often at first: what was listed then has tiles over fewer periods than are good. What
 * was measured is kept, and known again. */
static void open_tuner_anew(struct op_context *ctx, struct period *p, int times, struct error *err) {
  if (times < 2 * p->periods || p->periods >= wanted_periods(ctx, p, p->n))
    return;
  chain_tuning_close(ctx, p->tuner);
  p->tuner = NULL;
  open_tuner(ctx, p, times, err);
}

/* With OP2_LAZY=on a period is known when it comes again. */
static bool fuses_on_device(const struct op_context *ctx, struct period *p, bool at_once) {
  const bool again = p->seen++ > 0 || at_once;
  return p->fuses && again && (!period_watch(ctx) || period_watch(ctx)->guess.fused);
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

/* A chain whose ways are compared begins with the first guess, at once if it is known to come again. */
static int run_some(struct op_context *ctx, struct launch *const *launches, int n, int times,
                    bool loop_by_loop, struct error *err) {
  const double forced = forced_bytes(ctx);
  const bool tunes = forced <= 0 && !ctx->queue->check,
             at_once = !tunes || (period_watch(ctx) && watch_expects(period_watch(ctx), n));
  if (always_fuses(ctx) && !loop_by_loop)
    return run_always_fused(ctx, launches, n, times, err);
  struct period *p = n * times > 1 && can(ctx, launches, n * times) ? period_get(ctx, launches, n) : NULL;
  ctx->queue->watch.gained |=
      period_on_device(launches) && n * times == 1; /* the rest of a period may gain */
  if (p && period_on_device(launches))
    return run_on_device(ctx, launches, n, times, fuses_on_device(ctx, p, at_once) && !loop_by_loop, err);
  if (!p || (forced <= 0 && !p->pays && !p->fuses && !p->tasks) || (p->seen++ == 0 && !at_once))
    return loop_run_all_ready(ctx, launches, n * times, err);
  if (tunes && p->seen == (at_once ? 1 : 2))
    open_tuner(ctx, p, times, err);
  else if (p->tuner)
    open_tuner_anew(ctx, p, times, err);
  if (p->tuner) {
    watch_tunes(&ctx->queue->watch, p->loops, p->n);
    return run_pieces(ctx, p, launches, times, err);
  }
  struct chain_way way = guess(ctx, forced > 0 ? NULL : p,
                               forced > 0 ? forced
                               : p->pays  ? worth_tile_bytes(ctx)
                                          : 0,
                               n, times);
  way.fused = p->fuses && forced <= 0 && !loop_by_loop;
  way.loop_by_loop = loop_by_loop;
  way.forced = forced > 0;
  return run_one_way(ctx, launches, n, times, &way, err);
}

/* The number of launches before the first period. Where many periods wait, any loop could be their first: take the
 * one that the program called first, so that what is remembered is found again. */
static int lead_in(const struct op_context *ctx, struct launch *const *launches, int period, int times) {
  enum { MANY_PERIODS = 16 };
  int first = 0;
  if (times < MANY_PERIODS || period_watch(ctx) || forced_bytes(ctx) > 0 || always_fuses(ctx) ||
      ctx->queue->check)
    return 0;
  for (int i = 1; i < period; i++)
    if (launches[i]->loop->key.order < launches[first]->loop->key.order)
      first = i;
  return first;
}

/* The next periods begin with that loop, too. */
int chain_whole_periods(const struct op_context *ctx, struct launch *const *launches, int n) {
  int times;
  const int period = find_period(launches, n, &times), lead = lead_in(ctx, launches, period, times);
  return times > 1 ? lead + period * (lead ? times - 1 : times) : n;
}

/* In whole periods, few at a time, so that the same chains come again. */
static int run_segments(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  int code = OP_OK;
  for (int first = 0, times, piece; !code && first < n; first += piece) {
    const int period = find_period(launches + first, n - first, &times);
    const int most = period < LONGEST_CHAIN ? LONGEST_CHAIN / period : 1;
    piece = period * (times < most ? times : most);
    code = segments_run(ctx, launches + first, piece, err);
  }
  ctx->queue->watch.gained = true;
  return code;
}

static int run(struct op_context *ctx, struct launch *const *launches, int n, bool loop_by_loop,
               struct error *err) {
  int code = OP_OK;
  if (!comm_alone(ctx->comm))
    return (loop_by_loop ? loop_run_all_ready : run_segments)(ctx, launches, n, err);
  for (int first = 0, times; !code && first < n;) {
    const int known = period_watch(ctx) ? watch_period(period_watch(ctx), n - first) : 0;
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

/* A device may get all its work between two messages of ranks in one call. */
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
