#include "tune/tuning.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "op2jit.h"
#include "ranks/comm.h"
#include "ranks/kind.h"
#include "record/record.h"
#include "report/tuning_report.h"
#include "services/services.h"
#include "tune/tune_mode.h"

int tuning_wanted(const struct op_context *ctx, bool *candidates, struct error *err) {
  struct tune_mode mode = {0};
  int code = tune_mode_parse(env_value(ctx->env, ENV_TUNE), &mode, err);
  *candidates = mode.candidates;
  return code;
}

int tuning_open(const struct op_context *ctx, struct tuning *t, const struct tuning_of *of,
                struct error *err) {
  struct tune_mode mode = {0};
  t->of = *of;
  int code = tune_mode_parse(env_value(ctx->env, ENV_TUNE), &mode, err);
  t->exhaustive = mode.options.exhaustive;
  if (code || !mode.candidates || of->count < 2)
    return code;
  t->keeps = mode.keep;
  t->recalls = mode.recall;
  t->watches = mode.options.drift > 0;
  return tuner_new(&t->tuner, of->count, of->standard, &mode.options, err);
}

void tuning_free(struct tuning *t) {
  tuner_free(t->tuner);
  t->tuner = NULL;
}

static const char *name_of(const struct tuning *t, int which) {
  return t->of.name(t->of.variants, which);
}

static bool make_place(const struct op_context *ctx, const struct loop *loop, const struct tuning_of *of,
                       struct tuning_place *place) {
  tuning_sign(of->desc, &place->signature);
  of->target(ctx, &place->target);
  tuning_fingerprint(loop, &place->mesh);
  place->threads = of->threads;
  return tuning_place_ok(place);
}

/* ---- recalling ---- */

static int find_variant(const struct tuning *t, const char *name) {
  for (int i = 0; i < t->of.count; i++)
    if (strcmp(name_of(t, i), name) == 0)
      return i;
  return -1;
}

/* Of a row of such a grade: which variant it is here. */
static int variant_of(const struct tuning *t, const struct store_tuning *row, enum tuning_grade grade) {
  struct text carried = {0};
  if (grade == TUNING_EXACT || grade == TUNING_MESH)
    return find_variant(t, row->variant);
  tuning_carry_over(row->variant, &carried);
  const int found = text_ok(&carried) ? find_variant(t, text_str(&carried)) : -1;
  text_free(&carried);
  return found;
}

/* What an earlier run found. */
struct memory {
  int winner; /* -1: nothing */
  enum tuning_grade grade;
  double median; /* 0: of another mesh or machine, which is no measure for drift */
};

static struct memory look_up(struct op_context *ctx, const struct tuning *t,
                             const struct tuning_place *place) {
  const struct store_tuning_filter filter = {
      .signature = text_str(&place->signature), .threads = place->threads, .chosen_only = true};
  struct store_tuning *rows = NULL;
  const struct store_tuning *best = NULL;
  struct memory m = {.winner = -1};
  const int count = store_get_tunings(ctx->store, &filter, &rows);
  for (int r = 0; r < count; r++) {
    const enum tuning_grade grade = tuning_grade(&rows[r], text_str(&place->target), text_str(&place->mesh));
    const int which = grade == TUNING_NOTHING ? -1 : variant_of(t, &rows[r], grade);
    if (which < 0 || (best && grade < m.grade) ||
        (best && grade == m.grade && !tuning_is_better(&rows[r], best)))
      continue;
    best = &rows[r];
    m = (struct memory){
        .winner = which, .grade = grade, .median = grade == TUNING_EXACT ? rows[r].median : 0};
  }
  store_tunings_free(rows, count);
  return m;
}

static struct memory remembered(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct tuning_place place = {0};
  struct memory m = {.winner = -1};
  if (make_place(ctx, loop, &t->of, &place))
    m = look_up(ctx, t, &place);
  tuning_place_free(&place);
  return m;
}

/* All rows of just this place. */
static int get_rows(struct op_context *ctx, const struct loop *loop, const struct tuning *t,
                    struct store_tuning **rows) {
  struct tuning_place place = {0};
  int count = 0;
  *rows = NULL;
  if (make_place(ctx, loop, &t->of, &place)) {
    const struct store_tuning_filter filter = {.signature = text_str(&place.signature),
                                               .target = text_str(&place.target),
                                               .mesh = text_str(&place.mesh),
                                               .threads = place.threads};
    count = store_get_tunings(ctx->store, &filter, rows);
  }
  tuning_place_free(&place);
  return count;
}

static const struct store_tuning *chosen_of(const struct store_tuning *rows, int count) {
  for (int r = 0; r < count; r++)
    if (rows[r].chosen)
      return &rows[r];
  return NULL;
}

