#include "loop/choose.h"

#include <stdlib.h>

#include "backend/backend.h"
#include "backend/code.h"
#include "base/clock.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/trace.h"
#include "exec/team.h"
#include "jit/jit.h"
#include "loop/tune_memory.h"
#include "mesh/data.h"
#include "plan/plan_cache.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/launch.h"
#include "services/services.h"

/* Calls of a loop that ranks do not meet after, while there is nothing to try. */
enum { SELDOM = 32, MOST_SELDOM = 4096 };

static bool is_ready(const struct loop *loop, int which) {
  return loop->backend->is_ready(loop, which);
}

bool tune_is_disturbed(const struct op_context *ctx) {
  return ctx->behind && ctx->jit && jit_is_busy(ctx->jit);
}

int tune_new(struct loop *loop, struct error *err) {
  loop->ready.tuning = calloc(1, sizeof *loop->ready.tuning);
  return loop->ready.tuning ? OP_OK : error_memory(err, "a loop's tuning", sizeof *loop->ready.tuning);
}

void tune_free(struct loop *loop) {
  free(loop->ready.tuning);
  loop->ready.tuning = NULL;
}

/* ---- the first choice ---- */

/* Ranks decide about trials alone, in the same way: they must have the same variants. */
static int agree_on_variants(struct op_context *ctx, const struct loop *loop, int code, struct error *err) {
  struct text names = {0};
  if (comm_alone(ctx->comm))
    return code;
  for (int i = 0; !code && i < loop->ready.nvariants; i++)
    text_addf(&names, "candidate %d\t%s\n", i, loop->backend->name_of(loop, i));
  if (!code && !text_ok(&names))
    code = error_memory(err, "the variants of a loop", names.length);
  code = agree_on_call(ctx, code, err, "loop %s\n%s", loop->name, text_str(&names));
  text_free(&names);
  return code;
}

static int list_variants(struct op_context *ctx, struct loop *loop, struct tuning *t, struct error *err) {
  const struct backend *backend = loop->backend;
  const int code = tune_mode_parse(env_value(ctx->env, ENV_TUNE), &t->mode, err);
  const bool all = t->mode.candidates;
  const bool may_be_heavy = all && !loop->fusion && backend->may_be_heavy && backend->may_be_heavy(ctx, loop);
  loop->ready.heavy = may_be_heavy && loop->ready.long_calls >= HEAVY_ENOUGH;
  t->watched = may_be_heavy && !loop->ready.heavy;
  loop->ready.nvariants = loop->ready.standard = loop->ready.variant = 0;
  return code ? code : backend->variants(ctx, loop, all, err);
}

static int choose_among(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct jit *jit = NULL; /* opens the store */
  struct tuning *t = loop->ready.tuning;
  int code = list_variants(ctx, loop, t, err);
  if (!code && loop->ready.nvariants > 1)
    code = context_jit(ctx, &jit, err);
  if (!code)
    code = tuning_open(t, loop, err);
  code = agree_on_variants(ctx, loop, code, err);
  if (!code)
    code = tuning_recall(ctx, loop, t, err);
  /* Ranks are ready together; who tries everything waits anyway. */
  t->behind = loop->backend->compiles_behind && !t->mode.options.exhaustive && ctx->comm->size == 1;
  t->meet_after = t->mode.options.exhaustive || ctx->comm->size == 1 ? 0 : SELDOM;
  if (!code)
    loop->ready.variant = t->tuner ? tuner_winner(t->tuner) : loop->ready.standard;
  return code;
}

/* ---- making one ---- */

/* It is out, on all ranks. */
static void reject(struct op_context *ctx, struct loop *loop, int which, struct error *err) {
  log_line(ctx->log, LOG_INFO, "tune", "loop %s: variant %s is out: %s", loop->name,
           loop->backend->name_of(loop, which), error_message(err));
  error_clear(err);
  tuner_reject(loop->ready.tuning->tuner, which);
}

static int plan_one(struct op_context *ctx, struct loop *loop, int which, struct error *err) {
  const double start = clock_seconds();
  const int code = loop->backend->plan(ctx, loop, which, err);
  loop->ready.tuning->spent = clock_seconds() - start;
  trace_span(ctx->trace, TRACE_PLAN, loop->name, loop->backend->name_of(loop, which), start,
             loop->ready.tuning->spent, 0);
  if (code)
    loop->backend->unmake(ctx, loop, which);
  return code;
}

