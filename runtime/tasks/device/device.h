/* Graphs whose tasks run on a device: types that have a kernel's text, and a graph as tables that one kernel works on
 * (jit/generate/gpu/tasks.c). */
#ifndef OP2JIT_TASKS_DEVICE_H
#define OP2JIT_TASKS_DEVICE_H

#include "tasks/graph.h"

/* Of a type; text NULL: its tasks do nothing. */
struct tasks_kernel {
  const char *type, *text, *name;
  int threads; /* that a group should have; 0: as the device likes */
};
int tasks_kernel_count(const struct task_graph *g);
struct tasks_kernel tasks_kernel(const struct task_graph *g, int type);

/* What is in the tables: numbers that a run changes, then where the tables of tasks, by weight, and of resources begin. Of
 * bits there are three levels, of which each says where the level below may have some. */
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

/* Memory of the host that the device has a copy of. */
struct tasks_block {
  unsigned char *host;
  size_t bytes, at; /* at: in the device's data */
  bool written;     /* tasks change it */
};
struct tasks_image {
  int *tables;
  size_t ntables;
  long long *places; /* of what tasks are passed, in the data; -1: NULL */
  size_t nplaces;
  struct tasks_block *blocks;
  size_t nblocks;
  size_t bytes; /* of all data */
};
/* `parameters`: how many each type's kernel has; the first is the task's data, the others are the memory of what it locks and
 * uses. OP_ERR_GRAPH: tasks wait in a circle, or lock and use less than their kernel has parameters. OP_ERR_BACKEND: a type has no
 * text. OP_ERR_SIZE, OP_ERR_MEMORY; OP_ERR_VIOLATION as tasks_run. */
int tasks_image_make(struct task_graph *g, const int parameters[], bool checked, struct tasks_image *out,
                     struct error *err);
void tasks_image_free(struct tasks_image *image);
void tasks_image_gather(const struct tasks_image *image, unsigned char *data);
/* Back to the host what tasks changed. */
void tasks_image_scatter(const struct tasks_image *image, const unsigned char *data);

/* A run that came to its end. Of the copies and the kernel: when they began, how long they took. */
enum tasks_phase { PHASE_COPY_IN, PHASE_KERNEL, PHASE_COPY_OUT, PHASES };
struct tasks_device_run {
  int groups;
  long long executed, refused, bytes;
  double start[PHASES], seconds[PHASES];
};
void tasks_ran_on_device(struct task_graph *g, const struct tasks_device_run *run, struct trace *trace);

#endif