/* Each rank has measured something else, so that ranks only keep what is enough to choose by. */
static bool goes_on(const struct op_context *ctx) {
  return ctx->comm->size == 1;
}

/* A choice among some of the variants, or after a part of the rounds, is taken where nothing is tried; else the trials go on. What
 * is hopeless ran twice. */
static bool is_final(const struct tuning *t, const struct store_tuning *rows, int count) {
  enum { ENOUGH = 2 };
  int known = 0;
  for (int r = 0; r < count; r++)
    known += rows[r].count >= ENOUGH && find_variant(t, rows[r].variant) >= 0;
  const struct store_tuning *chosen = chosen_of(rows, count);
  return chosen && !chosen->provisional && known >= t->of.count;
}

/* Who tries everything does it once: what was chosen among all variants stays. */
static struct memory finished(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct memory m = {.winner = -1};
  struct store_tuning *rows;
  const int count = get_rows(ctx, loop, t, &rows);
  if (is_final(t, rows, count)) {
    const struct store_tuning *chosen = chosen_of(rows, count);
    m = (struct memory){
        .winner = find_variant(t, chosen->variant), .grade = TUNING_EXACT, .median = chosen->median};
  }
  store_tunings_free(rows, count);
  return m;
}

/* A number of this place, which tells the next run what to expect of the program. */
static bool name_calls(const struct tuning_place *place, struct text *name) {
  text_addf(name, "calls of %s, %s, %d threads", text_str(&place->signature), text_str(&place->mesh),
            place->threads);
  return text_ok(name);
}

/* As the database has it, which may be any number; 0: nothing. */
static double earlier_calls(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct tuning_place place = {0};
  struct text name = {0};
  double calls = 0;
  if (make_place(ctx, loop, &t->of, &place) && name_calls(&place, &name))
    store_get_fact(ctx->store, text_str(&place.target), text_str(&name), 0, &calls, NULL);
  text_free(&name);
  tuning_place_free(&place);
  return calls;
}

static void keep_calls(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct tuning_place place = {0};
  struct text name = {0};
  if (make_place(ctx, loop, &t->of, &place) && name_calls(&place, &name))
    store_put_fact(ctx->store, text_str(&place.target), text_str(&name), t->calls, "");
  text_free(&name);
  tuning_place_free(&place);
}

/* An earlier run ended before its tuner had settled: go on there. */
static bool resume(struct op_context *ctx, const struct loop *loop, struct tuning *t) {
  struct store_tuning *rows;
  const int count = get_rows(ctx, loop, t, &rows);
  const bool final = is_final(t, rows, count);
  int known = 0;
  for (int r = 0; r < count && !final; r++) {
    const int which = find_variant(t, rows[r].variant);
    if (which < 0)
      continue;
    tuner_resume(t->tuner, which, rows[r].median, rows[r].baseline, rows[r].count);
    known++;
  }
  store_tunings_free(rows, count);
  if (known == 0)
    return false;
  tuner_resumed(t->tuner);
  t->told_seconds = tuner_overhead(t->tuner);
  log_line(ctx->log, LOG_INFO, "tune",
           "loop %s starts with %s and goes on with the trials: an earlier run measured %d of %d variants",
           loop->name, name_of(t, tuner_winner(t->tuner)), known, t->of.count);
  return true;
}

/* Why there is nothing to choose from. */
static void say_only(const struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct text spec = {0};
  struct error ignored = {0};
  bool wanted = false;
  const char *why = "there is no other way to try";
  if (forced_for_loop(env_value(ctx->env, ENV_VARIANT), loop->name, &spec))
    why = "OP2_VARIANT asks for it";
  else if (tuning_wanted(ctx, &wanted, &ignored) == OP_OK && !wanted)
    why = "the first guess, since OP2_TUNE=off tries no other";
  log_line(ctx->log, LOG_DEBUG, "tune", "loop %s runs as %s: %s", loop->name, name_of(t, t->of.standard),
           why);
  text_free(&spec);
  error_free(&ignored);
}