/* Seconds that compiles behind the program took from it: all of their time, unless a processor was free. */
static double taken_behind(struct loop *loop) {
  const double felt = 0.3, seconds = loop->ready.behind_seconds;
  loop->ready.behind_seconds = 0;
  return (seconds > 0 && team_cpus() > loop->ready.threads ? felt : 1) * seconds;
}

/* On all ranks or on none; what it cost is what it cost the slowest. Of a failure several ranks know no common cost: they pay
 * nothing. */
static int code_one(struct op_context *ctx, struct loop *loop, int which, bool wait, struct error *err) {
  struct tuning *t = loop->ready.tuning;
  const double start = clock_seconds();
  const long long compiles = ctx->counters->compiles;
  int code = loop->backend->code(ctx, loop, which, wait, err);
  trace_until_now(ctx->trace, ctx->counters->compiles > compiles ? TRACE_COMPILE : TRACE_LOAD, loop->name,
                  loop->backend->name_of(loop, which), start, 0);
  double spent[] = {t->spent + clock_seconds() - start + taken_behind(loop), loop->stats.plan_seconds,
                    loop->ready.code_seconds};
  code = agree_on_largest(ctx->agreement, code, spent, 3, err);
  if (t->tuner && which != loop->ready.standard && (!code || comm_alone(ctx->comm)))
    tuner_paid(t->tuner, spent[0]);
  if (code) {
    loop->backend->unmake(ctx, loop, which);
    return code;
  }
  t->plan_seconds = spent[1];
  t->code_seconds = spent[2];
  return OP_OK;
}

static int make_one(struct op_context *ctx, struct loop *loop, int which, bool wait, struct error *err) {
  int code = is_ready(loop, which) ? OP_OK : plan_one(ctx, loop, which, err);
  if (!code && !is_ready(loop, which))
    code = code_one(ctx, loop, which, wait, err);
  return code;
}

/* The default's failure is the loop's. */
static int fall_back(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (loop->ready.variant == loop->ready.standard)
    return err->code;
  reject(ctx, loop, loop->ready.variant, err);
  loop->ready.variant = loop->ready.standard;
  return make_one(ctx, loop, loop->ready.standard, true, err);
}

static int plan_chosen(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (is_ready(loop, loop->ready.variant))
    return OP_OK;
  return plan_one(ctx, loop, loop->ready.variant, err) ? fall_back(ctx, loop, err) : OP_OK;
}

static int code_chosen(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (is_ready(loop, loop->ready.variant))
    return OP_OK;
  return code_one(ctx, loop, loop->ready.variant, !loop->ready.behind, err) ? fall_back(ctx, loop, err)
                                                                            : OP_OK;
}

bool tune_is_made(struct op_context *ctx, struct loop *loop) {
  struct error ignored = {0};
  const int code = is_ready(loop, loop->ready.variant)
                       ? OP_OK
                       : loop->backend->code(ctx, loop, loop->ready.variant, false, &ignored);
  error_free(&ignored);
  return code || is_ready(loop, loop->ready.variant);
}

/* ---- trials ---- */

/* Preparing a candidate costs time that only a loop that runs often pays back. A compile takes about as long as the loop's others
 * took. The loop has to have earned all of it, also of one behind the program: no processor may be free, and if the program
 * ends soon its end waits for it. */
static bool is_worth_it(const struct loop *loop, int which) {
  const struct tuning *t = loop->ready.tuning;
  double code = loop->backend->cost(loop, which);
  if (code > 0 && code < t->code_seconds)
    code = t->code_seconds;
  return tuner_can_pay(t->tuner, code + t->plan_seconds);
}

/* A candidate that cannot be made (it does not compile, there is no memory) is out. */
static bool make_candidate(struct op_context *ctx, struct loop *loop, int which) {
  struct tuning *t = loop->ready.tuning;
  struct error err = {0};
  loop->ready.trying = true;
  if (make_one(ctx, loop, which, !t->behind, &err) && which != loop->ready.standard)
    reject(ctx, loop, which, &err);
  loop->ready.trying = false;
  error_free(&err);
  if (tune_is_disturbed(ctx))
    t->begun = which + 1;
  return is_ready(loop, which);
}

static bool compares_crews(const struct op_context *ctx, const struct tuning *t) {
  return t->crew.compares && comm_alone(ctx->comm);
}

