#include "random.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BEFORE = 8, MOST_LOCKS = 4, CHILDREN = 3 };

struct node {
  int before[MOST_BEFORE], nbefore;
  int locks[MOST_LOCKS], nlocks;
  bool idle, spawns;
  uint64_t value;    /* of its own number and of the values before it, whatever the order */
  _Atomic int ran;   /* how often */
  _Atomic int added; /* of its children, those that are over */
};

/* `inside` and `below` are stamps: who is in the resource, and how many are in one below it. */
struct token {
  int parent;
  _Atomic int inside, below;
  long sum; /* plain: the thread sanitizer looks at it too */
};

struct payload {
  struct world *world;
  int node;
  bool child;
};

struct world {
  struct shape shape;
  uint64_t seed;
  struct task_graph *graph;
  struct node *nodes;
  struct token *tokens;
  op_task *tasks;
  op_resource *resources;
  op_task_type works, rests;
  int count;
  _Atomic(const char *) wrong;
};

static unsigned pick(struct world *w, int below) {
  w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)((w->seed >> 33) % (uint64_t)below);
}

static void complain(struct world *w, const char *what) {
  const char *none = NULL;
  atomic_compare_exchange_strong(&w->wrong, &none, what);
}

static uint64_t value_of(const struct world *w, int node) {
  uint64_t value = (uint64_t)node * 0x9e3779b97f4a7c15u;
  for (int i = 0; i < w->nodes[node].nbefore; i++)
    value = (value ^ w->nodes[w->nodes[node].before[i]].value) * 1099511628211u;
  return value;
}

static bool is_above(const struct world *w, int above, int token) {
  while (token >= 0 && token != above)
    token = w->tokens[token].parent;
  return token == above;
}

/* Once, where a task locks one twice or one above another. */
static bool counts(const struct world *w, const struct node *n, int lock) {
  for (int k = 0; k < n->nlocks; k++)
    if (k != lock && is_above(w, n->locks[k], n->locks[lock]) && (n->locks[k] != n->locks[lock] || k < lock))
      return false;
  return true;
}

/* Both mark first and look then: of two that meet one sees the other. */
static void enter(struct world *w, int token) {
  struct token *t = &w->tokens[token];
  if (atomic_fetch_add(&t->inside, 1) != 0)
    complain(w, "two tasks are in one resource");
  for (int a = t->parent; a >= 0; a = w->tokens[a].parent)
    atomic_fetch_add(&w->tokens[a].below, 1);
  if (atomic_load(&t->below) != 0)
    complain(w, "a task is in a resource below a locked one");
  for (int a = t->parent; a >= 0; a = w->tokens[a].parent)
    if (atomic_load(&w->tokens[a].inside) != 0)
      complain(w, "a task is in a resource above a locked one");
}

static void leave(struct world *w, int token) {
  for (int a = w->tokens[token].parent; a >= 0; a = w->tokens[a].parent)
    atomic_fetch_sub(&w->tokens[a].below, 1);
  atomic_fetch_sub(&w->tokens[token].inside, 1);
}

static void spin(int rounds) {
  for (volatile int i = 0; i < rounds; i++)
    continue;
}

static void add_children(struct world *w, op_running *running, struct node *n, int node) {
  const struct payload child = {.world = w, .node = node, .child = true};
  op_resource locks[MOST_LOCKS];
  for (int l = 0; l < n->nlocks; l++)
    locks[l] = w->resources[n->locks[l]];
  for (int i = 0; i < CHILDREN; i++)
    op_running_add(running, w->works, &child, sizeof child, 1, n->nlocks, locks);
}

/* Where nothing is to do, those before it count. */
static bool is_over(const struct world *w, int node) {
  const struct node *n = &w->nodes[node];
  bool over = n->idle || (atomic_load(&n->ran) == 1 && (!n->spawns || atomic_load(&n->added) == CHILDREN));
  for (int i = 0; n->idle && over && i < n->nbefore; i++)
    over = is_over(w, n->before[i]);
  return over;
}

static void works(op_running *running, void *data) {
  const struct payload *p = data;
  struct world *w = p->world;
  struct node *n = &w->nodes[p->node];
  if (op_running_thread(running) >= op_running_threads(running))
    complain(w, "a thread has no number");
  for (int l = 0; l < n->nlocks; l++)
    if (counts(w, n, l))
      enter(w, n->locks[l]);
  for (int i = 0; !p->child && i < n->nbefore; i++)
    if (!is_over(w, n->before[i]))
      complain(w, "a task runs before one that it waits for");
  spin(w->shape.spin);
  if (!p->child)
    n->value = value_of(w, p->node);
  for (int l = 0; l < n->nlocks; l++)
    if (counts(w, n, l))
      w->tokens[n->locks[l]].sum += 1 + p->node;
  if (!p->child && n->spawns)
    add_children(w, running, n, p->node);
  for (int l = 0; l < n->nlocks; l++)
    if (counts(w, n, l))
      leave(w, n->locks[l]);
  atomic_fetch_add(p->child ? &n->added : &n->ran, 1);
}

