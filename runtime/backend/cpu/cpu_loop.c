#include "cpu_loop.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#include "backend/alternatives.h"
#include "backend/code.h"
#include "backend/heavy.h"
#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "cpu.h"
#include "cpu_gather.h"
#include "jit/generate/generate.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "op2/op2jit_compiled.h"
#include "op2jit.h"
#include "plan/plan_cache.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "ranks/kind.h"
#include "record/columns.h"
#include "run/caches.h"
#include "run/team.h"
#include "services/services.h"

/* ---- which variants there are ---- */

/* How many targets an element has: through a ragged map as many as one of all ranks has on average, or one more. */
static size_t targets_of_one(const struct loop_arg *arg) {
  const struct map *map = arg->map->of ? arg->map->of : arg->map;
  return map->first ? (size_t)(map->entries->global_size / (map->from->global_size + 1)) + 1
                    : (size_t)arg_columns(arg);
}

/* That one element increments through maps. */
static size_t turned_bytes(const struct loop *loop) {
  size_t bytes = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg_is_turned(arg))
      bytes += arg->dat->row_bytes * targets_of_one(arg);
  }
  return bytes;
}

static bool is_alone(const struct loop *loop) {
  return loop->compiled && loop->compiled->alone;
}

static const struct strategy *default_strategy(const struct loop *loop) {
  if (loop->backend == &backend_seq || is_alone(loop))
    return &strategy_whole;
  return loop_meets(loop) ? &strategy_colours : &strategy_chunks;
}

/* Members that mean nothing for the strategy are set to zero, so that equal variants have equal names. */
static int settle(struct variant *v, const struct loop *loop, struct error *err) {
  const struct strategy *s = v->strategy;
  if (s->apart && loop->ranged)
    return error_set(
        err, OP_ERR_ENV,
        "loop %s: OP2_VARIANT forces %s, which needs the kernel's text, and a program of OP2 has it "
        "compiled; use another strategy",
        loop->name, s->name);
  if (s->unsafe && loop_meets(loop))
    return error_set(err, OP_ERR_ENV,
                     "loop %s: OP2_VARIANT forces %s, but the loop increments through a map, %s", loop->name,
                     s->name, s->unsafe);
  if (is_alone(loop) && !s->serial)
    return error_set(
        err, OP_ERR_ENV,
        "loop %s: OP2_VARIANT forces %s, and the kernel is an internal procedure, which one thread "
        "only may call; make it a procedure of a module",
        loop->name, s->name);
  if (s->serial)
    v->block_size = v->threads = 0;
  if (loop->ranged)
    v->shape = (struct shape){0};
  /* Where increments are apart there are maps of their own. */
  v->shape.straight &= shape_can_be_straight(&loop->desc, &v->shape) && !s->apart;
  v->shape.stream &= shape_can_stream(&loop->desc, &v->shape) && !s->apart;
  v->shape.piped &= shape_can_be_piped(&loop->desc, &v->shape) && !s->apart;
  v->shape.rows &= shape_has_rows(&loop->desc);
  v->sorted &= !loop->ranged && !s->apart && loop_open_map(loop);
  return OP_OK;
}

/* What the words do not name is the first guess, as far as it fits: they are taken once more when that is known. */
static int settle_forced(const struct op_context *ctx, struct variant *v, const struct loop *loop,
                         const char *spec, struct error *err) {
  struct text asked = {0}, left = {0};
  int code = variant_apply(v, spec, err);
  if (!code)
    code = settle(v, loop, err);
  struct variant named = *v;
  if (!code)
    code = variant_apply(&named, spec, err);
  if (code)
    return code;
  variant_print(&named, &asked);
  variant_print(v, &left);
  forced_tell_left(ctx->log, loop->name, &asked, &left);
  text_free(&asked);
  text_free(&left);
  return OP_OK;
}

