/* Calls of loops, for OP2_TIMING=trace: one event per call, as long as there is room. */
#ifndef OP2JIT_TRACE_H
#define OP2JIT_TRACE_H

#include "record/record.h"

struct trace_event {
  const char *name, *category;
  double start, seconds; /* since any fixed time */
  int rank;
};

struct trace {
  bool wanted;
  struct trace_event *events; /* their names are those of the loops' sites */
  int count;
};

void trace_add(const struct op_context *ctx, const struct loop *loop, double start, double seconds);

#endif
