/* Building a graph. */
#include "tasks/graph.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "tasks/inner.h"
#include "tasks/ranks_messages.h"

struct task_graph *tasks_new(const char *name, int serial) {
  struct task_graph *g = calloc(1, sizeof *g);
  if (!g || !(g->name = strdup(name ? name : "unnamed"))) {
    free(g);
    return NULL;
  }
  g->serial = serial;
  return g;
}

/* All but what reports say of it. */
static void free_insides(struct task_graph *g) {
  for (int i = 0; i < g->nresources; i++)
    free(g->more[i].name);
  while (g->pieces) {
    struct piece *next = g->pieces->next;
    free(g->pieces);
    g->pieces = next;
  }
  relation_free(&g->after);
  relation_free(&g->locks);
  relation_free(&g->uses);
  relation_free(&g->touched);
  run_free(g->run);
  if (g->ranks) {
    tasks_free(g->ranks->local);
    tasks_free(g->ranks->whole);
    ranks_free(g->ranks);
    g->ranks = NULL;
  }
  messages_free(g->messages);
  free(g->origins);
  free(g->tasks);
  free(g->resources);
  free(g->more);
  free(g->order);
}

static void free_type(struct task_type *type) {
  free(type->name);
  free(type->text);
  free(type->kernel);
}

static void free_rest(struct task_graph *g) {
  for (int i = 0; i < g->ntypes; i++)
    free_type(&g->types[i]);
  free(g->types);
  free(g->name);
  free(g);
}

void tasks_free(struct task_graph *g) {
  if (!g)
    return;
  if (!g->past)
    free_insides(g);
  free_rest(g);
}

/* ---- graphs that are gone ---- */

static bool is_like(const struct task_graph *g, const struct task_graph *other) {
  bool same = strcmp(g->name, other->name) == 0 && g->ntypes == other->ntypes;
  for (int i = 0; same && i < g->ntypes; i++)
    same = strcmp(g->types[i].name, other->types[i].name) == 0;
  return same;
}

static void add_runs(struct task_graph *to, const struct task_graph *g) {
  for (int i = 0; i < g->ntypes; i++) {
    to->types[i].count += g->types[i].count;
    to->types[i].seconds += g->types[i].seconds;
  }
  to->sums.runs += g->sums.runs;
  to->sums.executed += g->sums.executed;
  to->sums.seconds += g->sums.seconds;
  to->sums.busy += g->sums.busy;
  to->sums.idle += g->sums.idle;
  to->sums.thread_seconds += g->sums.thread_seconds;
  to->last = g->last;
}

void tasks_retire(struct list *past, struct task_graph *g) {
  enum { MOST_PAST = 64 };
  if (g->sums.runs == 0) {
    tasks_free(g);
    return;
  }
  tasks_tell(g, &g->last);
  free_insides(g);
  g->past = true;
  for (int i = 0; i < past->count; i++)
    if (is_like(past->items[i], g)) {
      add_runs(past->items[i], g);
      free_rest(g);
      return;
    }
  if (past->count == MOST_PAST || !list_add(past, g))
    free_rest(g);
}

const char *tasks_name(const struct task_graph *g) {
  return g->name;
}

/* ---- what a graph has ---- */

/* Room for one more; false with an error. */
static bool grow(struct task_graph *g, void **array, int count, size_t size, const char *what,
                 struct error *err) {
  void *more = count < INT_MAX ? array_more(*array, (size_t)count, size) : NULL;
  if (more)
    *array = more;
  else if (count == INT_MAX)
    error_set(err, OP_ERR_SIZE, "graph \"%s\": more than %d %ss are too many", g->name, INT_MAX, what);
  else
    error_memory_of(err, "a graph's tasks", g->name, (size_t)count * size);
  return more;
}

op_task_type tasks_add_type(struct task_graph *g, const char *name, op_task_function *function,
                            struct error *err) {
  if (!grow(g, (void **)&g->types, g->ntypes, sizeof *g->types, "type", err))
    return 0;
  char *copy = strdup(name ? name : "unnamed");
  if (!copy) {
    error_memory(err, "the name of a type of tasks", strlen(name));
    return 0;
  }
  g->types[g->ntypes] = (struct task_type){.name = copy, .function = function};
  return tasks_number(g, NUMBER_TYPE, g->ntypes++);
}

op_resource tasks_add_resource(struct task_graph *g, op_resource parent, const char *name,
                               struct error *err) {
  const int above = parent ? tasks_index(g, parent, NUMBER_RESOURCE, err) : -1;
  if ((parent && above < 0) ||
      !grow(g, (void **)&g->resources, g->nresources, sizeof *g->resources, "resource", err) ||
      !grow(g, (void **)&g->more, g->nresources, sizeof *g->more, "resource", err))
    return 0;
  char *copy = name ? strdup(name) : NULL;
  if (name && !copy) {
    error_memory(err, "the name of a resource", strlen(name));
    return 0;
  }
  g->resources[g->nresources] = (struct resource){.parent = above, .owner = -1};
  g->more[g->nresources] = (struct resource_more){.name = copy, .rank = -1};
  return tasks_number(g, NUMBER_RESOURCE, g->nresources++);
}