static int add_candidate(struct cpu_loop *cpu, const struct variant *v, struct error *err) {
  struct text name = {0};
  variant_print(v, &name);
  char *text = text_take(&name);
  struct cpu_variant *variants =
      text ? array_resize(cpu->variants, (size_t)cpu->nvariants + 1, sizeof *variants) : NULL;
  if (!variants) {
    free(text);
    return error_memory(err, "a loop's variants", ((size_t)cpu->nvariants + 1) * sizeof *variants);
  }
  cpu->variants = variants;
  variants[cpu->nvariants++] = (struct cpu_variant){.variant = *v, .name = text};
  return OP_OK;
}

static int add_alternatives(const struct variant *standard, const struct shape *shapes, int nshapes,
                            struct loop *loop, struct cpu_loop *cpu, struct error *err) {
  const struct alternatives_of facts = {.elements = loop->most_elements,
                                        .threads = loop->heavy ? loop->threads : loop->most_threads,
                                        .heavy = loop->heavy,
                                        .shapes = shapes,
                                        .nshapes = nshapes,
                                        .sorted = cpu->sorted.width ? &cpu->sorted : NULL,
                                        .turned_bytes = cpu->turned_bytes};
  struct variant found[MOST_ALTERNATIVES];
  const int count = alternatives(standard, &facts, found);
  int code = OP_OK;
  for (int i = 0; !code && i < count; i++) {
    if (found[i].strategy->serial && !standard->strategy->serial)
      loop->single = cpu->nvariants;
    code = add_candidate(cpu, &found[i], err);
  }
  return code;
}

static bool is_any_straight(const struct cpu_loop *cpu) {
  bool any = false;
  for (int i = 0; i < cpu->nvariants; i++)
    any |= cpu->variants[i].variant.shape.straight;
  return any;
}

/* Of the last-level caches, what the threads of a rank can have: ranks on one node share them. */
static size_t cache_bytes(struct op_context *ctx) {
  const int threads = ctx->team ? team_threads(ctx->team) : 1, ranks = ctx->comm->node_size;
  if (!ctx->cache_bytes)
    ctx->cache_bytes = caches_bytes(ctx->env, threads * ranks) / (size_t)ranks;
  return ctx->cache_bytes;
}

int cpu_look_at_data(struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu, int code,
                     struct error *err) {
  /* From this share of elements in strips inside straight ranges on, shapes that know them are the better ones.
   * With so many times the caches, what a call writes is gone from them before the next loop looks for it. */
  const double straight_enough = 0.5, times_cache = 1.5, even_enough = 0.5, long_enough = 0.3;
  enum { STRAIGHT, LARGE, EVEN, LONG, FACTS };
  double most[FACTS] = {0};
  if (!code)
    code = cpu_find_straight(ctx, loop, cpu, &most[STRAIGHT], err);
  cpu_find_rows(loop, &most[EVEN], &most[LONG]);
  most[LARGE] = loop->stats.working_set / (double)cache_bytes(ctx);
  code = agree_on_largest(ctx->agreement, code, most, FACTS, err);
  loop->straight = most[STRAIGHT] >= straight_enough;
  loop->large = most[LARGE] >= times_cache;
  loop->even = most[EVEN] >= even_enough;
  loop->long_rows = most[LONG] >= long_enough;
  return code;
}

bool cpu_may_be_heavy(const struct op_context *ctx, const struct loop *loop) {
  struct text spec = {0};
  if (loop->backend == &backend_seq || !ctx->team || !comm_alone(ctx->comm) ||
      !heavy_is_few(loop->most_elements, team_threads(ctx->team)))
    return false;
  const bool forced = forced_for_loop(env_value(ctx->env, ENV_VARIANT), loop->name, &spec);
  text_free(&spec);
  return !forced;
}

/* Its name says that such a loop runs on threads although its set is small. */
static void cut_finer(struct variant *v, const struct loop *loop) {
  v->block_size = heavy_piece(loop->most_elements, loop->threads, v->shape.width);
  v->threads = loop->threads;
}

static int list_shapes(const struct op_context *ctx, const struct loop *loop, struct jit *jit,
                       struct shape *sorted, struct shape shapes[SHAPE_CANDIDATES]) {
  const int vector_bytes = ctx->kind ? ctx->kind->vector_bytes : jit_vector_bytes(jit);
  const struct shape_wish wish = {
      .straight = loop->straight, .stream = loop->large, .even = loop->even, .rows = loop->long_rows};
  *sorted = shape_for_sorted(&loop->desc, vector_bytes, wish);
  return shape_candidates(&loop->desc, vector_bytes, wish, shapes);
}

