/* Graphs of tasks, for work that no loop over a set describes: factorisations by tiles, trees, lists of cells. A task is
 * a function with its data. Two relations say when it may run:
 *
 *   dependencies   this task runs after that one
 *   conflicts      two tasks that lock the same resource do not run at the same time; either may be the first
 *
 * Resources may have parents: a lock on one is a lock on all below it. A run takes first the tasks with the longest
 * way behind them, on the threads of the library. It measures what tasks cost, and the next run of the graph uses
 * that. Threads never wait for a lock: they take a task whose locks are all free.
 *
 * Each rank has its own graphs, and then all calls are local; or all ranks have one together (op_graph_ranks). Calls with a
 * graph are made outside of a run, those with an op_running by tasks, on any thread. docs/tasks.md is the manual. */
#ifndef OP2JIT_TASKS_H
#define OP2JIT_TASKS_H

#include <op2jit.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define op_decl_graph op2jit_decl_graph
#define op_free_graph op2jit_free_graph
#define op_graph_type op2jit_graph_type
#define op_graph_kernel op2jit_graph_kernel
#define op_graph_resource op2jit_graph_resource
#define op_graph_memory op2jit_graph_memory
#define op_graph_own op2jit_graph_own
#define op_graph_task op2jit_graph_task
#define op_graph_depend op2jit_graph_depend
#define op_graph_lock op2jit_graph_lock
#define op_graph_use op2jit_graph_use
#define op_graph_loop_array op2jit_graph_loop_array
#define op_graph_run op2jit_graph_run
#define op_graph_simulate op2jit_graph_simulate
#define op_graph_simulate_ranks op2jit_graph_simulate_ranks
#define op_graph_ranks op2jit_graph_ranks
#define op_graph_owner op2jit_graph_owner
#define op_graph_place op2jit_graph_place
#define op_graph_key op2jit_graph_key
#define op_graph_depend_key op2jit_graph_depend_key
#define op_running_memory op2jit_running_memory
#define op_graph_facts op2jit_graph_facts
#define op_running_add op2jit_running_add
#define op_running_thread op2jit_running_thread
#define op_running_threads op2jit_running_threads

typedef struct op2jit_graph *op_graph;
/* Numbers that a graph gives out; 0 is none. One of another graph is recognised. */
typedef long long op_task_type, op_task, op_resource;
/* The run that a task is part of: valid until its function returns, on its thread. */
typedef struct op2jit_running op_running;

/* A task's work. `data` is the graph's copy of what the task was given; a task may change it, and finds it so in the
 * next run. It must not call the library but for the op_running_* calls, and must return. */
typedef void op_task_function(op_running *running, void *data);

/* An empty graph. The name is for messages and reports. Errors: OP_ERR_MEMORY. */
op_graph op_decl_graph(const char *name);
/* Free it, with all its tasks and resources; op_exit does it too. Reports keep what they say of its runs. Errors:
 * OP_ERR_HANDLE. */
int op_free_graph(op_graph graph);

/* A type of tasks. Reports and messages show the name. With a `function` NULL its tasks do nothing: they join many
 * tasks with many others, so that n + m dependencies take the place of n times m. Errors: OP_ERR_HANDLE, OP_ERR_MEMORY. */
op_task_type op_graph_type(op_graph graph, const char *name, op_task_function *function);

/* The work of tasks of the type on a device, as a kernel's text (op_par_loop): void NAME(data, memory ...). `data` is a pointer to the
 * task's data, a copy; the others point to the memory of what the task locks and uses (op_graph_memory), in the order of
 * these calls. All point to op_task_memory: void sort(op_task_memory const int *cell, op_task_memory double *x). A group of
 * op_task_threads threads runs a task together, this one is op_task_thread; op_task_barrier() waits for all of them, and is
 * called by all. `threads`: how many, the most that a type of the graph asks for; 0: as the device likes. With OP2_BACKEND=cuda, hip
 * or opencl these tasks run there, and those of other types on the host. Elsewhere functions run.
 * Before the first task. Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT, OP_ERR_STATE, OP_ERR_MEMORY; what is wrong with the text
 * op_graph_run finds. */
