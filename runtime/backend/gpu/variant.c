/* Which variants a loop has on a GPU, and what OP2_VARIANT makes of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "gpu.h"
#include "ranks/agree.h"
#include "record/record.h"

/* Variants that the tuner may try beside the default; elements per thread behind each. Among those of a strategy, the
 * likeliest shape is first. Other variants run where OP2_VARIANT names them or a loop needs them. */
static const struct {
  struct gpu_shape shape;
  int each;
} tried[] = {
    {{.strategy = GPU_DIRECT, .block = 256, .vectors = true}, 1},
    {{.strategy = GPU_DIRECT, .block = 128, .vectors = false}, 1},
    {{.strategy = GPU_DIRECT, .block = 128, .vectors = true}, 4},
    {{.strategy = GPU_DIRECT, .block = 128, .vectors = true, .min_blocks = 8}, 1},
    {{.strategy = GPU_ATOMICS, .block = 128, .vectors = true}, 1},
    {{.strategy = GPU_ATOMICS, .block = 256, .vectors = true}, 1},
    {{.strategy = GPU_ATOMICS, .block = 128, .vectors = false}, 1},
    {{.strategy = GPU_ATOMICS, .block = 128, .vectors = true, .min_blocks = 8}, 1},
    {{.strategy = GPU_STAGED, .block = 128, .vectors = true}, 1},
    {{.strategy = GPU_STAGED, .block = 256, .vectors = true, .sorted = true}, 1},
    {{.strategy = GPU_BLOCKS, .block = 256, .vectors = true}, 1},
    {{.strategy = GPU_WARPS, .block = 128, .vectors = true}, 1},
    {{.strategy = GPU_WARPS, .block = 256, .vectors = true}, 1},
    {{.strategy = GPU_WARPS, .block = 256, .vectors = true, .joined = true}, 1},
    {{.strategy = GPU_ORDERED, .block = 256, .vectors = true}, 1},
    {{.strategy = GPU_ORDERED, .block = 128, .vectors = true}, 1},
    {{.strategy = GPU_DIRECT, .block = 64, .vectors = true, .near = GPU_NEAR_VALUES}, 1},
    {{.strategy = GPU_ATOMICS, .block = 64, .vectors = true, .near = GPU_NEAR_VALUES}, 1},
    {{.strategy = GPU_WARPS, .block = 64, .vectors = true, .near = GPU_NEAR_VALUES}, 1},
};
enum { TRIED = sizeof tried / sizeof *tried };

/* The dialect of the device's kernels. */
static void speak(const struct gpu *c, struct gpu_shape *s) {
  s->dialect = c->driver->dialect;
  s->no_ticket = c->device.no_tickets;
}

static void print(const struct gpu_variant *v, struct text *out) {
  gpu_shape_print(&v->shape, out);
  if (v->each > 1)
    text_addf(out, "/each%d", v->each);
}

static bool walks(const struct gpu_variant *v) {
  return v->shape.strategy == GPU_DIRECT || v->shape.strategy == GPU_ATOMICS ||
         v->shape.strategy == GPU_APART;
}

/* ---- OP2_VARIANT ---- */
static bool apply_word(struct gpu_variant *v, const char *word) {
  char end;
  int each = 0;
  if (gpu_shape_word(word, &v->shape))
    return true;
  if (sscanf(word, "each%d%c", &each, &end) != 1 || each < 1 || each > 64)
    return false;
  v->each = each;
  return true;
}

static int apply(struct gpu_variant *v, const char *backend, const char *loop, const char *spec,
                 struct error *err) {
  char words[128], *rest = NULL;
  bool sized = false;
  snprintf(words, sizeof words, "%s", spec);
  for (char *word = strtok_r(words, "/", &rest); word; word = strtok_r(NULL, "/", &rest)) {
    const bool size = word[0] >= '0' && word[0] <= '9';
    if (!apply_word(v, word))
      return error_set(
          err, OP_ERR_ENV,
          "loop %s: OP2_VARIANT has the word \"%s\"; for %s expected words separated by '/': direct, "
          "atomics, staged, blocks, colours, apart, warps, ordered; a block size, a multiple of 32 up "
          "to 1024; vectors, scalars, sorted, joined, nearN, minN, dependent, rows1, 4, 8, 16, 32 or 64 (as "
          "in rows8), eachN; soa or aos for the layout of all dats, soa=DAT or aos=DAT for one",
          loop, word, backend);
    if (size && sized)
      return error_set(err, OP_ERR_ENV,
                       "loop %s: OP2_VARIANT: \"%s\" in \"%s\" is a second block size; give one", loop, word,
                       spec);
    sized |= size;
  }
  return OP_OK;
}

