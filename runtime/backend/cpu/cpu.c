/* The backends that run compiled range functions on the host: seq on one thread, openmp on the team. The context owns the
 * jit, the store and the team. */
#include <stdlib.h>
#include <string.h>

#include "backend/alternatives.h"
#include "backend/backend.h"
#include "backend/code.h"
#include "base/clock.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/trace.h"
#include "cpu_gather.h"
#include "cpu_loop.h"
#include "exec/caches.h"
#include "exec/team.h"
#include "exec/triad.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "ranks/kind.h"
#include "record/launch.h"
#include "record/record.h"
#include "services/services.h"

/* A backend that was not asked for by name must be able to compile; one that was may live on the cache. */
static int seq_open(struct op_context *ctx, struct error *err) {
  struct jit *jit = NULL;
  if (ctx->compiled)
    return OP_OK;
  int code = backend_may_compile(ctx, err);
  if (!code && !env_given(ctx->env, ENV_BACKEND))
    code = context_compiler(ctx, err);
  if (!code)
    code = context_jit(ctx, &jit, err);
  return code;
}

static int openmp_open(struct op_context *ctx, struct error *err) {
  struct team *team = NULL;
  int code = seq_open(ctx, err);
  return code ? code : context_team(ctx, &team, err);
}

static void cpu_drop(struct op_context *ctx, struct loop *loop) {
  cpu_loop_free(ctx, loop->ready.backend_state);
  loop->ready.backend_state = NULL;
}

static int cpu_variants(struct op_context *ctx, struct loop *loop, bool all, struct error *err) {
  struct cpu_loop *cpu = calloc(1, sizeof *cpu);
  int code = cpu ? OP_OK : error_memory(err, "a loop's variants", sizeof *cpu);
  loop->ready.backend_state = cpu;
  code = cpu_look_at_data(ctx, loop, cpu, code, err);
  if (code)
    return code;
  loop->ready.threads = !ctx->team          ? 1
                        : loop->ready.heavy ? team_threads(ctx->team)
                                            : executor_threads(ctx->team, loop_end(loop), 0);
  return cpu_candidates(ctx, loop, cpu, all, err);
}

static const struct cpu_variant *variant_of(const struct loop *loop, int which) {
  return &((const struct cpu_loop *)loop->ready.backend_state)->variants[which];
}

/* Most variants are never spoken of: a name is made when it is first asked for. Without memory it is empty. */
static const char *cpu_name(const struct loop *loop, int which) {
  struct cpu_variant *v = &((struct cpu_loop *)loop->ready.backend_state)->variants[which];
  struct text name = {0};
  if (!v->name) {
    variant_print(&v->variant, &name);
    v->name = text_take(&name);
  }
  return v->name ? v->name : "";
}

static bool cpu_is_ready(const struct loop *loop, int which) {
  return variant_of(loop, which)->ready;
}

/* The code may be there already. Some strategies call a second function, the gather form another. */
static double cpu_cost(const struct loop *loop, int which) {
  const double compile = 0.03;
  const struct variant *wanted = &variant_of(loop, which)->variant;
  bool found = loop->ranged;
  for (int i = 0; i < loop->ready.nvariants; i++) {
    const struct cpu_variant *v = variant_of(loop, i);
    found |= v->ready && v->variant.strategy == wanted->strategy &&
             shape_equal(&v->variant.shape, &wanted->shape) && v->variant.sorted == wanted->sorted;
  }
  return found && !wanted->strategy->lists && !wanted->strategy->apart ? 0 : compile;
}

static int cpu_select(struct op_context *ctx, struct launch *launch, struct error *err) {
  (void)ctx, (void)err;
  struct loop *loop = launch->loop;
  const struct cpu_loop *cpu = loop->ready.backend_state;
  const struct cpu_variant *v = &cpu->variants[launch->variant];
  for (int p = 0; p < loop->ready.nparts; p++)
    launch_set_slots(launch, p, v->parts[p].schedule ? v->parts[p].schedule->nslots : 0);
  loop->stats.ordered = loop->ordered;
  loop->stats.scalar = v->scalar;
  loop->stats.spills =
      v->functions[v->variant.sorted ? WORK_LIST : WORK_RANGE] && !loop->ranged ? v->spills : -1;
  loop->stats.spared = v->variant.shape.straight ? cpu->spared : 0;
  return OP_OK;
}

/* Straight ranges, which generated code reads in place of maps. */
static void set_straight(const struct launch *launch, const struct cpu_loop *cpu, int part) {
  const struct plan_entry *entry = cpu->straight[part];
  launch->frame[desc_slot_straight(&launch->loop->desc)] = entry ? entry->straight.words : NULL;
}

