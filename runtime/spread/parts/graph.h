/* The graph of a set's elements that are neighbours through a map, for graph partitioners. Spread by blocks of global
 * numbers, whoever has the elements. */
#ifndef OP2JIT_SPREAD_PARTS_GRAPH_H
#define OP2JIT_SPREAD_PARTS_GRAPH_H

#include "base/error.h"
#include "ranks/comm.h"
#include "spread/parts/build.h"

struct graph {
  long long total, first;
  long size;             /* of this rank's block: first .. first+size-1 */
  long *start;           /* size + 1 */
  long long *neighbours; /* start[size], ascending for each element, without itself */
  long long *weights;    /* size; NULL: all the same */
};

/* So many elements or fewer that meet are all neighbours; of more, each is one of half as many before and
 * after it. */
enum { GRAPH_MOST_NEIGHBOURS = 64 };

/* by_rows: two targets of the map are neighbours if a row holds both; else two sources are if they share a target.
 * Weights are of this rank's owned elements, may be NULL everywhere. Collective: all ranks succeed or all fail. */
int graph_build(struct graph *graph, struct comm *comm, const struct share *share, int map, bool by_rows,
                const long long *weights, struct error *err);
void graph_free(struct graph *graph);

/* The table that a plugin for partitioning exports as `op2jit_graph_partitioner`. Collective; a part for each element of the
 * block. `speeds`: as in struct part_request. A rank may fail alone: the caller asks the others. */
struct graph_partitioner {
  int version;
  const char *name;
  int (*part)(struct comm *comm, const struct graph *graph, int parts, const int *speeds, int *part,
              struct error *err);
};
enum { GRAPH_PARTITIONER_VERSION = 2 };

/* ---- parts for what tasks of graphs work on (tasks/graph.h), by PT-Scotch where it is there ---- */
struct unit_graph;

/* Collective; `context` is the context. Without PT-Scotch each part is -1. */
int unit_parts(void *context, const struct unit_graph *graph, int parts, int *part, int code,
               struct error *err);

#endif