static void choose(struct world *w, int node) {
  struct node *n = &w->nodes[node];
  const struct shape *s = &w->shape;
  const int reach = node < 200 ? node : 200;
  memset(n, 0, sizeof *n);
  n->nbefore = reach > 0 ? (int)pick(w, s->dependencies + 1) : 0;
  for (int i = 0; i < n->nbefore; i++)
    n->before[i] = node - 1 - (int)pick(w, reach);
  n->nlocks = s->resources > 0 ? (int)pick(w, s->locks + 1) : 0;
  for (int i = 0; i < n->nlocks; i++)
    n->locks[i] = (int)pick(w, s->resources);
  n->idle = s->virtuals && pick(w, s->virtuals) == 0;
  n->spawns = s->spawns && !n->idle && pick(w, s->spawns) == 0;
  if (n->idle)
    n->nlocks = 0;
}

bool world_grow(struct world *w, int tasks) {
  struct error err = {0};
  const int all = w->count + tasks;
  struct node *nodes = realloc(w->nodes, (size_t)all * sizeof *nodes);
  op_task *numbers = nodes ? realloc(w->tasks, (size_t)all * sizeof *numbers) : NULL;
  w->nodes = nodes ? nodes : w->nodes;
  w->tasks = numbers ? numbers : w->tasks;
  for (int t = w->count; numbers && t < all && !err.code; t++) {
    choose(w, t);
    const struct node *n = &w->nodes[t];
    const struct payload p = {.world = w, .node = t};
    w->tasks[t] =
        tasks_add_task(w->graph, n->idle ? w->rests : w->works, &p, sizeof p, 1 + pick(w, 100), &err);
    for (int i = 0; i < n->nbefore && !err.code; i++)
      tasks_depend(w->graph, w->tasks[t], w->tasks[n->before[i]], &err);
    for (int i = 0; i < n->nlocks && !err.code; i++)
      tasks_lock(w->graph, w->tasks[t], w->resources[n->locks[i]], &err);
    if (w->shape.resources && !err.code)
      tasks_use(w->graph, w->tasks[t], w->resources[pick(w, w->shape.resources)], &err);
    w->count = t + 1;
  }
  const bool whole = numbers && !err.code;
  error_free(&err);
  return whole;
}

/* Chains of `depth`, of which each has several children here and there. */
static bool make_resources(struct world *w) {
  struct error err = {0};
  for (int r = 0; r < w->shape.resources && !err.code; r++) {
    const bool top = r == 0 || w->shape.depth < 2 || r % (2 * w->shape.depth) == 0;
    int parent = top ? -1 : r - 1 - (int)pick(w, r % (2 * w->shape.depth) < 2 ? 1 : 2);
    w->tokens[r].parent = parent;
    w->resources[r] = tasks_add_resource(w->graph, parent < 0 ? 0 : w->resources[parent], NULL, &err);
  }
  const bool whole = !err.code;
  error_free(&err);
  return whole;
}

struct world *world_new(const struct shape *shape, unsigned long seed) {
  struct error err = {0};
  struct world *w = calloc(1, sizeof *w);
  if (!w)
    return NULL;
  w->shape = *shape;
  w->seed = seed * 2654435761u + 1;
  w->graph = tasks_new("random", 7);
  w->tokens = calloc((size_t)shape->resources + 1, sizeof *w->tokens);
  w->resources = calloc((size_t)shape->resources + 1, sizeof *w->resources);
  if (w->graph && w->tokens && w->resources) {
    w->works = tasks_add_type(w->graph, "works", works, &err);
    w->rests = tasks_add_type(w->graph, "rests", NULL, &err);
    if (!err.code && make_resources(w) && world_grow(w, shape->tasks))
      return w;
  }
  error_free(&err);
  world_free(w);
  return NULL;
}

void world_free(struct world *w) {
  tasks_free(w->graph);
  free(w->nodes);
  free(w->tokens);
  free(w->tasks);
  free(w->resources);
  free(w);
}

struct task_graph *world_graph(struct world *w) {
  return w->graph;
}

void world_reset(struct world *w) {
  for (int t = 0; t < w->count; t++) {
    w->nodes[t].value = 0;
    w->nodes[t].ran = w->nodes[t].added = 0;
  }
  for (int r = 0; r < w->shape.resources; r++)
    w->tokens[r].sum = 0;
}

const char *world_check(struct world *w) {
  long *sums = calloc((size_t)w->shape.resources + 1, sizeof *sums);
  for (int t = 0; sums && t < w->count; t++) {
    const struct node *n = &w->nodes[t];
    if (n->ran != (n->idle ? 0 : 1) || n->added != (n->spawns ? CHILDREN : 0))
      complain(w, "a task did not run once");
    if (!n->idle && value_of(w, t) != n->value)
      complain(w, "a task saw other values than in sequential order");
    for (int l = 0; l < n->nlocks; l++)
      if (counts(w, n, l))
        sums[n->locks[l]] += (1 + (n->spawns ? CHILDREN : 0)) * (1L + t);
  }
  for (int r = 0; sums && r < w->shape.resources; r++)
    if (sums[r] != w->tokens[r].sum || w->tokens[r].inside || w->tokens[r].below)
      complain(w, "what tasks added to a resource is lost");
  free(sums);
  return atomic_load(&w->wrong);
}