int op_graph_kernel(op_graph graph, op_task_type type, const char *kernel_source, const char *kernel_name,
                    int threads);

/* A resource: whatever tasks must not do at the same time, such as changing one tile of a matrix. `parent` 0: none. The
 * name is for messages and may be NULL. Errors: OP_ERR_HANDLE, OP_ERR_SIZE, OP_ERR_MEMORY. */
op_resource op_graph_resource(op_graph graph, op_resource parent, const char *name);
/* The memory that the resource stands for, for OP2_CHECK: see op_graph_run. It must stay until the last run. */
int op_graph_memory(op_graph graph, op_resource resource, const void *memory, size_t bytes);
/* Tasks that lock or use it are given to this thread, in all runs, unless more of their resources belong to another
 * thread. A thread without tasks takes them all the same. A thread that a run does not have is thread % threads
 * there. -1: the thread that had it last, as without this call. Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT. */
int op_graph_own(op_graph graph, op_resource resource, int thread);

/* A task; `bytes` of `data` are copied (0: it gets NULL), aligned to 16 bytes. `cost`: how long it takes, in any unit
 * that the graph's tasks have in common; 0: unknown. Measured times take its place. Errors: OP_ERR_HANDLE,
 * OP_ERR_ARGUMENT for a cost that is negative or no number, OP_ERR_SIZE, OP_ERR_MEMORY. */
op_task op_graph_task(op_graph graph, op_task_type type, const void *data, size_t bytes, double cost);
/* `task` runs when `before` is over. Errors: OP_ERR_HANDLE, OP_ERR_GRAPH for a task that is to wait for itself,
 * OP_ERR_SIZE, OP_ERR_MEMORY. */
int op_graph_depend(op_graph graph, op_task task, op_task before);
/* `task` needs the resource, with all below it, for itself while it runs. Locking it twice, or one above it too, is
 * allowed. */
int op_graph_lock(op_graph graph, op_task task, op_resource resource);
/* `task` reads it: a hint where to run the task. It keeps no other task out; dependencies must order writers and
 * readers. */
int op_graph_use(op_graph graph, op_task task, op_resource resource);

/* ---- graphs of all ranks ---- */

/* How ranks say what is in a graph that they run together. */
enum {
  OP_GRAPH_WHOLE, /* each adds all of it, the same in the same order */
  OP_GRAPH_PARTS  /* each adds its part; types and resources of one name are the same, tasks have keys */
};
enum { OP_EVERY_RANK = -1 };

/* All ranks run the graph together, each some of its tasks. A task runs where most of its locked resources are, or
 * where op_graph_place says. The memory of resources (op_graph_memory) travels in messages: a task that locks or uses
 * a resource finds what the last task that locked it wrote, and when the run is over the owner has it. Memory NULL
 * with bytes: the library keeps it, zeros at first. Between tasks of different ranks locks and uses of a resource
 * come in an order that the library finds, by dependencies first. The first call with a graph. Collective, as
 * op_graph_run then is. Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT, OP_ERR_STATE, OP_ERR_MEMORY, OP_ERR_MPI. */
int op_graph_ranks(op_graph graph, int form);
/* The rank that has the resource between runs, with all in it that has no owner of its own: rank % ranks. Without
 * this call the library finds owners. For OP_GRAPH_WHOLE it partitions what is locked together, weighted by costs,
 * and the first values must be the same on all ranks. For OP_GRAPH_PARTS the owner is the lowest rank that adds the
 * resource. Local, as those that follow. Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT, OP_ERR_STATE. */
int op_graph_owner(op_graph graph, op_resource resource, int rank);
/* The rank that runs the task: rank % ranks. OP_EVERY_RANK: each rank runs it, and has its results without messages;
 * it must write the same everywhere. */
