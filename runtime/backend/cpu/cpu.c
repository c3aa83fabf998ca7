#include "cpu.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#include "backend/heavy.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "cpu_gather.h"
#include "cpu_loop.h"
#include "mesh/data.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/launch.h"
#include "run/team.h"
#include "services/services.h"

/* A backend that was not asked for by name must be able to compile; one that was may live on the cache. */
static int seq_open(struct op_context *ctx, struct error *err) {
  struct jit *jit = NULL;
  int code = backend_may_compile(ctx, err);
  if (!code && !env_given(ctx->env, ENV_BACKEND))
    code = context_compiler(ctx, err);
  if (!code)
    code = context_jit(ctx, &jit, err);
  return code;
}

/* The context owns the jit, the store and the team. */
static void cpu_close(struct op_context *ctx) {
  (void)ctx;
}

static int openmp_open(struct op_context *ctx, struct error *err) {
  struct team *team = NULL;
  int code = seq_open(ctx, err);
  return code ? code : context_team(ctx, &team, err);
}

/* A compile that is under way is waited for at the end anyway: let the next run find its code. */
static void finish_compile(struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu) {
  struct error ignored = {0};
  if (!cpu->tuning.keeps || cpu->begun == 0 || cpu->variants[cpu->begun - 1].ready)
    return;
  jit_finish(ctx->jit);
  loop->trying = true;
  cpu_make_ready(ctx, loop, cpu, cpu->begun - 1, false, &ignored);
  loop->trying = false;
  error_free(&ignored);
}

static void cpu_drop(struct op_context *ctx, struct loop *loop) {
  struct cpu_loop *cpu = loop->backend_state;
  if (cpu) {
    finish_compile(ctx, loop, cpu);
    tuning_close(ctx, loop, &cpu->tuning);
  }
  cpu_loop_free(ctx, cpu);
  loop->backend_state = NULL;
  loop->stats.variant = loop->stats.scalar = NULL;
}

/* A candidate that cannot be made (it does not compile, there is no memory) is out, on all ranks; the default's failure is the
 * loop's. */
static int make_ready(struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu, int which, bool wait,
                      struct error *err) {
  if (cpu->variants[which].ready)
    return OP_OK;
  double start = clock_seconds();
  int code = cpu_make_ready(ctx, loop, cpu, which, wait, err);
  double spent[] = {clock_seconds() - start, loop->stats.plan_seconds};
  code = agree_on_largest(ctx->agreement, code, spent, 2, err);
  if (code)
    cpu->variants[which].ready = false;
  cpu->plan_seconds = spent[1];
  if (cpu->tuning.tuner && which != cpu->standard)
    tuner_paid(cpu->tuning.tuner, spent[0]);
  if (!code || !cpu->tuning.tuner || which == cpu->standard)
    return code;
  log_line(ctx->log, LOG_INFO, "tune", "loop %s: variant %s is out: %s", loop->name,
           cpu->variants[which].name, error_message(err));
  tuner_reject(cpu->tuning.tuner, which);
  return code;
}

/* What is tried is decided by each rank for itself, in the same way. */
static int agree_on_candidates(struct op_context *ctx, const struct loop *loop, const struct cpu_loop *cpu,
                               int code, struct error *err) {
  struct text facts = {0};
  struct agreement a = {.code = code, .facts = &facts};
  if (comm_alone(ctx->comm))
    return code;
  text_addf(&facts, "call\tloop %s\n", loop->name);
  for (int i = 0; i < cpu->nvariants; i++)
    text_addf(&facts, "candidate %d\t%s\n", i, cpu->variants[i].name);
  code = agree(ctx->agreement, &a, err);
  text_free(&facts);
  return code;
}

static int open_tuning(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu,
                       struct error *err) {
  const struct tuning_of of = cpu_tuning_of(loop);
  int code = tuning_open(ctx, &cpu->tuning, &of, err);
  /* Ranks are ready together; who tries everything waits anyway. */
  cpu->behind = !cpu->tuning.exhaustive && ctx->comm->size == 1;
  return code;
}

static void set_threads(const struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu) {
  const bool may_be_heavy = cpu_may_be_heavy(ctx, loop);
  loop->heavy = may_be_heavy && loop->long_calls >= HEAVY_ENOUGH;
  cpu->watched = may_be_heavy && !loop->heavy;
  cpu->threads = !ctx->team    ? 1
                 : loop->heavy ? team_threads(ctx->team)
                               : executor_threads(ctx->team, loop_end(loop), 0);
}