/* Nothing can be paid for now. */
static bool is_saving(const struct loop *loop) {
  const struct tuning *t = loop->ready.tuning;
  const int next = tuner_next(t->tuner);
  return tuner_is_saving(t->tuner) || !(is_ready(loop, next) || is_worth_it(loop, next));
}

/* It was so a moment ago, and calls are short: to look whether it still is takes as long as some of them. */
static bool is_still(const struct op_context *ctx, struct tuning *t, bool was) {
  enum { EACH = 16 };
  const double is_short = 100e-6;
  return was && comm_alone(ctx->comm) && ++t->looks % EACH != 0 &&
         tuner_median(t->tuner, tuner_winner(t->tuner), NULL) < is_short;
}

/* The tuner's next variant, if it is ready and nothing disturbs the trial; else the best one known. While something
 * is compiled nothing else is asked for: that takes as long as a small loop. */
static int next_variant(struct op_context *ctx, struct loop *loop) {
  struct tuning *t = loop->ready.tuning;
  t->compiles = is_still(ctx, t, t->compiles) || tune_is_disturbed(ctx);
  t->disturbed = t->compiles || compares_crews(ctx, t);
  if (t->compiles || is_still(ctx, t, t->saving))
    return tuner_winner(t->tuner);
  t->saving = t->meet_after > 0 || is_saving(loop);
  if (t->disturbed || t->meet_after > 0)
    return tuner_winner(t->tuner);
  const int next = tuner_next(t->tuner);
  const bool usable = is_ready(loop, next) || (!t->saving && make_candidate(ctx, loop, next));
  t->disturbed = tune_is_disturbed(ctx);
  return usable && !t->disturbed ? next : tuner_winner(t->tuner);
}

/* A run that a device times is waited for; ranks do not meet for what is chosen. */
static bool is_timed(const struct op_context *ctx, const struct loop *loop) {
  const struct tuner *tuner = loop->ready.tuning->tuner;
  return tuner && (!tuner_is_settled(tuner) || (comm_alone(ctx->comm) && !loop->backend->times_itself));
}

/* Crews are compared with the best variant, and meanwhile nothing is tried. Ranks do this each for itself, and their
 * trials go on, for those are the same ones on all. */
static void set_crew(struct op_context *ctx, const struct launch *launch) {
  struct loop *loop = launch->loop;
  struct tuning *t = loop->ready.tuning;
  const bool later =
      t->crew.runs > 0 && t->mode.options.exhaustive && tune_wants(loop); /* runs are counted there */
  if (crew_asks(&t->crew) && !tune_tries(launch) && !later) {
    bool one = false;
    const struct backend *b = loop->backend;
    const int many = b->crew ? b->crew(ctx, loop, launch->variant, t->crew.seconds[CREW_ONE], &one) : 0;
    crew_ask(&t->crew, many, one);
  }
  if (t->crew.many > 0)
    loop->ready.crew = crew_threads(&t->crew);
  t->disturbed |= compares_crews(ctx, t);
}

static int begin(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = choose_among(ctx, loop, err);
  return code                                                  ? code
         : make_one(ctx, loop, loop->ready.variant, true, err) ? fall_back(ctx, loop, err)
                                                               : OP_OK;
}

/* The loop has been found to be heavy: it is made anew. Where that is impossible, as it was. */
static int turn_heavy(struct op_context *ctx, struct loop *loop, struct error *err) {
  log_line(ctx->log, LOG_INFO, "tune",
           "loop %s takes long for its %ld elements: it is cut into smaller pieces, for %d threads",
           loop->name, loop->ready.most_elements, team_threads(ctx->team));
  tune_drop(ctx, loop);
  int code = begin(ctx, loop, err);
  if (code) {
    log_line(ctx->log, LOG_INFO, "tune", "loop %s stays as it was: %s", loop->name, error_message(err));
    error_clear(err);
    loop->ready.long_calls = HEAVY_NEVER;
    tune_drop(ctx, loop);
    code = begin(ctx, loop, err);
  }
  if (code)
    tune_drop(ctx, loop);
  loop->ready.prepared = !code;
  return code;
}

bool tune_turns(const struct loop *loop) {
  return loop->ready.tuning->watched && loop->ready.long_calls >= HEAVY_ENOUGH;
}

