/* A graph as tables for a device. */
#include "tasks/device/device.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "tasks/inner.h"

/* ---- memory that the device has copies of ---- */

static int by_address(const void *a, const void *b) {
  const struct tasks_block *x = a, *y = b;
  return x->host != y->host ? (x->host > y->host ? 1 : -1) : (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Those that overlap become one, and each gets its place, aligned as the host's. */
static void place_blocks(struct tasks_image *image) {
  enum { ALIGNED = 16 };
  size_t left = 0;
  qsort(image->blocks, image->nblocks, sizeof *image->blocks, by_address);
  for (size_t i = 0; i < image->nblocks; i++) {
    struct tasks_block *b = &image->blocks[i], *last = left ? &image->blocks[left - 1] : NULL;
    if (last && b->host < last->host + last->bytes) {
      if (b->host + b->bytes > last->host + last->bytes)
        last->bytes = (size_t)(b->host - last->host) + b->bytes;
    } else
      image->blocks[left++] = *b;
  }
  image->nblocks = left;
  for (size_t i = 0; i < left; i++) {
    struct tasks_block *b = &image->blocks[i];
    b->at = (image->bytes + ALIGNED - 1) / ALIGNED * ALIGNED + (size_t)((uintptr_t)b->host % ALIGNED);
    image->bytes = b->at + b->bytes;
  }
}

/* Of resources, and of the data of tasks. */
static int find_blocks(const struct task_graph *g, struct tasks_image *image, struct error *err) {
  size_t count = (size_t)g->nresources;
  for (const struct piece *p = g->pieces; p; p = p->next)
    count++;
  image->blocks = array_new(count, sizeof *image->blocks);
  if (!image->blocks)
    return error_memory_of(err, "the memory of graph", g->name, count * sizeof *image->blocks);
  for (int r = 0; r < g->nresources; r++)
    if (g->more[r].memory && g->more[r].bytes)
      image->blocks[image->nblocks++] = (struct tasks_block){
          .host = (unsigned char *)(uintptr_t)g->more[r].memory, .bytes = g->more[r].bytes};
  for (struct piece *p = g->pieces; p; p = p->next)
    if (p->used)
      image->blocks[image->nblocks++] = (struct tasks_block){.host = p->bytes, .bytes = p->used};
  place_blocks(image);
  return OP_OK;
}

static struct tasks_block *block_of(const struct tasks_image *image, const void *memory) {
  const unsigned char *host = memory;
  size_t low = 0, high = image->nblocks;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (image->blocks[middle].host <= host)
      low = middle;
    else
      high = middle;
  }
  return &image->blocks[low];
}

static long long place_of(const struct tasks_image *image, const void *memory) {
  if (!memory)
    return -1;
  const struct tasks_block *b = block_of(image, memory);
  const size_t place = b->at + (size_t)((const unsigned char *)memory - b->host);
  return (long long)place;
}

void tasks_image_gather(const struct tasks_image *image, unsigned char *data) {
  for (size_t i = 0; i < image->nblocks; i++)
    memcpy(data + image->blocks[i].at, image->blocks[i].host, image->blocks[i].bytes);
}

void tasks_image_scatter(const struct tasks_image *image, const unsigned char *data) {
  for (size_t i = 0; i < image->nblocks; i++)
    if (image->blocks[i].written)
      memcpy(image->blocks[i].host, data + image->blocks[i].at, image->blocks[i].bytes);
}

/* ---- what tasks are passed ---- */

struct making {
  struct task_graph *g;
  const int *parameters;
  struct tasks_image *image;
  int *tasks, *ranks; /* tasks by weight, and back */
  struct error *err;
};

static bool is_locked(const struct task_graph *g, const struct task *task, int resource) {
  const struct row row = task_locks(g, task);
  for (; resource >= 0; resource = g->resources[resource].parent)
    for (const int *l = row.begin; l < row.end && *l >= 0; l++)
      if (*l == resource)
        return true;
  return false;
}

static int refuse_few(const struct making *m, int t, int touched) {
  const struct task_graph *g = m->g;
  const struct task_type *type = &g->types[g->tasks[t].type];
  struct text words = {0};
  tasks_task_words(g, &g->tasks[t], &words);
  error_set(
      m->err, OP_ERR_GRAPH,
      "graph \"%s\": %s locks and uses %d resource%s, and its kernel %s has %d parameters: the data of the "
      "task, and the memory of %d resources in the order in which it locks and uses them",
      g->name, text_str(&words), touched, touched == 1 ? "" : "s", type->kernel,
      m->parameters[g->tasks[t].type], m->parameters[g->tasks[t].type] - 1);
  text_free(&words);
  return m->err->code;
}

static int put_places(const struct making *m, int t, long long *out) {
  const struct task_graph *g = m->g;
  const struct task *task = &g->tasks[t];
  const int wanted = m->parameters[task->type];
  const struct row row = relation_row(&g->touched, (size_t)t);
  if (wanted > 0)
    out[0] = place_of(m->image, task->data);
  if (wanted - 1 > row.end - row.begin)
    return refuse_few(m, t, (int)(row.end - row.begin));
  for (int i = 0; i < row.end - row.begin; i++) {
    const struct resource_more *more = &g->more[row.begin[i]];
    const void *memory = more->bytes ? more->memory : NULL;
    if (i + 1 < wanted)
      out[i + 1] = place_of(m->image, memory);
    if (memory && is_locked(g, task, row.begin[i]))
      block_of(m->image, memory)->written = true;
  }
  return OP_OK;
}

/* ---- tables ---- */

struct heavy {
  float weight;
  int task;
};
/* Those without work come first: others wait behind them. */
static int by_weight(const void *a, const void *b) {
  const struct heavy *x = a, *y = b;
  return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1)
                                : (x->task > y->task) - (x->task < y->task);
}

