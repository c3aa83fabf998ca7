/* The plugin for PT-Scotch, a graph partitioner that runs on the ranks themselves. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include <ptscotch.h>

#include "base/size.h"
#include "distribute/graph.h"

struct arrays {
  SCOTCH_Num *start, *neighbours, *weights, *part;
};

/* PT-Scotch adds all weights up in its own integers. */
static int divisor_of_weights(struct comm *comm, const struct graph *graph, long long *divisor,
                              struct error *err) {
  const double most = sizeof(SCOTCH_Num) < sizeof(long long) ? INT_MAX / 2 : (double)(LLONG_MAX / 2);
  double sum = 0;
  for (long i = 0; graph->weights && i < graph->size; i++)
    sum += (double)graph->weights[i];
  int code = comm->table->reduce_all(comm, &sum, 1, COMM_DOUBLE, COMM_SUM, err);
  *divisor = (long long)(sum / most) + 1;
  return code;
}

static SCOTCH_Num scaled(long long weight, long long divisor) {
  return weight / divisor > 0 ? (SCOTCH_Num)(weight / divisor) : 1;
}

static int copy_graph(const struct graph *graph, long long divisor, struct arrays *a, struct error *err) {
  const size_t size = (size_t)graph->size, edges = (size_t)graph->start[size];
  a->start = array_new(size + 1, sizeof *a->start);
  a->neighbours = array_new(edges, sizeof *a->neighbours);
  a->part = array_new(size, sizeof *a->part);
  a->weights = graph->weights ? array_new(size, sizeof *a->weights) : NULL;
  if (!a->start || !a->neighbours || !a->part || (graph->weights && !a->weights))
    return error_memory(err, "the graph for PT-Scotch", edges * sizeof *a->neighbours);
  for (size_t i = 0; i <= size; i++)
    a->start[i] = (SCOTCH_Num)graph->start[i];
  for (size_t i = 0; i < edges; i++)
    a->neighbours[i] = (SCOTCH_Num)graph->neighbours[i];
  for (size_t i = 0; a->weights && i < size; i++)
    a->weights[i] = scaled(graph->weights[i], divisor);
  return OP_OK;
}

static int failed(const char *call, struct error *err) {
  return error_set(err, OP_ERR_MPI, "op_partition: PT-Scotch failed in %s; its own message is on stderr",
                   call);
}

static int part_arrays(MPI_Comm comm, const struct graph *graph, struct arrays *a, int parts,
                       struct error *err) {
  SCOTCH_Dgraph dgraph;
  SCOTCH_Strat strategy;
  const SCOTCH_Num size = (SCOTCH_Num)graph->size, edges = a->start[graph->size];
  if (SCOTCH_dgraphInit(&dgraph, comm))
    return failed("SCOTCH_dgraphInit", err);
  if (SCOTCH_stratInit(&strategy)) {
    SCOTCH_dgraphExit(&dgraph);
    return failed("SCOTCH_stratInit", err);
  }
  int code = OP_OK;
  SCOTCH_randomReset(); /* the same parts in every run */
  if (SCOTCH_dgraphBuild(&dgraph, 0, size, size, a->start, NULL, a->weights, NULL, edges, edges,
                         a->neighbours, NULL, NULL))
    code = failed("SCOTCH_dgraphBuild", err);
  else if (SCOTCH_dgraphPart(&dgraph, parts, &strategy, a->part))
    code = failed("SCOTCH_dgraphPart", err);
  SCOTCH_stratExit(&strategy);
  SCOTCH_dgraphExit(&dgraph);
  return code;
}

static int part(struct comm *comm, const struct graph *graph, int parts, int *part, struct error *err) {
  struct arrays a = {0};
  if (sizeof(SCOTCH_Num) < sizeof graph->total && graph->total > INT_MAX)
    return error_set(
        err, OP_ERR_SIZE,
        "op_partition: this PT-Scotch counts to %d, and the set has %lld elements; use a build of "
        "it with 64-bit integers, or \"rcb\"",
        INT_MAX, graph->total);
  long long divisor = 1;
  int code = divisor_of_weights(comm, graph, &divisor, err);
  if (!code)
    code = copy_graph(graph, divisor, &a, err);
  if (!code)
    code = part_arrays(MPI_Comm_f2c(comm->fortran), graph, &a, parts, err);
  for (long i = 0; !code && i < graph->size; i++)
    part[i] = (int)a.part[i];
  free(a.start);
  free(a.neighbours);
  free(a.weights);
  free(a.part);
  return code;
}

__attribute__((visibility("default"))) extern const struct graph_partitioner op2jit_graph_partitioner;
const struct graph_partitioner op2jit_graph_partitioner = {
    .version = GRAPH_PARTITIONER_VERSION, .name = "ptscotch", .part = part};
