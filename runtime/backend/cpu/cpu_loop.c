/* Plans and code of a variant are made ready. */
#include "cpu_loop.h"

#include <stdlib.h>
#include <string.h>

#include "backend/code.h"
#include "base/clock.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "cpu_gather.h"
#include "exec/team.h"
#include "mesh/mesh.h"
#include "plan/plan_cache.h"
#include "ranks/agree.h"
#include "record/columns.h"
#include "services/services.h"

static int at_most(int wanted, int most) {
  return wanted > 0 && wanted < most ? wanted : most;
}

/* Small sets run on one thread, unless OP2_VARIANT names a number of threads or the loop is heavy. */
static int threads_for(const struct op_context *ctx, const struct loop *loop, const struct cpu_loop *cpu,
                       const struct cpu_variant *v, const struct loop_part *part) {
  if (cpu->forces_threads)
    return ctx->team ? at_most(v->variant.threads, team_threads(ctx->team)) : 1;
  if (v->variant.strategy->serial)
    return 1;
  const int most = at_most(v->variant.threads, loop->ready.threads);
  if (loop->ready.heavy)
    return most;
  return most > 1 ? executor_threads(ctx->team, part->end - part->begin, most) : 1;
}

/* A boundary is small: in blocks of the size that suits the core it would have too few of them. */
static int block_size_of(const struct variant *v, const struct loop *loop, const struct loop_part *part) {
  const bool combining = loop->ready.nreductions > 0;
  if (!v->strategy->piece || (v->block_size && !v->strategy->same_piece))
    return v->block_size;
  const long usual = v->strategy->piece(part->end - part->begin, combining);
  if (!v->strategy->same_piece)
    return (int)usual;
  const long wanted =
      v->block_size ? v->block_size : v->strategy->piece(loop->ready.most_elements, combining);
  return (int)(part->begin > 0 && usual < wanted ? usual : wanted);
}

static void say_plan(const struct op_context *ctx, const struct plan_wish *wish, const struct plan_entry *e,
                     bool built, const struct loop *loop) {
  struct text what = {0};
  if (!log_wants(ctx->log, LOG_DEBUG, "plan"))
    return;
  if (wish->strategy->describe)
    wish->strategy->describe(e, &what);
  if (!wish->strategy->columns)
    text_add(&what, ": no plan is needed");
  else if (built)
    text_addf(&what, ": built in %.2f ms", 1e3 * e->seconds);
  else
    text_add(&what, ": the plan of an earlier loop");
  log_line(ctx->log, LOG_DEBUG, "plan", "loop %s: %s for %ld elements of %s%s", loop->name,
           wish->strategy->name, wish->request.size, wish->set_name, text_str(&what));
  text_free(&what);
}

/* Code for a list is made where it is needed, unless nothing is made. */
static bool may_list(const struct op_context *ctx, const struct loop *loop) {
  return loop->ranged || strcmp(env_value(ctx->env, ENV_JIT), "load") != 0;
}

static int make_schedule(struct op_context *ctx, const struct loop *loop, const struct cpu_loop *cpu,
                         const struct cpu_variant *v, int which, struct cpu_part *out, struct error *err) {
  const struct loop_part *part = &loop->ready.parts[which];
  const struct strategy *strategy = ordered_dealing(loop, v->variant.strategy);
  struct plan_column *columns = NULL;
  bool built = false;
  out->threads = threads_for(ctx, loop, cpu, v, part);
  struct plan_wish wish = {.request = {.begin = part->begin,
                                       .size = part->end - part->begin,
                                       .block_size = block_size_of(&v->variant, loop, part),
                                       .work = loop_work(loop, part),
                                       .in_order = !may_list(ctx, loop)},
                           .strategy = strategy,
                           .threads = out->threads,
                           .set_name = loop->set->name,
                           .epoch = ctx->mesh->epoch};
  int code = loop_columns(loop, part, strategy->columns, &columns, &wish.request.ncolumns, err);
  wish.request.columns = columns;
  if (!code && strategy->columns)
    code = context_plan(ctx, loop->name, &wish, &out->entry, &built, err);
  else if (!code)
    code = plan_entry_build(&out->own, &wish, ctx->team, err);
  free(columns);
  if (code)
    return code;
  const struct plan_entry *entry = out->entry ? out->entry : &out->own;
  out->schedule = &entry->schedule;
  say_plan(ctx, &wish, entry, built, loop);
  if (v->variant.sorted) {
    code = schedule_sorted(&out->sorted, &entry->schedule, loop_open_map(loop)->first, err);
    out->schedule = &out->sorted;
  }
  if (code)
    return code;
  const struct gather_wish apart = {.part = *part, .entry = entry, .columns = true};
  return strategy->apart && !loop->ordered ? gather_new(&out->gather, ctx, loop, &apart, err) : OP_OK;
}

