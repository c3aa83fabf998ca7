/* Types that have a kernel's text, and what a run on a device did. */
#include <stdlib.h>
#include <string.h>

#include "context/trace.h"
#include "tasks/device/device.h"
#include "tasks/inner.h"

int tasks_add_kernel(struct task_graph *g, op_task_type type, const char *text, const char *name, int threads,
                     struct error *err) {
  enum { MOST_THREADS = 1024 };
  const int index = tasks_index(g, type, NUMBER_TYPE, err);
  if (index < 0)
    return err->code;
  if (!text || !name || threads < 0 || threads > MOST_THREADS)
    return error_set(err, OP_ERR_ARGUMENT, "graph \"%s\", type \"%s\": %s", g->name, g->types[index].name,
                     text && name ? "give 0 to 1024 threads, 0 for as many as the device likes"
                                  : "the kernel's text or name is NULL; give both");
  if (g->ranks || g->ntasks > 0)
    return error_set(err, OP_ERR_STATE, "graph \"%s\", type \"%s\": %s", g->name, g->types[index].name,
                     g->ranks
                         ? "graphs of all ranks (op_graph_ranks) run on the host, so types have no kernels"
                         : "kernels are given before the first task is added");
  struct task_type *t = &g->types[index];
  char *text_copy = strdup(text), *name_copy = strdup(name);
  if (!text_copy || !name_copy) {
    free(text_copy);
    free(name_copy);
    return error_memory_of(err, "a kernel of graph", g->name, strlen(text) + strlen(name));
  }
  g->nkernels += !t->text;
  free(t->text);
  free(t->kernel);
  t->text = text_copy;
  t->kernel = name_copy;
  t->threads = threads;
  return OP_OK;
}

bool tasks_has_kernels(const struct task_graph *g) {
  return g->nkernels > 0;
}

int tasks_kernel_count(const struct task_graph *g) {
  return g->ntypes;
}

struct tasks_kernel tasks_kernel(const struct task_graph *g, int type) {
  const struct task_type *t = &g->types[type];
  return (struct tasks_kernel){.type = t->name, .text = t->text, .name = t->kernel, .threads = t->threads};
}

int tasks_need_device(const struct task_graph *g, struct error *err) {
  for (int i = 0; i < g->ntypes; i++)
    if (g->types[i].text && !g->types[i].function)
      return error_set(
          err, OP_ERR_BACKEND,
          "graph \"%s\": type \"%s\" has a kernel's text and no function, so it runs on a device "
          "only; use OP2_BACKEND=cuda, hip or opencl, or give op_graph_type a function",
          g->name, g->types[i].name);
  return OP_OK;
}

static void count_types(struct task_graph *g, double seconds) {
  double costs = 0;
  for (int t = 0; t < g->ntasks; t++)
    costs += g->types[g->tasks[t].type].text ? (double)g->tasks[t].cost : 0;
  for (int t = 0; t < g->ntasks; t++) {
    struct task_type *type = &g->types[g->tasks[t].type];
    if (!type->text)
      continue;
    type->count++;
    type->seconds += costs > 0 ? seconds * (double)g->tasks[t].cost / costs : 0;
  }
}

/* A device does not say when its groups had no task: the kernel counts as work of all of them, shared out to types by what
 * tasks cost. */
void tasks_ran_on_device(struct task_graph *g, const struct tasks_device_run *run, struct trace *trace) {
  static const char *const names[PHASES] = {"copy in", "kernel", "copy out"};
  const double copies = run->seconds[PHASE_COPY_IN] + run->seconds[PHASE_COPY_OUT];
  g->seconds = copies + run->seconds[PHASE_KERNEL];
  g->busy = run->groups * run->seconds[PHASE_KERNEL];
  g->idle = run->groups * copies;
  g->spans = g->busy + g->idle;
  g->executed = run->executed;
  g->stolen = 0;
  g->refused = run->refused;
  g->device = (struct on_device){
      .groups = run->groups, .runs = g->device.runs + 1, .bytes = run->bytes, .copies = copies};
  g->sums.runs++;
  g->sums.executed += run->executed;
  g->sums.seconds += g->seconds;
  g->sums.busy += g->busy;
  g->sums.idle += g->idle;
  g->sums.thread_seconds += g->spans;
  count_types(g, g->busy);
  if (!trace || trace->most <= 0)
    return;
  trace_graph_ran(trace);
  for (int i = 0; i < PHASES; i++)
    trace_task(trace, names[i], g->name, 0, run->start[i], run->seconds[i]);
}