static int cpu_prepare(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct cpu_loop *cpu = calloc(1, sizeof *cpu);
  int code = cpu ? OP_OK : error_memory(err, "a loop's variants", sizeof *cpu);
  loop->backend_state = cpu;
  code = cpu_look_at_data(ctx, loop, cpu, code, err);
  if (code)
    return code;
  set_threads(ctx, loop, cpu);
  code = cpu_candidates(ctx, loop, cpu, err);
  if (!code)
    code = open_tuning(ctx, loop, cpu, err);
  code = agree_on_candidates(ctx, loop, cpu, code, err);
  if (!code)
    code = tuning_recall(ctx, loop, &cpu->tuning, err);
  cpu->current = cpu->tuning.tuner ? tuner_winner(cpu->tuning.tuner) : cpu->standard;
  /* What is remembered may be of no use here; the default always is. */
  if (!code && cpu->current != cpu->standard && make_ready(ctx, loop, cpu, cpu->current, true, err))
    cpu->current = cpu->standard;
  return code ? code : make_ready(ctx, loop, cpu, cpu->current, true, err);
}

/* Is what it calls there already? Some strategies call a second function, the gather form another. */
static bool has_code(const struct cpu_loop *cpu, int which) {
  const struct cpu_variant *wanted = &cpu->variants[which];
  const struct strategy *strategy = wanted->variant.strategy;
  bool found = false;
  for (int i = 0; i < cpu->nvariants; i++)
    found |= cpu->variants[i].ready && cpu->variants[i].variant.strategy == strategy &&
             shape_equal(&cpu->variants[i].variant.shape, &wanted->variant.shape);
  return found && !strategy->lists && !strategy->apart;
}

/* Preparing a candidate costs time that only a loop that runs often pays back. */
static bool is_worth_it(const struct cpu_loop *cpu, int which) {
  const double compile = cpu->behind ? 0.01 : 0.03;
  return tuner_can_pay(cpu->tuning.tuner, (has_code(cpu, which) ? 0 : compile) + cpu->plan_seconds);
}

static bool is_compiling(const struct op_context *ctx) {
  return ctx->jit && jit_is_busy(ctx->jit);
}

/* What the tuner wants next, if it is ready and nothing disturbs the trial; else the best one known. */
static int choose(struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu, struct error *err) {
  int next = tuner_next(cpu->tuning.tuner);
  bool usable = cpu->variants[next].ready;
  if (!usable && is_worth_it(cpu, next)) {
    loop->trying = true;
    const bool compiled = is_compiling(ctx);
    usable = !make_ready(ctx, loop, cpu, next, !cpu->behind, err) && cpu->variants[next].ready;
    loop->trying = false;
    error_clear(err);
    if (!compiled && is_compiling(ctx))
      cpu->begun = next + 1;
  }
  cpu->disturbed = is_compiling(ctx);
  return usable && !cpu->disturbed ? next : tuner_winner(cpu->tuning.tuner);
}

/* The loop has been found to be heavy: it is made anew. Where that is impossible, as it was. */
static int turn_heavy(struct op_context *ctx, struct loop *loop, struct error *err) {
  log_line(ctx->log, LOG_INFO, "tune",
           "loop %s takes long for its %ld elements: it is cut finer, for %d threads", loop->name,
           loop->most_elements, team_threads(ctx->team));
  cpu_drop(ctx, loop);
  int code = cpu_prepare(ctx, loop, err);
  if (code) {
    log_line(ctx->log, LOG_INFO, "tune", "loop %s stays as it was: %s", loop->name, error_message(err));
    error_clear(err);
    loop->long_calls = HEAVY_NEVER;
    cpu_drop(ctx, loop);
    code = cpu_prepare(ctx, loop, err);
  }
  if (code)
    cpu_drop(ctx, loop);
  loop->prepared = !code;
  return code;
}

static int cpu_select(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  struct cpu_loop *cpu = loop->backend_state;
  if (cpu->watched && loop->long_calls >= HEAVY_ENOUGH) {
    const int turned = turn_heavy(ctx, loop, err);
    if (turned)
      return turned;
    cpu = loop->backend_state;
  }
  if (cpu->tuning.tuner)
    cpu->current = choose(ctx, loop, cpu, err);
  /* The default is made last if a remembered winner went first. */
  int code = make_ready(ctx, loop, cpu, cpu->current, true, err);
  if (code)
    return code;
  for (int p = 0; p < loop->nparts; p++) {
    const struct schedule *schedule = cpu->variants[cpu->current].parts[p].schedule;
    launch_set_slots(launch, p, schedule ? schedule->nslots : 0);
  }
  launch->variant = cpu->current;
  loop->stats.variant = cpu->variants[cpu->current].name;
  loop->stats.scalar = cpu->variants[cpu->current].scalar;
  loop->stats.spared = cpu->variants[cpu->current].variant.shape.straight ? cpu->spared : 0;
  return OP_OK;
}