static int get_code(struct op_context *ctx, struct loop *loop, const struct desc *desc,
                    const struct shape *shape, struct jit_code *code, struct error *err) {
  struct jit *jit = NULL;
  const int status = context_jit(ctx, &jit, err);
  return status ? status : backend_code(ctx, loop, jit, desc, shape, code, err);
}

/* The loop's own code, and the one for lists; with `wait` false a function stays NULL while it is being compiled.
 * Ranks ask for code together, so a rank without elements asks for the same. */
int cpu_code(struct op_context *ctx, struct loop *loop, int which, bool wait, struct error *err) {
  struct cpu_variant *v = &((const struct cpu_loop *)loop->ready.backend_state)->variants[which];
  struct jit *jit = NULL;
  if (loop->ranged) {
    v->functions[WORK_RANGE] = loop->range[WORK_RANGE];
    v->functions[WORK_LIST] = loop->range[WORK_LIST];
    v->ready = true;
    return OP_OK;
  }
  const bool turns = v->variant.strategy == &strategy_turns;
  const struct desc *own = v->parts[0].gather     ? gather_desc(v->parts[0].gather)
                           : v->ordered && !turns ? gather_desc(v->ordered)
                                                  : &loop->desc;
  int code = context_jit(ctx, &jit, err);
  for (int list = v->variant.sorted; !code && list < (v->listed ? 2 : 1); list++) {
    const struct desc *desc = turns && list ? gather_desc(v->ordered) : own;
    const struct shape shape = {.width = v->variant.shape.width,
                                .list = list,
                                .straight = v->variant.shape.straight && !list,
                                .stream = v->variant.shape.stream && !list,
                                .piped = v->variant.shape.piped && !(turns && list),
                                .rows = v->variant.shape.rows};
    if (v->functions[list])
      continue;
    if (!wait && !jit_prepare(jit, desc, &shape))
      return OP_OK;
    struct jit_code found = {0};
    code = get_code(ctx, loop, desc, &shape, &found, err);
    v->functions[list] = found.run;
    if (!list || v->variant.sorted) {
      v->scalar = found.scalar;
      v->spills = found.spills;
    }
  }
  v->ready = !code;
  return code;
}

/* Each part has straight ranges of its own, so that work on all elements has none. */
static bool is_straight(const struct cpu_variant *v, const struct loop *loop) {
  return v->variant.shape.straight && loop->ready.nparts == 1;
}

/* Results that went past the caches are not there for the next loop, and increments that are written apart are not
 * collected. */
bool cpu_needs_other_code(const struct cpu_variant *v, const struct loop *loop) {
  return v->variant.strategy->apart || v->variant.shape.stream || v->variant.sorted ||
         v->variant.shape.straight != is_straight(v, loop);
}

static struct shape shape_for_chains(const struct cpu_variant *v, const struct loop *loop) {
  return (struct shape){.width = v->variant.shape.width,
                        .straight = is_straight(v, loop),
                        .piped = v->variant.shape.piped,
                        .rows = v->variant.shape.rows};
}

bool cpu_has_work(struct op_context *ctx, struct loop *loop, int which) {
  const struct cpu_variant *v = &((const struct cpu_loop *)loop->ready.backend_state)->variants[which];
  struct error ignored = {0};
  struct jit *jit = NULL;
  if (v->for_chains || !cpu_needs_other_code(v, loop))
    return true;
  const struct shape shape = shape_for_chains(v, loop);
  const int code = context_jit(ctx, &jit, &ignored);
  error_free(&ignored);
  return code || jit_prepare(jit, &loop->desc, &shape);
}

int cpu_code_for_chains(struct op_context *ctx, struct loop *loop, int which, struct error *err) {
  struct cpu_variant *v = &((const struct cpu_loop *)loop->ready.backend_state)->variants[which];
  struct jit_code found = {0};
  if (v->for_chains)
    return OP_OK;
  const struct shape shape = shape_for_chains(v, loop);
  const int code = get_code(ctx, loop, &loop->desc, &shape, &found, err);
  v->for_chains = found.run;
  return code;
}

static void free_part(struct op_context *ctx, struct cpu_part *part) {
  plan_entry_clear(&part->own);
  gather_free(part->gather);
  part->sorted.waits = NULL; /* the entry's */
  schedule_free(&part->sorted);
  if (part->entry)
    plan_cache_release(ctx->plans, part->entry);
  *part = (struct cpu_part){0};
}

/* The first part's description of a gather form is that of all, also where it has no elements. */
static bool is_made(const struct loop *loop, const struct cpu_variant *v, int p) {
  const struct loop_part *part = &loop->ready.parts[p];
  const bool needed = part->begin < part->end || (p == 0 && v->variant.strategy->apart);
  return v->parts[p].schedule || !needed;
}