static int order_tasks(struct making *m) {
  const struct task_graph *g = m->g;
  const size_t n = (size_t)g->ntasks;
  struct heavy *all = array_new(n, sizeof *all);
  m->tasks = array_new(n, sizeof *m->tasks);
  m->ranks = array_new(n, sizeof *m->ranks);
  if (!all || !m->tasks || !m->ranks) {
    free(all);
    return error_memory_of(m->err, "the tables of graph", g->name, n * sizeof *all);
  }
  for (int t = 0; t < g->ntasks; t++)
    all[t] = (struct heavy){g->types[g->tasks[t].type].text ? g->tasks[t].weight : __builtin_inff(), t};
  qsort(all, n, sizeof *all, by_weight);
  for (int i = 0; i < g->ntasks; i++) {
    m->tasks[i] = all[i].task;
    m->ranks[all[i].task] = i;
  }
  free(all);
  return OP_OK;
}

/* Where each table begins. */
static int lay_out(const struct making *m, int head[TABLE_HEAD], size_t *total) {
  const struct task_graph *g = m->g;
  const size_t n = (size_t)g->ntasks, resources = (size_t)g->nresources;
  size_t words[3], at = TABLE_HEAD;
  for (int i = 0; i < 3; i++) {
    words[i] = ((i ? words[i - 1] : n) + 31) / 32;
    head[TABLE_WORDS + i] = (int)words[i];
  }
  const struct {
    int table;
    size_t length;
  } parts[] = {{TABLE_BITS, words[0]},
               {TABLE_BITS + 1, words[1]},
               {TABLE_BITS + 2, words[2]},
               {TABLE_WAIT, n},
               {TABLE_STATE, resources},
               {TABLE_PARENT, resources},
               {TABLE_TYPE, n},
               {TABLE_PLACES, n},
               {TABLE_LOCKS, n + 1},
               {TABLE_LOCK_ITEMS, g->locks.count},
               {TABLE_AFTER, n + 1},
               {TABLE_AFTER_ITEMS, g->after.count}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    head[parts[i].table] = (int)(at < INT_MAX ? at : INT_MAX);
    at += parts[i].length;
  }
  *total = at;
  return at < INT_MAX
             ? OP_OK
             : error_set(m->err, OP_ERR_SIZE,
                         "graph \"%s\" is too large for a device: its tables have %zu numbers, and there "
                         "may be %d; use larger tasks",
                         g->name, at, INT_MAX);
}

