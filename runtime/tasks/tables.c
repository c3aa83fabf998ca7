/* Tasks of a phase as tables for a device. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "tasks/phases.h"

/* ---- what tasks are passed ---- */

static int refuse_few(const struct phases *p, int t, int touched, struct error *err) {
  const struct task_graph *g = p->g;
  const struct task_type *type = &g->types[g->tasks[t].type];
  struct text words = {0};
  tasks_task_words(g, &g->tasks[t], &words);
  text_addf(
      &words,
      " locks and uses %d resource%s, and its kernel %s has %d parameters: the data of the task, and the "
      "memory of %d resources in the order in which it locks and uses them",
      touched, touched == 1 ? "" : "s", type->kernel, p->device->parameters[g->tasks[t].type],
      p->device->parameters[g->tasks[t].type] - 1);
  return tasks_refuse(g, OP_ERR_GRAPH, &words, err);
}

static long long place_of(const struct phases *p, const void *memory, size_t bytes) {
  const struct span s = copies_of(p, memory, bytes);
  if (s.begin == s.end)
    return -1;
  const struct segment *first = &p->segments[s.begin];
  return (long long)(first->at + (size_t)((const unsigned char *)memory - first->host));
}

static void put_places(const struct phases *p, int t, long long *out) {
  const struct task_graph *g = p->g;
  const int wanted = p->device->parameters[g->tasks[t].type];
  const struct row row = relation_row(&g->touched, (size_t)t);
  if (wanted > 0)
    out[0] = place_of(p, g->tasks[t].data, 1);
  for (int i = 1; i < wanted; i++)
    out[i] = place_of(p, g->more[row.begin[i - 1]].memory, g->more[row.begin[i - 1]].bytes);
}

/* ---- tables ---- */

struct heavy {
  float weight;
  int task;
};
/* Tasks without work come first: others wait behind them. */
static int by_weight(const void *a, const void *b) {
  const struct heavy *x = a, *y = b;
  return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1)
                                : (x->task > y->task) - (x->task < y->task);
}

static void order_tasks(struct phases *p, struct heavy *all) {
  const struct task_graph *g = p->g;
  for (int i = 0; i < p->ntasks; i++) {
    const struct task *task = &g->tasks[p->tasks[i]];
    all[i] = (struct heavy){g->types[task->type].text ? task->weight : __builtin_inff(), p->tasks[i]};
  }
  qsort(all, (size_t)p->ntasks, sizeof *all, by_weight);
  for (int i = 0; i < p->ntasks; i++)
    p->ranks[all[i].task] = i;
}

/* Where each table begins, of so many tasks, locks, and tasks that wait. Returns how many numbers there are. */
static size_t lay_out(const struct task_graph *g, size_t n, size_t locks, size_t after,
                      int head[TABLE_HEAD]) {
  const size_t resources = (size_t)g->nresources;
  size_t words[3] = {0}, at = TABLE_HEAD;
  for (int i = 0; i < 3; i++) {
    words[i] = ((i ? words[i - 1] : n) + 31) / 32;
    head[TABLE_WORDS + i] = (int)words[i];
  }
  const struct {
    int table;
    size_t length;
  } parts[] = {{TABLE_BITS, words[0]},    {TABLE_BITS + 1, words[1]}, {TABLE_BITS + 2, words[2]},
               {TABLE_WAIT, n},           {TABLE_STATE, resources},   {TABLE_PARENT, resources},
               {TABLE_TYPE, n},           {TABLE_PLACES, n},          {TABLE_LOCKS, n + 1},
               {TABLE_LOCK_ITEMS, locks}, {TABLE_AFTER, n + 1},       {TABLE_AFTER_ITEMS, after}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    head[parts[i].table] = (int)(at < INT_MAX ? at : INT_MAX);
    at += parts[i].length;
  }
  return at;
}