/* Members that mean nothing for the strategy get one value, so that equal variants have equal names. A strategy for
 * increments is of no use without them, and the other way round; elements that meet in other ways do not run at the
 * same time. */
static void settle(const struct gpu *c, struct gpu_variant *v, const struct loop *loop,
                   const struct gpu_loop *l) {
  const struct gpu_targets *targets = &l->targets;
  if (loop->meets)
    v->shape.strategy = GPU_COLOURS;
  else if (!targets->count)
    v->shape.strategy = GPU_DIRECT;
  else if (v->shape.strategy == GPU_DIRECT)
    v->shape.strategy = GPU_ATOMICS;
  if (!gpu_has_blocks(v->shape.strategy))
    v->shape.sorted = false;
  v->shape.joined = v->shape.strategy == GPU_WARPS && (v->shape.joined || !c->device.lanes);
  if (v->shape.rows && v->shape.strategy == GPU_WARPS) /* one of an element's threads adds */
    v->shape.strategy = GPU_ATOMICS;
  if (v->shape.strategy == GPU_ORDERED && (v->shape.rows || !gpu_are_sums(targets) || gpu_is_parted(loop)))
    v->shape.strategy = GPU_APART;
  if (v->shape.rows && gpu_together_refusal(loop, &v->shape))
    v->shape.rows = 0;
  if (!gpu_near_can(&loop->desc, &v->shape, &l->targets))
    v->shape.near = 0;
  if (!walks(v))
    v->each = 1;
}

/* Adds a variant, unless it is there already. */
static int add(struct gpu_loop *l, const struct gpu_variant *v, struct error *err) {
  struct text name = {0};
  print(v, &name);
  char *text = text_take(&name);
  for (int i = 0; text && i < l->nvariants; i++)
    if (strcmp(l->variants[i].name, text) == 0) {
      free(text);
      return OP_OK;
    }
  struct gpu_variant *variants =
      text ? array_resize(l->variants, (size_t)l->nvariants + 1, sizeof *variants) : NULL;
  if (!variants) {
    free(text);
    return error_memory(err, "a loop's variants", ((size_t)l->nvariants + 1) * sizeof *variants);
  }
  l->variants = variants;
  variants[l->nvariants] = *v;
  variants[l->nvariants++].name = text;
  return OP_OK;
}

/* Why a device cannot have a strategy; NULL: it can. */
static const char *refusal(const struct gpu *c, const struct loop *loop, const struct gpu_loop *l,
                           const struct gpu_variant *v) {
  const enum gpu_strategy s = v->shape.strategy;
  if (s != GPU_COLOURS && gpu_targets_are_ragged(&loop->desc, &l->targets))
    return "a strategy in which the kernel does not add in memory, and the targets' map is ragged";
  const char *const order = gpu_order_refusal(loop, &l->targets, &v->shape);
  if (order)
    return order;
  const bool atomics = s == GPU_ATOMICS || s == GPU_WARPS;
  for (int k = 0; c->device.no_atomics && atomics && k < l->targets.count; k++)
    if (type_info(loop->desc.dats[l->targets.items[k].dat].type)->size == 8)
      return "atomic operations on values of 8 bytes, which this device lacks";
  if (c->driver->dialect == GPU_DIALECT_OPENCL && v->shape.min_blocks)
    return "the word minN, which OpenCL C lacks";
  if (v->shape.dependent && !c->device.dependents)
    return "the word dependent, which is for CUDA 11.8 and newer, on GPUs since compute capability 9.0";
  if (v->shape.rows > c->device.width)
    return "more threads for an element than run side by side on it";
  if (v->shape.block % c->device.width)
    return "blocks that are no multiple of its wavefronts of 64 threads";
  if (v->shape.block > c->device.max_threads)
    return "groups of so many work-items, which this device cannot run";
  return NULL;
}

static int check_forced(const struct gpu *c, const struct loop *loop, const struct gpu_loop *l,
                        const struct gpu_variant *v, struct error *err) {
  const char *why = refusal(c, loop, l, v);
  struct text name = {0};
  if (!why)
    return OP_OK;
  print(v, &name);
  error_set(err, OP_ERR_ENV, "loop %s: OP2_VARIANT=%s asks %s (%s) for %s; choose another", loop->name,
            text_str(&name), c->device.label, c->device.name, why);
  text_free(&name);
  return OP_ERR_ENV;
}

