/* The calls that a task may make: to add another task, and to ask where it runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "op2jit_tools.h"
#include "tasks/inner.h"
#include "tasks/ranks.h"

const char tasks_over_words[] =
    "op_running_add was called with the op_running of a task that is over; call it from inside the task";

/* Nobody waits for an added task on its own, only for the graph's task that it came from: that counts all of them, and a
 * chain of tasks that add one another leaves nothing behind. */
static struct task *own_task(const op_running *running) {
  struct task *task = atomic_load_explicit(&running->task, memory_order_relaxed);
  return task && task->is_added ? ((struct added *)(void *)task)->parent : task;
}

int op2jit_running_thread(const op_running *running) {
  return running->worker->thread;
}

void *op2jit_running_memory(const op_running *running, int index) {
  const struct task_graph *g = running->run->graph, *whole = g->of;
  const struct task *own = own_task(running);
  const int origin = whole && own ? g->origins[own - g->tasks] : -1;
  if (origin < 0 || index < 0)
    return NULL;
  const struct row row = relation_row(&whole->touched, (size_t)origin);
  return index < row.end - row.begin ? (void *)(uintptr_t)whole->more[row.begin[index]].memory : NULL;
}

int op2jit_running_threads(const op_running *running) {
  return running->run->threads;
}

/* `err` is this call's own: other threads may fail too. */
static int check_locks(const struct task_graph *g, int nlocks, const op_resource locks[], int *indices,
                       struct error *err) {
  for (int i = 0; i < nlocks; i++)
    if ((indices[i] = ranks_resource(g, locks[i], err)) < 0)
      return err->code;
  return OP_OK;
}

/* On ranks only what its own task has locked is here, and is sent behind all that it added. */
static int check_held(const struct run *r, const struct task *own, const int *locks, int nlocks,
                      struct error *err) {
  const struct task_graph *g = r->graph;
  const struct row held = task_locks(g, own);
  for (int i = 0; g->of && i < nlocks; i++) {
    if (locks_cover(g, held, locks[i]))
      continue;
    struct text words = {0};
    tasks_task_words(g, own, &words);
    text_add(&words, " adds a task that locks ");
    tasks_resource_words(g, locks[i], &words);
    text_add(&words,
             ", which it does not lock itself; on several ranks that may be elsewhere: let it lock that");
    return tasks_refuse(g, OP_ERR_GRAPH, &words, err);
  }
  return OP_OK;
}

/* The data lie behind the locks, aligned. NULL: no memory. */
static struct added *new_added(size_t bytes, int nlocks, void **data) {
  const size_t step = 16;
  size_t locks, size;
  if (!size_mul((size_t)nlocks, sizeof(int), &locks) ||
      !size_add(locks, sizeof(struct added) + step - 1, &locks))
    return NULL;
  locks -= locks % step;
  struct added *a = size_add(locks, bytes, &size) ? calloc(1, size) : NULL;
  *data = a && bytes ? (unsigned char *)a + locks : NULL;
  return a;
}

static int add(struct run *r, struct worker *w, struct task *own, op_task_type type, const void *data,
               size_t bytes, double cost, int nlocks, const op_resource locks[], struct error *err) {
  struct task_graph *g = r->graph;
  const int index = tasks_index(g, type, NUMBER_TYPE, err);
  if (index < 0)
    return err->code;
  if (nlocks < 0 || (nlocks && !locks) || (bytes && !data) || !(cost >= 0) || !isfinite(cost))
    return error_set(
        err, OP_ERR_ARGUMENT,
        "graph \"%s\", a task (%s) that is added: a negative number of locks or cost, or locks or "
        "data that are NULL",
        g->name, g->types[index].name);
  if (r->phases && g->types[index].text && !g->types[index].function)
    return error_set(err, OP_ERR_BACKEND,
                     "graph \"%s\", a task (%s) that is added: it runs on the host, and its type has no "
                     "function; give op_graph_type one",
                     g->name, g->types[index].name);
  void *copy;
  struct added *a = new_added(bytes, nlocks, &copy);
  if (!a)
    return error_memory_of(err, "a task that is added to graph", g->name, bytes);
  if (check_locks(g, nlocks, locks, a->locks, err) || check_held(r, own, a->locks, nlocks, err)) {
    free(a);
    return err->code;
  }
  if (bytes)
    memcpy(copy, data, bytes);
  a->task.data = copy;
  a->task.type = index;
  a->task.is_added = true;
  /* In seconds as the others, once that is known. */
  a->task.weight = (float)((cost > 0 ? cost : 1) * (g->unit > 0 ? g->unit : 1));
  a->nlocks = tasks_tidy_locks(g, a->locks, nlocks);
  a->parent = own;
  /* Before it is ready: it may be over at once, and would be counted off as the last one. relaxed: the queue's mutex comes
   * behind, and both count the task that adds it, so that neither comes to 0 meanwhile. */
  atomic_fetch_add_explicit(&a->parent->wait, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&r->left, 1, memory_order_relaxed);
  if (!run_ready(r, w, &a->task))
    return error_memory_of(err, "a task that is added to graph", g->name, bytes);
  run_changed(r, 1);
  return OP_OK;
}

int op2jit_running_fail(op_running *running, const char *why) {
  const struct task_graph *g = running->run->graph;
  const struct task *own = own_task(running);
  struct text words = {0};
  if (!own)
    return OP_ERR_STATE;
  tasks_task_words(g, own, &words);
  const int code =
      run_fail(running->run, OP_ERR_GRAPH, "graph \"%s\": %s: %s", g->name, text_str(&words), why ? why : "");
  text_free(&words);
  return code;
}

bool tasks_in_run(const op_running *running) {
  return own_task(running) || !atomic_load(&running->run->stopped);
}

/* One that was kept while other tasks run may be of a thread that is between two tasks. */
int tasks_add_running(op_running *running, op_task_type type, const void *data, size_t bytes, double cost,
                      int nlocks, const op_resource locks[]) {
  struct error err = {0};
  struct run *r = running->run;
  struct task *own = own_task(running);
  const int code = own ? add(r, running->worker, own, type, data, bytes, cost, nlocks, locks, &err)
                       : error_set(&err, OP_ERR_STATE, "graph \"%s\": %s", r->graph->name, tasks_over_words);
  if (code)
    run_fail(r, code, "%s", error_message(&err));
  error_free(&err);
  return code;
}