static void put_ready(int *t, int task) {
  for (int level = 0, at = task; level < 3; level++, at /= 32)
    t[t[TABLE_BITS + level] + at / 32] |= (int)(1u << (at % 32));
}

static int fill_tables(const struct making *m) {
  const struct task_graph *g = m->g;
  int *t = m->image->tables, code = OP_OK;
  int locks = 0, after = 0;
  size_t places = 0;
  t[TABLE_LEFT] = g->ntasks;
  for (int r = 0; r < g->nresources; r++)
    t[t[TABLE_PARENT] + r] = g->resources[r].parent;
  for (int i = 0; !code && i < g->ntasks; i++) {
    const int task = m->tasks[i], type = g->tasks[task].type;
    t[t[TABLE_WAIT] + i] = g->tasks[task].before;
    t[t[TABLE_TYPE] + i] = type;
    t[t[TABLE_PLACES] + i] = (int)places;
    t[t[TABLE_LOCKS] + i] = locks;
    t[t[TABLE_AFTER] + i] = after;
    code = put_places(m, task, m->image->places + places);
    places += (size_t)m->parameters[type];
    for (struct row row = task_locks(g, &g->tasks[task]); row.begin < row.end && *row.begin >= 0; row.begin++)
      t[t[TABLE_LOCK_ITEMS] + locks++] = *row.begin;
    for (struct row row = relation_row(&g->after, (size_t)task); row.begin < row.end; row.begin++)
      t[t[TABLE_AFTER_ITEMS] + after++] = m->ranks[*row.begin];
    if (g->tasks[task].before == 0)
      put_ready(t, i);
  }
  t[t[TABLE_LOCKS] + g->ntasks] = locks;
  t[t[TABLE_AFTER] + g->ntasks] = after;
  return code;
}

static int make_tables(struct making *m) {
  struct tasks_image *image = m->image;
  const struct task_graph *g = m->g;
  int head[TABLE_HEAD] = {0};
  if (lay_out(m, head, &image->ntables))
    return m->err->code;
  for (int t = 0; t < g->ntasks; t++)
    image->nplaces += (size_t)m->parameters[g->tasks[t].type];
  if (image->nplaces > INT_MAX)
    return error_set(
        m->err, OP_ERR_SIZE,
        "graph \"%s\" is too large for a device: its tasks are passed %zu pointers, and there may "
        "be %d; use larger tasks",
        g->name, image->nplaces, INT_MAX);
  image->tables = array_new(image->ntables, sizeof *image->tables);
  image->places = array_new(image->nplaces, sizeof *image->places);
  if (!image->tables || !image->places)
    return error_memory_of(m->err, "the tables of graph", g->name, image->ntables * sizeof *image->tables);
  memcpy(image->tables, head, sizeof head);
  return order_tasks(m) ? m->err->code : fill_tables(m);
}

/* ---- all of it ---- */

static int refuse_hosts(const struct task_graph *g, struct error *err) {
  for (int i = 0; i < g->ntypes; i++)
    if (g->types[i].function && !g->types[i].text)
      return error_set(
          err, OP_ERR_BACKEND,
          "graph \"%s\": type \"%s\" has no kernel's text, and other types have: all of a graph runs "
          "on the device or on the host; give it one with op_graph_kernel, or use "
          "OP2_BACKEND=openmp",
          g->name, g->types[i].name);
  return OP_OK;
}

int tasks_image_make(struct task_graph *g, const int parameters[], bool checked, struct tasks_image *out,
                     struct error *err) {
  struct making m = {.g = g, .parameters = parameters, .image = out, .err = err};
  *out = (struct tasks_image){0};
  int code = refuse_hosts(g, err);
  if (!code)
    code = tasks_prepare(g, err);
  if (!code && checked)
    code = check_uses(g, err);
  if (!code)
    code = relation_sort(&g->touched, g->ntasks, err);
  if (!code)
    code = find_blocks(g, out, err);
  if (!code)
    code = make_tables(&m);
  free(m.tasks);
  free(m.ranks);
  if (code)
    tasks_image_free(out);
  return code;
}

void tasks_image_free(struct tasks_image *image) {
  free(image->tables);
  free(image->places);
  free(image->blocks);
  *image = (struct tasks_image){0};
}