/* Have so many elements room at a time, on a multiprocessor, for what they add? No row is near. */
static bool has_room(const struct gpu *c, const struct loop *loop, const struct gpu_loop *l, int elements) {
  static const struct gpu_shape plain;
  return gpu_sums_bytes(&loop->desc, &plain, &l->targets, elements) <= (size_t)c->device.shared_most;
}

/* Does the loop add to targets, and have enough elements of it room? */
static bool suits_warps(const struct gpu *c, const struct loop *loop, const struct gpu_loop *l) {
  enum { ELEMENTS_AT_ONCE = 384 };
  bool adds = false;
  for (int k = 0; k < l->targets.count; k++)
    adds |= l->targets.items[k].access == OP_INC;
  return adds && has_room(c, loop, l, ELEMENTS_AT_ONCE);
}

/* Has a block room for the rows that are near, and for what it sums? */
static bool has_room_near(const struct gpu *c, const struct loop *loop, const struct gpu_loop *l,
                          const struct gpu_shape *s) {
  size_t bytes = (size_t)s->block * gpu_near_bytes(&loop->desc, s, &l->targets);
  if (s->strategy == GPU_WARPS)
    bytes += gpu_sums_bytes(&loop->desc, s, &l->targets, s->block);
  return bytes <= (size_t)c->device.shared_most;
}

/* Rows that leave room for few threads stay in shared memory all the time. */
static void use_near(const struct gpu *c, const struct loop *loop, const struct gpu_loop *l,
                     struct gpu_variant *v) {
  struct gpu_shape near = {.strategy = GPU_WARPS, .block = 64, .vectors = true, .near = GPU_NEAR_VALUES};
  bool adds = false;
  speak(c, &near);
  for (int k = 0; k < l->targets.count; k++)
    adds |= gpu_is_near(&loop->desc, &near, &l->targets, l->targets.items[k].columns[0].arg);
  if (adds && v->shape.strategy == GPU_ATOMICS && !c->device.is_cpu &&
      gpu_near_can(&loop->desc, &near, &l->targets) && has_room_near(c, loop, l, &near))
    v->shape = near;
}

/* Elements of a block of ORDERED. Two such blocks have room; 0: not even small ones have. */
static int ordered_block(const struct gpu *c, const struct loop *loop, const struct gpu_loop *l) {
  enum { LEAST = 64, MOST = 256 };
  const bool ragged = gpu_targets_are_ragged(&loop->desc, &l->targets);
  int block = gpu_are_sums(&l->targets) && !ragged && !gpu_is_parted(loop) ? MOST : 0;
  while (block >= LEAST && !has_room(c, loop, l, 2 * block))
    block /= 2;
  return block >= LEAST ? block : 0;
}

/* Atomic additions come in any order. On a CPU a group is one thread's, to whom colours cost less than atomic operations. */
static struct gpu_variant usual(const struct gpu *c, const struct loop *loop, const struct gpu_loop *l) {
  const bool in_order = gpu_is_in_order(loop, &l->targets);
  const int ordered = in_order ? ordered_block(c, loop, l) : 0;
  struct gpu_variant v = {.shape = {.strategy = ordered                   ? GPU_ORDERED
                                                : in_order                ? GPU_APART
                                                : c->device.is_cpu        ? GPU_BLOCKS
                                                : suits_warps(c, loop, l) ? GPU_WARPS
                                                                          : GPU_ATOMICS,
                                    .block = ordered            ? ordered
                                             : c->device.is_cpu ? 256
                                                                : 128,
                                    .vectors = true},
                          .each = 1};
  if (v.shape.block > c->device.max_threads)
    v.shape.block = c->device.max_threads / 32 * 32;
  speak(c, &v.shape);
  use_near(c, loop, l, &v);
  if (refusal(c, loop, l, &v))
    v.shape.strategy = GPU_BLOCKS;
  return v;
}

/* The first guess with other numbers of threads for an element. */
static int add_together(const struct gpu *c, const struct loop *loop, struct gpu_loop *l,
                        const struct gpu_together *together, struct error *err) {
  int widths[GPU_TOGETHER_OTHERS], code = OP_OK;
  const struct gpu_variant first = l->variants[0];
  const int count = gpu_together_others(together, c->device.width, widths);
  struct gpu_variant v = {.shape = first.shape, .each = first.each};
  v.shape.rows = 0;
  if (first.shape.rows)
    code = add(l, &v, err);
  for (int i = 0; !code && i < count; i++) {
    v.shape.rows = widths[i];
    if (widths[i] != first.shape.rows && !gpu_together_refusal(loop, &v.shape))
      code = add(l, &v, err);
  }
  return code;
}

