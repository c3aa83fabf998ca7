/* Graphs: a row of nodes, each behind the one before. */
#include <stdlib.h>

#include "backend/cuda/cuda.h"
#include "base/size.h"

struct made {
  cuda_graph graph;
  cuda_graph_exec exec;
  cuda_node last;
  cuda_node *kernels;
  int count;
};

static const struct cuda_driver *driver_of(void *self) {
  return &((struct cuda *)self)->driver;
}

bool cuda_has_graphs(const struct cuda_driver *d) {
  return d->graph_create && d->graph_destroy && d->graph_add_kernel && d->graph_instantiate &&
         d->graph_set_kernel && d->graph_launch && d->graph_exec_destroy;
}

int cuda_graph_new(void *self, void **out) {
  const struct cuda_driver *d = driver_of(self);
  *out = NULL;
  if (!cuda_has_graphs(d))
    return CUDA_NOT_SUPPORTED;
  struct made *m = calloc(1, sizeof *m);
  if (!m)
    return CUDA_OUT_OF_MEMORY;
  const int code = d->graph_create(&m->graph, 0);
  if (code)
    free(m);
  else
    *out = m;
  return code;
}

#define LAUNCH                                                                                               \
  {                                                                                                          \
    .function = function, .gx = blocks, .gy = 1, .gz = 1, .bx = threads, .by = 1, .bz = 1, .shared = shared, \
    .parameters = values                                                                                     \
  }
static union cuda_node_launch launch_of(void *self, void *function, unsigned blocks, unsigned threads,
                                        unsigned shared, void **values) {
  return driver_of(self)->family->hip_nodes ? (union cuda_node_launch){.hip = LAUNCH}
                                            : (union cuda_node_launch){.cuda = LAUNCH};
}

int cuda_graph_kernel(void *self, void *graph, void *function, unsigned blocks, unsigned threads,
                      unsigned shared, void **values) {
  struct made *m = graph;
  const union cuda_node_launch launch = launch_of(self, function, blocks, threads, shared, values);
  cuda_node *kernels = array_resize(m->kernels, (size_t)m->count + 1, sizeof *kernels), node = NULL;
  if (!kernels)
    return CUDA_OUT_OF_MEMORY;
  m->kernels = kernels;
  const int code = driver_of(self)->graph_add_kernel(&node, m->graph, &m->last, m->last != NULL, &launch);
  if (!code)
    kernels[m->count++] = m->last = node;
  return code;
}

int cuda_graph_finish(void *self, void *graph) {
  struct made *m = graph;
  return driver_of(self)->graph_instantiate(&m->exec, m->graph, 0);
}

int cuda_graph_set(void *self, void *graph, int kernel, void *function, unsigned blocks, unsigned threads,
                   unsigned shared, void **values) {
  const struct made *m = graph;
  const union cuda_node_launch launch = launch_of(self, function, blocks, threads, shared, values);
  return driver_of(self)->graph_set_kernel(m->exec, m->kernels[kernel], &launch);
}

int cuda_graph_launch(void *self, void *graph) {
  return driver_of(self)->graph_launch(((struct made *)graph)->exec, ((struct cuda *)self)->stream);
}

void cuda_graph_free(void *self, void *graph) {
  struct made *m = graph;
  if (m->exec)
    driver_of(self)->graph_exec_destroy(m->exec);
  driver_of(self)->graph_destroy(m->graph);
  free(m->kernels);
  free(m);
}
