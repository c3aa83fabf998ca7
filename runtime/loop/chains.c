#include "loop/chains.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "include/op2jit.h"
#include "loop/place.h"
#include "loop/tune_memory.h"
#include "loop/tuner.h"
#include "mesh/data.h"
#include "record/record.h"

/* As called; then what is likely to be best: tiles by the first guess, both, fused; then what is near the guess; then blocks of
 * tasks. */
static const double task_sizes[] = {512e3, 2e6};
static const int task_periods[] = {1, 4};
/* The part of the best way's time that a promising way may take longer before it was run. */
static const double unknown = 0.2;
/* The first cut looks at all of the maps, and what it finds is kept for others, which take about so much of its time. */
static const double rest = 0.1;
/* The part of the bytes that fused loops spare that is expected as a gain; instructions bound the rest. */
static const double likely = 0.5;
/* The least gain that is one. */
static const double noise = 0.02;
enum {
  NEAR = 4, /* guesses beside the first */
  TASK_SIZES = sizeof task_sizes / sizeof *task_sizes,
  TASK_FOLDS = sizeof task_periods / sizeof *task_periods,
  WAYS = 2 * (2 + NEAR) + TASK_SIZES * TASK_FOLDS,
  NAME = CHAIN_NAME,
  LONGEST = 8, /* periods of a run to compare: of more nobody would see the end */
  ALL_PERIODS = 1 << 20
};

struct chain_tuning {
  struct tuner *tuner;
  struct tuner_options options;
  struct tuning_place place;
  char *name;
  int nways, current;
  struct chain_way ways[WAYS];
  bool keeps, kept;
  bool decided;  /* which way is the best of those that were compared first */
  bool compares; /* ways that were postponed are compared when they can be paid for */
  long long told_trials;
  bool made[WAYS]; /* what it needs, behind the program */
  struct chain_wish wish;
  long long
      from[WAYS]; /* when an earlier run measured it, and this one did not, in seconds since 1970; else 0 */
  int running;    /* the way that ran last, so many periods, for so long together */
  double ran_periods, ran_seconds;
  double cutting; /* seconds that more tiles take to cut, for each period, as far as is known; 0: not */
};

static void name_way(const struct chain_tuning *t, int which, char name[NAME]) {
  const struct chain_way way = t->ways[which];
  if (way.bytes > 0)
    snprintf(name, NAME, "%s%s/%.0fK/periods%d", way.fused ? "fused/" : "", way.tasks ? "tasks" : "tiles",
             way.bytes / 1e3, way.periods);
  else
    snprintf(name, NAME, way.fused ? "fused" : "loops");
}

static void add_way(struct chain_tuning *t, double bytes, int periods, bool fused, bool tasks) {
  t->ways[t->nways] = (struct chain_way){
      .bytes = bytes, .periods = periods, .fused = fused, .tasks = tasks, .number = t->nways};
  t->nways++;
}

static void add_ways_near(struct chain_tuning *t, const struct chain_wish *w, bool fused) {
  const int p = w->guess.periods;
  add_way(t, 4 * w->guess.bytes, p, fused, false);
  add_way(t, w->guess.bytes / 4, p, fused, false);
  if (2 * p <= w->periods)
    add_way(t, w->guess.bytes, 2 * p, fused, false);
  if (p > 1)
    add_way(t, w->guess.bytes, p / 2, fused, false);
}

/* List the ways that can pay. */
static void list_ways(struct chain_tuning *t, const struct chain_wish *w) {
  add_way(t, 0, 1, false, false);
  if (w->tiles)
    add_way(t, w->guess.bytes, w->guess.periods, false, false);
  if (w->fuse && w->tiles)
    add_way(t, w->guess.bytes, w->guess.periods, true, false);
  if (w->fuse)
    add_way(t, 0, ALL_PERIODS, true, false);
  for (int fused = 0; w->tiles && fused <= w->fuse; fused++)
    add_ways_near(t, w, fused);
  for (int f = 0; w->tasks && f < TASK_FOLDS && task_periods[f] <= w->periods; f++)
    for (int i = 0; i < TASK_SIZES; i++)
      add_way(t, task_sizes[i], task_periods[f], false, true);
}