/* The default is made last if a remembered winner went first. */
static int select_variant(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  const int code = make_one(ctx, loop, loop->ready.variant, true, err);
  if (code)
    return code;
  launch->variant = loop->ready.variant;
  set_crew(ctx, launch);
  loop->stats.variant = loop->backend->name_of(loop, loop->ready.variant);
  return loop->backend->select(ctx, launch, err);
}

/* A run that a device times is waited for: one that nothing is compared with is not timed there. */
static int next_of(struct op_context *ctx, struct launch *launch, bool tries, struct error *err) {
  struct loop *loop = launch->loop;
  const int code = tries && tune_turns(loop) ? turn_heavy(ctx, loop, err) : OP_OK;
  const struct tuner *tuner = loop->ready.tuning->tuner;
  if (code)
    return code;
  launch->timed = is_timed(ctx, loop) && (tries || tuner_is_settled(tuner) || !loop->backend->times_itself);
  launch->seconds = 0;
  if (tuner)
    loop->ready.variant = tries ? next_variant(ctx, loop) : tuner_winner(tuner);
  return select_variant(ctx, launch, err);
}

bool tune_wants_turn(const struct loop *loop) {
  const struct tuning *t = loop->ready.tuning;
  return t->tuner && !tuner_is_settled(t->tuner) && !tuning_knows_enough(loop, t) && !is_saving(loop);
}

bool tune_tries(const struct launch *launch) {
  const struct tuning *t = launch->loop->ready.tuning;
  return t->tuner && launch->variant != tuner_winner(t->tuner);
}

bool tune_wants(const struct loop *loop) {
  const struct tuning *t = loop->ready.tuning;
  return t->tuner && !tuner_is_settled(t->tuner) && !t->saving;
}

void tune_passed(const struct launch *launch, double seconds) {
  if (launch->loop->ready.tuning->tuner)
    tuner_pass(launch->loop->ready.tuning->tuner, seconds);
}

/* ---- times ---- */

/* Plans that other loops may want are kept as long as all together have less than half of what the data have. */
static void trim_plans(struct op_context *ctx) {
  size_t data = 0;
  for (int i = 0; i < ctx->mesh->dats.count; i++) {
    const struct dat *dat = ctx->mesh->dats.items[i];
    data += (size_t)dat->set->extents[EXTENT_NONEXEC] * dat->row_bytes;
  }
  if (ctx->plans)
    plan_cache_trim(ctx->plans, data / 2);
}

/* The tuner has chosen: what the others hold goes; they are made again should the choice be tried anew. */
static void drop_others(struct op_context *ctx, struct loop *loop) {
  for (int i = 0; i < loop->ready.nvariants; i++)
    if (i != tuner_winner(loop->ready.tuning->tuner) && is_ready(loop, i))
      loop->backend->unmake(ctx, loop, i);
  loop->ready.tuning->begun = 0;
  trim_plans(ctx);
}

/* As long as something may be tried the slowest rank's time counts, on all ranks. They meet for that, seldom while nothing
 * can be paid for: then it is what all calls since took together. */
static bool is_of_use(struct op_context *ctx, struct tuning *t, double *seconds) {
  struct error ignored = {0};
  if (comm_alone(ctx->comm))
    return true;
  t->unmet += *seconds;
  if (t->unmet_calls++ < t->meet_after)
    return false;
  double largest[] = {t->unmet, -t->met};
  const double start = clock_seconds();
  const int code = agree_on_largest(ctx->agreement, OP_OK, largest, 2, &ignored);
  error_free(&ignored);
  t->met = clock_seconds() - start;
  *seconds = largest[0];
  t->meeting = -largest[1]; /* who came last did not wait for others */
  tuner_paid(t->tuner, t->meeting);
  return code == OP_OK;
}

/* When that is again: meeting is paid from the budget too. */
static void plan_meeting(const struct op_context *ctx, const struct loop *loop, double seconds) {
  struct tuning *t = loop->ready.tuning;
  const double calls = tuner_until(t->tuner, t->meeting) * t->unmet_calls / seconds;
  if (comm_alone(ctx->comm))
    return;
  t->unmet = 0;
  t->unmet_calls = t->meet_after = 0;
  if (is_saving(loop) || !tuner_can_pay(t->tuner, t->meeting))
    t->meet_after = calls < (double)SELDOM ? SELDOM : calls < (double)MOST_SELDOM ? (int)calls : MOST_SELDOM;
}

