/* Graphs: nodes in the order in which they were added, each of which must wait for the one before: what the library makes.
 * Launched, they become work of the queue. */
#include <stdlib.h>
#include <string.h>

#include "entries.h"

struct node {
  struct node_launch launch; /* its parameters are this node's */
  const struct node *of;     /* in a graph that was instantiated: the node that it was made of */
};
struct graph {
  struct node *nodes[1024];
  int count;
};

static void node_free(struct node *n) {
  const struct standin_function *f = n->launch.function;
  for (int i = 0; n->launch.parameters && i < f->kernel->nparameters; i++)
    free(n->launch.parameters[i]);
  free(n->launch.parameters);
  free(n);
}

static void graph_free(struct graph *g) {
  for (int i = 0; i < g->count; i++)
    node_free(g->nodes[i]);
  free(g);
}

static int take_launch(struct node *n, const struct node_launch *from) {
  const struct standin_function *f = from->function;
  void **copies = calloc((size_t)f->kernel->nparameters + 1, sizeof *copies);
  if (!copies)
    return CODE_OUT_OF_MEMORY;
  for (int i = 0; i < f->kernel->nparameters; i++)
    if ((copies[i] = malloc(f->kernel->sizes[i])))
      memcpy(copies[i], from->parameters[i], f->kernel->sizes[i]);
  n->launch = *from;
  n->launch.parameters = copies;
  return CODE_OK;
}

/* The new last node; NULL: it is to wait for something else, or there are too many. */
static struct node *add(struct graph *g, struct node *const *behind, size_t n) {
  const bool first = g->count == 0;
  if (n != (first ? 0 : 1) || (!first && behind[0] != g->nodes[g->count - 1]) || g->count == 1024)
    return NULL;
  struct node *made = calloc(1, sizeof *made);
  if (made)
    g->nodes[g->count++] = made;
  return made;
}

EXPORT int cuGraphCreate(struct graph **out, unsigned flags) {
  ENTER();
  *out = calloc(1, sizeof **out);
  return flags ? CODE_INVALID_VALUE : *out ? CODE_OK : CODE_OUT_OF_MEMORY;
}

EXPORT int cuGraphDestroy(struct graph *g) {
  graph_free(g);
  return CODE_OK;
}

EXPORT int cuGraphAddKernelNode(struct node **out, struct graph *g, struct node *const *behind, size_t n,
                                const struct node_launch *launch) {
  ENTER();
  struct node *made = add(g, behind, n);
  *out = made;
  return made ? take_launch(made, launch) : CODE_INVALID_VALUE;
}

EXPORT int cuGraphInstantiateWithFlags(struct graph **out, const struct graph *g, unsigned long long flags) {
  ENTER();
  int code = flags ? CODE_INVALID_VALUE : CODE_OK;
  struct graph *exec = calloc(1, sizeof *exec);
  for (int i = 0; exec && !code && i < g->count; i++) {
    struct node *made = calloc(1, sizeof *made);
    if (!made)
      code = CODE_OUT_OF_MEMORY;
    else {
      exec->nodes[exec->count++] = made;
      made->of = g->nodes[i];
      code = take_launch(made, &g->nodes[i]->launch);
    }
  }
  *out = exec;
  return exec ? code : CODE_OUT_OF_MEMORY;
}

EXPORT int cuGraphExecKernelNodeSetParams(const struct graph *exec, const struct node *node,
                                          const struct node_launch *launch) {
  ENTER();
  for (int i = 0; i < exec->count; i++) {
    struct node *n = exec->nodes[i];
    if (n->of != node)
      continue;
    void **before = n->launch.parameters;
    const struct standin_function *f = n->launch.function;
    for (int k = 0; k < f->kernel->nparameters; k++)
      free(before[k]);
    free(before);
    return take_launch(n, launch);
  }
  return CODE_INVALID_HANDLE;
}

EXPORT int cuGraphLaunch(const struct graph *exec, void *stream) {
  ENTER();
  int code = CODE_OK;
  for (int i = 0; !code && i < exec->count; i++) {
    const struct node_launch *l = &exec->nodes[i]->launch;
    code = cuLaunchKernel(l->function, l->gx, l->gy, l->gz, l->bx, l->by, l->bz, l->dynamic, stream,
                          l->parameters, NULL);
  }
  return code;
}

EXPORT int cuGraphExecDestroy(struct graph *exec) {
  graph_free(exec);
  return CODE_OK;
}