static int find_way(const void *of, const char *said) {
  const struct chain_tuning *t = of;
  for (int i = 0; i < t->nways; i++) {
    char name[NAME];
    name_way(t, i, name);
    if (strcmp(name, said) == 0)
      return i;
  }
  return -1;
}

/* ---- where it is remembered ---- */

/* The loops' own signatures, and which dats they share: of the first loop that has it, and its place there. */
static void sign(struct loop *const *loops, int n, struct text *out) {
  struct text all = {0};
  char hash[TUNING_HASH];
  for (int l = 0; l < n; l++) {
    tuning_sign(&loops[l]->desc, &all);
    for (int i = 0; i < loops[l]->nargs; i++)
      for (int k = 0, known = 0; loops[l]->args[i].dat && !known && k <= l; k++)
        for (int j = 0; !known && j < loops[k]->nargs; j++)
          if (loops[k]->args[j].dat == loops[l]->args[i].dat) {
            known = 1;
            text_addf(&all, " %d.%d", k, j);
          }
  }
  tuning_hash(&all, hash);
  text_addf(out, "chain %s", hash);
  out->failed |= !text_ok(&all);
  text_free(&all);
}

/* The loop with most data, which says most about the mesh. */
static const struct loop *largest(struct loop *const *loops, int n) {
  const struct loop *most = loops[0];
  for (int l = 1; l < n; l++)
    if (loops[l]->stats.bytes > most->stats.bytes)
      most = loops[l];
  return most;
}

static bool make_place(struct chain_tuning *t, struct loop *const *loops, int n) {
  struct text name = {0};
  sign(loops, n, &t->place.signature);
  tuning_host(&t->place.target);
  tuning_fingerprint(largest(loops, n), &t->place.mesh);
  t->place.threads = loops_threads(loops, n);
  text_addf(&name, "chain of %d: %s ... %s", n, loops[0]->name, loops[n - 1]->name);
  t->name = text_take(&name);
  return t->name && tuning_place_ok(&t->place);
}

/* Start with the way that was chosen. Ways that its run could not pay for are still compared, if it was of just this
 * mesh. */
static void recall_choice(struct op_context *ctx, struct chain_tuning *t, const struct store_tuning *rows,
                          int count) {
  const struct tuning_found found = tuning_choose(rows, count, &t->place, find_way, t);
  if (found.variant < 0)
    return;
  tuner_settle(t->tuner, found.variant);
  t->compares = found.here && found.row->provisional;
  if (found.variant != 1 && t->ways[1].bytes > 0 && !(tuner_median(t->tuner, 1, NULL) > 0))
    tuner_postpone(t->tuner, 1); /* that run had other guesses */
  t->kept = t->decided = true;
  log_line(ctx->log, LOG_INFO, "tune", "%s starts with %s, tuned on %s", t->name, found.row->variant,
           tuning_where(found.here));
}

/* Take the times that were measured of just this mesh. */
static void recall_times(struct op_context *ctx, struct chain_tuning *t, const struct store_tuning *rows,
                         int count) {
  int known = 0;
  for (int r = 0; r < count; r++) {
    const int which = find_way(t, rows[r].variant);
    if (which < 0 || !tuning_is_here(&rows[r], &t->place))
      continue;
    tuner_recall(t->tuner, which, rows[r].median, rows[r].count);
    t->from[which] = rows[r].made;
    known++;
  }
  if (known)
    log_line(ctx->log, LOG_DEBUG, "tune", "%s knows the times of %d ways from earlier runs", t->name, known);
}

