#include "tune/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "op2jit.h"
#include "ranks/comm.h"
#include "ranks/kind.h"
#include "record/record.h"
#include "services/services.h"
#include "tune/mode.h"

int tuning_wanted(const struct op_context *ctx, bool *candidates, struct error *err) {
  struct tune_mode mode = {0};
  int code = tune_mode_parse(env_value(ctx->env, ENV_TUNE), &mode, err);
  *candidates = mode.candidates;
  return code;
}

int tuning_open(const struct op_context *ctx, struct tuning *t, const struct loop *loop, struct error *err) {
  struct tune_mode mode = {0};
  int code = tune_mode_parse(env_value(ctx->env, ENV_TUNE), &mode, err);
  t->exhaustive = mode.options.exhaustive;
  if (code || !mode.candidates || loop->ready.nvariants < 2)
    return code;
  t->keeps = mode.keep;
  t->recalls = mode.recall;
  t->watches = mode.options.drift > 0;
  code = tuner_new(&t->tuner, loop->ready.nvariants, loop->ready.standard, &mode.options, err);
  if (!code && loop->ready.single > 0)
    tuner_set_single(t->tuner, loop->ready.single);
  return code;
}

void tuning_free(struct tuning *t) {
  tuner_free(t->tuner);
  t->tuner = NULL;
}

static const char *name_of(const struct loop *loop, int which) {
  return loop->backend->name_of(loop, which);
}

static bool is_single(const struct loop *loop, int which) {
  return loop->ready.single > 0 && which == loop->ready.single;
}

static bool make_place(const struct op_context *ctx, const struct loop *loop, struct tuning_place *place) {
  tuning_sign(&loop->desc, &place->signature);
  if (loop->backend->target)
    loop->backend->target(ctx, loop->space, &place->target);
  else
    tuning_host(&place->target);
  tuning_fingerprint(loop, &place->mesh);
  place->threads = loop->ready.threads;
  return tuning_place_ok(place);
}

/* ---- recalling ---- */

static int find_variant(const struct loop *loop, const char *name) {
  for (int i = 0; i < loop->ready.nvariants; i++)
    if (strcmp(name_of(loop, i), name) == 0)
      return i;
  return -1;
}

/* Of a row of such a grade: which variant it is here. */
static int variant_of(const struct loop *loop, const struct store_tuning *row, enum tuning_grade grade) {
  struct text carried = {0};
  if (grade == TUNING_EXACT || grade == TUNING_MESH)
    return find_variant(loop, row->variant);
  tuning_carry_over(row->variant, &carried);
  const int found = text_ok(&carried) ? find_variant(loop, text_str(&carried)) : -1;
  text_free(&carried);
  return found;
}

/* What an earlier run found. All ranks get it. */
enum { MOST_KNOWN = 64 };
struct memory {
  int winner; /* -1: nothing */
  enum tuning_grade grade;
  double median;  /* 0: of another mesh or machine, which is no measure for drift */
  bool no_single; /* one thread was no better, on this mesh and machine */
  /* Without a winner: of what part of the default's time variants took, and of how many runs. */
  struct {
    double part;
    int runs;
  } known[MOST_KNOWN];
};