int cpu_candidates(struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu, bool all,
                   struct error *err) {
  struct jit *jit = NULL;
  struct shape shapes[SHAPE_CANDIDATES] = {0};
  int nshapes = 1, code = OP_OK;
  if (!loop->ranged) {
    code = context_jit(ctx, &jit, err);
    if (code)
      return code;
    cpu->turned_bytes = turned_bytes(loop);
    nshapes = list_shapes(ctx, loop, jit, &cpu->sorted, shapes);
  }
  struct variant v = {.strategy = default_strategy(loop), .shape = shapes[0]};
  struct text spec = {0};
  const bool forced = forced_for_loop(env_value(ctx->env, ENV_VARIANT), loop->name, &spec);
  if (!code && forced)
    code = settle_forced(ctx, &v, loop, text_str(&spec), err);
  else if (!code && jit)
    code = cpu_prefer_cached(ctx, loop, jit, &v.shape, err);
  if (!forced && loop->heavy)
    cut_finer(&v, loop);
  text_free(&spec);
  if (!code && !forced)
    code = settle(&v, loop, err);
  cpu->forces_threads = forced && v.threads > 0;
  if (!code)
    code = add_candidate(cpu, &v, err);
  if (!code && !forced && all && !is_alone(loop))
    code = add_alternatives(&v, shapes, nshapes, loop, cpu, err);
  if (!is_any_straight(cpu))
    cpu_drop_straight(ctx, cpu);
  loop->nvariants = cpu->nvariants;
  return code;
}

/* ---- making one ready ---- */

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
  const int most = at_most(v->variant.threads, loop->threads);
  if (loop->heavy)
    return most;
  return most > 1 ? executor_threads(ctx->team, part->end - part->begin, most) : 1;
}