static void recall(struct op_context *ctx, struct chain_tuning *t) {
  struct store_tuning *rows = NULL;
  const int count = tuning_rows(ctx->store, &t->place, &rows);
  recall_times(ctx, t, rows, count);
  recall_choice(ctx, t, rows, count);
  store_tunings_free(rows, count);
}

/* ---- what may be better ---- */

static double best_time(const struct chain_tuning *t) {
  return tuner_median(t->tuner, tuner_winner(t->tuner), NULL);
}

static enum chain_kind kind_of(struct chain_way way) {
  if (way.fused)
    return way.bytes > 0 ? CHAIN_BOTH : CHAIN_FUSED;
  return way.tasks ? CHAIN_TASKS : way.bytes > 0 ? CHAIN_TILED : CHAIN_LOOPS;
}

static bool is_guess(const struct chain_tuning *t, const struct chain_way *way) {
  const struct chain_way *guess = &t->ways[1];
  return way->periods == guess->periods && !(way->bytes < guess->bytes || way->bytes > guess->bytes);
}

/* Fused loops take at least the part of the time that they have of the bytes, in tiles and without; tasks need no barriers; and
 * what is near the guess may be better only than that. Who says how many seconds to spend gets all. */
static bool may_win(const struct chain_tuning *t, const struct chain_way *way) {
  const double called = tuner_median(t->tuner, 0, NULL), least = (1 - noise) * best_time(t);
  const enum chain_kind kind = kind_of(*way);
  if (!(t->options.share > 0) || !(called > 0) || !(least > 0))
    return true;
  if (tuner_median(t->tuner, way->number, NULL) > least) /* in an earlier run */
    return false;
  if (kind == CHAIN_FUSED)
    return t->wish.fused * called < least;
  if (kind == CHAIN_TASKS)
    return called - t->wish.barriers < least;
  if (kind == CHAIN_BOTH && is_guess(t, way))
    return t->wish.fused * fmax(least, tuner_median(t->tuner, 1, NULL)) < least;
  return kind == kind_of(t->ways[tuner_winner(t->tuner)]) && way->periods <= LONGEST;
}

static bool is_later(const struct chain_tuning *t, int which) {
  return t->compares && tuner_is_later(t->tuner, which) && may_win(t, &t->ways[which]);
}

static bool any_later(const struct chain_tuning *t) {
  bool any = false;
  for (int i = 0; i < t->nways && !any; i++)
    any = is_later(t, i);
  return any;
}

/* Every way that was measured; the best of them is the choice once the first guess and the loops as called were compared. */
static void keep(struct op_context *ctx, struct chain_tuning *t) {
  struct store_tuning rows[WAYS];
  char names[WAYS][NAME];
  int count = 0;
  const bool decided = t->decided || tuner_is_settled(t->tuner), later = any_later(t);
  t->kept = true;
  for (int i = 0; i < t->nways; i++) {
    struct store_tuning *row = &rows[count];
    name_way(t, i, names[i]);
    *row = tuning_row(&t->place, t->name, names[i]);
    row->baseline = tuner_median(t->tuner, 0, NULL);
    row->chosen = decided && i == tuner_winner(t->tuner);
    row->provisional = later;
    row->median = tuner_median(t->tuner, i, &row->count);
    count += row->count > 0;
  }
  store_put_tunings(ctx->store, rows, count);
}

/* ---- the choice ---- */

static void tuning_drop(struct chain_tuning *t) {
  tuner_free(t->tuner);
  tuning_place_free(&t->place);
  free(t->name);
  free(t);
}

/* The first guess runs and is compared with the loops as called; it stays unless something is clearly better. All
 * other ways come one by one when they can be paid for. */
static int begin_tuner(struct chain_tuning *t, bool guesses, struct error *err) {
  const int standard = guesses && t->nways > 1 && t->ways[1].bytes > 0 && !t->ways[1].tasks ? 1 : 0;
  struct tuner *tuner = NULL;
  const int code = tuner_new(&tuner, t->nways, standard, &t->options, err);
  if (code)
    return code;
  tuner_free(t->tuner);
  t->tuner = tuner;
  for (int i = 1; i < t->nways && !t->options.exhaustive; i++)
    if (i != standard)
      tuner_postpone(tuner, i);
  return OP_OK;
}