/* One that may be tried: what is predicted of it, on all ranks alike. */
struct candidate {
  int which; /* of `tried` */
  double seconds;
};

static int by_seconds(const void *a, const void *b) {
  const struct candidate *x = a, *y = b;
  return x->seconds != y->seconds ? (x->seconds > y->seconds) - (x->seconds < y->seconds)
                                  : x->which - y->which;
}

static struct gpu_variant variant_to_try(const struct gpu *c, const struct gpu_loop *l, int which) {
  struct gpu_variant v = {.shape = tried[which].shape, .each = tried[which].each};
  speak(c, &v.shape);
  v.shape.dependent = l->nvariants > 0 && l->variants[0].shape.dependent;
  v.shape.joined |= v.shape.strategy == GPU_WARPS && !c->device.lanes;
  return v;
}

/* The first guess is no candidate. With OP2_FP=strict all forms have the same sums. */
static int list_candidates(const struct gpu *c, const struct loop *loop, const struct gpu_loop *l,
                           struct candidate *out) {
  const bool increments = l->targets.count > 0, in_order = gpu_is_in_order(loop, &l->targets),
             begins_ordered = l->nvariants > 0 && l->variants[0].shape.strategy == GPU_ORDERED;
  int n = 0;
  for (int i = 0; i < TRIED; i++) {
    const struct gpu_variant v = variant_to_try(c, l, i);
    struct text name = {0};
    print(&v, &name);
    const bool again = !c->device.lanes && tried[i].shape.joined; /* all are there */
    const bool first = l->nvariants > 0 && strcmp(text_str(&name), l->variants[0].name) == 0;
    const bool fits =
        increments == (v.shape.strategy != GPU_DIRECT) && v.shape.block <= c->device.max_threads;
    const bool near = !v.shape.near || (gpu_near_can(&loop->desc, &v.shape, &l->targets) &&
                                        has_room_near(c, loop, l, &v.shape));
    const bool suits = v.shape.strategy != GPU_ORDERED
                           ? !in_order
                           : in_order && begins_ordered && has_room(c, loop, l, 2 * v.shape.block);
    if (fits && near && !first && !again && !refusal(c, loop, l, &v) && suits)
      out[n++] = (struct candidate){.which = i};
    text_free(&name);
  }
  return n;
}

/* Seconds of the fastest form among those that may be tried; HUGE_VAL: none is counted. */
static double least_seconds(const struct gpu *c, const struct loop *loop, const struct gpu_loop *l,
                            const struct gpu_sample *s) {
  struct candidate list[TRIED];
  struct gpu_rates rates = c->rates;
  const int n = list_candidates(c, loop, l, list);
  rates.launch = rates.dependent = 0;
  double least = gpu_predict(s, &l->variants[0].shape, &rates);
  for (int i = 0; i < n; i++) {
    const struct gpu_shape shape = variant_to_try(c, l, list[i].which).shape;
    least = fmin(least, gpu_predict(s, &shape, &rates));
  }
  return least;
}

/* The dat and the description say for the time of the counting that components lie apart on the device. */
static void set_apart(struct loop *loop, struct dat *dat, bool apart) {
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].present && loop->args[i].dat == dat)
      loop->desc.dats[loop->desc.args[i].dat].soa = apart;
  dat->apart = apart;
}

bool gpu_promise(struct op_context *ctx, struct loop *loop, struct dat *apart, double *seconds) {
  const struct gpu *c = gpu_of(ctx, loop->space);
  const struct gpu_loop *l = loop->ready.backend_state;
  struct gpu_sample sample;
  struct error ignored = {0};
  if (!l || !l->nvariants || !gpu_rates_known(ctx, loop))
    return false;
  if (apart)
    set_apart(loop, apart, true);
  const bool known = gpu_sample(c, loop, &l->targets, &sample, &ignored) == OP_OK;
  *seconds = known ? least_seconds(c, loop, l, &sample) : HUGE_VAL;
  if (apart)
    set_apart(loop, apart, false);
  error_free(&ignored);
  return known && *seconds < HUGE_VAL;
}

