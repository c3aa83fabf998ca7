#include "loop/spread/depths.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/spread/layers.h"
#include "mesh/data.h"

/* ---- which loops may ---- */

static bool may(const struct loop *loop) {
  bool good = loop->space == SPACE_HOST && loop->backend->work && loop->backend->may_wait &&
              !loop->compiled && !loop->meets && !loop->set->sub && !kernel_uses(&loop->kernel, "printf");
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const bool reads_only = arg->access == OP_READ || access_reduces(arg->access);
    good &= !arg->entry && (!arg->map || (!arg->map->first && !map_is_own(arg->map)));
    good &= arg->form == DESC_DAT || !arg->present || (arg->form == DESC_GBL ? reads_only : !arg->map);
    good &= arg->form != DESC_INFO;
  }
  return good;
}

/* Element matrices have no room for more copies. */
bool loop_keeps_apart(const struct loop *loop) {
  return !may(loop) || loop_fills_matrix(loop);
}

static bool all_may(struct loop *const *loops, int n) {
  bool all = true;
  for (int i = 0; i < n; i++)
    all &= may(loops[i]);
  return all;
}

/* Each dat that it reaches by a map it reaches by that alone: in a frame a dat has one place. */
static bool has_dats_by_one_map(const struct loop *loop) {
  bool good = true;
  for (int i = 0; i < loop->nargs; i++)
    for (int k = 0; k < loop->nargs; k++)
      if (loop->args[i].map && loop->args[i].dat && loop->args[k].dat == loop->args[i].dat)
        good &= loop->args[k].map == loop->args[i].map;
  return good;
}

static bool all_may_run(struct loop *const *loops, int n, const int *run) {
  bool all = true;
  for (int i = 0; i < n; i++)
    all &= !runs_apart(run[i]) || has_dats_by_one_map(loops[i]);
  return all;
}

/* ---- how deep ---- */

/* Of a row of each dat. NULL: no memory. */
static size_t *find_bytes(const struct tiled_description *d, struct error *err) {
  size_t *bytes = array_new((size_t)d->chain.ndats, sizeof *bytes);
  for (int i = 0; bytes && i < d->chain.ndats; i++)
    bytes[i] = ((const struct dat *)d->known[2][i])->row_bytes;
  if (!bytes)
    error_memory(err, "the depths of loops", (size_t)d->chain.ndats * sizeof *bytes);
  return bytes;
}

/* OP2_FP=strict: copies would add in another order than their owners. NULL: no memory. */
static struct depth_limit *find_limits(const struct op_context *ctx, struct loop *const *loops, int n) {
  const bool strict = strcmp(env_value(ctx->env, ENV_FP), "strict") == 0;
  struct depth_limit *limits = array_new((size_t)n, sizeof *limits);
  for (int i = 0; limits && i < n; i++)
    limits[i] = (struct depth_limit){.apart = loop_keeps_apart(loops[i]), .own = strict};
  return limits;
}

static int find_limited(const struct op_context *ctx, struct loop *const *loops, int n,
                        const struct chain *chain, const size_t *bytes, int layers, struct depths *out,
                        struct error *err) {
  struct depth_limit *limits = find_limits(ctx, loops, n);
  const struct depth_wish wish = {.layers = layers, .fringe = true, .bytes = bytes, .limits = limits};
  const int code =
      limits ? depths_build(out, chain, &wish, err) : error_memory(err, "the depths of loops", 0);
  free(limits);
  return code;
}

/* In several layers, if that exchanges less often. */
static int find_layers(const struct op_context *ctx, struct loop *const *loops, int n,
                       const struct chain *chain, const size_t *bytes, int most, struct depths *out,
                       int *layers, struct error *err) {
  struct depths other = {0};
  const int code = find_limited(ctx, loops, n, chain, bytes, most, &other, err);
  const bool less = !code && other.exchanges < out->exchanges;
  if (less)
    *layers = most;
  depths_free(less ? out : &other);
  if (less)
    *out = other;
  return code;
}

/* One layer of copies: no loop runs on more of them than it does by itself. Or it does, if less travels then. */
static int find_one(struct loop *const *loops, int n, const struct chain *chain, const size_t *bytes,
                    struct depths *out, int *layers, struct error *err) {
  struct depth_wish wish = {.layers = 1, .alone = true, .bytes = bytes};
  struct depths other;
  *layers = 0;
  int code = depths_build(out, chain, &wish, err);
  if (code || !all_may(loops, n))
    return code;
  wish.alone = false;
  wish.fringe = true;
  code = depths_build(&other, chain, &wish, err);
  *layers = !code &&
            (other.exchanges < out->exchanges ||
             (other.exchanges == out->exchanges && other.weight < out->weight)) &&
            all_may_run(loops, n, other.run);
  if (!code)
    depths_free(*layers ? out : &other);
  if (*layers)
    *out = other;
  return code;
}

static int find(const struct op_context *ctx, struct loop *const *loops, int n, const struct chain *chain,
                const size_t *bytes, int most, struct depths *out, int *layers, struct error *err) {
  const int code = find_one(loops, n, chain, bytes, out, layers, err);
  return code || most < 2 ? code : find_layers(ctx, loops, n, chain, bytes, most, out, layers, err);
}

int loop_depths_find(struct op_context *ctx, struct loop *const *loops, int n,
                     const struct tiled_description *d, int most, struct depths *out, int *layers,
                     struct error *err) {
  size_t *bytes = find_bytes(d, err);
  const int code = bytes ? find(ctx, loops, n, &d->chain, bytes, most, out, layers, err) : err->code;
  free(bytes);
  return code;
}

int loop_depths_of_one(struct op_context *ctx, struct loop *const *loops, int n,
                       const struct tiled_description *d, struct depths *out, struct error *err) {
  size_t *bytes = find_bytes(d, err);
  const int code = bytes ? find_limited(ctx, loops, n, &d->chain, bytes, 1, out, err) : err->code;
  free(bytes);
  return code;
}

int loop_depths_spare(struct op_context *ctx, struct loop *const *loops, int n, bool *spare,
                      struct error *err) {
  struct tiled_description d;
  struct depths together = {0};
  struct depth_cost single = {0};
  int layers;
  size_t *bytes = NULL;
  int code = tiled_describe(loops, n, &d, err);
  if (!code && !(bytes = find_bytes(&d, err)))
    code = err->code;
  if (!code)
    code = find(ctx, loops, n, &d.chain, bytes, layers_asked(ctx), &together, &layers, err);
  if (!code)
    code = depths_of_single_loops(&d.chain, bytes, &single, err);
  *spare = !code && (together.exchanges < single.exchanges ||
                     (together.exchanges == single.exchanges && together.weight < single.weight));
  depths_free(&together);
  tiled_describe_free(NULL, &d);
  free(bytes);
  return code;
}