int chain_tuning_open(struct op_context *ctx, struct loop *const *loops, int n, const struct chain_wish *wish,
                      struct chain_tuning **out, struct error *err) {
  struct tune_mode mode = {0};
  *out = NULL;
  int code = tune_mode_parse(env_value(ctx->env, ENV_TUNE), &mode, err);
  if (code || !mode.candidates)
    return code;
  struct chain_tuning *t = calloc(1, sizeof *t);
  if (!t)
    return error_memory(err, "a chain's tuning", sizeof *t);
  t->keeps = mode.keep;
  t->wish = *wish;
  t->compares = mode.options.share > 0 || mode.options.seconds > 0;
  t->options = mode.options;
  t->options.unknown = unknown;
  t->options.base = 2; /* each is of several periods, or of long ones */
  t->options.hasty = true;
  list_ways(t, wish);
  code = begin_tuner(t, true, err);
  if (!code && !make_place(t, loops, n))
    code = error_memory(err, "a chain's tuning", sizeof *t);
  if (code) {
    tuning_drop(t);
    return code;
  }
  if (mode.recall)
    recall(ctx, t);
  chain_tuning_called(t, 1, t->wish.called);
  *out = t;
  return OP_OK;
}

bool chain_tuning_shares(const struct chain_tuning *t) {
  return t->options.share > 0;
}

/* The least number of periods of a trial: a way that is cut, or made into one loop, over several periods needs as
 * many. */
static int least_piece(const struct chain_way *way, int periods) {
  const int most = way->bytes > 0 ? way->periods : way->fused ? LONGEST : 1;
  return most < periods ? most : periods;
}

/* Enough for the clock. */
int chain_tuning_piece(const struct chain_tuning *t, const struct chain_way *way, int periods) {
  const double enough = 1e-3, takes = tuner_median(t->tuner, tuner_winner(t->tuner), NULL);
  const int own = least_piece(way, periods);
  if (tuner_is_settled(t->tuner) || !(takes > 0))
    return tuner_is_settled(t->tuner) ? periods : own;
  const double wanted = own * ceil(enough / takes / own);
  return 2 * wanted > periods ? periods : (int)wanted;
}

struct chain_way chain_tuning_next(struct chain_tuning *t) {
  t->current = tuner_next(t->tuner);
  return t->ways[t->current];
}

bool chain_tuning_is_best(const struct chain_tuning *t) {
  return t->current == tuner_winner(t->tuner);
}

struct chain_way chain_tuning_best(struct chain_tuning *t) {
  t->current = tuner_winner(t->tuner);
  return t->ways[t->current];
}

bool chain_tuning_is_made(const struct chain_tuning *t, const struct chain_way *way) {
  return t->made[way->number];
}

void chain_tuning_made(struct chain_tuning *t, const struct chain_way *way) {
  t->made[way->number] = true;
}

void chain_tuning_called(struct chain_tuning *t, int periods, double seconds) {
  tuner_recall(t->tuner, 0, seconds, periods);
  tuner_pass(t->tuner, periods * seconds);
}

void chain_tuning_spend(struct chain_tuning *t, double seconds) {
  tuner_paid(t->tuner, seconds);
}

/* As long as the last one, or about as long as the loops that tiles are of take a few times; making blocks that wait for one
 * another takes long (airfoil, 720,000 cells: 18 times). */
double chain_tuning_cutting(const struct chain_tuning *t, const struct chain_way *way, int periods) {
  enum { EXECUTIONS = 3, OF_TASKS = 20 };
  const double period = best_time(t), others = t->made[1] ? rest * EXECUTIONS : EXECUTIONS;
  return periods * (way->tasks ? OF_TASKS * period : t->cutting > 0 ? t->cutting : others * period);
}