/* A boundary is small: in blocks of the size that suits the core it would have too few of them. */
static int block_size_of(const struct variant *v, const struct loop *loop, const struct loop_part *part) {
  const bool combining = loop->nreductions > 0;
  if (!v->strategy->piece || (v->block_size && !v->strategy->same_piece))
    return v->block_size;
  const long usual = v->strategy->piece(part->end - part->begin, combining);
  if (!v->strategy->same_piece)
    return (int)usual;
  const long wanted = v->block_size ? v->block_size : v->strategy->piece(loop->most_elements, combining);
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

static int make_schedule(struct op_context *ctx, const struct loop *loop, const struct cpu_loop *cpu,
                         const struct cpu_variant *v, int which, struct cpu_part *out, struct error *err) {
  const struct loop_part *part = &loop->parts[which];
  const struct strategy *strategy = v->variant.strategy;
  struct plan_column *columns = NULL;
  bool built = false;
  out->threads = threads_for(ctx, loop, cpu, v, part);
  struct plan_wish wish = {.request = {.begin = part->begin,
                                       .size = part->end - part->begin,
                                       .block_size = block_size_of(&v->variant, loop, part),
                                       .work = loop_work(loop, part)},
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
  return strategy->apart ? gather_new(&out->gather, ctx, loop, part, entry, err) : OP_OK;
}

static int get_code(struct op_context *ctx, struct loop *loop, const struct desc *desc,
                    const struct shape *shape, struct jit_code *code, struct error *err) {
  struct jit *jit = NULL;
  const int status = context_jit(ctx, &jit, err);
  return status ? status : backend_code(ctx, loop, jit, desc, shape, code, err);
}

void cpu_discount(struct op_context *ctx) {
  if (ctx->team && ctx->jit)
    team_discount(ctx->team, jit_threads(ctx->jit));
}

/* The loop's own code, and the one for lists; with `wait` false a function stays NULL while it is being compiled.
 * Ranks ask for code together, so a rank without elements asks for the same. */
int cpu_code(struct op_context *ctx, struct loop *loop, int which, bool wait, struct error *err) {
  struct cpu_variant *v = &((const struct cpu_loop *)loop->backend_state)->variants[which];
  struct jit *jit = NULL;
  if (loop->ranged) {
    v->functions[WORK_RANGE] = loop->range[WORK_RANGE];
    v->functions[WORK_LIST] = loop->range[WORK_LIST];
    v->ready = true;
    return OP_OK;
  }
  const struct desc *desc = v->parts[0].gather ? gather_desc(v->parts[0].gather) : &loop->desc;
  int code = context_jit(ctx, &jit, err);
  for (int list = v->variant.sorted; !code && list < (v->listed ? 2 : 1); list++) {
    const struct shape shape = {.width = v->variant.shape.width,
                                .list = list,
                                .straight = v->variant.shape.straight && !list,
                                .stream = v->variant.shape.stream && !list,
                                .piped = v->variant.shape.piped,
                                .rows = v->variant.shape.rows};
    if (v->functions[list])
      continue;
    const bool there = wait || jit_prepare(jit, desc, &shape);
    cpu_discount(ctx);
    if (!there)
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

int cpu_code_for_chains(struct op_context *ctx, struct loop *loop, int which, struct error *err) {
  struct cpu_variant *v = &((const struct cpu_loop *)loop->backend_state)->variants[which];
  struct jit_code found = {0};
  if (v->for_chains)
    return OP_OK;
  const struct shape shape = {.width = v->variant.shape.width,
                              .straight = v->variant.shape.straight,
                              .piped = v->variant.shape.piped,
                              .rows = v->variant.shape.rows};
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
  const struct loop_part *part = &loop->parts[p];
  const bool needed = part->begin < part->end || (p == 0 && v->variant.strategy->apart);
  return v->parts[p].schedule || !needed;
}

void cpu_tell_plan(const struct loop *loop, int which, struct text *out) {
  const struct cpu_loop *cpu = loop->backend_state;
  const struct cpu_variant *v = &cpu->variants[which];
  for (int p = 0; p < loop->nparts; p++) {
    const struct loop_part *part = &loop->parts[p];
    if (part->begin == part->end || !v->parts[p].schedule)
      continue;
    text_addf(out, "%s%ld elements on %d thread%s", out->length ? "; " : "", part->end - part->begin,
              v->parts[p].threads, v->parts[p].threads == 1 ? "" : "s");
    if (v->parts[p].entry && v->variant.strategy->describe)
      v->variant.strategy->describe(v->parts[p].entry, out);
    else
      text_add(out, ", no plan is needed");
  }
}

static bool is_listed(const struct loop *loop, const struct cpu_variant *v) {
  bool listed = false;
  for (int p = 0; p < loop->nparts; p++)
    listed |= v->parts[p].schedule && v->parts[p].schedule->list;
  return listed;
}

int cpu_plan(struct op_context *ctx, struct loop *loop, int which, struct error *err) {
  const struct cpu_loop *cpu = loop->backend_state;
  struct cpu_variant *v = &cpu->variants[which];
  double start = clock_seconds();
  int code = OP_OK;
  for (int p = 0; !code && p < loop->nparts; p++)
    if (!is_made(loop, v, p) && (code = make_schedule(ctx, loop, cpu, v, p, &v->parts[p], err)))
      free_part(ctx, &v->parts[p]);
  loop->stats.plan_seconds += clock_seconds() - start;
  /* Ranks ask for code together, and for the same: all, or none after a failure. */
  double listed = is_listed(loop, v);
  code = agree_on_largest(ctx->agreement, code, &listed, 1, err);
  v->listed = listed > 0;
  return code;
}

static void free_parts(struct op_context *ctx, struct cpu_variant *v) {
  for (int p = 0; p < LOOP_PARTS; p++)
    free_part(ctx, &v->parts[p]);
}

static void free_variant(struct op_context *ctx, struct cpu_variant *v) {
  free_parts(ctx, v);
  free(v->name);
}

void cpu_unmake(struct op_context *ctx, struct loop *loop, int which) {
  struct cpu_variant *v = &((const struct cpu_loop *)loop->backend_state)->variants[which];
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