void cpu_tell_plan(const struct loop *loop, int which, struct text *out) {
  const struct cpu_loop *cpu = loop->ready.backend_state;
  const struct cpu_variant *v = &cpu->variants[which];
  for (int p = 0; p < loop->ready.nparts; p++) {
    const struct loop_part *part = &loop->ready.parts[p];
    if (part->begin == part->end || !v->parts[p].schedule)
      continue;
    const int threads = cpu_threads(loop, &v->parts[p]);
    text_addf(out, "%s%ld elements on %d thread%s", out->length ? "; " : "", part->end - part->begin, threads,
              threads == 1 ? "" : "s");
    if (v->parts[p].entry && v->variant.strategy->describe)
      v->variant.strategy->describe(v->parts[p].entry, out);
    else
      text_add(out, ", no plan is needed");
  }
}

static bool is_listed(const struct loop *loop, const struct cpu_variant *v) {
  bool listed = v->numbered.list;
  for (int p = 0; p < loop->ready.nparts; p++)
    listed |= v->parts[p].schedule && v->parts[p].schedule->list;
  return listed;
}

int cpu_plan(struct op_context *ctx, struct loop *loop, int which, struct error *err) {
  const struct cpu_loop *cpu = loop->ready.backend_state;
  struct cpu_variant *v = &cpu->variants[which];
  double start = clock_seconds();
  int code = OP_OK;
  for (int p = 0; !code && p < loop->ready.nparts; p++)
    if (!is_made(loop, v, p) && (code = make_schedule(ctx, loop, cpu, v, p, &v->parts[p], err)))
      free_part(ctx, &v->parts[p]);
  if (!code && loop->ordered)
    code = ordered_plan(ctx, loop, cpu, v, err);
  loop->stats.plan_seconds += clock_seconds() - start;
  for (int p = 0; p < loop->ready.nparts; p++)
    if (v->parts[p].entry && v->parts[p].entry->crowded) {
      loop->stats.blocks = v->parts[p].entry->plan.nblocks;
      loop->stats.colours = v->parts[p].entry->crowded;
    }
  /* Ranks ask for code together, and for the same: all, or none after a failure. */
  double listed = is_listed(loop, v);
  code = agree_on_largest(ctx->agreement, code, &listed, 1, err);
  v->listed = listed > 0;
  return code;
}

static void free_parts(struct op_context *ctx, struct cpu_variant *v) {
  for (int p = 0; p < LOOP_PARTS; p++)
    free_part(ctx, &v->parts[p]);
  ordered_free(ctx, v);
}

static void free_variant(struct op_context *ctx, struct cpu_variant *v) {
  free_parts(ctx, v);
  free(v->name);
}

void cpu_unmake(struct op_context *ctx, struct loop *loop, int which) {
  struct cpu_variant *v = &((const struct cpu_loop *)loop->ready.backend_state)->variants[which];
  free_parts(ctx, v);
  v->ready = false;
}

void cpu_loop_free(struct op_context *ctx, struct cpu_loop *cpu) {
  if (!cpu)
    return;
  for (int i = 0; i < cpu->nvariants; i++)
    free_variant(ctx, &cpu->variants[i]);
  cpu_drop_straight(ctx, cpu);
  free(cpu->variants);
  free(cpu);
}

/* ---- how many targets the elements of a loop have, where a ragged map gives them different ones ---- */
/* Strips as wide as most are; an element with as many targets has many. */
enum { USUAL_WIDTH = 8, MANY = 64 };

static bool is_even(const long long *first) {
  const long long n = first[1] - first[0];
  bool even = n > 0 && n <= ROWS_MOST;
  for (int l = 1; l < USUAL_WIDTH; l++)
    even &= first[l + 1] - first[l] == n;
  return even;
}

void cpu_find_rows(const struct loop *loop, double *even, double *in_long) {
  const struct map *map = loop_open_map(loop);
  double elements = 0, alike = 0, targets = 0, many = 0;
  for (int p = 0; map && p < loop->ready.nparts; p++) {
    const struct loop_part *part = &loop->ready.parts[p];
    for (long e = part->begin; e + USUAL_WIDTH <= part->end; e += USUAL_WIDTH)
      alike += is_even(map->first + e) ? USUAL_WIDTH : 0;
    for (long e = part->begin; e < part->end; e++) {
      const double n = (double)(map->first[e + 1] - map->first[e]);
      targets += n;
      many += n >= MANY ? n : 0;
    }
    elements += (double)(part->end - part->begin);
  }
  *even = elements > 0 ? alike / elements : 0;
  *in_long = targets > 0 ? many / targets : 0;
}
