#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "ranks/agree.h"
#include "spread/parts/directory.h"
#include "spread/parts/mail.h"
#include "spread/parts/partition.h"
#include "tasks/graph.h"

static int no_memory(struct error *err) {
  return error_memory(err, "the graph of a mesh", 0);
}

void graph_free(struct graph *graph) {
  free(graph->start);
  free(graph->neighbours);
  free(graph->weights);
  *graph = (struct graph){0};
}

static int by_value(const void *a, const void *b) {
  const long long x = *(const long long *)a, y = *(const long long *)b;
  return (x > y) - (x < y);
}

/* Each neighbour once. */
static void tidy(struct graph *graph) {
  long kept = 0, begin = 0;
  for (long i = 0; i < graph->size; i++) {
    const long end = graph->start[i + 1];
    long long *list = graph->neighbours + begin;
    qsort(list, (size_t)(end - begin), sizeof *list, by_value);
    for (long k = begin; k < end; k++) {
      const long long neighbour = graph->neighbours[k];
      const bool again = kept > graph->start[i] && graph->neighbours[kept - 1] == neighbour;
      if (!again && neighbour != graph->first + i)
        graph->neighbours[kept++] = neighbour;
    }
    begin = end;
    graph->start[i + 1] = kept;
  }
}

/* Each member once, ascending. */
static long tidy_group(long long *members, long count) {
  long kept = 0;
  qsort(members, (size_t)count, sizeof *members, by_value);
  for (long i = 0; i < count; i++)
    if (kept == 0 || members[kept - 1] != members[i])
      members[kept++] = members[i];
  return kept;
}

static long partners(long count) {
  return count <= GRAPH_MOST_NEIGHBOURS ? count - 1 : GRAPH_MOST_NEIGHBOURS;
}

/* Pairs within each group, both ways. In a large one (a target that very many share) only near ones, around a
 * ring: all pairs would be the square of its size, and the ring holds it together as well. */
static struct told *pair_up(const long *start, long long *members, long groups, long *count) {
  long most = 0;
  *count = 0;
  for (long g = 0; g < groups; g++) {
    const long size = start[g + 1] - start[g];
    most += size > 0 ? size * partners(size) : 0;
  }
  struct told *pairs = array_new((size_t)most, sizeof *pairs);
  for (long g = 0; pairs && g < groups; g++) {
    long long *list = members + start[g];
    const long size = tidy_group(list, start[g + 1] - start[g]), each = size > 0 ? partners(size) : 0;
    for (long a = 0; a < size; a++)
      for (long k = 1; k <= each; k++) {
        const long step = 2 * k <= each ? k : size - 1 - each + k;
        pairs[(*count)++] = (struct told){list[a], list[(a + step) % size]};
      }
  }
  return pairs;
}

/* Sources of each target come together at the rank that keeps the target's block. */
static int meet_at_targets(struct comm *comm, const struct share *share, const struct share_map *map,
                           struct grouped *out, long *groups, struct error *err) {
  const struct share_set *from = &share->sets[map->from], *to = &share->sets[map->to];
  const long long total = to->total;
  const long entries = share_targets(share, map);
  const long long first = block_begin(total, comm->size, comm->rank);
  struct told *told = array_new((size_t)entries, sizeof *told);
  struct mail in = {0};
  int code = agree_on_success(comm, told ? OP_OK : no_memory(err), err);
  for (long e = 0; !code && e < from->owned; e++)
    for (long i = share_begin(share, map, e); i < share_begin(share, map, e + 1); i++)
      told[i] = (struct told){rows_get(&map->rows, (size_t)i), from->numbers[e]};
  if (!code)
    code = tell_blocks(comm, total, told, entries, &in, err);
  else
    free(told);
  *groups = (long)(block_begin(total, comm->size, comm->rank + 1) - first);
  if (!code)
    code = told_group(&in, first, *groups, "the graph of a mesh", out, err);
  mail_free(&in);
  return code;
}

static int rows_as_groups(const struct share *share, const struct share_map *map, struct grouped *out,
                          long *groups, struct error *err) {
  *groups = share->sets[map->from].owned;
  const size_t entries = (size_t)share_targets(share, map);
  *out = (struct grouped){array_new((size_t)*groups + 1, sizeof *out->start),
                          array_new(entries, sizeof *out->values)};
  if (!out->start || !out->values)
    return no_memory(err);
  for (long g = 0; g <= *groups; g++)
    out->start[g] = share_begin(share, map, g);
  for (size_t i = 0; i < entries; i++)
    out->values[i] = rows_get(&map->rows, i);
  return OP_OK;
}

static int weights_to_blocks(struct graph *graph, struct comm *comm, const struct share_set *set,
                             const long long *weights, struct error *err) {
  long long given = weights != NULL;
  int code = comm->table->reduce_all(comm, &given, 1, COMM_LLONG, COMM_MAX, err);
  if (code || !given)
    return code;
  struct told *told = array_new((size_t)set->owned, sizeof *told);
  struct mail in = {0};
  graph->weights = array_new((size_t)graph->size, sizeof *graph->weights);
  code = agree_on_success(comm, told && graph->weights ? OP_OK : no_memory(err), err);
  for (long e = 0; !code && e < set->owned; e++)
    told[e] = (struct told){set->numbers[e], weights ? weights[e] : 1};
  if (!code)
    code = tell_blocks(comm, graph->total, told, set->owned, &in, err);
  else
    free(told);
  for (long i = 0; !code && i < in.total; i++)
    graph->weights[((struct told *)in.items)[i].number - graph->first] = ((struct told *)in.items)[i].value;
  mail_free(&in);
  return code;
}