int tuning_recall(struct op_context *ctx, const struct loop *loop, struct tuning *t, struct error *err) {
  struct memory m = {.winner = -1};
  const struct kind *ranks = t->of.together ? context_leaders(ctx) : NULL;
  int code = OP_OK;
  if (!t->tuner) {
    say_only(ctx, loop, t);
    return OP_OK;
  }
  const bool recalls = t->recalls;
  if (!ranks || ranks->leads_all)
    m = recalls ? remembered(ctx, loop, t) : t->exhaustive ? finished(ctx, loop, t) : m;
  if ((recalls || t->exhaustive) && ranks)
    code = ctx->agreement->table->broadcast(ctx->agreement, &m, sizeof m, ranks->first_leader, err);
  if (code)
    return code;
  const bool goes = t->keeps && goes_on(ctx);
  if (goes && t->exhaustive)
    tuner_expect(t->tuner, earlier_calls(ctx, loop, t));
  if (goes && m.winner >= 0 && m.grade == TUNING_EXACT && resume(ctx, loop, t))
    return OP_OK;
  if (m.winner >= 0) {
    tuner_settle(t->tuner, m.winner, m.median);
    t->kept = true;
    log_line(ctx->log, LOG_INFO, "tune", "loop %s starts with %s, tuned on %s", loop->name,
             name_of(t, m.winner), tuning_grade_words(m.grade));
  } else if (!goes || !resume(ctx, loop, t))
    log_line(ctx->log, LOG_INFO, "tune", "loop %s starts with the default %s%s", loop->name,
             name_of(t, t->of.standard), recalls ? ": nothing is remembered" : "");
  return OP_OK;
}

/* ---- keeping ---- */

static struct store_tuning row_at(const struct tuning_place *place, const struct loop *loop) {
  return (struct store_tuning){.signature = text_str(&place->signature),
                               .loop = loop->name,
                               .target = text_str(&place->target),
                               .threads = place->threads,
                               .mesh = text_str(&place->mesh)};
}

/* Without a choice of its own the one that is there stays. */
static void put_rows(struct op_context *ctx, const struct loop *loop, const struct tuning *t, bool choose,
                     struct store_tuning *rows) {
  struct store_tuning *before;
  const int nbefore = get_rows(ctx, loop, t, &before);
  const struct store_tuning *old = chosen_of(before, nbefore);
  const int chosen = choose ? tuner_winner(t->tuner) : old ? find_variant(t, old->variant) : -1;
  struct tuning_place place = {0};
  int count = 0;
  const bool good = make_place(ctx, loop, &t->of, &place);
  for (int i = 0; i < t->of.count; i++) {
    int runs = 0;
    const double median = tuner_median(t->tuner, i, &runs);
    if (runs == 0)
      continue;
    rows[count] = row_at(&place, loop);
    rows[count].variant = name_of(t, i);
    rows[count].median = median;
    rows[count].baseline = tuner_median(t->tuner, t->of.standard, NULL);
    rows[count].count = runs;
    rows[count].provisional = i == chosen && !tuner_is_settled(t->tuner);
    rows[count++].chosen = i == chosen;
  }
  if (good)
    store_put_tunings(ctx->store, rows, count);
  store_tunings_free(before, nbefore);
  tuning_place_free(&place);
}

static void keep(struct op_context *ctx, const struct loop *loop, struct tuning *t, bool choose) {
  struct store_tuning *rows = array_new((size_t)t->of.count, sizeof *rows);
  t->kept = true;
  if (rows)
    put_rows(ctx, loop, t, choose, rows);
  free(rows);
}

/* How many variants have been measured often enough to be compared. */
static int well_known(const struct tuning *t) {
  enum { ENOUGH = 3 };
  int known = 0;
  for (int i = 0; i < t->of.count; i++) {
    int runs = 0;
    tuner_median(t->tuner, i, &runs);
    known += runs >= ENOUGH;
  }
  return known;
}

/* How often what is kept of a variant was measured. */
static int looked_at(int count) {
  enum { MOST = 16 };
  return count < MOST ? count : MOST;
}

/* A loop of the same place may have kept more meanwhile, and what was dropped after drift does not count. */
static bool knows_most(const struct tuning *t, const struct store_tuning *rows, int count) {
  int own = 0, kept = 0;
  for (int i = 0; i < t->of.count; i++) {
    int runs = 0;
    tuner_median(t->tuner, i, &runs);
    own += looked_at(runs);
  }
  for (int r = 0; r < count; r++)
    kept += find_variant(t, rows[r].variant) >= 0 ? looked_at(rows[r].count) : 0;
  return t->restarts == 0 && own > 0 && own >= kept;
}

/* The tuner has not settled in time. */
static void close_unsettled(struct op_context *ctx, const struct loop *loop, struct tuning *t) {
  const int left = tuner_left(t->tuner), known = well_known(t);
  const bool serial = goes_on(ctx);
  struct store_tuning *rows;
  const int count = get_rows(ctx, loop, t, &rows);
  if (tuner_trials(t->tuner) > 0 && 2 * known >= t->of.count && (left == 0 || !serial)) {
    keep(ctx, loop, t, true);
    t->kept = left == 0; /* who tries everything begins anew, until one run has calls enough */
  } else if (serial && is_final(t, rows, count))
    t->kept = true;
  else if (serial && knows_most(t, rows, count)) {
    keep(ctx, loop, t, false);
    t->kept = false;
  }
  store_tunings_free(rows, count);
  if (serial && t->exhaustive && !t->kept)
    keep_calls(ctx, loop, t);
}

