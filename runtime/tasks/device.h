/* Graphs whose tasks run on a device, all or some: types that have a kernel's text, and tasks as tables that one kernel works
 * on (jit/emit/gpu/tasks.c). */
#ifndef OP2JIT_TASKS_DEVICE_H
#define OP2JIT_TASKS_DEVICE_H

#include "tasks/graph.h"

/* The kernel of a type. Text NULL: its tasks run on the host, or do nothing. */
struct tasks_kernel {
  const char *type, *text, *name;
  int threads; /* that a group should have; 0: as the device likes */
};
int tasks_kernel_count(const struct task_graph *g);
struct tasks_kernel tasks_kernel(const struct task_graph *g, int type);

/* The head of the tables: numbers that a run changes, then where the tables of tasks (by weight) and of resources begin. Of
 * bits there are three levels: each says where the level below may have some. */
enum tasks_table {
  TABLE_LEFT,    /* tasks that are not over */
  TABLE_REFUSED, /* how often one was passed over */
  TABLE_EXECUTED,
  TABLE_WORDS, /* of the bits of each level */
  TABLE_BITS = TABLE_WORDS + 3,
  TABLE_WAIT = TABLE_BITS + 3,
  TABLE_STATE, /* as that of struct resource */
  TABLE_PARENT,
  TABLE_TYPE,
  TABLE_PLACES, /* where a task's places begin */
  TABLE_LOCKS,  /* rows of resources, and their items; the same of tasks that wait */
  TABLE_LOCK_ITEMS,
  TABLE_AFTER,
  TABLE_AFTER_ITEMS,
  TABLE_HEAD
};

/* Places are what tasks are passed, in the device's data; -1: NULL. */
struct tasks_tables {
  int *items;
  long long *places;
  size_t nitems, nplaces;
};

/* A device's functions for a run, called from one thread at a time; each call is over when it returns. */
struct tasks_device {
  void *self;
  const int *
      parameters; /* of each type's kernel: the first is the task's data, the others are what it locks and uses */
  /* Memory for so many bytes of data, and for the largest tables. */
  int (*open)(void *self, size_t bytes, const struct tasks_tables *most, struct error *err);
  void (*enter)(void *self); /* the calls that follow come from this thread */
  int (*copy_in)(void *self, size_t at, const void *from, size_t bytes, struct error *err);
  int (*copy_out)(void *self, void *to, size_t at, size_t bytes, struct error *err);
  /* Runs all tasks of the tables, whose head then says what happened, in so many groups. */
  int (*work)(void *self, const struct tasks_tables *tables, int *groups, struct error *err);
};
/* Tasks of types that have a text run on the device, and others on the team's threads. OP_ERR_GRAPH: tasks wait in a circle, or
 * lock and use less than their kernel has parameters. OP_ERR_SIZE, OP_ERR_MEMORY; OP_ERR_VIOLATION as tasks_run, of uses alone;
 * what the device's calls say. */
int tasks_run_on_device(struct task_graph *g, const struct tasks_device *device,
                        const struct tasks_options *options, struct error *err);

#endif