int op_graph_place(op_graph graph, op_task task, int rank);
/* For OP_GRAPH_PARTS: other ranks know the task by the key; and `task` runs behind the one that has that key, on any rank.
 * Errors: OP_ERR_HANDLE, OP_ERR_STATE, OP_ERR_MEMORY. */
int op_graph_key(op_graph graph, op_task task, long long key);
int op_graph_depend_key(op_graph graph, op_task task, long long key);

/* A loop in pieces, each a task: tasks[i], of the type that the kernel's name is, runs the elements bounds[i] up to
 * and without bounds[i + 1]. `bounds` has `npieces` + 1 numbers and is copied; NULL: all elements, in pieces of one
 * size. Elements before the first bound and from the last one on do not run: so a graph may have a part of a loop. In
 * a renumbered mesh elements count in the library's order. Locks and dependencies say which pieces must not run at
 * the same time, as for other tasks: pieces that increment the same targets lock a resource. A run of the graph is
 * one call of the loop, whose results are there after it. One process; backends native, seq and openmp. Errors:
 * OP_ERR_HANDLE, OP_ERR_ARGUMENT, OP_ERR_RANGE, OP_ERR_BACKEND, OP_ERR_MEMORY; what op_par_loop finds, op_graph_run
 * finds.
 *
 *   int op_graph_loop(op_graph graph, int npieces, const int *bounds, op_task tasks[], const char *kernel_source,
 *                     const char *kernel_name, op_set set, op_arg ...); */
int op_graph_loop_array(op_graph graph, int npieces, const int *bounds, op_task tasks[],
                        const char *kernel_source, const char *kernel_name, op_set set, int nargs,
                        const op_arg args[], const char *file, int line);
#ifndef __cplusplus
#define op_graph_loop(graph, npieces, bounds, tasks, ...)                                                    \
  OP2JIT_GRAPH_LOOP_((graph), (npieces), (bounds), (tasks), __VA_ARGS__)
#define OP2JIT_GRAPH_LOOP_(graph, npieces, bounds, tasks, source, name, set, ...)                            \
  (OP2JIT_MUST_BE_TEXT_(source),                                                                             \
   op2jit_graph_loop_array((graph), (npieces), (bounds), (tasks), (source), (name), (set),                   \
                           (int)(sizeof((op_arg[]){__VA_ARGS__}) / sizeof(op_arg)),                          \
                           (const op_arg[]){__VA_ARGS__}, __FILE__, __LINE__))
#endif

/* Run all tasks, each once, and wait for them. Loops that wait (OP2_LAZY) run before. May be called again, also after
 * more was added to the graph: what did not change is not built anew.
 *
 * With OP2_CHECK=on tasks run one by one. A task that changes the memory of a resource that it does not lock, and two
 * tasks without an order between them of which one locks a resource and the other uses it, are OP_ERR_VIOLATION.
 *
 * A graph of all ranks (op_graph_ranks) is run by all of them. If one of them fails, all return its error; tasks that
 * did not begin then do nothing. OP_ERR_MPI: ranks added different graphs. OP_ERR_GRAPH: a resource with two owners,
 * a task on a rank without its type, a key that no task has.
 *
 * The memory of what tasks of a device (op_graph_kernel) lock and use is copied there, and back what they lock, for the next
 * task of the host and at the end. OP_ERR_KERNEL, OP_ERR_COMPILE: a text is wrong. OP_ERR_BACKEND: there are several ranks.
 * OP_ERR_MEMORY: the device has too little.
 *
 * Errors: OP_ERR_GRAPH for tasks that wait for one another in a circle, and OP_ERR_STATE for loops while there is a tape or
 * tangents are on (op2jit_adjoint.h): none has run then. OP_ERR_MEMORY and OP_ERR_VIOLATION: some have run, and the rest
 * will not. */
int op_graph_run(op_graph graph);

/* From inside a task: one more task for this run, which locks `nlocks` resources. Tasks that wait for the task that
 * adds it wait for it too. It is gone when it has run. Only tasks that did not run yet need memory. Errors end the
 * run, which returns them: OP_ERR_HANDLE, OP_ERR_ARGUMENT, OP_ERR_MEMORY; OP_ERR_STATE if the task that `running` was
 * given to is over. If its run is over too, this call has the error, as other calls do. */
