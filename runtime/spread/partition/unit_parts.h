/* Parts for what tasks of graphs work on (tasks/graph.h), by PT-Scotch where it is there. */
#ifndef OP2JIT_SPREAD_UNIT_PARTS_H
#define OP2JIT_SPREAD_UNIT_PARTS_H

#include "base/error.h"

struct unit_graph;

/* Collective; `context` is the context. Without PT-Scotch each part is -1. */
int unit_parts(void *context, const struct unit_graph *graph, int parts, int *part, int code,
               struct error *err);

#endif