/* Work on a part's elements; its slots are the launch's first ones. */
static struct work range_work(struct launch *launch, range_function function, int part) {
  const struct loop *loop = launch->loop;
  set_straight(launch, loop->ready.backend_state, part);
  return (struct work){.function = function,
                       .frame = launch->frame,
                       .nframe = desc_slots(&loop->desc),
                       .reductions = loop->ready.reductions,
                       .nreductions = loop->ready.nreductions,
                       .slots = launch->slots,
                       .slot_bytes = loop->ready.slot_bytes};
}

static int cpu_work(struct op_context *ctx, struct launch *launch, struct work *out, struct error *err) {
  const struct cpu_variant *v = variant_of(launch->loop, launch->variant);
  if (!cpu_needs_other_code(v, launch->loop)) {
    *out = range_work(launch, v->functions[WORK_RANGE], 0);
    return OP_OK;
  }
  const int code = cpu_code_for_chains(ctx, launch->loop, launch->variant, err);
  if (!code)
    *out = range_work(launch, v->for_chains, 0);
  return code;
}

/* For loops over many elements all threads are the better guess. On ranks these have all threads, since the slowest rank
 * makes the others wait. */
static int cpu_crew(struct op_context *ctx, const struct loop *loop, int which, double seconds, bool *one) {
  const double guessed_speed = 20e9; /* bytes a second that one thread moves in its caches */
  const struct cpu_loop *cpu = loop->ready.backend_state;
  const struct cpu_variant *v = &cpu->variants[which];
  int most = 1, phases = 0;
  for (int p = 0; p < loop->ready.nparts; p++)
    if (v->parts[p].schedule) {
      const int useful = executor_useful(v->parts[p].schedule, v->parts[p].threads);
      most = useful > most ? useful : most;
      phases += v->parts[p].schedule->waits ? 1 : v->parts[p].schedule->nphases;
    }
  const bool few = elements_are_few(loop->ready.most_elements, loop->ready.most_threads);
  if (most < 2 || cpu->forces_threads || loop->ready.heavy || (!few && !comm_alone(ctx->comm)))
    return 0;
  *one = false;
  if (!few)
    return most;
  double takes = 0;
  const double alone = seconds > 0 ? seconds : loop->stats.bytes / guessed_speed;
  const int best = team_best(ctx->team, alone, phases, most, &takes);
  *one = alone <= takes;
  return best;
}

static int cpu_run(struct op_context *ctx, struct launch *launch, int part, struct error *err) {
  (void)err;
  const struct loop *loop = launch->loop;
  const struct cpu_variant *v = variant_of(loop, launch->variant);
  const struct cpu_part *p = &v->parts[part];
  if (v->numbered.nphases)
    return OP_OK;
  const int threads = cpu_threads(loop, p);
  /* The second only where there is a list: copying what was just written waits for it. */
  struct work works[2];
  struct execution execution = {.schedule = p->schedule,
                                .works = works,
                                .nworks = 1,
                                .threads = threads,
                                .poll = ctx->poll,
                                .poll_context = ctx,
                                .watch = trace_threads(ctx->trace, threads)};
  works[WORK_RANGE] = range_work(launch, v->functions[WORK_RANGE], part);
  if (loop->ready.nreductions)
    works[WORK_RANGE].slots += (size_t)launch->part_slots[part].first * loop->ready.slot_bytes;
  if (p->schedule->list) {
    works[WORK_LIST] = works[WORK_RANGE];
    works[WORK_LIST].function = v->functions[WORK_LIST];
    works[WORK_LIST].list = p->schedule->list;
    execution.nworks = 2;
  }
  if (v->ordered)
    ordered_works(v, launch, &works[WORK_RANGE], &execution);
  if (p->gather)
    gather_works(p->gather, launch, &works[WORK_RANGE], &execution);
  if (ctx->behind)
    jit_collect(ctx->jit);
  executor_run(ctx->team, &execution);
  if (execution.watch)
    trace_threads_ran(ctx->trace, loop->name, cpu_name(loop, launch->variant));
  return OP_OK;
}

/* Ends a loop that is ordered: collects, or runs all elements by their numbers. */
static int cpu_finish(struct op_context *ctx, struct launch *launch, struct error *err) {
  (void)err;
  const struct cpu_variant *v = variant_of(launch->loop, launch->variant);
  const bool numbered = v->numbered.nphases > 0;
  if (!numbered && (!v->collects || v->variant.strategy == &strategy_turns))
    return OP_OK;
  const double start = clock_seconds();
  struct work works[2];
  struct execution execution = {.schedule = numbered ? &v->numbered : &v->collects->schedule,
                                .works = works,
                                .nworks = 2,
                                .threads = numbered ? 1 : cpu_threads(launch->loop, &v->parts[0])};
  works[WORK_RANGE] = works[WORK_LIST] =
      range_work(launch, v->functions[numbered ? WORK_LIST : WORK_RANGE], 0);
  works[WORK_LIST].list = v->numbered.list;
  if (v->ordered)
    ordered_works(v, launch, &works[WORK_LIST], &execution);
  executor_run(ctx->team, &execution);
  launch->loop->stats.collect_seconds += clock_seconds() - start;
  return OP_OK;
}

