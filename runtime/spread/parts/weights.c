#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/parts/directory.h"
#include "spread/parts/numbers.h"

/* Shares are fixed-point numbers: sums of them are the same in any order. */
enum { POINT = 1 << 10 };

struct weighing {
  struct comm *comm;
  const struct share *share;
  struct follow_plan plan;
  long long **load; /* of each set's owned elements */
};

static int no_memory(struct error *err) {
  return error_memory(err, "the weights of a set", 0);
}

/* Targets of an element by all maps that lead. */
static long columns_of(const struct weighing *w, const struct follow_step *step, long e) {
  long columns = 0;
  for (int m = 0; m < w->share->nmaps; m++) {
    const struct share_map *map = &w->share->maps[m];
    columns += follow_leads(&w->plan, step, map)
                   ? share_begin(w->share, map, e + 1) - share_begin(w->share, map, e)
                   : 0;
  }
  return columns;
}

/* Hand an element's cost to its targets, the same to each. */
static int hand_to_targets(struct weighing *w, const struct follow_step *step, struct error *err) {
  const struct share *share = w->share;
  int code = OP_OK;
  for (int m = 0; !code && m < share->nmaps; m++) {
    const struct share_map *map = &share->maps[m];
    const struct share_set *to = &share->sets[map->to];
    struct targets t;
    if (!follow_leads(&w->plan, step, map))
      continue;
    const bool good = targets_new(&t, to) && targets_add(&t, share, map);
    long long *values = good ? array_new((size_t)t.ids.count, sizeof *values) : NULL;
    for (long e = 0; values && e < share->sets[step->set].owned; e++)
      for (long i = share_begin(share, map, e); i < share_begin(share, map, e + 1); i++)
        values[t.id[i]] += w->load[step->set][e] / columns_of(w, step, e);
    code = values ? directory_add(w->comm, to->total, &t.ids, to->owned, values, err) : no_memory(err);
    for (long e = 0; !code && e < to->owned; e++)
      w->load[map->to][e] += values[e];
    targets_free(&t);
    free(values);
  }
  return code;
}

/* Hand an element's cost to those that have it as a target, the same to each entry: owners learn how many
 * there are, and tell what is for each. */
static int hand_to_sources(struct weighing *w, const struct follow_step *step, struct error *err) {
  const struct share *share = w->share;
  const struct share_set *set = &share->sets[step->set];
  struct targets t;
  bool good = targets_new(&t, set);
  for (int m = 0; good && m < share->nmaps; m++)
    if (follow_leads(&w->plan, step, &share->maps[m]))
      good = targets_add(&t, share, &share->maps[m]);
  long long *values = good ? array_new((size_t)t.ids.count, sizeof *values) : NULL;
  for (long i = 0; values && i < t.entries; i++)
    values[t.id[i]]++;
  int code = values ? directory_add(w->comm, set->total, &t.ids, set->owned, values, err) : no_memory(err);
  for (long e = 0; !code && e < set->owned; e++)
    values[e] = values[e] ? w->load[step->set][e] / values[e] : 0;
  if (!code)
    code = directory_rows(w->comm, set->total, &t.ids, set->owned, sizeof *values, values,
                          values + set->owned, err);
  long at = 0;
  for (int m = 0; !code && m < share->nmaps; m++) {
    const struct share_map *map = &share->maps[m];
    const bool leads = follow_leads(&w->plan, step, map);
    for (long e = 0; leads && e < share->sets[map->from].owned; e++)
      for (long i = share_begin(share, map, e); i < share_begin(share, map, e + 1); i++)
        w->load[map->from][e] += values[t.id[at++]];
  }
  targets_free(&t);
  free(values);
  return code;
}

/* Hand the cost of entries to the element that has them. */
static int hand_to_elements(struct weighing *w, const struct follow_step *step, struct error *err) {
  const struct share_set *entries = &w->share->sets[step->set];
  (void)err;
  for (long e = 0; e < w->share->sets[entries->of].owned; e++)
    for (long long i = entries->begin[e]; i < entries->begin[e + 1]; i++)
      w->load[entries->of][e] += w->load[step->set][i];
  return OP_OK;
}

/* The set's elements in all, over that number and all that they have as targets of ragged maps: what one of these
 * counts. 1 where there are none. */
