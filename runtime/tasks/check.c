/* A checked run: tasks run one by one, and after each one the memory of resources that it does not lock must be as it was.
 * Before it, every two tasks of which one locks and the other uses a resource must have an order. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "tasks/inner.h"

struct check {
  struct task_graph *graph;
  int *hidden; /* of each resource: messages that change its memory now */
};

/* ---- what tasks change ---- */

/* FNV over words, and over the bytes that are left. */
static uint64_t sum_of(const void *memory, size_t bytes) {
  const uint64_t prime = 1099511628211u;
  const unsigned char *p = memory;
  uint64_t sum = 14695981039346656037u, word;
  for (; bytes >= sizeof word; bytes -= sizeof word, p += sizeof word) {
    memcpy(&word, p, sizeof word);
    sum = (sum ^ word) * prime;
    sum ^= sum >> 29;
  }
  while (bytes-- > 0)
    sum = (sum ^ *p++) * prime;
  return sum;
}

/* The task locks the resource, one above it, or one below it, whose memory is a part of its own. */
static bool locks_it(const struct task_graph *g, const struct task *task, int resource) {
  struct row locks = task_locks(g, task);
  for (const int *l = locks.begin; l < locks.end && *l >= 0; l++)
    if (resource_is_in(g, resource, *l) || resource_is_in(g, *l, resource))
      return true;
  return false;
}

static int refuse_change(const struct task_graph *g, const struct task *task, int resource,
                         struct error *err) {
  struct text words = {0};
  tasks_task_words(g, task, &words);
  text_add(&words, " changed the memory of ");
  tasks_resource_words(g, resource, &words);
  text_add(&words, ", which it does not lock; let it lock that, or one above");
  return tasks_refuse(g, OP_ERR_VIOLATION, &words, err);
}

int check_after(struct check *c, const struct task *task, struct error *err) {
  const struct task_graph *g = c->graph;
  for (int i = 0; i < g->nresources; i++) {
    struct resource_more *m = &g->more[i];
    if (!m->bytes || !m->memory || c->hidden[i] > 0)
      continue;
    const uint64_t now = sum_of(m->memory, m->bytes);
    if (now == m->seen)
      continue;
    m->seen = now;
    if (!locks_it(g, task, i))
      return refuse_change(g, task, i, err);
  }
  return OP_OK;
}

/* ---- who locks and who uses ---- */

/* For each task a bit for every task that comes before it. */
struct before {
  uint64_t *bits;
  size_t words;
};

static bool comes_before(const struct before *b, int first, int second) {
  return b->bits[(size_t)second * b->words + (size_t)first / 64] >> (first % 64) & 1;
}

static bool find_before(const struct task_graph *g, struct before *b) {
  size_t count;
  b->words = ((size_t)g->ntasks + 63) / 64;
  b->bits = size_mul((size_t)g->ntasks, b->words, &count) ? array_new(count, sizeof *b->bits) : NULL;
  for (int i = 0; b->bits && i < g->ntasks; i++) {
    const int t = g->order[i];
    const uint64_t *own = b->bits + (size_t)t * b->words;
    for (struct row row = relation_row(&g->after, (size_t)t); row.begin < row.end; row.begin++) {
      uint64_t *next = b->bits + (size_t)*row.begin * b->words;
      for (size_t w = 0; w < b->words; w++)
        next[w] |= own[w];
      next[t / 64] |= (uint64_t)1 << (t % 64);
    }
  }
  return b->bits;
}

/* The resource that `locker` locks and `user` only uses; -1: none. */
static int touches(const struct task_graph *g, const struct task *locker, const struct task *user) {
  const struct row used = relation_row(&g->uses, (size_t)(user - g->tasks));
  for (const int *u = used.begin; u < used.end; u++)
    if (locks_it(g, locker, *u) && !locks_it(g, user, *u))
      return *u;
  return -1;
}

static int refuse_pair(const struct task_graph *g, int locker, int user, int resource, struct error *err) {
  struct text words = {0};
  tasks_task_words(g, &g->tasks[locker], &words);
  text_add(&words, " locks ");
  tasks_resource_words(g, resource, &words);
  text_add(&words, ", which ");
  tasks_task_words(g, &g->tasks[user], &words);
  text_add(&words,
           " uses, and nothing says which of the two comes first; add a dependency, or let both lock it");
  return tasks_refuse(g, OP_ERR_VIOLATION, &words, err);
}

/* Quadratic in tasks: of large graphs only the first ones, in the order in which they were added. */
enum { MOST_COMPARED = 4000 };

int check_uses(const struct task_graph *g, struct error *err) {
  struct before b;
  const int most = g->ntasks < MOST_COMPARED ? g->ntasks : MOST_COMPARED;
  int code = OP_OK;
  if (!g->uses.at || !g->locks.at || g->ntasks > 16 * MOST_COMPARED)
    return OP_OK;
  if (!find_before(g, &b))
    return error_memory_of(err, "the check of graph", g->name, (size_t)g->ntasks * b.words * sizeof *b.bits);
  for (int user = 0; !code && user < most; user++)
    for (int locker = 0; !code && locker < most; locker++) {
      if (locker == user || comes_before(&b, user, locker) || comes_before(&b, locker, user))
        continue;
      const int resource = touches(g, &g->tasks[locker], &g->tasks[user]);
      if (resource >= 0)
        code = refuse_pair(g, locker, user, resource, err);
    }
  free(b.bits);
  return code;
}

/* ---- the run ---- */

int check_begin(struct check **out, struct task_graph *g, struct error *err) {
  const int code = g->of ? OP_OK : check_uses(g, err); /* of a part others looked at the whole */
  if (code)
    return code;
  struct check *c = calloc(1, sizeof *c);
  if (!c)
    return error_memory_of(err, "the check of graph", g->name, sizeof *c);
  c->graph = g;
  c->hidden = array_new((size_t)g->nresources, sizeof *c->hidden);
  if (!c->hidden) {
    free(c);
    return error_memory_of(err, "the check of graph", g->name, (size_t)g->nresources * sizeof(int));
  }
  for (int i = 0; i < g->nresources; i++)
    if (g->more[i].bytes && g->more[i].memory)
      g->more[i].seen = sum_of(g->more[i].memory, g->more[i].bytes);
  *out = c;
  return OP_OK;
}

void check_hide(struct check *c, int resource, bool hidden) {
  for (int i = resource; i >= 0; i = c->graph->resources[i].parent) {
    struct resource_more *m = &c->graph->more[i];
    c->hidden[i] += hidden ? 1 : -1;
    if (c->hidden[i] == 0 && m->bytes && m->memory)
      m->seen = sum_of(m->memory, m->bytes);
  }
}

void check_done(struct check *c) {
  if (c)
    free(c->hidden);
  free(c);
}