static struct memory look_up(struct op_context *ctx, const struct loop *loop,
                             const struct tuning_place *place) {
  const struct store_tuning_filter filter = {
      .signature = text_str(&place->signature), .threads = place->threads, .chosen_only = true};
  struct store_tuning *rows = NULL;
  const struct store_tuning *best = NULL;
  struct memory m = {.winner = -1};
  const int count = store_get_tunings(ctx->store, &filter, &rows);
  for (int r = 0; r < count; r++) {
    const enum tuning_grade grade = tuning_grade(&rows[r], text_str(&place->target), text_str(&place->mesh));
    const int which = grade == TUNING_NOTHING ? -1 : variant_of(loop, &rows[r], grade);
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

/* All rows of just this place. */
static int get_rows(struct op_context *ctx, const struct loop *loop, struct store_tuning **rows) {
  struct tuning_place place = {0};
  int count = 0;
  *rows = NULL;
  if (make_place(ctx, loop, &place)) {
    const struct store_tuning_filter filter = {.signature = text_str(&place.signature),
                                               .target = text_str(&place.target),
                                               .mesh = text_str(&place.mesh),
                                               .threads = place.threads};
    count = store_get_tunings(ctx->store, &filter, rows);
  }
  tuning_place_free(&place);
  return count;
}

/* Its times of one thread and of all, side by side. */
static bool was_no_single(struct op_context *ctx, const struct loop *loop) {
  struct store_tuning *rows;
  bool was = false;
  const int count = get_rows(ctx, loop, &rows);
  for (int r = 0; r < count; r++)
    if (is_single(loop, find_variant(loop, rows[r].variant)))
      was = rows[r].median >= (1 - duel_least) * rows[r].baseline;
  store_tunings_free(rows, count);
  return was;
}

/* Of a run that ended before its choice. */
static void look_up_parts(struct op_context *ctx, const struct loop *loop, struct memory *m) {
  struct store_tuning *rows;
  const int count = get_rows(ctx, loop, &rows);
  for (int r = 0; r < count; r++) {
    const int which = find_variant(loop, rows[r].variant);
    if (which >= 0 && which < MOST_KNOWN && rows[r].baseline > 0) {
      m->known[which].part = rows[r].median / rows[r].baseline;
      m->known[which].runs = rows[r].count;
    }
  }
  store_tunings_free(rows, count);
}

static struct memory remembered(struct op_context *ctx, const struct loop *loop) {
  struct tuning_place place = {0};
  struct memory m = {.winner = -1};
  if (make_place(ctx, loop, &place))
    m = look_up(ctx, loop, &place);
  if (m.winner < 0)
    look_up_parts(ctx, loop, &m);
  else
    m.no_single = was_no_single(ctx, loop);
  tuning_place_free(&place);
  return m;
}

static const struct store_tuning *chosen_of(const struct store_tuning *rows, int count) {
  for (int r = 0; r < count; r++)
    if (rows[r].chosen)
      return &rows[r];
  return NULL;
}

/* Why there is nothing to choose from. */
static void say_only(const struct op_context *ctx, const struct loop *loop) {
  struct text spec = {0};
  struct error ignored = {0};
  bool wanted = false;
  const char *why = "there is no other way to try";
  if (forced_for_loop(env_value(ctx->env, ENV_VARIANT), loop->name, &spec))
    why = "OP2_VARIANT asks for it";
  else if (tuning_wanted(ctx, &wanted, &ignored) == OP_OK && !wanted)
    why = "the first guess, since OP2_TUNE=off tries no other";
  log_line(ctx->log, LOG_DEBUG, "tune", "loop %s runs as %s: %s", loop->name,
           name_of(loop, loop->ready.standard), why);
  text_free(&spec);
  error_free(&ignored);
}

int tuning_recall(struct op_context *ctx, const struct loop *loop, struct tuning *t, struct error *err) {
  struct memory m = {.winner = -1};
  const struct kind *ranks = context_leaders(ctx);
  int code = OP_OK;
  if (!t->tuner) {
    say_only(ctx, loop);
    return OP_OK;
  }
  const bool recalls = t->recalls;
  if (recalls && (!ranks || ranks->leads_all))
    m = remembered(ctx, loop);
  if (recalls && ranks)
    code = ctx->agreement->table->broadcast(ctx->agreement, &m, sizeof m, ranks->first_leader, err);
  if (code)
    return code;
  if (m.winner >= 0) {
    tuner_settle(t->tuner, m.winner, m.median);
    if (m.no_single)
      tuner_pass_over_single(t->tuner);
    t->kept = true;
    log_line(ctx->log, LOG_INFO, "tune", "loop %s starts with %s, tuned on %s", loop->name,
             name_of(loop, m.winner), tuning_grade_words(m.grade));
    return OP_OK;
  }
  int known = 0;
  for (int i = 0; t->watches && i < loop->ready.nvariants && i < MOST_KNOWN; i++) {
    tuner_recall_part(t->tuner, i, m.known[i].part, m.known[i].runs);
    known += i != loop->ready.standard && m.known[i].runs > 0;
  }
  log_line(ctx->log, LOG_INFO, "tune", "loop %s starts with the default %s%s", loop->name,
           name_of(loop, loop->ready.standard),
           known     ? ", and goes on with the trials of an earlier run"
           : recalls ? ": nothing is remembered"
                     : "");
  return OP_OK;
}

/* ---- keeping ---- */

static struct store_tuning row_of(const struct tuning *t, const struct loop *loop,
                                  const struct tuning_place *place, int which) {
  struct store_tuning row = {.signature = text_str(&place->signature),
                             .loop = loop->name,
                             .target = text_str(&place->target),
                             .threads = place->threads,
                             .mesh = text_str(&place->mesh),
                             .variant = name_of(loop, which),
                             .baseline = tuner_beside(t->tuner, which),
                             .chosen = which == tuner_lasting(t->tuner)};
  row.median = tuner_median(t->tuner, which, &row.count);
  row.provisional = row.chosen && !tuner_is_known(t->tuner);
  return row;
}

/* Every variant that was measured. `chooses`: the best of them is the choice. */
static void keep(struct op_context *ctx, const struct loop *loop, struct tuning *t, bool chooses) {
  struct tuning_place place = {0};
  struct store_tuning *rows = array_new((size_t)loop->ready.nvariants, sizeof *rows);
  int count = 0;
  t->kept = true;
  if (rows && make_place(ctx, loop, &place)) {
    for (int i = 0; i < loop->ready.nvariants; i++) {
      rows[count] = row_of(t, loop, &place, i);
      rows[count].chosen &= chooses;
      rows[count].provisional &= chooses;
      count += rows[count].count > 0 && !is_single(loop, i); /* that one holds for a while only */
    }
    store_put_tunings(ctx->store, rows, count);
  }
  tuning_place_free(&place);
  free(rows);
}

/* How one thread did beside all: a row of its own, which is never chosen. */
static void keep_duel(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct tuning_place place = {0};
  double one;
  if (t->keeps && make_place(ctx, loop, &place)) {
    struct store_tuning row = row_of(t, loop, &place, loop->ready.single);
    tuner_last_duel(t->tuner, &one, &row.baseline);
    row.chosen = row.provisional = false;
    store_put_tunings(ctx->store, &row, 1);
  }
  tuning_place_free(&place);
}

bool tuning_knows_enough(const struct loop *loop, const struct tuning *t) {
  enum { ENOUGH = 3 };
  int known = 0;
  for (int i = 0; i < loop->ready.nvariants; i++) {
    int runs = 0;
    if (is_single(loop, i))
      continue;
    tuner_median(t->tuner, i, &runs);
    known += runs >= ENOUGH;
  }
  return tuner_trials(t->tuner) > 0 && 2 * known >= loop->ready.nvariants - (loop->ready.single > 0);
}

/* By an earlier run: `among_all` variants, which what is known of half of them does not replace; or among so many, which
 * what is known of fewer does not. */
static bool was_chosen(struct op_context *ctx, const struct loop *loop, bool among_all) {
  struct store_tuning *rows;
  const int count = get_rows(ctx, loop, &rows);
  const struct store_tuning *chosen = chosen_of(rows, count);
  const bool was = chosen && !(among_all && chosen->provisional);
  store_tunings_free(rows, count);
  return was;
}

/* How large the set is tells one loop from another of that name. What is called once is not worth tuning. */
static void warn_unfinished(const struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct text mesh = {0};
  if (!t->exhaustive || ctx->comm->rank > 0 || t->calls < 2)
    return;
  tuning_size_class(loop->set->extents[EXTENT_OWNED], &mesh);
  log_line(ctx->log, LOG_WARN, "tune",
           "loop %s (%s) is not tuned yet: %d more calls in one run are needed to try its %d variants",
           loop->name, text_str(&mesh), tuner_left(t->tuner), loop->ready.nvariants);
  text_free(&mesh);
}

void tuning_close(struct op_context *ctx, const struct loop *loop, struct tuning *t) {
  if (!t->tuner || !t->keeps || t->kept)
    return;
  if (t->exhaustive)
    tuner_next(t->tuner); /* maybe all that is missing is to ask */
  const bool known = tuner_is_known(t->tuner), enough = known || tuning_knows_enough(loop, t);
  if (known || (tuner_trials(t->tuner) > 0 && !was_chosen(ctx, loop, enough)))
    keep(ctx, loop, t, enough);
  if (!tuner_is_settled(t->tuner))
    warn_unfinished(ctx, loop, t);
}

/* After drift: if even the default is slower now than it was, by what counts as drift, the machine is busy with
 * other things, and what is best now is not best on a quiet one. */
static bool is_busy(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct store_tuning *rows;
  if (t->restarts == 0)
    return false;
  const int count = get_rows(ctx, loop, &rows);
  const struct store_tuning *chosen = chosen_of(rows, count);
  const bool busy = chosen && chosen->baseline > 0 &&
                    tuner_median(t->tuner, loop->ready.standard, NULL) > tune_drift * chosen->baseline;
  store_tunings_free(rows, count);
  return busy;
}

static void say_winner(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  const int winner = tuner_lasting(t->tuner);
  log_line(ctx->log, LOG_INFO, "tune",
           "loop %s: %s is the best of %d after %lld trials, %.3g s a run (default %s %.3g s); "
           "%.3g s were lost in trials and compiling until then, in which the loop ran for %.3g s",
           loop->name, name_of(loop, winner), loop->ready.nvariants, tuner_trials(t->tuner),
           tuner_median(t->tuner, winner, NULL), name_of(loop, loop->ready.standard),
           tuner_median(t->tuner, loop->ready.standard, NULL), tuner_overhead(t->tuner),
           tuner_total(t->tuner));
}

static void say_duel(struct op_context *ctx, const struct loop *loop, struct tuning *t) {
  double one, many;
  t->duels = tuner_duels(t->tuner);
  if (tuner_last_duel(t->tuner, &one, &many))
    log_line(ctx->log, LOG_INFO, "tune",
             "loop %s: one thread takes %.3g s a run, all threads %.3g s; it runs as %s", loop->name, one,
             many, name_of(loop, tuner_winner(t->tuner)));
  else
    log_line(ctx->log, LOG_INFO, "tune", "loop %s: one thread is far slower than all", loop->name);
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
             name_of(loop, which), tune_drift);
    t->restarts = restarts;
    t->kept = false;
  }
  if (tuner_duels(t->tuner) != t->duels) {
    say_duel(ctx, loop, t);
    keep_duel(ctx, loop, t);
  }
  if (t->kept || !t->keeps || !tuner_is_known(t->tuner))
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