int op_running_add(op_running *running, op_task_type type, const void *data, size_t bytes, double cost,
                   int nlocks, const op_resource locks[]);
/* The thread that runs this task, from 0, and how many there may be: for memory of each thread. */
int op_running_thread(const op_running *running);
int op_running_threads(const op_running *running);
/* For a graph of all ranks: the memory of a resource that the task locks or uses, in the order of these calls, from 0. NULL:
 * there is none. Tasks may run on a rank whose memory lies elsewhere than that of the one that added them. */
void *op_running_memory(const op_running *running, int index);

/* How many seconds a run would take on so many threads, if tasks took as long as they were measured to take and
 * finding the next one as long as it does on average here. Memory and caches that threads share do not count: it is
 * the time that the graph and its conflicts allow. -1 at an error: OP_ERR_HANDLE, OP_ERR_STATE before the first run
 * on the host, OP_ERR_ARGUMENT, OP_ERR_MEMORY. */
double op_graph_simulate(op_graph graph, int threads);

/* Ranks on some network: a message takes `latency` seconds, and its bytes as long as the network of a rank needs for them.
 * Zeros at its end: later versions may have more. */
typedef struct op2jit_graph_network {
  int ranks, threads; /* of each rank */
  double latency, bytes_per_second;
  double reserved[4];
} op_graph_network_t;
/* The same of a graph of all ranks, on that many ranks and threads: owners are those of op_graph_owner % ranks, others as
 * costs say. Collective. -1 at an error: OP_ERR_HANDLE, OP_ERR_STATE, OP_ERR_ARGUMENT, OP_ERR_MEMORY, OP_ERR_MPI. */
double op_graph_simulate_ranks(op_graph graph, const op_graph_network_t *network);

/* Facts about a graph, and about its last run: the report has sums of all runs. */
typedef struct op2jit_graph_facts {
  long long tasks, dependencies, resources, locks;
  long long builds;   /* how often the order of its tasks was worked out */
  long long runs;     /* that came to their end, in all */
  long long threads;  /* of the last run, as all that follows but bytes and critical */
  long long executed; /* tasks, with those that were added while it ran */
  long long stolen;   /* of them, tasks that another thread ran than the one that had them */
  long long refused;  /* how often a task was passed over, because a lock was not free */
  long long bytes;    /* of memory that the graph holds */
  double seconds;     /* from its begin to its end */
  double busy;        /* of it inside of tasks, summed over threads */
  double idle;        /* without any task that could run, or not awake yet, summed over threads */
  double critical;    /* the longest way through the graph, by what tasks took in all runs, late ones more */
  /* A graph of all ranks, this rank's part of the last run: */
  long long ranks;         /* that ran it; 1: of one process */
  long long messages;      /* that this one sent */
  long long message_bytes; /* in them */
  double waited;           /* of its idle time, for messages */
  /* A last run on a device: */
  long long groups;       /* of threads, that took tasks, in `threads` too; 0: it was the host's */
  long long device_bytes; /* of memory there */
  double copying; /* seconds of copies to it and back, which count as idle; in `busy` is all of the kernel */
  double reserved[1];
} op_graph_facts_t;
/* Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT. */
int op_graph_facts(op_graph graph, op_graph_facts_t *facts);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
} /* extern "C" */

template <typename... Args>
inline int op2jit_graph_loop_at(const char *file, int line, op_graph graph, int npieces, const int *bounds,
                                op_task *tasks, const char *source, const char *name, op_set set,
                                Args... args) {
  const op_arg list[] = {args...};
  return op2jit_graph_loop_array(graph, npieces, bounds, tasks, source, name, set,
                                 static_cast<int>(sizeof...(Args)), list, file, line);
}
#define op_graph_loop(...) op2jit_graph_loop_at(__FILE__, __LINE__, __VA_ARGS__)
#endif

#endif