/* NULL: no memory. */
static void *keep_data(struct task_graph *g, const void *data, size_t bytes) {
  enum { PIECE = 1 << 16, STEP = 16 };
  size_t size, whole;
  if (!size_add(bytes, STEP - 1, &size))
    return NULL;
  size -= size % STEP;
  if (!g->pieces || g->pieces->size - g->pieces->used < size) {
    const size_t room = size > PIECE ? size : PIECE;
    struct piece *piece = NULL;
    if (!size_add(room, sizeof *piece, &whole) ||
        posix_memalign((void **)&piece, _Alignof(struct piece), whole) != 0)
      return NULL;
    *piece = (struct piece){.next = g->pieces, .size = room};
    g->pieces = piece;
  }
  void *copy = g->pieces->bytes + g->pieces->used;
  g->pieces->used += size;
  memcpy(copy, data, bytes);
  return copy;
}

struct task *tasks_new_task(struct task_graph *g, struct error *err) {
  if (!grow(g, (void **)&g->tasks, g->ntasks, sizeof *g->tasks, "task", err))
    return NULL;
  struct task *task = &g->tasks[g->ntasks++];
  memset(task, 0, sizeof *task);
  g->sorted = false;
  return task;
}

op_task tasks_add_task(struct task_graph *g, op_task_type type, const void *data, size_t bytes, double cost,
                       struct error *err) {
  const int index = tasks_index(g, type, NUMBER_TYPE, err);
  if (index < 0)
    return 0;
  if (!(cost >= 0) || !isfinite(cost) || (bytes && !data)) {
    error_set(err, OP_ERR_ARGUMENT, "graph \"%s\", a task (%s): %s", g->name, g->types[index].name,
              bytes && !data ? "its data are NULL; give them, or 0 bytes"
                             : "its cost is negative or no number; give 0 if it is not known");
    return 0;
  }
  void *copy = bytes ? keep_data(g, data, bytes) : NULL;
  if (bytes && !copy) {
    error_memory_of(err, "the data of tasks of graph", g->name, bytes);
    return 0;
  }
  const double unit = g->unit > 0 ? g->unit : 1;
  struct task *task = tasks_new_task(g, err);
  if (!task)
    return 0;
  if (ranks_size(g, bytes, err)) {
    g->ntasks--;
    return 0;
  }
  task->data = copy;
  task->type = index;
  task->cost = (float)((cost > 0 ? cost : 1) * unit);
  return tasks_number(g, NUMBER_TASK, g->ntasks - 1);
}

/* ---- relations ---- */

int tasks_depend(struct task_graph *g, op_task task, op_task before, struct error *err) {
  const int one = tasks_index(g, task, NUMBER_TASK, err);
  const int first = one < 0 ? -1 : tasks_index(g, before, NUMBER_TASK, err);
  if (first < 0)
    return err->code;
  if (first == one) {
    struct text words = {0};
    tasks_task_words(g, &g->tasks[one], &words);
    text_add(&words, " cannot wait for itself; give the task that comes before it");
    return tasks_refuse(g, OP_ERR_GRAPH, &words, err);
  }
  if (relation_add(&g->after, first, one, err))
    return err->code;
  g->tasks[one].before++;
  g->sorted = false;
  return OP_OK;
}

static int relate(struct task_graph *g, struct relation *to, op_task task, op_resource resource,
                  struct error *err) {
  const int one = tasks_index(g, task, NUMBER_TASK, err);
  const int other = one < 0 ? -1 : tasks_index(g, resource, NUMBER_RESOURCE, err);
  if (other < 0 || relation_add(to, one, other, err) ||
      ((g->nkernels || g->ranks) && relation_add(&g->touched, one, other, err)))
    return err->code;
  g->sorted = false;
  return OP_OK;
}

int tasks_lock(struct task_graph *g, op_task task, op_resource resource, struct error *err) {
  return relate(g, &g->locks, task, resource, err);
}

int tasks_use(struct task_graph *g, op_task task, op_resource resource, struct error *err) {
  return relate(g, &g->uses, task, resource, err);
}

int tasks_memory(struct task_graph *g, op_resource resource, const void *memory, size_t bytes,
                 struct error *err) {
  const int index = tasks_index(g, resource, NUMBER_RESOURCE, err);
  if (index < 0)
    return err->code;
  if (bytes && !memory && !g->ranks)
    return error_set(err, OP_ERR_ARGUMENT, "graph \"%s\": the memory of a resource is NULL; give its address",
                     g->name);
  g->more[index].memory = memory;
  g->more[index].bytes = bytes;
  ranks_changed(g);
  return OP_OK;
}

int tasks_own(struct task_graph *g, op_resource resource, int thread, struct error *err) {
  const int index = tasks_index(g, resource, NUMBER_RESOURCE, err);
  if (index < 0)
    return err->code;
  if (thread < -1)
    return error_set(err, OP_ERR_ARGUMENT,
                     "graph \"%s\": thread %d cannot own a resource; give one from 0, or -1", g->name,
                     thread);
  /* relaxed: no run is under way, and the next one begins behind it */
  atomic_store_explicit(&g->resources[index].owner, thread, memory_order_relaxed);
  g->resources[index].fixed = thread >= 0;
  return OP_OK;
}

struct tasks_mark tasks_mark(const struct task_graph *g) {
  return (struct tasks_mark){g->ntypes, g->ntasks, g->nresources};
}

void tasks_back_to(struct task_graph *g, struct tasks_mark mark) {
  while (g->ntypes > mark.types)
    free_type(&g->types[--g->ntypes]);
  while (g->nresources > mark.resources)
    free(g->more[--g->nresources].name);
  g->ntasks = mark.tasks;
  struct relation *const of_tasks[] = {&g->locks, &g->touched};
  for (int i = 0; i < 2; i++)
    while (of_tasks[i]->nadded && of_tasks[i]->added[of_tasks[i]->nadded - 1].task >= mark.tasks)
      of_tasks[i]->nadded--;
}