static void tell_counts(struct op_context *ctx, const struct loop *loop, const struct gpu_loop *l,
                        const struct gpu_sample *sample, struct candidate candidate) {
  const struct gpu *c = gpu_of(ctx, loop->space);
  const struct gpu_variant v = variant_to_try(c, l, candidate.which);
  struct gpu_counts counts;
  struct text name = {0};
  print(&v, &name);
  gpu_count_form(sample, &v.shape, &counts);
  const struct gpu_bounds b = gpu_bounds_of(sample, &counts, &c->rates);
  log_line(ctx->log, LOG_DEBUG, "tune",
           "loop %s, variant %s: by its counts %.1f us (the L2 takes %.4g us, memory %.4g us, launches: %d)",
           loop->name, text_str(&name), 1e6 * candidate.seconds, 1e6 * b.cache, 1e6 * b.memory,
           counts.launches);
  text_free(&name);
}

/* By what the counts say. Shapes of one strategy count alike, and differ by little: each next one is taken for a little
 * slower, so that another strategy is tried before them where it is nearly as fast. A rank that knows nothing of its device
 * expects nothing of any; *ranked is false where that are all. Collective. */
static int rank_candidates(struct op_context *ctx, struct loop *loop, const struct gpu_loop *l,
                           struct candidate *list, int n, bool *ranked, int code, struct error *err) {
  static const double next_shape = 1.03;
  const struct gpu *c = gpu_of(ctx, loop->space);
  struct gpu_sample sample;
  double seconds[TRIED];
  code = gpu_rates_get(ctx, loop, code, err);
  if (!code)
    code = gpu_sample(c, loop, &l->targets, &sample, err);
  for (int i = 0; i < n; i++) {
    const struct gpu_shape shape = variant_to_try(c, l, list[i].which).shape;
    seconds[i] = code || !(c->rates.copy > 0) ? 0 : gpu_predict(&sample, &shape, &c->rates);
    for (int k = 0; k < i; k++)
      seconds[i] *= tried[list[k].which].shape.strategy == shape.strategy ? next_shape : 1;
  }
  code = agree_on_largest(ctx->agreement, code, seconds, n, err);
  for (int i = 0; !code && i < n; i++) {
    list[i].seconds = seconds[i];
    *ranked |= seconds[i] > 0;
    if (c->rates.copy > 0)
      tell_counts(ctx, loop, l, &sample, list[i]);
  }
  qsort(list, (size_t)n, sizeof *list, by_seconds);
  return code;
}

/* A kernel that ends before the next one can be launched waits itself for the one before it, where the device was measured to
 * be faster so. All ranks do alike. Collective. */
static int choose_dependent(struct op_context *ctx, struct loop *loop, const struct gpu_loop *l,
                            struct gpu_variant *v, int code, struct error *err) {
  static const double faster = 0.9;
  const struct gpu *c = gpu_of(ctx, loop->space);
  struct gpu_sample sample;
  struct gpu_counts counts;
  const bool off = strcmp(env_value(ctx->env, ENV_DEPENDENT), "off") == 0;
  double no = 1;
  if (!c->driver->launch_dependent)
    return code;
  code = gpu_rates_get(ctx, loop, code, err);
  if (!code && !off && c->device.dependents && c->rates.dependent < faster * c->rates.launch) {
    code = gpu_sample(c, loop, &l->targets, &sample, err);
    if (!code && gpu_count_form(&sample, &v->shape, &counts)) {
      const struct gpu_bounds b = gpu_bounds_of(&sample, &counts, &c->rates);
      no = b.cache > c->rates.launch || b.memory > c->rates.launch;
    }
  }
  code = agree_on_largest(ctx->agreement, code, &no, 1, err);
  v->shape.dependent = !code && no == 0;
  return code;
}

/* All where nothing is known of the device, and where sums are in order, which few forms have. */
static int add_tried(struct op_context *ctx, struct loop *loop, struct gpu_loop *l, int code,
                     struct error *err) {
  enum { WORTH = 3 };
  const struct gpu *c = gpu_of(ctx, loop->space);
  struct candidate list[TRIED];
  const int n = list_candidates(c, loop, l, list);
  bool ranked = false;
  if (!gpu_is_in_order(loop, &l->targets))
    code = rank_candidates(ctx, loop, l, list, n, &ranked, code, err);
  for (int i = 0; !code && i < n && (!ranked || i < WORTH); i++) {
    const struct gpu_variant v = variant_to_try(c, l, list[i].which);
    code = add(l, &v, err);
  }
  return code;
}

