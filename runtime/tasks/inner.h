/* The structures of a graph, for the files of this room. */
#ifndef OP2JIT_TASKS_INNER_H
#define OP2JIT_TASKS_INNER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "exec/team_gate.h"
#include "tasks/graph.h"

struct graph_ranks;
struct messages;
struct phases;

/* Kinds of what has a number. */
enum number_kind { NUMBER_TYPE, NUMBER_TASK, NUMBER_RESOURCE };

struct task {
  void *data;         /* the graph's copy; NULL: none */
  float cost, weight; /* how long it takes; the longest way from its beginning to the end of the graph */
  /* Before it runs: how many tasks it waits for. From its beginning on: 1, and of those that it and its added tasks added
   * the ones that are not over. */
  _Atomic int wait;
  int before; /* tasks that it waits for, of a graph's own */
  int type;
  bool is_added; /* while the graph ran: it is a struct added */
};

/* A task that was added by another one. Behind it: its locks, then its data. */
struct added {
  struct task task;
  struct task *parent; /* the graph's own task that it came from, which is not over before this one is */
  int nlocks;
  int locks[];
};

/* Whether a resource is free is one number: 0 is free, LOCKED is locked, any other says how many below are locked. */
enum { LOCKED = -1 };
struct resource {
  _Atomic int state;
  int parent;        /* -1: none */
  _Atomic int owner; /* the thread that had it last, a hint; -1: none */
  int fixed;         /* the owner stays */
};
/* For messages and checks. */
struct resource_more {
  char *name;
  const void *memory;
  size_t bytes;
  uint64_t seen; /* the sum of what was there */
  int rank;      /* on several ranks: who has it between runs, in any number; -1: nobody said */
};

struct task_type {
  char *name;
  op_task_function *function; /* NULL: nothing to do */
  long long count;            /* of its tasks that ran, in all runs */
  double seconds;
  char *text, *kernel; /* what its tasks do on a device: NULL: it has no kernel */
  int threads;         /* of a group there; 0: as the device likes */
};
/* True if its tasks do anything, here or on a device. */
static inline bool tasks_type_works(const struct task_type *type) {
  return type->function || type->text;
}

/* Runs with a device. The last one's groups of threads, threads (the host's too), memory there, seconds of copies. */
struct on_device {
  int groups, threads; /* 0: the last run was the host's */
  long long runs, bytes;
  double copies;
};
/* Types of a device's work beside tasks. */
enum type_of_device { COPY_IN, COPY_OUT, KERNEL, TYPES_OF_DEVICE };

/* For each task some numbers: of tasks behind it, of resources. New pairs wait until they are sorted into rows. A row may
 * end before the next begins, with -1. */
struct pair {
  int task, other;
};
struct relation {
  struct pair *added;
  size_t nadded;
  unsigned *at; /* rows: items[at[t]] .. items[at[t + 1] - 1]; NULL: there are none */
  int *items;
  size_t count; /* sorted, with gaps */
  int tasks;    /* that have rows */
};
/* OP_ERR_MEMORY. */
int relation_add(struct relation *r, int task, int other, struct error *err);
int relation_sort(struct relation *r, int ntasks, struct error *err);
void relation_free(struct relation *r);
size_t relation_bytes(const struct relation *r);

struct row {
  const int *begin, *end;
};
static inline struct row relation_row(const struct relation *r, size_t task) {
  if (!r->at)
    return (struct row){0};
  return (struct row){r->items + r->at[task], r->items + r->at[task + 1]};
}

/* Copies of data, in pieces. */
struct piece {
  struct piece *next;
  size_t used, size;
  _Alignas(16) unsigned char bytes[];
};

/* Ready tasks: a heap by weight. The mutex is for `heap`; `count` may be looked at without. */
struct entry {
  double weight;
  struct task *task;
};
struct ready {
  pthread_mutex_t mutex;
  struct entry *heap;
  int most; /* entries that there is room for */
  _Atomic int count;
};

struct type_time {
  long long count;
  long ns;
};
struct event {
  int type;
  int thread; /* behind the last one: messages, which none runs */
  long begin, end;
  size_t bytes; /* of a copy */
};

struct op2jit_running {
  struct run *run;
  struct worker *worker;
  /* The one under way, NULL between two. relaxed: its own thread asks. A program that kept the op_running of a task that
   * is over may ask on any thread, and is refused where NULL shows it. */
  _Atomic(struct task *) task;
};

/* One thread of a run. */
struct worker {
  _Alignas(64) struct ready ready;
  struct op2jit_running running;
  int thread;
  uint64_t random;
  long span, busy, idle; /* ns: from its first look to its last; of it in tasks, and without any */
  long long executed, stolen, refused;
  struct type_time *types;
  struct event *events; /* for the trace */
  size_t nevents, told;
};

struct run {
  struct task_graph *graph;
  struct team *team;
  struct check *check;       /* NULL: a run that is not checked */
  struct messages *messages; /* of ranks; NULL: a graph of one process */
  struct phases *phases;     /* of a device; NULL: it has no part in it */
  int threads, ntypes;
  int nworkers; /* those of threads; the device's is behind them */
  bool recording;
  struct error *err; /* under `mutex`: the first one counts */
  pthread_mutex_t mutex;
  struct worker *workers;
  _Alignas(64) _Atomic long long left; /* tasks that are not over */
  _Alignas(64) _Atomic int idle;       /* threads that look for a task for the last time before they sleep */
  /* The orders of these are in run.c; any would do for `failed` and `lost`: the error itself is under the mutex. */
  _Atomic bool stopped; /* none is left, or one failed */
  _Atomic bool failed;  /* with messages: tasks do nothing more, and these go on */
  _Atomic bool lost;    /* and they cannot go on: there is no memory, or MPI failed */
  struct gate gate;     /* raised for those that sleep */
};