bool chain_tuning_can_spend(const struct chain_tuning *t, double seconds) {
  return tuner_can_pay(t->tuner, seconds);
}

/* ---- ways that were postponed ---- */

int chain_tuning_later(const struct chain_tuning *t, int from, struct chain_way *way) {
  for (int i = from; tuner_is_settled(t->tuner) && i < t->nways; i++)
    if (is_later(t, i)) {
      *way = t->ways[i];
      return i;
    }
  return -1;
}

double chain_fused_gain(double moved) {
  return likely * fmax(0, 1 - moved);
}

/* A part of the time so far: a program runs as long again as it ran, as far as anybody knows. */
static double expected(const struct chain_tuning *t) {
  return t->wish.expects && t->wish.fused > 0 ? chain_fused_gain(t->wish.fused) : 0;
}

bool chain_tuning_awaits(const struct chain_tuning *t, const struct chain_way *way) {
  return way->fused && t->options.share > 0 && expected(t) > t->options.share;
}

bool chain_tuning_expects(const struct chain_tuning *t, const struct chain_way *way, double making) {
  return way->fused && t->options.share > 0 && making <= expected(t) * tuner_total(t->tuner);
}

bool chain_tuning_can_begin(const struct chain_tuning *t, double making) {
  return tuner_can_pay(t->tuner, making + unknown * best_time(t));
}

/* New code is cold in its first run; tiles of loops that ran are not. */
void chain_tuning_begin(struct chain_tuning *t, int which) {
  bool warm = !t->ways[which].fused;
  for (int i = 0; i < t->nways; i++)
    warm |= t->ways[i].fused && tuner_median(t->tuner, i, NULL) > 0;
  tuner_challenge(t->tuner, which, warm);
  t->kept = false;
}

void chain_tuning_postpone(struct chain_tuning *t) {
  tuner_postpone(t->tuner, t->current);
}

bool chain_tuning_is_open(const struct chain_tuning *t) {
  return !tuner_is_settled(t->tuner) || any_later(t);
}

static bool awaits_fused(const struct chain_tuning *t) {
  bool any = false;
  for (int i = 0; i < t->nways && !any; i++)
    any = chain_tuning_awaits(t, &t->ways[i]) && is_later(t, i);
  return any;
}

bool chain_tuning_may_rest(struct chain_tuning *t, int rested) {
  const double called = tuner_median(t->tuner, 0, NULL), longer = called > 0 ? called - best_time(t) : 0;
  tuner_paid(t->tuner, rested * longer);
  return tuner_is_settled(t->tuner) && !awaits_fused(t) && tuner_can_pay(t->tuner, fmax(0, longer));
}

/* If the first guess cannot be cut, no tiles can. */
static int reject_guess(struct chain_tuning *t, struct error *err) {
  const int code = begin_tuner(t, false, err);
  for (int i = 0; !code && i < t->nways; i++)
    if (t->ways[i].bytes > 0 && !t->ways[i].tasks)
      tuner_reject(t->tuner, i);
  return code;
}

int chain_tuning_reject(struct chain_tuning *t, struct error *err) {
  int code = OP_OK;
  if (t->current == 1 && t->ways[1].bytes > 0 && !t->ways[1].tasks)
    code = reject_guess(t, err);
  else
    tuner_reject(t->tuner, t->current);
  if (!code)
    t->current = tuner_winner(t->tuner);
  return code;
}

/* The first guess is no trial, as the model says that it pays; nor is a way that an earlier run chose. */
void chain_tuning_paid(struct chain_tuning *t, double seconds) {
  const struct chain_way *way = &t->ways[t->current];
  if (way->bytes > 0 && !way->fused && !way->tasks && seconds > 0)
    t->cutting = seconds / way->periods * (t->cutting > 0 ? 1 : rest);
  if (!chain_tuning_is_best(t))
    tuner_paid(t->tuner, seconds);
}