/* Replaces a forced strategy. The kernel adds in memory itself, so that elements must not meet. */
static void keep_colours(const struct op_context *ctx, const struct loop *loop, struct gpu_variant *v) {
  if (v->shape.strategy == GPU_COLOURS)
    return;
  v->shape.strategy = GPU_COLOURS;
  log_line(ctx->log, LOG_WARN, "tune",
           "loop %s: OP2_VARIANT asks for a strategy in which the kernel does not add in memory, and the "
           "targets' map is ragged: it runs by colours",
           loop->name);
}

/* Words that mean nothing for this loop are left out: atomics without increments, eachN of blocks. */
static void settle_forced(const struct op_context *ctx, const struct loop *loop, struct gpu_variant *v,
                          const struct gpu_loop *l, bool rows_named) {
  struct text asked = {0}, left = {0};
  const struct gpu *c = gpu_of(ctx, loop->space);
  struct gpu_variant settled = *v;
  settle(c, &settled, loop, l);
  if (!rows_named) /* they are the first guess's */
    v->shape.rows = settled.shape.rows;
  struct gpu_shape shape = v->shape;
  print(v, &asked);
  settle(c, v, loop, l);
  print(v, &left);
  forced_tell_left(ctx->log, loop->name, &asked, &left);
  shape.strategy = v->shape.strategy;
  if (shape.rows && !v->shape.rows)
    log_line(ctx->log, LOG_INFO, "tune",
             "loop %s: OP2_VARIANT asks for rows%d; the kernel cannot have it: %s", loop->name, shape.rows,
             gpu_together_refusal(loop, &shape));
  text_free(&asked);
  text_free(&left);
}

int gpu_candidates(struct op_context *ctx, struct loop *loop, struct gpu_loop *l, bool all,
                   struct error *err) {
  struct gpu *c = gpu_of(ctx, loop->space);
  struct text spec = {0};
  struct gpu_together together = {0};
  int code = gpu_look_at_rows(ctx, loop, gpu_check_types(c, loop, err), err);
  if (!code && c->driver->dialect == GPU_DIALECT_OPENCL)
    code = gpu_make_room(loop, err);
  if (!code)
    code = gpu_targets_find(&loop->desc, &l->targets, err);
  code = gpu_together_look(ctx, loop, code, &together, err);
  struct gpu_variant v = usual(c, loop, l);
  v.shape.rows = loop->reproducible ? 0 : gpu_together_first(&together, c->device.width);
  const bool ragged = gpu_targets_are_ragged(&loop->desc, &l->targets);
  v.shape.strategy = ragged ? GPU_COLOURS : v.shape.strategy;
  settle(c, &v, loop, l);
  bool forced = forced_for_loop(env_value(ctx->env, ENV_VARIANT), loop->name, &spec);
  if (!code && forced)
    code = apply(&v, c->driver->backend, loop->name, text_str(&spec), err);
  const bool rows_named = strstr(text_str(&spec), "rows") != NULL,
             near_named = strstr(text_str(&spec), "near") != NULL;
  text_free(&spec);
  if (forced && !near_named && v.shape.near && !has_room_near(c, loop, l, &v.shape)) {
    v.shape.near = 0; /* that was the first guess, for smaller blocks */
    v.shape.strategy = GPU_ATOMICS;
  }
  if (ragged)
    keep_colours(ctx, loop, &v);
  if (!code && forced)
    settle_forced(ctx, loop, &v, l, rows_named);
  speak(c, &v.shape);
  const bool tries = all && !forced && !loop->meets;
  if (tries)
    code = choose_dependent(ctx, loop, l, &v, code, err);
  if (!code && forced)
    code = check_forced(c, loop, l, &v, err);
  if (!code)
    code = add(l, &v, err);
  if (tries)
    code = add_tried(ctx, loop, l, code, err);
  if (!code && tries && !loop->reproducible)
    code = add_together(c, loop, l, &together, err);
  loop->ready.nvariants = l->nvariants;
  loop->ready.threads = 1;
  return code;
}

void gpu_loop_free(struct gpu *c, struct gpu_loop *l) {
  if (!l)
    return;
  for (int i = 0; i < l->nvariants; i++) {
    gpu_unmake(c, &l->variants[i], &l->targets);
    free(l->variants[i].name);
  }
  free(l->variants);
  gpu_targets_free(&l->targets);
  free(l);
}
