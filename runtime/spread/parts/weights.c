#include "weights.h"

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

static const struct share_set *set_of(const struct weighing *w, int set) {
  return &w->share->sets[set];
}
static long long total_of(const struct weighing *w, int set) {
  return set_of(w, set)->total;
}

/* A value for each target that the rows of this rank name; those that others own have ids behind the owned ones. */
struct targets {
  struct numbers ids;
  int *id; /* of each entry of the maps, one map after the other */
  long long *values;
};

static void targets_free(struct targets *t) {
  numbers_free(&t->ids);
  free(t->id);
  free(t->values);
}

static long entries_of(const struct weighing *w, const struct share_map *map) {
  return share_targets(w->share, map);
}
static long begin_of(const struct weighing *w, const struct share_map *map, long e) {
  return share_begin(w->share, map, e);
}

/* List the targets of the maps marked. */
static int targets_new(const struct weighing *w, int set, const bool *maps, struct targets *t,
                       struct error *err) {
  const struct share_set *to = set_of(w, set);
  long entries = 0, at = 0;
  for (int m = 0; m < w->share->nmaps; m++)
    entries += maps[m] ? entries_of(w, &w->share->maps[m]) : 0;
  *t = (struct targets){.id = array_new((size_t)entries, sizeof *t->id)};
  if (!numbers_new(&t->ids, to->numbers, to->owned) || !t->id)
    return no_memory(err);
  for (int m = 0; m < w->share->nmaps; m++)
    for (long i = 0; maps[m] && i < entries_of(w, &w->share->maps[m]); i++)
      if ((t->id[at++] = numbers_add(&t->ids, rows_get(&w->share->maps[m].rows, (size_t)i))) < 0)
        return no_memory(err);
  t->values = array_new((size_t)t->ids.count, sizeof *t->values);
  return t->values ? OP_OK : no_memory(err);
}

/* Targets of an element by all maps that lead. */
static long columns_of(const struct weighing *w, const struct follow_step *step, long e) {
  long columns = 0;
  for (int m = 0; m < w->share->nmaps; m++) {
    const struct share_map *map = &w->share->maps[m];
    columns += follow_leads(&w->plan, step, map) ? begin_of(w, map, e + 1) - begin_of(w, map, e) : 0;
  }
  return columns;
}

/* Hand an element's cost to its targets, the same to each. */
static int hand_to_targets(struct weighing *w, const struct follow_step *step, struct error *err) {
  const struct share *share = w->share;
  bool *one = array_new((size_t)share->nmaps, sizeof *one);
  int code = one ? OP_OK : no_memory(err);
  for (int m = 0; !code && m < share->nmaps; m++) {
    const struct share_map *map = &share->maps[m];
    struct targets t = {0};
    if (!follow_leads(&w->plan, step, map))
      continue;
    one[m] = true;
    code = targets_new(w, map->to, one, &t, err);
    one[m] = false;
    for (long e = 0; !code && e < set_of(w, step->set)->owned; e++)
      for (long i = begin_of(w, map, e); i < begin_of(w, map, e + 1); i++)
        t.values[t.id[i]] += w->load[step->set][e] / columns_of(w, step, e);
    if (!code)
      code = directory_add(w->comm, total_of(w, map->to), &t.ids, set_of(w, map->to)->owned, t.values, err);
    for (long e = 0; !code && e < set_of(w, map->to)->owned; e++)
      w->load[map->to][e] += t.values[e];
    targets_free(&t);
  }
  free(one);
  return code;
}

/* Hand an element's cost to those that have it as a target, the same to each entry: owners learn how many
 * there are, and tell what is for each. */
static int hand_to_sources(struct weighing *w, const struct follow_step *step, struct error *err) {
  const struct share *share = w->share;
  const long owned = set_of(w, step->set)->owned;
  struct targets t = {0};
  bool *leads = array_new((size_t)share->nmaps, sizeof *leads);
  int code = leads ? OP_OK : no_memory(err);
  for (int m = 0; !code && m < share->nmaps; m++)
    leads[m] = follow_leads(&w->plan, step, &share->maps[m]);
  if (!code)
    code = targets_new(w, step->set, leads, &t, err);
  long at = 0;
  for (int m = 0; !code && m < share->nmaps; m++)
    for (long i = 0; leads[m] && i < entries_of(w, &share->maps[m]); i++)
      t.values[t.id[at++]]++;
  if (!code)
    code = directory_add(w->comm, total_of(w, step->set), &t.ids, owned, t.values, err);
  for (long e = 0; !code && e < owned; e++)
    t.values[e] = t.values[e] ? w->load[step->set][e] / t.values[e] : 0;
  if (!code)
    code = directory_rows(w->comm, total_of(w, step->set), &t.ids, owned, sizeof *t.values, t.values,
                          t.values + owned, err);
  at = 0;
  for (int m = 0; !code && m < share->nmaps; m++)
    for (long e = 0; leads[m] && e < set_of(w, share->maps[m].from)->owned; e++)
      for (long i = begin_of(w, &share->maps[m], e); i < begin_of(w, &share->maps[m], e + 1); i++)
        w->load[share->maps[m].from][e] += t.values[t.id[at++]];
  targets_free(&t);
  free(leads);
  return code;
}

/* Hand the cost of entries to the element that has them. */
static int hand_to_elements(struct weighing *w, const struct follow_step *step, struct error *err) {
  const struct share_set *entries = set_of(w, step->set);
  (void)err;
  for (long e = 0; e < set_of(w, entries->of)->owned; e++)
    for (long long i = entries->begin[e]; i < entries->begin[e + 1]; i++)
      w->load[entries->of][e] += w->load[step->set][i];
  return OP_OK;
}

/* The set's elements in all, over that number and all that they have as targets of ragged maps: what one of these
 * counts. 1 where there are none. */
static double mean_part(const struct weighing *w, int set) {
  double parts = (double)total_of(w, set);
  for (int m = 0; m < w->share->nmaps; m++) {
    const struct share_map *map = &w->share->maps[m];
    parts += map->from == set && !map->arity ? (double)total_of(w, map->entries) : 0;
  }
  return parts > 0 ? (double)total_of(w, set) / parts : 1;
}

static long long first_load(const struct weighing *w, int set, long e, int cost, double part) {
  long parts = 1;
  for (int m = 0; m < w->share->nmaps; m++) {
    const struct share_map *map = &w->share->maps[m];
    parts += map->from == set && !map->arity ? begin_of(w, map, e + 1) - begin_of(w, map, e) : 0;
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