int tables_open(struct phases *p, struct error *err) {
  const struct task_graph *g = p->g;
  int head[TABLE_HEAD];
  size_t places = 0;
  const size_t items = lay_out(g, (size_t)g->ntasks, g->locks.count, g->after.count, head);
  for (int t = 0; t < g->ntasks; t++) {
    const struct row row = relation_row(&g->touched, (size_t)t);
    const int parameters = p->device->parameters[g->tasks[t].type];
    if (parameters - 1 > row.end - row.begin)
      return refuse_few(p, t, (int)(row.end - row.begin), err);
    places += (size_t)parameters;
  }
  if (items >= INT_MAX || places > INT_MAX)
    return error_set(err, OP_ERR_SIZE,
                     "graph \"%s\" is too large for a device: its tables have %zu numbers, its tasks are "
                     "passed %zu pointers, and there may be %d of each; use larger tasks",
                     g->name, items, places, INT_MAX);
  p->tables = (struct tasks_tables){.items = arrays_add(&p->arrays, items, sizeof *p->tables.items),
                                    .places = arrays_add(&p->arrays, places, sizeof *p->tables.places),
                                    .nitems = items,
                                    .nplaces = places};
  return p->arrays.failed
             ? error_memory_of(err, "the tables of graph", g->name, items * sizeof *p->tables.items)
             : OP_OK;
}

static void put_ready(int *t, int task) {
  for (int level = 0, at = task; level < 3; level++, at /= 32)
    t[t[TABLE_BITS + level] + at / 32] |= (int)(1u << (at % 32));
}

struct filled {
  int locks, after;
  size_t places;
};

static void put_task(const struct phases *p, int i, int task, struct filled *f) {
  const struct task_graph *g = p->g;
  int *t = p->tables.items;
  t[t[TABLE_WAIT] + i] = p->inside[task];
  t[t[TABLE_TYPE] + i] = g->tasks[task].type;
  t[t[TABLE_PLACES] + i] = (int)f->places;
  t[t[TABLE_LOCKS] + i] = f->locks;
  t[t[TABLE_AFTER] + i] = f->after;
  put_places(p, task, p->tables.places + f->places);
  f->places += (size_t)p->device->parameters[g->tasks[task].type];
  for (struct row row = task_locks(g, &g->tasks[task]); row.begin < row.end && *row.begin >= 0; row.begin++)
    t[t[TABLE_LOCK_ITEMS] + f->locks++] = *row.begin;
  for (struct row row = relation_row(&g->after, (size_t)task); row.begin < row.end; row.begin++)
    if (p->taken[*row.begin])
      t[t[TABLE_AFTER_ITEMS] + f->after++] = p->ranks[*row.begin];
  if (p->inside[task] == 0)
    put_ready(t, i);
}

int tables_make(struct phases *p, struct error *err) {
  const struct task_graph *g = p->g;
  struct heavy *all = array_new((size_t)p->ntasks, sizeof *all);
  struct filled f = {0};
  size_t locks = 0, after = 0;
  int *t = p->tables.items;
  if (!all)
    return error_memory_of(err, "the tables of graph", g->name, (size_t)p->ntasks * sizeof *all);
  order_tasks(p, all);
  for (int i = 0; i < p->ntasks; i++) {
    const struct row held = task_locks(g, &g->tasks[p->tasks[i]]),
                     behind = relation_row(&g->after, (size_t)p->tasks[i]);
    locks += (size_t)(held.end - held.begin);
    after += (size_t)(behind.end - behind.begin);
  }
  memset(t, 0, TABLE_HEAD * sizeof *t);
  p->tables.nitems = lay_out(g, (size_t)p->ntasks, locks, after, t);
  memset(t + TABLE_HEAD, 0, (p->tables.nitems - TABLE_HEAD) * sizeof *t);
  t[TABLE_LEFT] = p->ntasks;
  for (int r = 0; r < g->nresources; r++)
    t[t[TABLE_PARENT] + r] = g->resources[r].parent;
  for (int i = 0; i < p->ntasks; i++)
    put_task(p, i, all[i].task, &f);
  t[t[TABLE_LOCKS] + p->ntasks] = f.locks;
  t[t[TABLE_AFTER] + p->ntasks] = f.after;
  p->tables.nplaces = f.places;
  free(all);
  return OP_OK;
}
