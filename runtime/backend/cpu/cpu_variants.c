/* Which variants a loop has on the host. */
#include "cpu_loop.h"

#include "backend/alternatives.h"
#include "backend/backend.h"
#include "backend/code.h"
#include "base/list.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "exec/caches.h"
#include "exec/team.h"
#include "jit/emit/generate.h"
#include "mesh/data.h"
#include "op2/op2jit_compiled.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "ranks/kind.h"
#include "record/columns.h"
#include "services/services.h"

/* How many targets an element has: through a ragged map as many as one of all ranks has on average, or one more. */
static size_t targets_of_one(const struct loop_arg *arg) {
  const struct map *map = arg->map->of ? arg->map->of : arg->map;
  return map->first ? (size_t)(map->entries->global_size / (map->from->global_size + 1)) + 1
                    : (size_t)arg_columns(arg);
}

/* That one element increments through maps, and may write apart. */
static size_t turned_bytes(const struct loop *loop) {
  size_t bytes = 0;
  for (int i = 0; i < loop->nargs && !loop->meets; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg_is_turned(arg))
      bytes += arg->dat->row_bytes * targets_of_one(arg);
  }
  return bytes;
}

static bool is_alone(const struct loop *loop) {
  return loop->compiled && loop->compiled->alone && loop->ranged;
}

static const struct strategy *default_strategy(const struct loop *loop) {
  if (loop->backend == &backend_seq || is_alone(loop))
    return &strategy_whole;
  return loop_meets(loop) ? &strategy_colours : &strategy_chunks;
}

static bool adds_to_entries(const struct loop *loop) {
  bool any = false;
  for (int i = 0; i < loop->nargs; i++)
    any |= loop->args[i].present && loop->args[i].entry && loop->args[i].access == OP_INC;
  return any;
}

/* The loop goes wrong in it, or has nothing to make it of: what is written cannot wait for those who collect, code that is
 * compiled keeps nothing apart, and one thread only calls an internal procedure. */
static bool cannot_have(const struct loop *loop, const struct strategy *s) {
  return (s->apart && (loop->meets || loop->ranged)) || (s->unsafe && loop_meets(loop)) ||
         (is_alone(loop) && !s->serial);
}

/* Members that mean nothing for the strategy are set to zero, so that equal variants have equal names. */
static void settle(struct variant *v, const struct loop *loop, const struct cpu_loop *cpu) {
  if (loop->ordered || v->strategy == &strategy_turns)
    v->strategy = ordered_strategy(loop, cpu, v->strategy);
  if (cannot_have(loop, v->strategy))
    v->strategy = default_strategy(loop);
  const struct strategy *s = v->strategy;
  if (s->serial)
    v->block_size = v->threads = 0;
  if (loop->ranged)
    v->shape = (struct shape){0};
  if (loop->meets) /* elements of a strip run at one time */
    v->shape.width = 0;
  /* Where increments are apart there are maps of their own. */
  const bool others = s->apart && s != &strategy_turns;
  v->shape.straight &= shape_can_be_straight(&loop->desc, &v->shape) && !others;
  v->shape.stream &= shape_can_stream(&loop->desc, &v->shape) && !others;
  v->shape.piped &= shape_can_be_piped(&loop->desc, &v->shape) && !others;
  v->shape.rows &= shape_has_rows(&loop->desc) && !loop->reproducible;
  v->sorted &= !loop->ranged && !s->apart && !loop->ordered && loop_open_map(loop);
  if (loop->reproducible &&
      adds_to_entries(loop)) /* what is added to in place is rounded once with a product */
    v->shape.width = 0;
}

/* Words that OP2_VARIANT does not name are the first guess's, as far as they fit. The named words are applied once
 * more when the fit is known. */
static int settle_forced(const struct op_context *ctx, struct variant *v, const struct loop *loop,
                         const struct cpu_loop *cpu, const char *spec, struct error *err) {
  struct text asked = {0}, left = {0};
  int code = variant_apply(v, spec, err);
  if (!code)
    settle(v, loop, cpu);
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
  struct cpu_variant *variants = array_resize(cpu->variants, (size_t)cpu->nvariants + 1, sizeof *variants);
  if (!variants)
    return error_memory(err, "a loop's variants", ((size_t)cpu->nvariants + 1) * sizeof *variants);
  cpu->variants = variants;
  variants[cpu->nvariants++] = (struct cpu_variant){.variant = *v};
  return OP_OK;
}

