#include "tune/layouts.h"

#include <stdlib.h>
#include <string.h>

#include "backend/variant.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "tune/layout_trial.h"
#include "tune/tune_mode.h"

/* Every so many runs, and not more often than that, a dat to be tried is looked for. A loop that runs less often than the most
 * frequent one by SELDOM does not matter; one that does not come again for PATIENCE times as many runs as expected is gone. */
enum { LOOK_EACH = 16, SELDOM = 8, PATIENCE = 40 };
#define LOOK_SECONDS 0.05

struct choice {
  int dat; /* id */
  bool soa, open;
};

struct layouts {
  const struct layout_table *table;
  struct tune_mode mode;
  struct text forced; /* words of OP2_VARIANT */
  struct choice *choices;
  int nchoices, nopen;
  unsigned epoch;
  long runs;
  double opened, looked, spent;
  /* The trial; dat NULL: none. */
  struct dat *dat;
  struct layout_trial trial;
  double began;
  long patience;
  unsigned mesh_epoch;
};

/* ---- what each dat has ---- */

static struct choice *find(const struct layouts *all, const struct dat *dat) {
  for (int i = 0; i < all->nchoices; i++)
    if (all->choices[i].dat == dat->id)
      return &all->choices[i];
  return NULL;
}

unsigned layouts_epoch(const struct layouts *all) {
  return all->epoch;
}

bool layouts_is_soa(const struct layouts *all, const struct dat *dat) {
  const struct choice *choice = find(all, dat);
  return choice ? choice->soa : dat->asked_soa && dat->dim > 1;
}

static bool word_says(const char *word, const char *name, bool *soa) {
  const bool apart = strncmp(word, "soa", 3) == 0;
  if ((!apart && strncmp(word, "aos", 3) != 0) || (word[3] && word[3] != '='))
    return false;
  if (name && word[3] && strcmp(word + 4, name) != 0)
    return false;
  *soa = apart;
  return true;
}

bool layout_word(const char *word) {
  bool ignored;
  return word_says(word, NULL, &ignored);
}

/* A word for this dat counts more than one for all. */
static bool forced(const struct layouts *all, const struct dat *dat, bool *soa) {
  struct text words = {0};
  char *rest = NULL;
  bool found = false, named = false, says = false;
  text_add(&words, text_str(&all->forced));
  for (char *word = words.data ? strtok_r(words.data, "/", &rest) : NULL; word;
       word = strtok_r(NULL, "/", &rest))
    if (word_says(word, dat->name, &says) && (word[3] || !named)) {
      found = true;
      named |= word[3] != '\0';
      *soa = says;
    }
  text_free(&words);
  return found;
}

/* On hosts ranks do not settle together. Who tries everything does it once. */
static bool may_recall(const struct op_context *ctx, const struct layouts *all) {
  return (all->mode.recall || all->mode.options.exhaustive) &&
         (all->table->space == SPACE_DEVICE || comm_alone(ctx->comm));
}

int layouts_settle(struct op_context *ctx, struct layouts *all, struct dat *dat, struct error *err) {
  if (find(all, dat))
    return OP_OK;
  struct choice choice = {.dat = dat->id, .soa = dat->asked_soa};
  const bool free_here = dat->dim > 1 && !dat->temporary && all->table->is_free(dat);
  if (dat->dim > 1 && !forced(all, dat, &choice.soa) &&
      !(free_here && may_recall(ctx, all) && layout_recall(ctx, all->table, dat, &choice.soa)))
    choice.open = all->mode.keep && free_here && comm_alone(ctx->comm);
  choice.soa &= dat->dim > 1;
  struct choice *choices = array_resize(all->choices, (size_t)all->nchoices + 1, sizeof *choices);
  if (!choices)
    return error_memory(err, "the layouts of dats", ((size_t)all->nchoices + 1) * sizeof *choices);
  all->choices = choices;
  choices[all->nchoices++] = choice;
  all->nopen += choice.open;
  if (all->table->space != SPACE_HOST || dat->dim == 1 || choice.soa == dat->soa)
    return OP_OK;
  return all->table->turn(ctx, dat, choice.soa, err);
}

static void close_choice(struct layouts *all, struct choice *choice) {
  all->nopen -= choice->open;
  choice->open = false;
}

/* ---- life ---- */

int layouts_open(struct layouts **out, const struct op_context *ctx, const struct layout_table *table,
                 struct error *err) {
  struct layouts *all = *out = calloc(1, sizeof *all);
  if (!all)
    return error_memory(err, "the layouts of dats", sizeof *all);
  all->table = table;
  variant_layouts(env_value(ctx->env, ENV_VARIANT), &all->forced);
  all->opened = clock_seconds();
  return tune_mode_parse(env_value(ctx->env, ENV_TUNE), &all->mode, err);
}

