/* Graphs of tasks with conflicts, as op2jit_tasks.h says. A graph is built by adding to it; a run sorts what is new
 * (prepare.c) and lets the team's threads take tasks until none is left (run.c). Knows no mesh and no loop. */
#ifndef OP2JIT_TASKS_GRAPH_H
#define OP2JIT_TASKS_GRAPH_H

#include <stdbool.h>

#include "base/error.h"
#include "base/list.h"
#include "op2jit_tasks.h"

struct task_graph;
struct team;
struct trace;

/* `serial` > 0 tells the graph's numbers from those of others. NULL: no memory. */
struct task_graph *tasks_new(const char *name, int serial);
void tasks_free(struct task_graph *g);
/* A graph goes, and what reports say of its runs goes to a list, there together with others of its name and types: a program may
 * make a graph for each step. Of those in the list tasks_name and tasks_tell to tasks_sums say what they did; the caller
 * frees them. */
void tasks_retire(struct list *past, struct task_graph *g);
const char *tasks_name(const struct task_graph *g);

/* Each gives the number of what it adds, 0 with an error. Numbers come from programs: they are checked. */
op_task_type tasks_add_type(struct task_graph *g, const char *name, op_task_function *function,
                            struct error *err);
/* See op_graph_kernel; and has any type one? */
int tasks_add_kernel(struct task_graph *g, op_task_type type, const char *text, const char *name, int threads,
                     struct error *err);
bool tasks_has_kernels(const struct task_graph *g);
op_resource tasks_add_resource(struct task_graph *g, op_resource parent, const char *name, struct error *err);
op_task tasks_add_task(struct task_graph *g, op_task_type type, const void *data, size_t bytes, double cost,
                       struct error *err);
int tasks_depend(struct task_graph *g, op_task task, op_task before, struct error *err);
int tasks_lock(struct task_graph *g, op_task task, op_resource resource, struct error *err);
int tasks_use(struct task_graph *g, op_task task, op_resource resource, struct error *err);
int tasks_memory(struct task_graph *g, op_resource resource, const void *memory, size_t bytes,
                 struct error *err);
int tasks_own(struct task_graph *g, op_resource resource, int thread, struct error *err);

/* How much of it there is; and back to that, where what was added since has no dependencies. */
struct tasks_mark {
  int types, tasks, resources;
};
struct tasks_mark tasks_mark(const struct task_graph *g);
void tasks_back_to(struct task_graph *g, struct tasks_mark mark);

/* On several ranks; a form is one of op2jit_tasks.h. */
int tasks_ranks(struct task_graph *g, int form, struct error *err);
bool tasks_on_ranks(const struct task_graph *g);
int tasks_owner(struct task_graph *g, op_resource resource, int rank, struct error *err);
int tasks_place(struct task_graph *g, op_task task, int rank, struct error *err);
int tasks_key(struct task_graph *g, op_task task, long long key, struct error *err);
int tasks_depend_key(struct task_graph *g, op_task task, long long key, struct error *err);

/* Units of memory as a graph, for a partitioner: neighbours are locked by one task. The same on all ranks. */
struct unit_graph {
  int count;
  long *start; /* count + 1 */
  int *neighbours;
  long long *weights;
};

struct comm;
struct phases;
struct tasks_options {
  struct team *team; /* NULL: the caller alone */
  int threads;
  bool checked;        /* one by one, with the check of what tasks change */
  struct trace *trace; /* NULL: nobody wants to see when which task ran */
  /* On ranks: those that agree; what messages go through; tasks that lock the same run in one order. */
  struct comm *comm, *messages;
  bool ordered;
  /* A part for each unit. Collective: `code` is how this rank came there. NULL: there is no partitioner. */
  int (*partition)(void *argument, const struct unit_graph *graph, int parts, int *part, int code,
                   struct error *err);
  void *argument;
  struct phases *phases; /* of a run with a device; see phases.h */
};
/* OP_ERR_GRAPH, OP_ERR_MEMORY, OP_ERR_VIOLATION. */
int tasks_run(struct task_graph *g, const struct tasks_options *options, struct error *err);

/* See op_running_add. Not tasks_in_run: its run is over, and nobody is there to be told of an error but the caller. */
bool tasks_in_run(const op_running *running);
int tasks_add_running(op_running *running, op_task_type type, const void *data, size_t bytes, double cost,
                      int nlocks, const op_resource locks[]);
extern const char tasks_over_words[];

void tasks_tell(struct task_graph *g, op_graph_facts_t *facts);
/* One of its types in all runs: false if there are no more. */
struct tasks_type_facts {
  const char *name;
  long long count;
  double seconds;
};
bool tasks_tell_type(const struct task_graph *g, int index, struct tasks_type_facts *facts);
/* Sums over all runs. */
struct tasks_sums {
  long long runs, executed;
  double seconds, busy, idle, thread_seconds; /* thread_seconds: a run's time, by its threads */
};
struct tasks_sums tasks_sums(const struct task_graph *g);
/* Seconds that threads spent neither in tasks nor without any. */
static inline double tasks_between(const struct tasks_sums *s) {
  const double between = s->thread_seconds - s->busy - s->idle;
  return between > 0 ? between : 0;
}

/* See op_graph_simulate; < 0 with an error. */
double tasks_simulate(struct task_graph *g, int threads, struct error *err);
/* See op_graph_simulate_ranks. */
double tasks_simulate_ranks(struct task_graph *g, const op_graph_network_t *network,
                            const struct tasks_options *options, struct error *err);

#endif
