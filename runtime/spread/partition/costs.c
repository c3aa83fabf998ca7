#include "spread/partition/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "spread/partition/weights.h"

/* Less than so many nanoseconds, of all ranks together, are noise. */
enum { LEAST_TIME = 10000000, STEPS_PER_OCTAVE = 4 };

/* Without exchanging and waiting, which are no element's own. */
static long long time_of(const struct loop *loop) {
  const double computing = loop->stats.seconds - loop->stats.exchange_seconds;
  return computing > 0 ? (long long)(computing * 1e9) : 0;
}

/* Nanoseconds of each set. */
static int sum_times(struct op_context *ctx, long long *times, struct error *err) {
  struct loop **loops = loop_records(ctx);
  int code = loops ? OP_OK : error_memory(err, "the list of loops", ctx->loops->count * sizeof(void *));
  for (size_t i = 0; !code && i < ctx->loops->count; i++)
    if (loops[i]->set)
      times[loops[i]->set->id] += time_of(loops[i]);
  free(loops);
  code = agree_on_success(ctx->comm, code, err);
  return code ? code
              : ctx->comm->table->reduce_all(ctx->comm, times, ctx->mesh->sets.count, COMM_LLONG, COMM_SUM,
                                             err);
}

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

int measured_costs(struct op_context *ctx, int *cost, bool *measured, struct error *err) {
  const int sets = ctx->mesh->sets.count;
  long long *times = array_new((size_t)sets, sizeof *times), all = 0;
  double most = 0;
  *measured = false;
  int code = times ? OP_OK : error_memory(err, "the costs of elements", (size_t)sets * sizeof *times);
  code = agree_on_success(ctx->comm, code, err);
  if (!code && strcmp(env_value(ctx->env, ENV_WEIGHTS), "equal") != 0)
    code = sum_times(ctx, times, err);
  for (int s = 0; !code && s < sets; s++) {
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
  free(times);
  return code;
}
