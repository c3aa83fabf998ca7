/* Graphs: a row of nodes, each behind the one before. */
#include <stdlib.h>

#include "backend/cuda/cuda.h"
#include "base/size.h"

struct cuda_graph_made {
  cuda_graph graph;
  cuda_graph_exec exec;
  cuda_node last;
  cuda_node *kernels;
  int count;
};

bool cuda_has_graphs(const struct cuda_driver *d) {
  return d->graph_create && d->graph_destroy && d->graph_add_kernel && d->graph_instantiate &&
         d->graph_set_kernel && d->graph_launch && d->graph_exec_destroy;
}

int cuda_graph_new(struct cuda *cuda, struct cuda_graph_made **out) {
  struct cuda_graph_made *m = *out = calloc(1, sizeof *m);
  const int code = m ? cuda->driver.graph_create(&m->graph, 0) : CUDA_OUT_OF_MEMORY;
  if (code) {
    free(m);
    *out = NULL;
  }
  return code;
}

#define NODE(l, values)                                                                                      \
  {                                                                                                          \
    .function = (l)->function, .gx = (l)->blocks, .gy = 1, .gz = 1, .bx = (l)->threads, .by = 1, .bz = 1,    \
    .shared = (l)->shared, .parameters = (values)                                                            \
  }
static union cuda_node_launch node_of(const struct cuda *cuda, const struct held_launch *l, void **values) {
  return cuda->driver.family->hip_nodes ? (union cuda_node_launch){.hip = NODE(l, values)}
                                        : (union cuda_node_launch){.cuda = NODE(l, values)};
}

int cuda_graph_kernel(struct cuda *cuda, struct cuda_graph_made *m, const struct held_launch *launch,
                      void **values) {
  const union cuda_node_launch node_launch = node_of(cuda, launch, values);
  cuda_node *kernels = array_resize(m->kernels, (size_t)m->count + 1, sizeof *kernels), node = NULL;
  if (!kernels)
    return CUDA_OUT_OF_MEMORY;
  m->kernels = kernels;
  const int code = cuda->driver.graph_add_kernel(&node, m->graph, &m->last, m->last != NULL, &node_launch);
  if (!code)
    kernels[m->count++] = m->last = node;
  return code;
}

int cuda_graph_finish(struct cuda *cuda, struct cuda_graph_made *m) {
  return cuda->driver.graph_instantiate(&m->exec, m->graph, 0);
}

int cuda_graph_set(struct cuda *cuda, struct cuda_graph_made *m, int kernel, const struct held_launch *launch,
                   void **values) {
  const union cuda_node_launch node_launch = node_of(cuda, launch, values);
  return cuda->driver.graph_set_kernel(m->exec, m->kernels[kernel], &node_launch);
}

int cuda_graph_launch(struct cuda *cuda, struct cuda_graph_made *m) {
  return cuda->driver.graph_launch(m->exec, cuda->stream);
}

void cuda_graph_free(struct cuda *cuda, struct cuda_graph_made *m) {
  if (m->exec)
    cuda->driver.graph_exec_destroy(m->exec);
  cuda->driver.graph_destroy(m->graph);
  free(m->kernels);
  free(m);
}