/* Ranks of one machine measure at once, as they run at once. */
static double cpu_bandwidth(struct op_context *ctx) {
  const int threads = ctx->team ? team_threads(ctx->team) : 1, ranks = ctx->comm->node_size;
  struct error ignored = {0};
  double gb_per_second = 0;
  const size_t caches = caches_bytes(ctx->env, threads * ranks) / (size_t)ranks;
  triad_measure(ctx->team, threads, caches, &gb_per_second, &ignored);
  error_free(&ignored);
  return gb_per_second * 1e9;
}

/* The rows that both tables share. */
#define CPU_BACKEND                                                                                          \
  .variants = cpu_variants, .name_of = cpu_name, .is_ready = cpu_is_ready, .plan = cpu_plan,                 \
  .code = cpu_code, .unmake = cpu_unmake, .cost = cpu_cost, .compiles_behind = true, .may_wait = true,       \
  .work = cpu_work, .has_work = cpu_has_work, .may_be_heavy = cpu_may_be_heavy, .bandwidth = cpu_bandwidth,  \
  .crew = cpu_crew, .tell_plan = cpu_tell_plan, .select = cpu_select, .run = cpu_run, .finish = cpu_finish,  \
  .drop = cpu_drop

const struct backend backend_seq = {
    .name = "seq", .help = "compiled code on one thread", .open = seq_open, CPU_BACKEND};

const struct backend backend_openmp = {
    .name = "openmp", .help = "compiled code on all threads", .open = openmp_open, CPU_BACKEND};

/* OP2_JIT=load: which shape a loop has depends on its data, so that a cache that was filled on a small mesh lacks
 * the shapes of a large one. Every shape gives the right results; one that is in the cache runs in place of one
 * that is not. */

static const int widths[] = {8, 4, 16, 0};
enum { MARKS = 16, SHAPES = MARKS * (int)(sizeof widths / sizeof *widths) };

/* Shapes by number, those first that are worth more; none has a list. */
static struct shape shape_of(int number) {
  return (struct shape){.width = widths[number / MARKS],
                        .piped = number & 8,
                        .rows = number & 4,
                        .straight = number & 2,
                        .stream = number & 1};
}

static void note(void *user, const char *name, size_t length) {
  double *lacks = user;
  char whole[64] = "";
  struct shape found;
  memcpy(whole, name, length < sizeof whole ? length : 0);
  const bool known = shape_parse(whole, &found);
  for (int i = 0; known && i < SHAPES; i++) {
    const struct shape one = shape_of(i);
    if (shape_equal(&one, &found))
      lacks[i] = 0;
  }
}

/* In how much they differ: the width counts most. */
static int distance(const struct shape *a, const struct shape *b) {
  return 4 * (a->width != b->width) + (a->straight != b->straight) + (a->stream != b->stream) +
         (a->piped != b->piped) + (a->rows != b->rows);
}

/* The first such loop is worth a warning; OP2_LOG=cache names the others. */
static void tell(struct op_context *ctx, const struct loop *loop, const struct shape *wanted,
                 const struct shape *used) {
  struct text wish = {0}, there = {0};
  shape_print(wanted, &wish);
  shape_print(used, &there);
  log_line(
      ctx->log, ctx->reshaped_told ? LOG_INFO : LOG_WARN, "cache",
      "loop %s runs as %s: %s would suit these data better, but it is not in the cache, and OP2_JIT=load "
      "forbids compiling it%s",
      loop->name, text_str(&there), text_str(&wish),
      ctx->reshaped_told ? "" : "; OP2_LOG=cache names all such loops");
  ctx->reshaped_told = true;
  text_free(&wish);
  text_free(&there);
}

int cpu_prefer_cached(struct op_context *ctx, const struct loop *loop, struct jit *jit,
                      struct shape *standard, struct error *err) {
  double lacks[SHAPES];
  /* Only leaders have a database. A shape that some leader lacks is out on all ranks. */
  const bool looks = !ctx->kind || ctx->kind->jit.leads;
  if (strcmp(env_value(ctx->env, ENV_JIT), "load") != 0)
    return OP_OK;
  for (int i = 0; i < SHAPES; i++)
    lacks[i] = looks;
  if (looks)
    jit_shapes(jit, &loop->desc, standard, note, lacks);
  const int code = agree_on_largest(ctx->agreement, OP_OK, lacks, SHAPES, err);
  struct shape nearest = *standard;
  int best = 0;
  for (int i = 0; i < SHAPES; i++) {
    const struct shape one = shape_of(i);
    const int far = 1 + distance(&one, standard);
    if (lacks[i] == 0 && (!best || far < best)) {
      best = far;
      nearest = one;
    }
  }
  if (code || best <= 1)
    return code;
  tell(ctx, loop, standard, &nearest);
  *standard = nearest;
  return OP_OK;
}
