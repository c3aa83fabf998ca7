#include "loop/auto/device.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/fused/fused.h"
#include "loop/fused/group.h"

/* A part of a period's time: less than this is not worth waiting, and not more than what the counts may be wrong by. */
static const double least_gain = 0.05;

/* Asked once for each variant, since it takes as long as many launches. */
static bool expect(struct op_context *ctx, struct loop *loop, struct expected *out) {
  struct expected *known = &loop->ready.expected;
  const int variant = loop->ready.variant + 1;
  if (known->variant != variant && loop->backend->expect && loop->backend->expect(ctx, loop, known))
    known->variant = variant;
  *out = *known;
  return known->variant == variant;
}

/* NULL: they stay several. */
static struct loop *one_of(struct op_context *ctx, struct loop *const *loops, const struct fused_group *g) {
  struct loop *members[DESC_MOST_MEMBERS];
  struct error ignored = {0};
  for (int m = 0; m < g->n; m++)
    members[m] = loops[g->members[m]];
  struct loop *one = g->n > 1 ? fused_get(ctx, members, g->n, 0, &ignored) : NULL;
  error_free(&ignored);
  return one && !one->fusion->failed ? one : NULL;
}

static bool add_group(struct op_context *ctx, struct loop *const *loops, const struct fused_group *g,
                      struct device_gain *gain) {
  struct expected all = {0}, e = {0};
  for (int m = 0; m < g->n; m++) {
    if (!expect(ctx, loops[g->members[m]], &e))
      return false;
    all.seconds += e.seconds;
    all.saved += e.saved;
  }
  struct loop *one = one_of(ctx, loops, g);
  if (one && !expect(ctx, one, &e))
    return false;
  gain->seconds += all.seconds;
  gain->graph += all.saved;
  gain->whole += one ? e.saved : all.saved;
  gain->fused += one ? all.seconds - e.seconds : 0;
  return true;
}

/* Without OP2_FUSE each is alone. */
static int make_groups(const struct op_context *ctx, struct loop *const *loops, int n,
                       struct fused_group *groups) {
  if (strcmp(env_value(ctx->env, ENV_FUSE), "off") != 0)
    return fused_groups(loops, n, groups);
  for (int i = 0; i < n; i++)
    groups[i] = (struct fused_group){.members = {i}, .n = 1};
  return n;
}

bool device_add(struct op_context *ctx, struct loop *const *loops, int n, struct device_gain *gain) {
  struct fused_group *groups = array_new((size_t)n, sizeof *groups);
  const int count = groups ? make_groups(ctx, loops, n, groups) : 0;
  struct device_gain own = {0};
  struct expected e = {0};
  bool known = groups;
  for (int g = 0; known && g < count; g++)
    known = add_group(ctx, loops, &groups[g], &own);
  if (known && expect(ctx, loops[0], &e)) {
    gain->seconds += own.seconds;
    gain->fused += own.fused;
    gain->graph += n > 1 && own.graph > e.graph ? own.graph - e.graph : 0;
    gain->whole += count > 1 && own.whole > e.graph ? own.whole - e.graph : 0;
  }
  free(groups);
  return known;
}

double device_pays(const struct device_gain *gain, bool *fuses) {
  const double least = least_gain * gain->seconds;
  *fuses = gain->fused > 0 && gain->fused >= least;
  const double graph = *fuses ? gain->whole : gain->graph;
  return (*fuses ? gain->fused : 0) + (graph > 0 && graph >= least ? graph : 0);
}

bool device_fuses(struct op_context *ctx, struct loop *const *loops, int n) {
  struct device_gain gain = {0};
  bool fuses = false;
  if (device_add(ctx, loops, n, &gain))
    device_pays(&gain, &fuses);
  return fuses;
}
