/* A graph at random whose tasks watch one another, and whose result is known from a sequential order. */
#ifndef TESTS_TASKS_RANDOM_H
#define TESTS_TASKS_RANDOM_H

#include <stdbool.h>

#include "tasks/graph.h"

struct shape {
  int tasks, resources, depth; /* depth: of the forest of resources */
  int dependencies, locks;     /* of a task, at most */
  int virtuals;                /* one task of so many does nothing; 0: none */
  int spawns;                  /* one task of so many adds others; 0: none */
  int spin;                    /* rounds of work of a task */
};

struct world;
/* NULL: no memory. */
struct world *world_new(const struct shape *shape, unsigned long seed);
void world_free(struct world *w);
struct task_graph *world_graph(struct world *w);
/* More tasks behind those that are there. */
bool world_grow(struct world *w, int tasks);
/* After a run: what is wrong, NULL if nothing is. */
const char *world_check(struct world *w);
/* Before the next one. */
void world_reset(struct world *w);

#endif