/* Only runs of the best variant count, undisturbed and on the threads that were to be measured: launches that wait
 * are all told before the first one runs. */
static void note_crew(const struct op_context *ctx, const struct launch *launch, double seconds) {
  const struct loop *loop = launch->loop;
  struct tuning *t = loop->ready.tuning;
  if (!tune_tries(launch) && !t->compiles && !tune_is_disturbed(ctx) &&
      loop->ready.crew == crew_threads(&t->crew))
    crew_ran(&t->crew, seconds);
}

static void note_run(struct op_context *ctx, const struct launch *launch, double seconds) {
  struct loop *loop = launch->loop;
  struct tuning *t = loop->ready.tuning;
  double own = loop->backend->times_itself ? launch->seconds : seconds;
  if (t->watched)
    heavy_note(&loop->ready.long_calls, seconds);
  if (t->crew.many > 0)
    note_crew(ctx, launch, seconds);
  if (!t->tuner)
    return;
  /* A launch that waited since before the choice runs in another variant. */
  const bool settled = tuner_is_settled(t->tuner) && launch->variant == tuner_winner(t->tuner);
  const bool quiet = settled && t->alone;
  if (settled && !t->alone)
    drop_others(ctx, loop);
  t->alone = settled;
  if (!launch->timed || !is_of_use(ctx, t, &own))
    return;
  if (t->unmet_calls > 1 || t->disturbed || tune_is_disturbed(ctx))
    tuner_pass(t->tuner, own);
  else
    tuner_record(t->tuner, launch->variant, own);
  plan_meeting(ctx, loop, own);
  /* As long as the choice stands there is nothing to tell or to remember. */
  if (!quiet || !tuner_is_settled(t->tuner))
    tuning_ran(ctx, loop, t);
}

/* A compile that is under way is waited for at the end anyway: let the next run find its code. */
static void finish_compile(struct op_context *ctx, struct loop *loop) {
  struct tuning *t = loop->ready.tuning;
  struct error ignored = {0};
  if (!t->mode.keep || t->begun == 0 || is_ready(loop, t->begun - 1))
    return;
  jit_finish(ctx->jit);
  loop->ready.trying = true;
  if (!loop->backend->plan(ctx, loop, t->begun - 1, &ignored))
    loop->backend->code(ctx, loop, t->begun - 1, false, &ignored);
  loop->ready.trying = false;
  error_free(&ignored);
}

static void drop(struct op_context *ctx, struct loop *loop) {
  if (loop->ready.tuning) {
    finish_compile(ctx, loop);
    tuning_close(ctx, loop, loop->ready.tuning);
    tuning_free(loop->ready.tuning);
    *loop->ready.tuning = (struct tuning){0};
  }
  loop->backend->drop(ctx, loop);
  loop->ready.crew = 0;
  loop->ready.expected = (struct expected){0};
  loop->stats.variant = loop->stats.scalar = NULL;
}

/* ---- among ranks of one backend ---- */

typedef int loop_stage(struct op_context *ctx, struct loop *loop, struct error *err);

static int with_peers(struct op_context *ctx, struct loop *loop, loop_stage *stage, struct error *err) {
  const struct peers_all all = peers_enter(ctx);
  return peers_leave(ctx, &all, stage(ctx, loop, err), err);
}

int tune_choose(struct op_context *ctx, struct loop *loop, struct error *err) {
  return with_peers(ctx, loop, choose_among, err);
}

int tune_plan(struct op_context *ctx, struct loop *loop, struct error *err) {
  return with_peers(ctx, loop, plan_chosen, err);
}

int tune_code(struct op_context *ctx, struct loop *loop, struct error *err) {
  return with_peers(ctx, loop, code_chosen, err);
}

int tune_next(struct op_context *ctx, struct launch *launch, bool tries, struct error *err) {
  const struct peers_all all = peers_enter(ctx);
  return peers_leave(ctx, &all, next_of(ctx, launch, tries, err), err);
}

void tune_ran(struct op_context *ctx, const struct launch *launch, double seconds) {
  const struct peers_all all = peers_enter(ctx);
  note_run(ctx, launch, seconds);
  peers_leave(ctx, &all, OP_OK, NULL);
}

void tune_drop(struct op_context *ctx, struct loop *loop) {
  const struct peers_all all = peers_enter(ctx);
  drop(ctx, loop);
  peers_leave(ctx, &all, OP_OK, NULL);
}
