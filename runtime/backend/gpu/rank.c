/* Forms of kernels by what they ask of memory, and which of them are worth a try. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "context/context.h"
#include "context/env.h"
#include "count.h"
#include "gpu.h"

/* Block colours of a mesh in its natural order. */
enum { BLOCK_COLOURS = 4 };

/* The sums that a group of so many elements makes before they go to memory. */
static struct gpu_sums sums_of(const struct gpu_sample *s, int elements) {
  int i = 0;
  while (i < COUNT_SUMS - 1 && s->sums[i].elements < elements)
    i++;
  return s->sums[i];
}

/* Targets' rows are read and written by blocks, colour after colour: no neighbour finds what the one before had. */
static void in_colours(const struct gpu_sample *s, struct gpu_counts *c, double sectors) {
  c->reads += sectors;
  c->bytes = s->again;
  c->launches = BLOCK_COLOURS;
}

static void count_atomics(const struct gpu_sample *s, const struct gpu_shape *shape, struct gpu_counts *c) {
  c->reds = shape->near ? s->near_reds : shape->vectors ? s->fours : s->reds;
}

static void count_blocks(const struct gpu_sample *s, const struct gpu_shape *shape, struct gpu_counts *c) {
  c->writes += shape->vectors ? s->pieces : s->values;
  in_colours(s, c, sums_of(s, shape->block).sectors);
}

/* The plan has a place of two bytes for each entry, and the number of each target. */
static void count_staged(const struct gpu_sample *s, const struct gpu_shape *shape, struct gpu_counts *c) {
  const struct gpu_sums sums = sums_of(s, shape->block);
  const double plan = 2 * s->entries + 4 * sums.targets;
  c->writes += sums.sectors;
  in_colours(s, c, sums.sectors + plan / COUNT_SECTOR);
  c->bytes += plan * s->warps;
}

/* One addition for each sector of a target. The plan has a byte for each entry, and five for each target. */
static void count_warps(const struct gpu_sample *s, const struct gpu_shape *shape, struct gpu_counts *c) {
  const struct gpu_sums sums = sums_of(s, shape->joined ? shape->block : COUNT_WARP);
  const double plan = s->entries + 5 * sums.targets;
  c->reds = sums.sectors;
  c->reads += plan / COUNT_SECTOR;
  c->bytes += plan * s->warps;
}

/* `waits`: how much longer it takes than memory needs, measured on an H100 (airfoil's res_calc: 140 us where the counts say
 * 82), since a block waits at barriers for one thing after the other. */
static const struct {
  enum gpu_strategy strategy;
  void (*count)(const struct gpu_sample *s, const struct gpu_shape *shape, struct gpu_counts *c);
  double waits;
} forms[] = {
    {GPU_DIRECT, NULL, 1},           {GPU_ATOMICS, count_atomics, 1}, {GPU_BLOCKS, count_blocks, 1},
    {GPU_STAGED, count_staged, 1.7}, {GPU_WARPS, count_warps, 1},
};

static int form_of(const struct gpu_shape *shape) {
  for (int i = 0; i < (int)(sizeof forms / sizeof *forms); i++)
    if (forms[i].strategy == shape->strategy)
      return i;
  return -1;
}

bool gpu_count_form(const struct gpu_sample *s, const struct gpu_shape *shape, struct gpu_counts *out) {
  const int form = form_of(shape);
  *out = (struct gpu_counts){.reads = s->reads + (shape->near ? s->near : s->far),
                             .writes = shape->near      ? s->near_stores
                                       : shape->vectors ? s->stores
                                                        : s->scalars,
                             .bytes = s->once,
                             .launches = 1};
  if (form >= 0 && forms[form].count)
    forms[form].count(s, shape, out);
  return form >= 0;
}

struct gpu_bounds gpu_bounds_of(const struct gpu_sample *s, const struct gpu_counts *c,
                                const struct gpu_rates *rates) {
  const double operations = (c->reads + c->writes + rates->red * c->reds) * s->warps;
  return (struct gpu_bounds){.cache = operations / rates->sectors, .memory = c->bytes / rates->copy};
}

double gpu_predict(const struct gpu_sample *s, const struct gpu_shape *shape, const struct gpu_rates *rates) {
  struct gpu_counts c;
  if (!gpu_count_form(s, shape, &c))
    return HUGE_VAL;
  const struct gpu_bounds b = gpu_bounds_of(s, &c, rates);
  return forms[form_of(shape)].waits * ((shape->dependent ? rates->dependent : rates->launch) * c.launches +
                                        (b.memory > b.cache ? b.memory : b.cache));
}

/* The expected time of loops, by counts and by facts of the device. Lazy chains need it: no clock can tell it there.
 * */

/* GPUs from sm_90 on add several floats of a row at once. */
static bool adds_rows(const struct gpu *c) {
  int capability = 0;
  return sscanf(c->device.arch, "sm_%d", &capability) == 1 && capability >= 90;
}

int gpu_sample(const struct gpu *c, const struct loop *loop, const struct gpu_targets *targets,
               struct gpu_sample *out, struct error *err) {
  static const double cache = 30e6; /* bytes that an L2 keeps for one loop, about */
  return gpu_sample_take(loop, targets, cache, adds_rows(c), out, err);
}

bool gpu_graph_pays(const struct gpu *c, int launches) {
  const struct gpu_rates *r = &c->rates;
  return !(r->copy > 0) || launches * (r->launch - r->node) > r->graph;
}

static bool has_graphs(const struct op_context *ctx, const struct gpu *c) {
  return c->driver->hold && !c->no_graphs && !*env_value(ctx->env, ENV_TIMING);
}

/* A loop that nothing was made of is one of several, whose rows are reached directly or only read. Forms that are not counted
 * are taken for the slowest one that is, so that what may be gained is not taken for more than it is. */
bool gpu_expect(struct op_context *ctx, struct loop *loop, struct expected *out) {
  static const struct gpu_targets none;
  static const struct gpu_shape direct = {.strategy = GPU_DIRECT, .block = 128, .vectors = true},
                                slow = {.strategy = GPU_BLOCKS, .block = 128};
  const struct gpu *c = gpu_of(ctx, loop->space);
  const struct gpu_loop *l = loop->ready.backend_state;
  const struct gpu_shape *shape = l && l->nvariants ? &l->variants[loop->ready.variant].shape : &direct;
  struct gpu_sample sample;
  struct gpu_counts counts;
  struct error ignored = {0};
  const bool known =
      gpu_rates_known(ctx, loop) && gpu_sample(c, loop, l ? &l->targets : &none, &sample, &ignored) == OP_OK;
  error_free(&ignored);
  if (!known)
    return false;
  if (!gpu_count_form(&sample, shape, &counts)) {
    shape = &slow;
    gpu_count_form(&sample, shape, &counts);
  }
  *out = (struct expected){.seconds = gpu_predict(&sample, shape, &c->rates)};
  if (has_graphs(ctx, c)) {
    out->saved =
        counts.launches * ((shape->dependent ? c->rates.dependent : c->rates.launch) - c->rates.node);
    out->graph = c->rates.graph;
  }
  return true;
}