static double mean_part(const struct weighing *w, int set) {
  double parts = (double)w->share->sets[set].total;
  for (int m = 0; m < w->share->nmaps; m++) {
    const struct share_map *map = &w->share->maps[m];
    parts += map->from == set && !map->arity ? (double)w->share->sets[map->entries].total : 0;
  }
  return parts > 0 ? (double)w->share->sets[set].total / parts : 1;
}

static long long first_load(const struct weighing *w, int set, long e, int cost, double part) {
  long parts = 1;
  for (int m = 0; m < w->share->nmaps; m++) {
    const struct share_map *map = &w->share->maps[m];
    parts += map->from == set && !map->arity
                 ? share_begin(w->share, map, e + 1) - share_begin(w->share, map, e)
                 : 0;
  }
  return (long long)((double)cost * (double)POINT * part * (double)parts);
}

static int begin(struct weighing *w, int prime, const int *cost, struct error *err) {
  const size_t sets = (size_t)w->share->nsets;
  bool *placed = array_new(sets, sizeof *placed);
  w->load = array_new(sets, sizeof *w->load);
  int code = placed && w->load ? OP_OK : no_memory(err);
  if (!code) {
    placed[prime] = true;
    code = follow_plan(w->share, placed, &w->plan, err);
  }
  free(placed);
  for (size_t s = 0; !code && s < sets; s++) {
    const long owned = w->share->sets[s].owned;
    if (!(w->load[s] = array_new((size_t)owned, sizeof **w->load)))
      return no_memory(err);
    const double part = mean_part(w, (int)s);
    for (long e = 0; e < owned; e++)
      w->load[s][e] = first_load(w, (int)s, e, cost[s], part);
  }
  return code;
}

typedef int hand_on(struct weighing *w, const struct follow_step *step, struct error *err);
static hand_on *const hand[] = {[FOLLOW_TARGETS] = hand_to_targets,
                                [FOLLOW_SOURCES] = hand_to_sources,
                                [FOLLOW_NOTHING] = NULL,
                                [FOLLOW_ELEMENTS] = hand_to_elements};

int parts_weights(struct comm *comm, const struct share *share, int prime, const int *cost,
                  long long *weights, struct error *err) {
  struct weighing w = {.comm = comm, .share = share};
  int code = begin(&w, prime, cost, err);
  /* The set that came last hands on first. */
  for (int i = w.plan.count - 1; !code && i >= 0; i--) {
    const struct follow_step *step = &w.plan.steps[i];
    if (hand[step->kind])
      code = hand[step->kind](&w, step, err);
  }
  for (long e = 0; !code && e < share->sets[prime].owned; e++)
    weights[e] = w.load[prime][e] > 0 ? w.load[prime][e] : 1;
  for (int s = 0; w.load && s < share->nsets; s++)
    free(w.load[s]);
  free(w.load);
  follow_plan_free(&w.plan);
  return code;
}

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

/* Elements of a set with ragged maps go by how many targets they have, if nothing is measured. True for such a set. Local,
 * and the same on all ranks. */
static bool costs_by_targets(const struct op_context *ctx, const struct set *prime, int *cost) {
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

int element_costs(struct op_context *ctx, const struct set *prime, long long *times, int *cost, bool *known,
                  struct error *err) {
  const int sets = ctx->mesh->sets.count;
  const bool equal = are_equal(ctx);
  long long all = 0;
  double most = 0;
  *known = false;
  int code = times ? OP_OK : error_memory(err, "the costs of elements", (size_t)sets * sizeof *times);
  code = agree_on_success(ctx->comm, code, err);
  if (!code && !equal)
    code = ctx->comm->table->reduce_all(ctx->comm, times, sets, COMM_LLONG, COMM_SUM, err);
  for (int s = 0; !code && !equal && s < sets; s++) {
    all += times[s];
    most = fmax(most, time_of_one(ctx, times, s));
  }
  const bool measured = !code && all >= LEAST_TIME;
  for (int s = 0; measured && s < sets; s++) {
    const double share = time_of_one(ctx, times, s) / most;
    const double step = share > 0 ? round(log2(share) * STEPS_PER_OCTAVE) / STEPS_PER_OCTAVE : -INFINITY;
    cost[s] = (int)lround(MOST_COST * exp2(step));
  }
  if (measured && ctx->comm->rank == 0)
    tell(ctx, cost);
  *known = measured || (!code && costs_by_targets(ctx, prime, cost));
  return code;
}
