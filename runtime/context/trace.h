/* What happened when, for OP2_TIMING=trace and html: spans of time, as long as there is room. */
#ifndef OP2JIT_TRACE_H
#define OP2JIT_TRACE_H

#include <stdbool.h>

#include "base/list.h"

enum trace_kind {
  TRACE_LOOP,
  TRACE_TRIAL, /* a call of a loop with a variant that is only tried */
  TRACE_PLAN,
  TRACE_COMPILE,
  TRACE_LOAD, /* code from the cache */
  TRACE_EXCHANGE,
  TRACE_WAIT, /* for other ranks */
  TRACE_CALL, /* any call that is no loop: files, partitioning, data to and from the program */
  TRACE_KINDS
};

struct trace_event {
  enum trace_kind kind;
  const char *name, *detail; /* the trace's; detail "": none */
  double start, seconds;     /* of the one clock */
  double bytes;              /* that it must have moved, 0: nobody knows */
};

struct trace {
  bool wanted;
  double began; /* when the context was made */
  struct trace_event *events;
  int count, most;   /* most: 0 is a million */
  long long lost;    /* events that there was no room for */
  struct list words; /* names and details, each once */
};

/* What `start` began ends now. Nothing happens unless a trace is wanted. The texts are copied; detail may be
 * NULL. */
void trace_until_now(struct trace *t, enum trace_kind kind, const char *name, const char *detail,
                     double start, double bytes);
/* The same for one that took so long. */
void trace_span(struct trace *t, enum trace_kind kind, const char *name, const char *detail, double start,
                double seconds, double bytes);
void trace_free(struct trace *t);

/* Its name, and the row of a picture that it belongs to. */
const char *trace_kind_name(enum trace_kind kind);
const char *trace_kind_row(enum trace_kind kind);

#endif
