/* How the mesh lies over the ranks, for op_diagnostic_output. */
#include <stdio.h>
#include <stdlib.h>

#include "base/size.h"
#include "context/context.h"
#include "mesh/halo.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "spread/spread.h"

/* The figures of one rank for a set. */
struct load {
  long long owned, core, exec, nonexec, neighbours;
};
enum { FIGURES = sizeof(struct load) / sizeof(long long), LISTED_RANKS = 32 };

static int count_neighbours(const struct distribution *d) {
  int count = d->nonexec.receive.count;
  for (int i = 0; i < d->exec.receive.count; i++) {
    bool both = false;
    for (int k = 0; k < d->nonexec.receive.count; k++)
      both |= d->nonexec.receive.ranks[k] == d->exec.receive.ranks[i];
    count += !both;
  }
  return count;
}

/* Owned rows of a map that lead to another rank. */
static long long cut_rows(const struct map *map) {
  long long cut = 0;
  for (long e = 0; map->table && e < map->from->extents[EXTENT_OWNED]; e++) {
    bool out = false;
    for (long i = map_begin(map, e); i < map_end(map, e); i++)
      out |= map->table[i] >= map->to->extents[EXTENT_OWNED];
    cut += out;
  }
  return cut;
}

static struct load load_of_set(const struct set *set) {
  const long *x = set->extents;
  return (struct load){.owned = x[EXTENT_OWNED],
                       .core = x[EXTENT_CORE],
                       .exec = x[EXTENT_EXEC] - x[EXTENT_OWNED],
                       .nonexec = x[EXTENT_NONEXEC] - x[EXTENT_EXEC],
                       .neighbours = set->spread ? count_neighbours(set->spread) : 0};
}

static void add_line(struct text *out, const char *name, const char *who, const struct load *l,
                     const char *end) {
  text_addf(out, "%-20s %8s %12lld %12lld %12lld %12lld %12lld%s", name, who, l->owned, l->core, l->exec,
            l->nonexec, l->neighbours, end);
}

/* A line for each rank of not too many, then the least, the mean and the most of all. */
static void describe_set(const struct set *set, const struct load *loads, int ranks, struct text *out) {
  struct load least = loads[0], sum = {0}, most = loads[0];
  for (int r = 0; r < ranks; r++) {
    const long long *from = (const long long *)&loads[r];
    long long *low = (long long *)&least, *total = (long long *)&sum, *high = (long long *)&most;
    for (int i = 0; i < FIGURES; i++) {
      low[i] = from[i] < low[i] ? from[i] : low[i];
      high[i] = from[i] > high[i] ? from[i] : high[i];
      total[i] += from[i];
    }
    char who[24];
    snprintf(who, sizeof who, "rank %d", r);
    if (ranks <= LISTED_RANKS)
      add_line(out, set->name, who, &loads[r], "\n");
  }
  const struct load mean = {sum.owned / ranks, sum.core / ranks, sum.exec / ranks, sum.nonexec / ranks,
                            sum.neighbours / ranks};
  add_line(out, set->name, "least", &least, "\n");
  add_line(out, set->name, "mean", &mean, "\n");
  add_line(out, set->name, "most", &most, "");
  const double even = (double)sum.owned / ranks;
  text_addf(out, " %9.3f\n", even > 0 ? (double)most.owned / even : 1.0);
}

int spread_describe(struct op_context *ctx, struct text *out, struct error *err) {
  const struct mesh *mesh = ctx->mesh;
  const int ranks = ctx->comm->size;
  struct load *loads = array_new((size_t)ranks, sizeof *loads);
  int code = loads ? OP_OK : error_memory(err, "a report", (size_t)ranks * sizeof *loads);
  ctx->comm->where = "op_diagnostic_output";
  text_addf(out, "%-20s %8s %12s %12s %12s %12s %12s %9s\n", "set", "", "owned", "core", "executed too",
            "only read", "neighbours", "imbalance");
  for (int s = 0; !code && s < mesh->sets.count; s++) {
    const struct load mine = load_of_set(mesh->sets.items[s]);
    code = ctx->comm->table->gather_all(ctx->comm, &mine, sizeof mine, loads, err);
    if (!code)
      describe_set(mesh->sets.items[s], loads, ranks, out);
  }
  text_addf(out, "%-20s %12s %12s %12s\n", "map", "rows", "rows cut", "of all");
  for (int m = 0; !code && m < mesh->maps.count; m++) {
    const struct map *map = mesh->maps.items[m];
    long long cut = cut_rows(map);
    code = ctx->comm->table->reduce_all(ctx->comm, &cut, 1, COMM_LLONG, COMM_SUM, err);
    const long long rows = map->from->global_size;
    text_addf(out, "%-20s %12lld %12lld %11.2f%%\n", map->name, rows, cut,
              rows ? 100.0 * (double)cut / (double)rows : 0.0);
  }
  free(loads);
  return code;
}
