#include "record/trace.h"

#include "base/size.h"
#include "context/context.h"
#include "ranks/comm.h"
#include "record/sites.h"

enum { MOST_EVENTS = 1 << 20 };

void trace_add(const struct op_context *ctx, const struct loop *loop, double start, double seconds) {
  struct trace *t = ctx->trace;
  struct trace_event *events =
      t->count < MOST_EVENTS ? array_more(t->events, (size_t)t->count, sizeof *events) : NULL;
  if (!events)
    return;
  t->events = events;
  events[t->count++] = (struct trace_event){.name = loop->site->name,
                                            .category = "loop",
                                            .start = start,
                                            .seconds = seconds,
                                            .rank = ctx->comm->rank};
}