/* What generated code reads in place of maps. */
static void set_straight(const struct launch *launch, const struct cpu_loop *cpu, int part) {
  const struct plan_entry *entry = cpu->straight[part];
  launch->frame[desc_slot_straight(&launch->loop->desc)] = entry ? entry->straight.words : NULL;
}

static int cpu_run(struct op_context *ctx, struct launch *launch, int part, struct error *err) {
  (void)err;
  const struct loop *loop = launch->loop;
  const struct cpu_loop *cpu = loop->backend_state;
  const struct cpu_variant *v = &cpu->variants[launch->variant];
  const struct cpu_part *p = &v->parts[part];
  /* The second only where there is a list: copying what was just written waits for it. */
  struct work works[2];
  struct execution execution = {.schedule = p->schedule,
                                .works = works,
                                .nworks = 1,
                                .threads = p->threads,
                                .poll = ctx->poll,
                                .poll_context = ctx};
  works[WORK_RANGE] = (struct work){.function = v->functions[WORK_RANGE],
                                    .frame = launch->frame,
                                    .nframe = desc_slots(&loop->desc),
                                    .reductions = loop->reductions,
                                    .nreductions = loop->nreductions,
                                    .slots = launch->slots,
                                    .slot_bytes = loop->slot_bytes};
  if (loop->nreductions)
    works[WORK_RANGE].slots += (size_t)launch->part_slots[part].first * loop->slot_bytes;
  if (p->schedule->list) {
    works[WORK_LIST] = works[WORK_RANGE];
    works[WORK_LIST].function = v->functions[WORK_LIST];
    works[WORK_LIST].list = p->schedule->list;
    execution.nworks = 2;
  }
  set_straight(launch, cpu, part);
  if (p->gather)
    gather_works(p->gather, launch, &works[WORK_RANGE], &execution);
  cpu_discount(ctx);
  executor_run(ctx->team, &execution);
  return OP_OK;
}

/* As long as something is tried the slowest rank's time counts, on all ranks. What was chosen stays: ranks do not meet in every
 * call just to watch it drift. */
static bool is_of_use(struct op_context *ctx, const struct cpu_loop *cpu, double *seconds) {
  struct error ignored = {0};
  if (comm_alone(ctx->comm))
    return true;
  const bool good = !tuner_is_settled(cpu->tuning.tuner) &&
                    agree_on_largest(ctx->agreement, OP_OK, seconds, 1, &ignored) == OP_OK;
  error_free(&ignored);
  return good;
}

static void cpu_ran(struct op_context *ctx, const struct launch *launch, double seconds) {
  struct loop *loop = launch->loop;
  struct cpu_loop *cpu = loop->backend_state;
  if (cpu->watched)
    heavy_note(&loop->long_calls, seconds);
  if (!cpu->tuning.tuner)
    return;
  const bool settled = tuner_is_settled(cpu->tuning.tuner);
  if (settled && !cpu->alone)
    cpu_drop_others(ctx, cpu, tuner_winner(cpu->tuning.tuner));
  cpu->alone = settled;
  if (!is_of_use(ctx, cpu, &seconds))
    return;
  if (cpu->disturbed || is_compiling(ctx))
    tuner_pass(cpu->tuning.tuner, seconds);
  else
    tuner_record(cpu->tuning.tuner, launch->variant, seconds);
  tuning_ran(ctx, loop, &cpu->tuning, launch->variant);
}

const struct backend backend_seq = {.name = "seq",
                                    .help = "compiled code on one thread",
                                    .space = SPACE_HOST,
                                    .open = seq_open,
                                    .close = cpu_close,
                                    .prepare = cpu_prepare,
                                    .select = cpu_select,
                                    .run = cpu_run,
                                    .ran = cpu_ran,
                                    .drop = cpu_drop};

const struct backend backend_openmp = {.name = "openmp",
                                       .help = "compiled code on all threads",
                                       .space = SPACE_HOST,
                                       .open = openmp_open,
                                       .close = cpu_close,
                                       .prepare = cpu_prepare,
                                       .select = cpu_select,
                                       .run = cpu_run,
                                       .ran = cpu_ran,
                                       .drop = cpu_drop};
