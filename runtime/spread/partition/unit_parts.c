#include "spread/partition/unit_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "context/context.h"
#include "ranks/agree.h"
#include "spread/partition/graph.h"
#include "spread/partition/partition.h"
#include "tasks/graph.h"

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
