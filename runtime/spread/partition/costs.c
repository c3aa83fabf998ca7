#include "spread/partition/costs.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/partition/weights.h"

/* Less than so many nanoseconds, of all ranks together, are noise. */
enum { LEAST_TIME = 10000000, STEPS_PER_OCTAVE = 4 };

static double time_of_one(const struct op_context *ctx, const long long *times, int s) {
  const struct set *set = ctx->mesh->sets.items[s];
  return set->global_size > 0 ? (double)times[s] / (double)set->global_size : 0;
}

static void tell(struct op_context *ctx, const int *cost) {
  struct text line = {0};
  for (int s = 0; s < ctx->mesh->sets.count; s++)
    text_addf(&line, "%s\"%s\" %.3f", s ? ", " : "", ((const struct set *)ctx->mesh->sets.items[s])->name,
              (double)cost[s] / MOST_COST);
  log_line(ctx->log, LOG_INFO, "mesh", "op_partition weighs elements by what loops over them took: %s",
           text_str(&line));
  text_free(&line);
}

static bool are_equal(const struct op_context *ctx) {
  return strcmp(env_value(ctx->env, ENV_WEIGHTS), "equal") == 0;
}

bool costs_by_targets(const struct op_context *ctx, const struct set *prime, int *cost) {
  bool ragged = false;
  for (int m = 0; m < ctx->mesh->maps.count; m++) {
    const struct map *map = ctx->mesh->maps.items[m];
    ragged |= map->entries && map->from == prime;
  }
  if (!ragged || are_equal(ctx))
    return false;
  for (int s = 0; s < ctx->mesh->sets.count; s++)
    cost[s] = s == prime->id ? MOST_COST : 0;
  log_line(ctx->log, LOG_INFO, "mesh", "op_partition weighs elements of \"%s\" by their number of targets",
           prime->name);
  return true;
}

int measured_costs(struct op_context *ctx, long long *times, int *cost, bool *measured, struct error *err) {
  const int sets = ctx->mesh->sets.count;
  const bool equal = are_equal(ctx);
  long long all = 0;
  double most = 0;
  *measured = false;
  int code = times ? OP_OK : error_memory(err, "the costs of elements", (size_t)sets * sizeof *times);
  code = agree_on_success(ctx->comm, code, err);
  if (!code && !equal)
    code = ctx->comm->table->reduce_all(ctx->comm, times, sets, COMM_LLONG, COMM_SUM, err);
  for (int s = 0; !code && !equal && s < sets; s++) {
    all += times[s];
    most = fmax(most, time_of_one(ctx, times, s));
  }
  *measured = !code && all >= LEAST_TIME;
  for (int s = 0; *measured && s < sets; s++) {
    const double share = time_of_one(ctx, times, s) / most;
    const double step = share > 0 ? round(log2(share) * STEPS_PER_OCTAVE) / STEPS_PER_OCTAVE : -INFINITY;
    cost[s] = (int)lround(MOST_COST * exp2(step));
  }
  if (*measured && ctx->comm->rank == 0)
    tell(ctx, cost);
  return code;
}
