#include "loop/tune_memory.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "include/op2jit.h"
#include "ranks/comm.h"
#include "ranks/kind.h"
#include "record/record.h"
#include "services/services.h"

int tuning_open(struct tuning *t, const struct loop *loop, struct error *err) {
  if (!t->mode.candidates || loop->ready.nvariants < 2)
    return OP_OK;
  return tuner_new(&t->tuner, loop->ready.nvariants, loop->ready.standard, &t->mode.options, err);
}

void tuning_free(struct tuning *t) {
  tuner_free(t->tuner);
  t->tuner = NULL;
}

static const char *name_of(const struct loop *loop, int which) {
  return loop->backend->name_of(loop, which);
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

static int find_variant(const void *of, const char *name) {
  const struct loop *loop = of;
  for (int i = 0; i < loop->ready.nvariants; i++)
    if (strcmp(name_of(loop, i), name) == 0)
      return i;
  return -1;
}

/* The findings of an earlier run. All ranks get the same. */
enum { MOST_KNOWN = 64 };
struct memory {
  int winner; /* -1: nothing */
  bool here;  /* of this mesh and machine */
  /* Without a winner: the part of the default's time that variants took, and in how many runs. */
  struct {
    double part;
    int runs;
  } known[MOST_KNOWN];
};

/* All rows of the loop, and its place, which the caller frees. */
static int get_rows(struct op_context *ctx, const struct loop *loop, struct tuning_place *place,
                    struct store_tuning **rows) {
  *place = (struct tuning_place){0};
  *rows = NULL;
  return make_place(ctx, loop, place) ? tuning_rows(ctx->store, place, rows) : 0;
}

/* Variants that a run measured which ended before its choice. */
static void take_parts(const struct loop *loop, const struct tuning_place *place,
                       const struct store_tuning *rows, int count, struct memory *m) {
  for (int r = 0; r < count; r++) {
    const int which = tuning_is_here(&rows[r], place) ? find_variant(loop, rows[r].variant) : -1;
    if (which >= 0 && which < MOST_KNOWN && rows[r].baseline > 0) {
      m->known[which].part = rows[r].median / rows[r].baseline;
      m->known[which].runs = rows[r].count;
    }
  }
}

static struct memory remembered(struct op_context *ctx, const struct loop *loop) {
  struct tuning_place place;
  struct store_tuning *rows;
  const int count = get_rows(ctx, loop, &place, &rows);
  const struct tuning_found found = tuning_choose(rows, count, &place, find_variant, loop);
  struct memory m = {.winner = found.variant, .here = found.here};
  if (m.winner < 0)
    take_parts(loop, &place, rows, count, &m);
  store_tunings_free(rows, count);
  tuning_place_free(&place);
  return m;
}

/* Why there is nothing to choose from. */
static void say_only(const struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct text spec = {0};
  const char *why = "there is no other way to try";
  if (forced_for_loop(env_value(ctx->env, ENV_VARIANT), loop->name, &spec))
    why = "OP2_VARIANT asks for it";
  else if (!t->mode.candidates)
    why = "the first guess, since OP2_TUNE=off tries no other";
  log_line(ctx->log, LOG_DEBUG, "tune", "loop %s runs as %s: %s", loop->name,
           name_of(loop, loop->ready.standard), why);
  text_free(&spec);
}

int tuning_recall(struct op_context *ctx, const struct loop *loop, struct tuning *t, struct error *err) {
  struct memory m = {.winner = -1};
  const struct kind *ranks = context_leaders(ctx);
  int code = OP_OK;
  if (!t->tuner) {
    say_only(ctx, loop, t);
    return OP_OK;
  }
  const bool recalls = t->mode.recall;
  if (recalls && (!ranks || ranks->leads_all))
    m = remembered(ctx, loop);
  if (recalls && ranks)
    code = ctx->agreement->table->broadcast(ctx->agreement, &m, sizeof m, ranks->first_leader, err);
  if (code)
    return code;
  if (m.winner >= 0) {
    tuner_settle(t->tuner, m.winner);
    t->kept = true;
    log_line(ctx->log, LOG_INFO, "tune", "loop %s starts with %s, tuned on %s", loop->name,
             name_of(loop, m.winner), tuning_where(m.here));
    return OP_OK;
  }
  int known = 0;
  for (int i = 0; recalls && t->mode.keep && i < loop->ready.nvariants && i < MOST_KNOWN; i++) {
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
  struct store_tuning row = tuning_row(place, loop->name, name_of(loop, which));
  row.baseline = tuner_beside(t->tuner, which);
  row.chosen = which == tuner_winner(t->tuner);
  row.median = tuner_median(t->tuner, which, &row.count);
  row.provisional = row.chosen && !tuner_is_settled(t->tuner);
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
      count += rows[count].count > 0;
    }
    store_put_tunings(ctx->store, rows, count);
  }
  tuning_place_free(&place);
  free(rows);
}

