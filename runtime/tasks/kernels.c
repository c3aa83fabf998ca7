/* Types that have a kernel's text. */
#include <stdlib.h>
#include <string.h>

#include "tasks/device.h"
#include "tasks/inner.h"

int tasks_add_kernel(struct task_graph *g, op_task_type type, const char *text, const char *name, int threads,
                     struct error *err) {
  enum { MOST_THREADS = 1024 };
  static const char *const names[TYPES_OF_DEVICE] = {"copy in", "copy out", "kernel"};
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
  if (!g->nkernels) {
    g->copies = g->ntypes;
    for (int i = 0; i < TYPES_OF_DEVICE; i++)
      if (!tasks_add_type(g, names[i], NULL, err))
        return err->code;
  }
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
