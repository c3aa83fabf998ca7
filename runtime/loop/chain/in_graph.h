/* Pieces of a loop as tasks of a program's graph. A run of the graph is one call of each of its loops. */
#ifndef OP2JIT_LOOP_CHAIN_IN_GRAPH_H
#define OP2JIT_LOOP_CHAIN_IN_GRAPH_H

#include "record/record.h"
#include "tasks/graph.h"

/* The call is copied. `bounds` NULL: pieces of one size. */
int graph_loop_add(struct op_context *ctx, struct task_graph *g, const struct loop_call *call, int npieces,
                   const int bounds[], op_task tasks[], struct error *err);
/* Before a run: their launches are ready. After it, with how it went: their results. */
int graph_loops_begin(struct op_context *ctx, const struct task_graph *g, struct error *err);
int graph_loops_end(struct op_context *ctx, const struct task_graph *g, int code, struct error *err);
/* Free the loops of that graph, or of all (NULL). */
void graph_loops_free(struct op_context *ctx, const struct task_graph *g);

#endif