bool tuning_knows_enough(const struct loop *loop, const struct tuning *t) {
  enum { ENOUGH = 3 };
  int known = 0;
  for (int i = 0; i < loop->ready.nvariants; i++) {
    int runs = 0;
    tuner_median(t->tuner, i, &runs);
    known += runs >= ENOUGH;
  }
  return tuner_trials(t->tuner) > 0 && 2 * known >= loop->ready.nvariants;
}

/* By an earlier run: `among_all` variants, which what is known of half of them does not replace; or among so many, which
 * what is known of fewer does not. */
static bool was_chosen(struct op_context *ctx, const struct loop *loop, bool among_all) {
  struct tuning_place place;
  struct store_tuning *rows;
  const int count = get_rows(ctx, loop, &place, &rows);
  bool was = false;
  for (int r = 0; r < count; r++)
    was |= rows[r].chosen && tuning_is_here(&rows[r], &place) && !(among_all && rows[r].provisional);
  store_tunings_free(rows, count);
  tuning_place_free(&place);
  return was;
}

/* The set's size tells loops of one name apart. A loop that is called once is not worth tuning. */
static void warn_unfinished(const struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  struct text mesh = {0};
  if (!t->mode.options.exhaustive || ctx->comm->rank > 0 || t->calls < 2)
    return;
  tuning_size_class(loop->set->extents[EXTENT_OWNED], &mesh);
  log_line(ctx->log, LOG_WARN, "tune",
           "loop %s (%s) is not tuned yet: %d more calls in one run are needed to try its %d variants",
           loop->name, text_str(&mesh), tuner_left(t->tuner), loop->ready.nvariants);
  text_free(&mesh);
}

void tuning_close(struct op_context *ctx, const struct loop *loop, struct tuning *t) {
  if (!t->tuner || !t->mode.keep || t->kept)
    return;
  if (t->mode.options.exhaustive)
    tuner_next(t->tuner); /* maybe all that is missing is to ask */
  const bool known = tuner_is_settled(t->tuner), enough = known || tuning_knows_enough(loop, t);
  if (known || (tuner_trials(t->tuner) > 0 && !was_chosen(ctx, loop, enough)))
    keep(ctx, loop, t, enough);
  if (!known)
    warn_unfinished(ctx, loop, t);
}

static void say_winner(struct op_context *ctx, const struct loop *loop, const struct tuning *t) {
  const int winner = tuner_winner(t->tuner);
  log_line(ctx->log, LOG_INFO, "tune",
           "loop %s: %s is the best of %d after %lld trials, %.3g s a run (default %s %.3g s); "
           "%.3g s were lost in trials and compiling until then, in which the loop ran for %.3g s",
           loop->name, name_of(loop, winner), loop->ready.nvariants, tuner_trials(t->tuner),
           tuner_median(t->tuner, winner, NULL), name_of(loop, loop->ready.standard),
           tuner_median(t->tuner, loop->ready.standard, NULL), tuner_overhead(t->tuner),
           tuner_total(t->tuner));
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

void tuning_ran(struct op_context *ctx, struct loop *loop, struct tuning *t) {
  count(ctx, loop, t);
  if (t->calls < INT_MAX)
    t->calls++;
  if (t->kept || !t->mode.keep || !tuner_is_settled(t->tuner))
    return;
  say_winner(ctx, loop, t);
  keep(ctx, loop, t, true);
}

/* The part of a loop's time that trials may cost. */
#define SHARE 0.05

int tune_mode_parse(const char *value, struct tune_mode *mode, struct error *err) {
  static const struct {
    const char *word;
    struct tune_mode mode;
  } words[] = {
      {"off", {.candidates = false}},
      {"use", {.candidates = true, .recall = true}},
      {"auto", {.candidates = true, .recall = true, .keep = true, .options = {.share = SHARE}}},
      {"force", {.candidates = true, .keep = true, .options = {.exhaustive = true}}},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(value, words[i].word) == 0) {
      *mode = words[i].mode;
      return OP_OK;
    }
  char *end;
  double seconds = strtod(value, &end);
  if (end == value || *end || !(seconds > 0) || !isfinite(seconds))
    return error_set(err, OP_ERR_ENV, "OP2_TUNE=%s: expected auto, off, use, force, or the seconds to spend",
                     value);
  *mode =
      (struct tune_mode){.candidates = true, .recall = true, .keep = true, .options = {.seconds = seconds}};
  return OP_OK;
}