/* In the order that is kept some ways are the same. */
static bool is_there(const struct cpu_loop *cpu, const struct variant *v) {
  bool there = false;
  for (int i = 0; i < cpu->nvariants; i++) {
    const struct variant *known = &cpu->variants[i].variant;
    there |= known->strategy == v->strategy && shape_equal(&known->shape, &v->shape) &&
             known->sorted == v->sorted && known->block_size == v->block_size && known->threads == v->threads;
  }
  return there;
}

static int add_alternatives(const struct variant *standard, const struct shape *shapes, int nshapes,
                            struct loop *loop, struct cpu_loop *cpu, struct error *err) {
  const struct alternatives_of facts = {.elements = loop->ready.most_elements,
                                        .threads = loop->ready.heavy ? loop->ready.threads
                                                                     : loop->ready.most_threads,
                                        .heavy = loop->ready.heavy,
                                        .shapes = shapes,
                                        .nshapes = nshapes,
                                        .sorted = cpu->sorted.width ? &cpu->sorted : NULL,
                                        .turned_bytes = cpu->turned_bytes};
  struct variant found[MOST_ALTERNATIVES];
  const int count = alternatives(standard, &facts, found);
  int code = OP_OK;
  for (int i = 0; !code && i < count; i++) {
    if (loop->ordered)
      settle(&found[i], loop, cpu);
    if (loop->ordered && is_there(cpu, &found[i]))
      continue;
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

/* The share of the last-level caches that a rank's threads can have: ranks on one node share them. */
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
  loop->ready.straight = most[STRAIGHT] >= straight_enough;
  loop->ready.large = most[LARGE] >= times_cache;
  loop->ready.even = most[EVEN] >= even_enough;
  loop->ready.long_rows = most[LONG] >= long_enough;
  return code;
}

bool cpu_may_be_heavy(const struct op_context *ctx, const struct loop *loop) {
  struct text spec = {0};
  if (loop->backend == &backend_seq || !ctx->team || !comm_alone(ctx->comm) ||
      !heavy_is_few(loop->ready.most_elements, team_threads(ctx->team)))
    return false;
  const bool forced = forced_for_loop(env_value(ctx->env, ENV_VARIANT), loop->name, &spec);
  text_free(&spec);
  return !forced;
}

/* Its name says that such a loop runs on threads although its set is small. */
static void cut_finer(struct variant *v, const struct loop *loop) {
  v->block_size = heavy_piece(loop->ready.most_elements, loop->ready.threads, v->shape.width);
  v->threads = loop->ready.threads;
}

static int list_shapes(const struct op_context *ctx, const struct loop *loop, struct jit *jit,
                       struct shape *sorted, struct shape shapes[SHAPE_CANDIDATES]) {
  const bool alone = loop->meets || (loop->reproducible && adds_to_entries(loop));
  const int vector_bytes = alone ? 0 : ctx->kind ? ctx->kind->vector_bytes : jit_vector_bytes(jit);
  const struct shape_wish wish = {.straight = loop->ready.straight,
                                  .stream = loop->ready.large,
                                  .even = loop->ready.even,
                                  .rows = loop->ready.long_rows && !loop->reproducible};
  *sorted = loop->ordered ? (struct shape){0} : shape_for_sorted(&loop->desc, vector_bytes, wish);
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
    ordered_look(loop, cpu);
    nshapes = list_shapes(ctx, loop, jit, &cpu->sorted, shapes);
  }
  struct variant v = {.strategy = default_strategy(loop), .shape = shapes[0]};
  struct text spec = {0};
  const bool forced = forced_for_loop(env_value(ctx->env, ENV_VARIANT), loop->name, &spec);
  if (!code && forced)
    code = settle_forced(ctx, &v, loop, cpu, text_str(&spec), err);
  else if (!code && jit)
    code = cpu_prefer_cached(ctx, loop, jit, &v.shape, err);
  if (!forced && loop->ready.heavy)
    cut_finer(&v, loop);
  text_free(&spec);
  if (!code && !forced)
    settle(&v, loop, cpu);
  cpu->forces_threads = forced && v.threads > 0;
  if (!code)
    code = add_candidate(cpu, &v, err);
  if (!code && !forced && all && !is_alone(loop))
    code = add_alternatives(&v, shapes, nshapes, loop, cpu, err);
  if (!is_any_straight(cpu))
    cpu_drop_straight(ctx, cpu);
  loop->ready.nvariants = cpu->nvariants;
  return code;
}