void layouts_free(struct layouts *all) {
  if (!all)
    return;
  layout_trial_clear(&all->trial);
  text_free(&all->forced);
  free(all->choices);
  free(all);
}

static void end(struct layouts *all) {
  struct choice *choice = find(all, all->dat);
  close_choice(all, choice);
  all->spent += clock_seconds() - all->began;
  all->dat = NULL;
  layout_trial_clear(&all->trial);
}

void layouts_forget_dat(struct layouts *all, const struct dat *dat) {
  struct choice *choice = all ? find(all, dat) : NULL;
  if (!choice)
    return;
  if (all->dat == dat)
    end(all);
  close_choice(all, choice);
  *choice = all->choices[--all->nchoices];
}

/* ---- a trial begins ---- */

/* 0: not at all, 1: through a map, 2: directly. */
static int use_of(const struct loop *loop, const struct dat *dat) {
  int use = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const int here = arg->dat != dat || !arg->present ? 0 : arg->map ? 1 : 2;
    use = here > use ? here : use;
  }
  return use;
}

static bool takes_part(const struct op_context *ctx, const struct layouts *all, const struct loop *loop,
                       const struct dat *dat) {
  return loop->backend == ctx->backend && !loop->checked && use_of(loop, dat) > 0 &&
         all->table->is_made(loop);
}

static long long most_calls(const struct op_context *ctx, const struct layouts *all, const struct dat *dat) {
  long long most = 0;
  for (size_t b = 0; b < ctx->loops->nbuckets; b++)
    for (const struct loop *loop = ctx->loops->buckets[b]; loop; loop = loop->next)
      if (takes_part(ctx, all, loop, dat) && loop->stats.calls > most)
        most = loop->stats.calls;
  return most;
}

static const char *variant_of(const struct layouts *all, const struct loop *loop) {
  const struct tuning_of of = all->table->variants(loop);
  return of.name(of.variants, all->table->current(loop));
}

/* The loops that matter to the dat. False if one of them still looks for its variant, or there is none. */
static bool gather(const struct op_context *ctx, struct layouts *all, const struct dat *dat) {
  const long long most = most_calls(ctx, all, dat);
  struct error ignored = {0};
  bool good = true, direct = !all->table->needs_direct;
  for (size_t b = 0; b < ctx->loops->nbuckets; b++)
    for (const struct loop *loop = ctx->loops->buckets[b]; loop && good; loop = loop->next) {
      if (!takes_part(ctx, all, loop, dat) || loop->stats.calls * SELDOM < most)
        continue;
      direct |= use_of(loop, dat) == 2;
      good = all->table->is_found(loop) &&
             layout_trial_add(&all->trial, loop, variant_of(all, loop),
                              (double)loop->stats.calls / (double)most, &ignored) == OP_OK;
    }
  error_free(&ignored);
  return good && direct && all->trial.nloops > 0 && most > 2 * LAYOUT_SAMPLES;
}

/* Of one run of each loop of the trial. */
static double usual_seconds(const struct layouts *all) {
  double sum = 0;
  for (int i = 0; i < all->trial.nloops; i++) {
    const struct loop_stats *s = &((const struct loop *)all->trial.loops[i].loop)->stats;
    sum += s->seconds / (double)s->calls;
  }
  return sum;
}

/* It may be turned four times, and its loops may take twice as long while it is. */
static bool can_pay(const struct layouts *all, const struct dat *dat) {
  const struct tuner_options *o = &all->mode.options;
  const double bytes = (double)dat->set->size * (double)dat->row_bytes;
  const double cost = all->table->loop_cost * all->trial.nloops + 4 * all->table->byte_cost * bytes +
                      (LAYOUT_SAMPLES + 1) * usual_seconds(all);
  const double passed = clock_seconds() - all->opened;
  return o->exhaustive || all->spent + cost < (o->seconds > 0 ? o->seconds : o->share * passed);
}

static long patience_of(const struct layouts *all) {
  return PATIENCE * (long)all->trial.nloops * LAYOUT_SAMPLES;
}

static void begin(struct op_context *ctx, struct layouts *all) {
  for (int i = 0; i < ctx->mesh->dats.count; i++) {
    struct dat *dat = ctx->mesh->dats.items[i];
    const struct choice *choice = find(all, dat);
    if (choice && choice->open && gather(ctx, all, dat) && can_pay(all, dat)) {
      all->dat = dat;
      all->began = clock_seconds();
      all->patience = patience_of(all);
      all->mesh_epoch = ctx->mesh->epoch;
      return;
    }
    layout_trial_clear(&all->trial);
  }
}