struct task_graph {
  char *name;
  int serial;
  struct task_type *types;
  int ntypes;
  struct task *tasks;
  int ntasks;
  struct resource *resources;
  struct resource_more *more;
  int nresources;
  struct relation after, locks, uses; /* after: the tasks that wait for this one */
  struct relation touched;            /* with kernels, or on ranks: locks and uses in the program's order */
  int nkernels;                       /* types that have one */
  int copies;                         /* and then the first of enum type_of_device */
  struct piece *pieces;
  /* From prepare.c: */
  int *order;      /* tasks, each behind those that it waits for */
  int nroots;      /* of them, the first: they wait for none */
  bool sorted;     /* nothing was added since */
  bool unfinished; /* the last run ended early: counts and locks are what they were then */
  long long builds;
  struct run *run; /* the last one, with its threads' memory */
  long long runs, stolen, refused, executed;
  double seconds, spans, busy, idle;
  struct tasks_sums sums;
  bool past;             /* see tasks_retire: only its name, types, sums and this are left: */
  op_graph_facts_t last; /* of its last run */
  struct on_device device;
  double unit;               /* seconds for one of the program's units of cost; 0: not known yet */
  struct graph_ranks *ranks; /* of a graph that several ranks run; NULL: of this process alone */
  /* A part that one rank runs: the graph that it is of, for each of its tasks the one there or -1, its messages. */
  const struct task_graph *of;
  int *origins;
  struct messages *messages;
};

/* True if the resource is `above`, or lies in it. */
static inline bool resource_is_in(const struct task_graph *g, int resource, int above) {
  while (resource >= 0 && resource != above)
    resource = g->resources[resource].parent;
  return resource == above;
}

/* number.c */
long long tasks_number(const struct task_graph *g, enum number_kind kind, int index);
/* A number of this graph: its index, -1 with an error. */
int tasks_index(const struct task_graph *g, long long number, enum number_kind kind, struct error *err);
/* "task 12 (sort)" of a graph's own tasks, "a task (sort) that was added" of others. */
void tasks_task_words(const struct task_graph *g, const struct task *task, struct text *out);
void tasks_resource_words(const struct task_graph *g, int resource, struct text *out);
/* An error of the graph in these words, which are freed. Returns the code. */
int tasks_refuse(const struct task_graph *g, int code, struct text *words, struct error *err);

/* For qsort of ints. */
static inline int tasks_by_number(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* prepare.c */
int tasks_prepare(struct task_graph *g, struct error *err);
/* Weights by what tasks cost now. */
void tasks_weigh(struct task_graph *g);
/* The longest way. */
double tasks_critical(struct task_graph *g);
/* Without those that are there twice or have one above them among them; in order. Returns how many are left. */
int tasks_tidy_locks(const struct task_graph *g, int *locks, int nlocks);

/* locks.c */
static inline struct row task_locks(const struct task_graph *g, const struct task *task) {
  if (!task->is_added)
    return relation_row(&g->locks, (size_t)(task - g->tasks));
  const struct added *a = (const struct added *)(const void *)task;
  return (struct row){a->locks, a->locks + a->nlocks};
}
/* One of them is the resource, or one around it. */
bool locks_cover(const struct task_graph *g, struct row locks, int resource);
/* All of them or none. *disturbed: some were held for a moment, and others may have seen them so. */
bool locks_take(const struct task_graph *g, struct row locks, bool *disturbed);
void locks_give(const struct task_graph *g, struct row locks);

/* ready.c: false: no memory. */
bool ready_put(struct ready *q, struct task *task, double weight);
/* The first one, by weight, whose locks are free, and takes them. NULL: there is none, or (unless `surely`) another thread
 * is at this queue. */
struct task *ready_take(struct ready *q, const struct task_graph *g, bool surely, long long *refused,
                        bool *disturbed);

/* graph.c: an empty task behind the others; NULL with an error. */
struct task *tasks_new_task(struct task_graph *g, struct error *err);

/* kernels.c: OP_ERR_BACKEND: a type of the graph has nothing to run on the host. */
int tasks_need_device(const struct task_graph *g, struct error *err);

/* tell.c: that the graph holds. */
long long tasks_bytes(const struct task_graph *g);

/* run.c */
void run_free(struct run *r);
/* A graph that is prepared; what its run took is told to `to`, mostly the same graph. */
int run_prepared(struct task_graph *to, struct task_graph *g, const struct tasks_options *options,
                 struct error *err);
/* The task, and all that it added, are over. */
void run_finish(struct run *r, struct worker *w, struct task *task);
/* A task that waits for nothing any more. false: no memory, which ends the run; one that was added is freed then. */
bool run_ready(struct run *r, struct worker *w, struct task *task);
/* Others may go on by what this thread did: so many of those that sleep look again. */
void run_changed(struct run *r, int most);
/* The first error ends the run. Returns its code. */
int run_fail(struct run *r, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
int run_fail_memory(struct run *r, const char *what, size_t bytes);
/* Something of the type was done, for sums and pictures, by the thread or what a picture has in its place. */
void worker_did(const struct run *r, struct worker *w, int type, int thread, long begin, long end,
                size_t bytes);

/* check.c */
struct check;
/* OP_ERR_VIOLATION if one task locks and another one uses a resource, with no order between the two. */
int check_uses(const struct task_graph *g, struct error *err);
int check_begin(struct check **out, struct task_graph *g, struct error *err);
/* OP_ERR_VIOLATION. */
int check_after(struct check *c, const struct task *task, struct error *err);
/* While a message arrives nobody looks at the memory of the resource, and at what is around it. */
void check_hide(struct check *c, int resource, bool hidden);
void check_done(struct check *c);

#endif