static void report(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct tuning_place place = {0};
  struct tuning_note note = {.loop = loop->name, .order = loop->order, .calls = t->calls};
  if (!t->tuner)
    note.state = TUNING_ONLY;
  else if (t->kept)
    note.state = TUNING_DONE;
  else {
    note.state = t->calls > 1 ? TUNING_UNFINISHED : TUNING_ONCE;
    note.left = tuner_left(t->tuner);
    note.progress = tuner_progress(t->tuner, t->calls);
  }
  if (make_place(ctx, loop, &t->of, &place))
    tuning_report_note(ctx, &place, &note);
  tuning_place_free(&place);
}

void tuning_close(struct op_context *ctx, const struct loop *loop, struct tuning *t) {
  if (t->tuner && t->keeps && !t->kept) {
    if (tuner_left(t->tuner) == 1)
      tuner_next(t->tuner); /* all that is missing is to ask */
    if (tuner_is_settled(t->tuner))
      keep(ctx, loop, t, true);
    else
      close_unsettled(ctx, loop, t);
  }
  if (t->exhaustive && (t->calls > 0 || t->kept || (!t->tuner && loop->stats.calls > 0)))
    report(ctx, loop, t);
}

/* After drift: if even the default is slower now than it was, by what counts as drift, the machine is busy with other things, and
 * what is best now is not best on a quiet one. */
static bool is_busy(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct store_tuning *rows;
  if (t->restarts == 0)
    return false;
  const int count = get_rows(ctx, loop, t, &rows);
  const struct store_tuning *chosen = chosen_of(rows, count);
  const bool busy = chosen && chosen->baseline > 0 &&
                    tuner_median(t->tuner, t->of.standard, NULL) > tune_drift * chosen->baseline;
  store_tunings_free(rows, count);
  return busy;
}

static void say_winner(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  const int winner = tuner_winner(t->tuner);
  log_line(ctx->log, LOG_INFO, "tune",
           "loop %s: %s is the best of %d after %lld trials, %.3g s a run (default %s %.3g s); "
           "%.3g s were lost in trials and compiling until then, in which the loop ran for %.3g s",
           loop->name, name_of(t, winner), t->of.count, tuner_trials(t->tuner),
           tuner_median(t->tuner, winner, NULL), name_of(t, t->of.standard),
           tuner_median(t->tuner, t->of.standard, NULL), tuner_overhead(t->tuner), tuner_total(t->tuner));
}

static void count(struct op_context *ctx, struct loop *loop, struct tuning *t) {
  const long long trials = tuner_trials(t->tuner);
  const double seconds = tuner_overhead(t->tuner);
  ctx->counters->trials += trials - t->told_trials;
  loop->stats.trials += trials - t->told_trials;
  loop->stats.trial_seconds += seconds - t->told_seconds;
  t->told_trials = trials;
  t->told_seconds = seconds;
}

void tuning_ran(struct op_context *ctx, struct loop *loop, struct tuning *t, int which) {
  count(ctx, loop, t);
  if (t->calls < INT_MAX)
    t->calls++;
  const int restarts = tuner_restarts(t->tuner);
  if (restarts != t->restarts) {
    log_line(ctx->log, LOG_INFO, "tune",
             "loop %s: %s has become slower by more than the factor %g; trying again", loop->name,
             name_of(t, which), tune_drift);
    t->restarts = restarts;
    t->kept = false;
  }
  if (t->kept || !t->keeps || !tuner_is_settled(t->tuner))
    return;
  say_winner(ctx, loop, t);
  t->kept = is_busy(ctx, loop, t);
  if (t->kept)
    log_line(ctx->log, LOG_INFO, "tune",
             "loop %s: the default is slower too, so the machine is busier than it was; what is remembered "
             "stays",
             loop->name);
  else
    keep(ctx, loop, t, true);
}

void tuning_keep_choice(struct op_context *ctx, const struct loop *loop, const struct tuning_of *of,
                        const char *variant, double seconds) {
  struct tuning_place place = {0};
  if (make_place(ctx, loop, of, &place)) {
    struct store_tuning row = row_at(&place, loop);
    row.variant = variant;
    row.median = seconds;
    row.count = 1;
    row.chosen = true;
    store_put_tunings(ctx->store, &row, 1);
  }
  tuning_place_free(&place);
}
