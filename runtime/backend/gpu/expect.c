/* The expected time of loops, by counts and by facts of the device. Lazy chains need it: no clock can tell it there.
 * */
#include <stdio.h>

#include "base/error.h"
#include "context/context.h"
#include "context/env.h"
#include "gpu.h"

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