void chain_tuning_passed(struct chain_tuning *t, int periods, double seconds) {
  if (best_time(t) > 0)
    tuner_paid(t->tuner, periods * (seconds - best_time(t)));
  tuner_pass(t->tuner, periods * seconds);
}

bool chain_tuning_is_settled(const struct chain_tuning *t) {
  return tuner_is_settled(t->tuner);
}

void chain_tuning_tell(const struct chain_tuning *t, struct chain_tried *out) {
  const int winner = tuner_winner(t->tuner);
  const bool runs = t->running == winner && t->ran_periods > 0;
  *out = (struct chain_tried){.settled = !chain_tuning_is_open(t),
                              .runs = runs ? t->ran_seconds / t->ran_periods : best_time(t),
                              .runs_from = runs ? 0 : t->from[winner]};
  name_way(t, winner, out->way);
  for (int i = 0; i < t->nways; i++) {
    const double median = tuner_rejected(t->tuner, i) ? 0 : tuner_median(t->tuner, i, NULL);
    const enum chain_kind kind = kind_of(t->ways[i]);
    if (median > 0 && !(out->seconds[kind] > 0 && out->seconds[kind] <= median)) {
      out->seconds[kind] = median;
      out->from[kind] = t->from[i];
    }
  }
  if (!(out->seconds[CHAIN_LOOPS] > 0))
    out->seconds[CHAIN_LOOPS] = t->wish.called;
}

static void say_winner(const struct op_context *ctx, const struct chain_tuning *t) {
  const int winner = tuner_winner(t->tuner);
  int compared = 0;
  char name[NAME];
  for (int i = 0; i < t->nways; i++)
    compared += tuner_median(t->tuner, i, NULL) > 0;
  name_way(t, winner, name);
  log_line(ctx->log, LOG_INFO, "tune",
           "%s: %s is the best of %d ways of %d after %lld trials, %.3g s a period (loop by loop %.3g s)",
           t->name, name, compared, t->nways, tuner_trials(t->tuner), best_time(t),
           tuner_median(t->tuner, 0, NULL));
}

/* Note the time of the way that runs, whether it is being compared or not. */
static void note_run(struct chain_tuning *t, int periods, double seconds) {
  if (t->running != t->current)
    t->ran_periods = t->ran_seconds = 0;
  t->running = t->current;
  t->ran_periods += periods;
  t->ran_seconds += periods * seconds;
  if (!tuner_is_settled(t->tuner))
    t->from[t->current] = 0;
}

/* The tuner takes short ones for one run, but for what they cost, and of long ones as many as it asks for. */
void chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds) {
  enum { ENOUGH = 4 };
  const double best = best_time(t), is_long = 1e-3;
  const bool one =
      tuner_is_settled(t->tuner) || seconds < is_long; /* a slow machine is to be seen in many runs */
  const int runs = one ? 1 : periods < ENOUGH ? periods : ENOUGH;
  note_run(t, periods, seconds);
  if (!tuner_is_settled(t->tuner) && best > 0)
    tuner_paid(t->tuner, (periods - runs) * (seconds - best));
  tuner_pass(t->tuner, (periods - runs) * seconds);
  for (int i = 0; i < runs; i++)
    tuner_record(t->tuner, t->current, seconds);
  ctx->counters->trials += tuner_trials(t->tuner) - t->told_trials;
  t->told_trials = tuner_trials(t->tuner);
  if (t->kept || !tuner_is_settled(t->tuner))
    return;
  say_winner(ctx, t);
  t->kept = t->decided = true;
  if (t->keeps)
    keep(ctx, t);
}

void chain_tuning_close(struct op_context *ctx, struct chain_tuning *t) {
  if (!t)
    return;
  if (t->keeps && !t->kept && tuner_left(t->tuner) == 1)
    tuner_next(t->tuner); /* all that is missing is to ask */
  if (t->keeps && !t->kept)
    keep(ctx, t);
  tuning_drop(t);
}
