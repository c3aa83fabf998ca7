/* Spans of time, for OP2_TIMING=trace and html, as long as there is room; and for tools (op2jit_tools.h), which are
 * told at once. */
#ifndef OP2JIT_TRACE_H
#define OP2JIT_TRACE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/list.h"
#include "op2jit_tools.h"

enum trace_kind {
  TRACE_LOOP = OP_EVENT_LOOP,
  TRACE_TRIAL = OP_EVENT_TRIAL,
  TRACE_PLAN = OP_EVENT_PLAN,
  TRACE_COMPILE = OP_EVENT_COMPILE,
  TRACE_LOAD = OP_EVENT_LOAD,
  TRACE_EXCHANGE = OP_EVENT_EXCHANGE,
  TRACE_WAIT = OP_EVENT_WAIT,
  TRACE_COPY = OP_EVENT_COPY,
  TRACE_CALL = OP_EVENT_CALL,
  TRACE_PROVE = OP_EVENT_PROVE,
  TRACE_FILE = OP_EVENT_FILE,
  TRACE_THREAD, /* tools are not told, */
  TRACE_TASK,   /* and not of a task of a graph */
  TRACE_KINDS
};

struct trace_event {
  enum trace_kind kind;
  int thread;                /* of TRACE_THREAD and TRACE_TASK: 0 is the program's own */
  int run;                   /* of TRACE_TASK: which run of any graph, from 1 */
  const char *name, *detail; /* the trace's; detail "": none */
  double start, seconds;     /* of the one clock */
  double bytes;              /* that it must have moved, 0: nobody knows */
  double waited;             /* of TRACE_THREAD: seconds at barriers */
};

/* The work of a thread in one execution. */
struct trace_thread {
  double start, seconds, waited; /* start 0: it takes no part */
};

/* The program's calls beside loops, and their time without loops that waited: by name. */
enum { TRACE_CALLS = 32 };
struct trace_call {
  const char *name; /* the library's */
  long long times;
  double seconds;
};

struct trace {
  const struct op_checkpoint_facts *checkpoints; /* so far; NULL: none are wanted */
  struct trace_call calls[TRACE_CALLS];          /* the first ones that came */
  int ncalls;
  bool wanted;  /* by a report or a tool */
  bool apart;   /* threads too */
  double began; /* when the context was made */
  struct trace_event *events;
  int count, most;   /* events that are kept */
  long long lost;    /* events that there was no room for */
  int runs;          /* of graphs of tasks */
  struct list words; /* names and details, each once */
  struct op_tool *tools;
  int ntools;
  struct trace_thread *threads; /* of the execution under way */
  int nthreads;
};

/* The table is copied. OP_ERR_MEMORY. */
int trace_add_tool(struct trace *t, const struct op_tool *tool, struct error *err);
/* One more call of that name. */
void trace_called(struct trace *t, const char *name, double seconds);
/* Tools only: a span of this loop follows. */
void trace_loop_begins(const struct trace *t, const char *name);

/* End now what began at `start`. Without a wanted trace nothing happens. The texts are copied; detail may be NULL. */
void trace_until_now(struct trace *t, enum trace_kind kind, const char *name, const char *detail,
                     double start, double bytes);
/* The same for one that took so long. */
void trace_span(struct trace *t, enum trace_kind kind, const char *name, const char *detail, double start,
                double seconds, double bytes);
/* Cleared room for what so many threads do now; NULL: nobody wants to know, or there is no memory. */
struct trace_thread *trace_room(struct trace *t, int count);
static inline struct trace_thread *trace_threads(struct trace *t, int count) {
  return t->apart ? trace_room(t, count) : NULL;
}
/* They have done it: those that took part are events. */
void trace_threads_ran(struct trace *t, const char *name, const char *detail);
/* A run of a graph: its tasks follow. */
void trace_graph_ran(struct trace *t);
/* A task of that type ran on a thread, as part of it. */
void trace_task(struct trace *t, const char *type, const char *graph, int thread, double start,
                double seconds, double bytes);
void trace_free(struct trace *t);

/* Its name, and the row of a picture that it belongs to. */
const char *trace_kind_name(enum trace_kind kind);
const char *trace_kind_row(enum trace_kind kind);

#endif
