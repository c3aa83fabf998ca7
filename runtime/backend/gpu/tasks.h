/* Graphs of tasks on a device: one kernel, in as many groups as run at once, takes tasks until none is left. */
#ifndef OP2JIT_BACKEND_GPU_TASKS_H
#define OP2JIT_BACKEND_GPU_TASKS_H

#include "backend/gpu/gpu.h"
#include "tasks/device.h"

/* The compiled kernel of a graph. */
struct gpu_graph_program {
  gpu_function function;
  int threads;     /* of a group */
  int *parameters; /* of each type's kernel */
};
int gpu_graph_program(struct op_context *ctx, const struct task_graph *g, struct gpu_graph_program *out,
                      struct error *err);

/* As struct backend has it. */
int gpu_run_tasks(struct op_context *ctx, struct task_graph *g, const struct tasks_options *options,
                  struct error *err);

#endif
