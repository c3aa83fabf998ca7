#include "loop/chain/depths.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/chain/layers.h"
#include "mesh/data.h"

/* ---- which loops may ---- */

static bool has_ragged_map(const struct loop *loop) {
  bool any = false;
  for (int i = 0; i < loop->nargs; i++)
    any |= loop->args[i].entry ||
           (loop->args[i].map && (loop->args[i].map->first || map_is_own(loop->args[i].map)));
  return any;
}

/* Copies have no numbers of the user's, and no variables of the program. */
static bool has_other_arguments(const struct loop *loop) {
  bool any = false;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const bool reads_only = arg->access == OP_READ || access_reduces(arg->access);
    any |= arg->form == DESC_INFO ||
           (arg->form != DESC_DAT && arg->present && !(arg->form == DESC_GBL ? reads_only : !arg->map));
  }
  return any;
}

const char *loop_keeps_to_itself(const struct loop *loop) {
  return loop->space != SPACE_HOST || !loop->backend->work || !loop->backend->may_wait
             ? "its backend runs whole loops alone"
         : loop->compiled                       ? "its kernel is a function of the program"
         : loop->meets                          ? "its elements meet in what they write"
         : loop->set->sub                       ? "it runs over a subset"
         : kernel_uses(&loop->kernel, "printf") ? "its kernel prints"
         : has_ragged_map(loop)                 ? "it has a ragged map"
         : has_other_arguments(loop)            ? "it changes variables, or takes numbers of elements"
                                                : NULL;
}

bool loop_keeps_apart(const struct loop *loop) {
  return loop_keeps_to_itself(loop) || loop_fills_matrix(loop);
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

/* ---- how deep ---- */

/* Loops that run on more copies than they do by themselves, and that could not, are segments of their own from now on; are
 * there any? */
static bool keep_apart(struct loop *const *loops, int n, const int *run, struct depth_limit *limits) {
  bool any = false;
  for (int i = 0; i < n; i++)
    if (!limits[i].apart && runs_apart(run[i]) && !has_dats_by_one_map(loops[i]))
      any = limits[i].apart = true;
  return any;
}

static int find_deeper(struct loop *const *loops, int n, const struct chain *chain,
                       const struct depth_wish *wish, struct depth_limit *limits, struct depths *out,
                       struct error *err) {
  int code = OP_OK;
  for (int i = 0; i < n; i++)
    limits[i].apart = loop_keeps_to_itself(loops[i]) != NULL;
  do {
    depths_free(out);
    code = depths_build(out, chain, wish, err);
  } while (!code && keep_apart(loops, n, out->run, limits));
  return code;
}

/* OP2_FP=strict: copies would add in another order than their owners. NULL: no memory. */
static struct depth_limit *find_limits(const struct op_context *ctx, struct loop *const *loops, int n) {
  const bool strict = strcmp(env_value(ctx->env, ENV_FP), "strict") == 0;
  struct depth_limit *limits = array_new((size_t)n, sizeof *limits);
  for (int i = 0; limits && i < n; i++)
    limits[i] = (struct depth_limit){.apart = loop_keeps_apart(loops[i]), .own = strict};
  return limits;
}

int loop_depths_in(const struct op_context *ctx, struct loop *const *loops, int n,
                   const struct tiled_description *d, int layers, struct depths *out, struct error *err) {
  struct depth_limit *limits = find_limits(ctx, loops, n);
  const struct depth_wish wish = {.layers = layers, .fringe = true, .bytes = d->row_bytes, .limits = limits};
  const int code =
      limits ? depths_build(out, &d->chain, &wish, err) : error_memory(err, "the depths of loops", 0);
  free(limits);
  return code;
}

/* In several layers, if that exchanges less often. */
static int find_layers(const struct op_context *ctx, struct loop *const *loops, int n,
                       const struct tiled_description *d, int most, struct depths *out, int *layers,
                       struct error *err) {
  struct depths other = {0};
  const int code = loop_depths_in(ctx, loops, n, d, most, &other, err);
  const bool less = !code && other.exchanges < out->exchanges;
  if (less)
    *layers = most;
  depths_free(less ? out : &other);
  if (less)
    *out = other;
  return code;
}

/* One layer of copies: no loop runs on more of them than it does by itself. Or it does, if less travels then. */
static int find_one(struct loop *const *loops, int n, const struct tiled_description *d, struct depths *out,
                    int *layers, struct error *err) {
  struct depth_wish wish = {.layers = 1, .alone = true, .bytes = d->row_bytes};
  struct depths other = {0};
  struct depth_limit *limits = array_new((size_t)n, sizeof *limits);
  *layers = 0;
  int code = limits ? depths_build(out, &d->chain, &wish, err) : error_memory(err, "the depths of loops", 0);
  wish = (struct depth_wish){.layers = 1, .fringe = true, .bytes = d->row_bytes, .limits = limits};
  if (!code)
    code = find_deeper(loops, n, &d->chain, &wish, limits, &other, err);
  *layers = !code && (other.exchanges < out->exchanges ||
                      (other.exchanges == out->exchanges && other.weight < out->weight));
  depths_free(*layers ? out : &other);
  if (*layers)
    *out = other;
  free(limits);
  return code;
}

int loop_depths_find(const struct op_context *ctx, struct loop *const *loops, int n,
                     const struct tiled_description *d, int most, struct depths *out, int *layers,
                     struct error *err) {
  const int code = find_one(loops, n, d, out, layers, err);
  return code || most < 2 ? code : find_layers(ctx, loops, n, d, most, out, layers, err);
}

int loop_depths_spare(struct op_context *ctx, struct loop *const *loops, int n, bool *spare,
                      struct error *err) {
  struct tiled_description d;
  struct depths together = {0};
  struct depth_cost single = {0};
  int layers;
  int code = tiled_describe(loops, n, &d, err);
  if (!code)
    code = loop_depths_find(ctx, loops, n, &d, layers_asked(ctx), &together, &layers, err);
  if (!code)
    code = depths_of_single_loops(&d.chain, d.row_bytes, &single, err);
  *spare = !code && (together.exchanges < single.exchanges ||
                     (together.exchanges == single.exchanges && together.weight < single.weight));
  depths_free(&together);
  tiled_describe_free(NULL, &d);
  return code;
}