static void look(struct op_context *ctx, struct layouts *all) {
  if (all->nopen == 0 || ++all->runs % LOOK_EACH != 0)
    return;
  const double now = clock_seconds();
  if (!all->mode.options.exhaustive && now - all->looked < LOOK_SECONDS)
    return;
  all->looked = now;
  begin(ctx, all);
}

/* ---- a trial ends ---- */

static int turn(struct op_context *ctx, struct layouts *all, struct error *err) {
  struct choice *choice = find(all, all->dat);
  int code = all->table->turn(ctx, all->dat, !choice->soa, err);
  if (code)
    return code;
  choice->soa = !choice->soa;
  all->epoch++;
  all->patience = patience_of(all);
  return OP_OK;
}

/* If the dat comes to lie so, loops start with these variants. They have to be in that layout now. */
static void keep_variants(struct op_context *ctx, const struct layouts *all) {
  for (int i = 0; i < all->trial.nloops; i++) {
    const struct loop *loop = all->trial.loops[i].loop;
    const struct tuning_of of = all->table->variants(loop);
    tuning_keep_choice(ctx, loop, &of, all->trial.loops[i].variant, layout_trial_median(&all->trial, i));
  }
}

static int conclude(struct op_context *ctx, struct layouts *all, enum layout_verdict verdict,
                    struct error *err) {
  const struct dat *dat = all->dat;
  const bool better = verdict == LAYOUT_TURN_OVER, turned = layout_trial_is_turned(&all->trial);
  const bool was_soa = find(all, dat)->soa != turned;
  const double was = layout_trial_before(&all->trial), is = layout_trial_after(&all->trial);
  const struct layout_found found = {
      .rows = was_soa ? is : was, .apart = was_soa ? was : is, .soa = was_soa != better};
  const int code = verdict == LAYOUT_STAY ? OP_OK : turn(ctx, all, err);
  if (code)
    return code;
  log_line(ctx->log, LOG_INFO, "tune",
           "dat \"%s\" lies %s %s: %.3g s a round in rows, %.3g s with components apart", dat->name,
           found.soa ? "with components apart" : "in rows", all->table->where, found.rows, found.apart);
  layout_keep(ctx, all->table, dat, &found);
  end(all);
  return OP_OK;
}

/* As it was before the trial. */
static int give_up(struct op_context *ctx, struct layouts *all, const char *why, struct error *err) {
  const bool turned = layout_trial_is_turned(&all->trial);
  log_line(ctx->log, LOG_INFO, "tune", "dat \"%s\" stays as it is %s: %s", all->dat->name, all->table->where,
           why);
  int code = turned ? turn(ctx, all, err) : OP_OK;
  end(all);
  return code;
}

int layouts_step(struct op_context *ctx, struct layouts *all, struct error *err) {
  if (!all->dat) {
    look(ctx, all);
    return OP_OK;
  }
  /* The program went on to other loops. */
  if (all->trial.nloops == 0 || --all->patience < 0)
    return give_up(ctx, all, "its loops do not run any more", err);
  if (all->mesh_epoch != ctx->mesh->epoch)
    return give_up(ctx, all, "the mesh has changed", err);
  const enum layout_verdict verdict = layout_trial_step(&all->trial);
  switch (verdict) {
  case LAYOUT_GOES_ON: return OP_OK;
  case LAYOUT_TURN:
    if (!layout_trial_is_turned(&all->trial))
      keep_variants(ctx, all);
    return turn(ctx, all, err);
  default: return conclude(ctx, all, verdict, err);
  }
}

int layouts_refuse(struct op_context *ctx, struct layouts *all, struct error *err) {
  struct error why = {0};
  if (!all || !all->dat || !layout_trial_is_turned(&all->trial))
    return err->code;
  error_copy(&why, err);
  error_clear(err);
  int code = give_up(ctx, all, error_message(&why), err);
  error_free(&why);
  return code;
}

/* ---- its loops ---- */

bool layouts_times(const struct layouts *all, const struct loop *loop) {
  return all && all->dat && layout_trial_wants(&all->trial, loop);
}

void layouts_record(struct layouts *all, const struct loop *loop, double seconds) {
  if (all->dat)
    layout_trial_record(&all->trial, loop, seconds);
}

const char *layouts_held(const struct layouts *all, const struct loop *loop) {
  const struct layout_timed *timed = all && all->dat ? layout_trial_find(&all->trial, loop) : NULL;
  return timed ? timed->variant : NULL;
}

double layouts_spent(const struct layouts *all) {
  return all ? all->spent : 0;
}

void layouts_forget(struct layouts *all, const struct loop *loop) {
  if (all)
    layout_trial_forget(&all->trial, loop);
}
