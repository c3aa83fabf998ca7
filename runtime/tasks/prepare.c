/* Before a run: rows of what was added, an order of the tasks, their weights. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "tasks/inner.h"
#include "tasks/ranks.h"

/* ---- locks ---- */

int tasks_tidy_locks(const struct task_graph *g, int *locks, int nlocks) {
  int left = 0;
  if (nlocks < 2)
    return nlocks;
  /* One order for all tasks: of two that want the same locks one gets the first, and then the others too. Those above
   * have smaller numbers, since they were there first. */
  qsort(locks, (size_t)nlocks, sizeof *locks, tasks_by_number);
  for (int i = 0; i < nlocks; i++) {
    const bool covered = locks_cover(g, (struct row){locks, locks + left}, locks[i]);
    if (!covered)
      locks[left++] = locks[i];
  }
  return left;
}

static void tidy_all_locks(struct task_graph *g) {
  for (int t = 0; g->locks.at && t < g->ntasks; t++) {
    int *row = g->locks.items + g->locks.at[t];
    int count = (int)(g->locks.at[t + 1] - g->locks.at[t]);
    while (count > 0 && row[count - 1] < 0) /* of an earlier time */
      count--;
    const int left = tasks_tidy_locks(g, row, count);
    for (int i = left; i < count; i++)
      row[i] = -1;
  }
}

/* ---- circles ---- */

/* Some of the tasks wait for one another: those whose count of `waits` did not come to 0. Each of them has one before it
 * that is among them, so going back from any leads into a circle. */
static int refuse_circle(const struct task_graph *g, const int *waits, struct error *err) {
  enum { SHOWN = 8 };
  int *before = array_new((size_t)g->ntasks, sizeof *before), at = 0;
  struct text words = {0};
  if (!before)
    return error_memory_of(err, "the order of graph", g->name, (size_t)g->ntasks * sizeof *before);
  text_add(&words, "tasks wait for one another in a circle: ");
  for (int t = 0; t < g->ntasks; t++)
    for (struct row row = relation_row(&g->after, (size_t)t); waits[t] > 0 && row.begin < row.end;
         row.begin++)
      if (waits[*row.begin] > 0)
        before[*row.begin] = t;
  while (waits[at] == 0)
    at++;
  for (int i = 0; i < g->ntasks; i++)
    at = before[at];
  const int first = at;
  int length = 0;
  do {
    if (length < SHOWN) {
      tasks_task_words(g, &g->tasks[at], &words);
      text_add(&words, " waits for ");
    }
    at = before[at];
    length++;
  } while (at != first);
  if (length > SHOWN)
    text_addf(&words, "... (%d tasks in all), which waits for ", length);
  tasks_task_words(g, &g->tasks[first], &words);
  text_add(&words, "; take one of these dependencies out");
  free(before);
  return tasks_refuse(g, OP_ERR_GRAPH, &words, err);
}

/* ---- order ---- */

/* `order` is a queue of tasks that wait for nothing any more. */
static int order_tasks(struct task_graph *g, int *order, struct error *err) {
  int *waits = array_new((size_t)g->ntasks, sizeof *waits), count = 0, code = OP_OK;
  if (!waits)
    return error_memory_of(err, "the order of graph", g->name, (size_t)g->ntasks * sizeof *waits);
  for (int t = 0; t < g->ntasks; t++) {
    waits[t] = g->tasks[t].before;
    if (waits[t] == 0)
      order[count++] = t;
  }
  g->nroots = count;
  for (int i = 0; i < count; i++)
    for (struct row row = relation_row(&g->after, (size_t)order[i]); row.begin < row.end; row.begin++)
      if (--waits[*row.begin] == 0)
        order[count++] = *row.begin;
  if (count < g->ntasks)
    code = refuse_circle(g, waits, err);
  free(waits);
  return code;
}

/* `hurry`: what a message counts for that other ranks wait for. */
static void weigh(struct task_graph *g, float hurry) {
  for (int i = g->ntasks; i-- > 0;) {
    struct task *task = &g->tasks[g->order[i]];
    float longest = 0;
    for (struct row row = relation_row(&g->after, (size_t)g->order[i]); row.begin < row.end; row.begin++)
      if (g->tasks[*row.begin].weight > longest)
        longest = g->tasks[*row.begin].weight;
    task->weight = longest + (tasks_type_works(&g->types[task->type]) ? task->cost : 0);
    if (g->of && task->type == TYPE_SEND)
      task->weight += hurry;
  }
}

/* A message counts as much as some tasks: what waits for it is on another rank, and not known here. */
void tasks_weigh(struct task_graph *g) {
  const float some = 32;
  float sum = 0;
  for (int t = 0; g->of && t < g->ntasks; t++)
    sum += g->types[g->tasks[t].type].function ? g->tasks[t].cost : 0;
  weigh(g, g->of && g->ntasks ? some * sum / (float)g->ntasks : 0);
}

double tasks_critical(struct task_graph *g) {
  float longest = 0;
  weigh(g, 0);
  for (int i = 0; i < g->nroots; i++)
    if (g->tasks[g->order[i]].weight > longest)
      longest = g->tasks[g->order[i]].weight;
  tasks_weigh(g);
  return (double)longest;
}

/* After a run that ended early, or before the first one. relaxed: other threads get tasks over the mutexes of queues. */
static void begin_anew(struct task_graph *g) {
  for (int t = 0; t < g->ntasks; t++)
    atomic_store_explicit(&g->tasks[t].wait, g->tasks[t].before, memory_order_relaxed);
  for (int r = 0; g->unfinished && r < g->nresources; r++)
    atomic_store_explicit(&g->resources[r].state, 0, memory_order_relaxed);
  g->unfinished = false;
}

static int sort(struct task_graph *g, struct error *err) {
  int code = relation_sort(&g->after, g->ntasks, err);
  if (!code)
    code = relation_sort(&g->locks, g->ntasks, err);
  if (!code)
    code = relation_sort(&g->uses, g->ntasks, err);
  if (code)
    return code;
  tidy_all_locks(g);
  int *order = array_new((size_t)g->ntasks, sizeof *order);
  if (!order)
    return error_memory_of(err, "the order of graph", g->name, (size_t)g->ntasks * sizeof *order);
  free(g->order);
  g->order = order;
  code = order_tasks(g, order, err);
  if (code)
    return code;
  g->sorted = true;
  g->builds++;
  begin_anew(g);
  tasks_weigh(g);
  return OP_OK;
}

int tasks_prepare(struct task_graph *g, struct error *err) {
  if (!g->sorted)
    return sort(g, err);
  if (g->unfinished)
    begin_anew(g);
  /* Costs were measured: weights follow them often at first, less often as they become known. */
  if (g->runs > 0 && (g->runs & (g->runs - 1)) == 0)
    tasks_weigh(g);
  return OP_OK;
}