int graph_build(struct graph *graph, struct comm *comm, const struct share *share, int map, bool by_rows,
                const long long *weights, struct error *err) {
  const struct share_map *through = &share->maps[map];
  const struct share_set *set = &share->sets[by_rows ? through->to : through->from];
  struct grouped meetings = {0}, lists = {0};
  struct told *pairs = NULL;
  struct mail in = {0};
  long groups = 0, count = 0;
  *graph = (struct graph){.total = set->total, .first = block_begin(set->total, comm->size, comm->rank)};
  graph->size = (long)(block_begin(graph->total, comm->size, comm->rank + 1) - graph->first);
  int code = by_rows ? rows_as_groups(share, through, &meetings, &groups, err)
                     : meet_at_targets(comm, share, through, &meetings, &groups, err);
  if (!code && !(pairs = pair_up(meetings.start, meetings.values, groups, &count)))
    code = no_memory(err);
  grouped_free(&meetings);
  code = agree_on_success(comm, code, err);
  if (!code)
    code = tell_blocks(comm, graph->total, pairs, count, &in, err);
  else
    free(pairs);
  if (!code)
    code = told_group(&in, graph->first, graph->size, "the graph of a mesh", &lists, err);
  mail_free(&in);
  code = agree_on_success(comm, code, err);
  if (!code) {
    graph->start = lists.start;
    graph->neighbours = lists.values;
    tidy(graph);
    code = agree_on_success(comm, weights_to_blocks(graph, comm, set, weights, err), err);
  } else
    grouped_free(&lists);
  if (code)
    graph_free(graph);
  return code;
}

/* Every rank has all of it; the partitioner takes a block from each. */
static int make_block(const struct unit_graph *all, const struct comm *comm, struct graph *out,
                      struct error *err) {
  const long long n = all->count;
  const long first = (long)(n * comm->rank / comm->size), end = (long)(n * (comm->rank + 1) / comm->size);
  *out = (struct graph){.total = n, .first = first, .size = end - first};
  const size_t size = (size_t)out->size, edges = (size_t)(all->start[end] - all->start[first]);
  out->start = array_new(size + 1, sizeof *out->start);
  out->neighbours = array_new(edges, sizeof *out->neighbours);
  out->weights = array_new(size, sizeof *out->weights);
  if (!out->start || !out->neighbours || !out->weights)
    return error_memory(err, "the graph for PT-Scotch", edges * sizeof *out->neighbours);
  for (size_t i = 0; i <= size; i++)
    out->start[i] = all->start[first + (long)i] - all->start[first];
  for (size_t i = 0; i < edges; i++)
    out->neighbours[i] = all->neighbours[all->start[first] + (long)i];
  memcpy(out->weights, all->weights + first, size * sizeof *out->weights);
  return OP_OK;
}

static int share_parts(struct comm *comm, const struct graph *block, int *mine, int *part,
                       struct error *err) {
  long long *all = array_new((size_t)block->total, sizeof *all);
  int code = agree_on_success(comm, all ? OP_OK : error_memory(err, "the parts of tasks", sizeof *all), err);
  for (long i = 0; !code && i < block->size; i++)
    all[block->first + i] = mine[i];
  if (!code)
    code = comm->table->reduce_all(comm, all, (int)block->total, COMM_LLONG, COMM_SUM, err);
  for (long i = 0; !code && i < block->total; i++)
    part[i] = (int)all[i];
  free(all);
  return code;
}

int unit_parts(void *context, const struct unit_graph *graph, int parts, int *part, int code,
               struct error *err) {
  struct op_context *ctx = context;
  const struct graph_partitioner *partitioner = NULL;
  struct graph block = {0};
  struct error missing = {0};
  code = agree_on_success(ctx->comm, code, err);
  if (code)
    return code;
  for (int i = 0; i < graph->count; i++)
    part[i] = -1;
  const bool none = agree_on_success(ctx->comm, partition_open(ctx, &partitioner, &missing), &missing);
  error_free(&missing);
  if (none || graph->count < 2 * parts) /* so few that nothing is to be gained */
    return OP_OK;
  code = make_block(graph, ctx->comm, &block, err);
  int *mine = array_new((size_t)block.size, sizeof *mine);
  if (!code && !mine)
    code = error_memory(err, "the parts of tasks", (size_t)block.size * sizeof *mine);
  code = agree_on_success(ctx->comm, code, err);
  if (!code)
    code = agree_on_success(ctx->comm, partitioner->part(ctx->comm, &block, parts, NULL, mine, err), err);
  if (!code)
    code = share_parts(ctx->comm, &block, mine, part, err);
  graph_free(&block);
  free(mine);
  return code;
}
