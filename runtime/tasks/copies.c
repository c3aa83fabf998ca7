/* Copies of the host's memory on a device, and which side has the newest. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "tasks/phases.h"

/* ---- segments ---- */

struct edge {
  unsigned char *at;
  int step; /* how many more are from here on; 0: only a cut */
};

static int by_address(const void *a, const void *b) {
  const struct edge *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static size_t add_edges(struct edge *edges, size_t n, const void *memory, size_t bytes, int step) {
  unsigned char *at = (unsigned char *)(uintptr_t)memory;
  if (!memory || !bytes)
    return n;
  edges[n++] = (struct edge){at, step};
  edges[n++] = (struct edge){at + bytes, -step};
  return n;
}

/* Aligned as on the host; what touches there touches here. */
static void add_segment(struct phases *p, unsigned char *host, size_t bytes) {
  enum { ALIGNED = 16 };
  const struct segment *last = p->nsegments ? &p->segments[p->nsegments - 1] : NULL;
  const bool touches = last && last->host + last->bytes == host;
  const size_t at =
      touches ? p->bytes : (p->bytes + ALIGNED - 1) / ALIGNED * ALIGNED + (size_t)((uintptr_t)host % ALIGNED);
  p->segments[p->nsegments++] =
      (struct segment){.host = host, .bytes = bytes, .at = at, .newest = NEWEST_HOST};
  p->bytes = at + bytes;
}

static void cut(struct phases *p, struct edge *edges, size_t n) {
  int depth = 0;
  qsort(edges, n, sizeof *edges, by_address);
  for (size_t i = 0; i < n; i++) {
    if (depth > 0 && edges[i].at > edges[i - 1].at)
      add_segment(p, edges[i - 1].at, (size_t)(edges[i].at - edges[i - 1].at));
    depth += edges[i].step;
  }
}

/* Resources that tasks of the device lock or use: the kernel is passed their memory. */
static void mark_passed(const struct task_graph *g, unsigned char *passed) {
  for (int t = 0; t < g->ntasks; t++)
    if (g->types[g->tasks[t].type].text)
      for (struct row row = relation_row(&g->touched, (size_t)t); row.begin < row.end; row.begin++)
        passed[*row.begin] = 1;
}

static void link_children(struct phases *p) {
  const struct task_graph *g = p->g;
  for (int r = 0; r < g->nresources; r++)
    p->child[r] = p->sibling[r] = -1;
  for (int r = g->nresources; r-- > 0;)
    if (g->resources[r].parent >= 0) {
      p->sibling[r] = p->child[g->resources[r].parent];
      p->child[g->resources[r].parent] = r;
    }
}

int copies_find(struct phases *p, struct error *err) {
  const struct task_graph *g = p->g;
  size_t count = (size_t)g->nresources, n = 0;
  for (const struct piece *piece = g->pieces; piece; piece = piece->next)
    count++;
  struct edge *edges = arrays_add(&p->arrays, 2 * count, sizeof *edges);
  p->segments = arrays_add(&p->arrays, 2 * count, sizeof *p->segments);
  p->child = arrays_add(&p->arrays, (size_t)g->nresources, sizeof *p->child);
  p->sibling = arrays_add(&p->arrays, (size_t)g->nresources, sizeof *p->sibling);
  if (p->arrays.failed)
    return error_memory_of(err, "the memory of graph", g->name, count * sizeof *edges);
  link_children(p);
  mark_passed(g, p->held);
  for (int r = 0; r < g->nresources; r++) {
    n = add_edges(edges, n, g->more[r].memory, g->more[r].bytes, p->held[r]);
    p->held[r] = 0;
  }
  for (const struct piece *piece = g->pieces; piece; piece = piece->next)
    n = add_edges(edges, n, piece->bytes, piece->used, 1);
  cut(p, edges, n);
  p->staging = arrays_add(&p->arrays, p->bytes, 1);
  if (!p->staging)
    return error_memory_of(err, "copies for the device of graph", g->name, p->bytes);
  for (const struct piece *piece = g->pieces; piece; piece = piece->next)
    for (struct span s = copies_of(p, piece->bytes, piece->used); s.begin < s.end; s.begin++)
      p->segments[s.begin].wanted = true;
  return OP_OK;
}

/* The first one that ends behind the address. */
static size_t first_behind(const struct phases *p, const unsigned char *address) {
  size_t low = 0, high = p->nsegments;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (p->segments[middle].host + p->segments[middle].bytes <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct span copies_of(const struct phases *p, const void *memory, size_t bytes) {
  const unsigned char *begin = memory;
  if (!memory || !bytes)
    return (struct span){0, 0};
  struct span s = {.begin = first_behind(p, begin)};
  s.end = s.begin;
  while (s.end < p->nsegments && p->segments[s.end].host < begin + bytes)
    s.end++;
  return s;
}

/* ---- what tasks of the host reach ---- */

static bool reach_one(struct phases *p, const struct resource_more *more, enum reach reach) {
  for (struct span s = copies_of(p, more->memory, more->bytes); s.begin < s.end; s.begin++) {
    struct segment *one = &p->segments[s.begin];
    /* acquire: who only uses it has no lock that hands on what was copied back for another one */
    const bool there = atomic_load_explicit(&one->newest, memory_order_acquire) == NEWEST_DEVICE;
    if (reach == REACH_CHANGED)
      atomic_store_explicit(&one->newest, NEWEST_HOST, memory_order_relaxed);
    else if (there && reach == REACH_LOOK)
      return true;
    else if (reach == REACH_WANT)
      one->wanted = one->wanted || there;
  }
  return false;
}

bool copies_reach(struct phases *p, struct row row, enum reach reach) {
  const struct resource *resources = p->g->resources;
  for (; row.begin < row.end && *row.begin >= 0; row.begin++)
    for (int r = *row.begin; r >= 0;) {
      if (reach_one(p, &p->g->more[r], reach))
        return true;
      if (p->child[r] >= 0) {
        r = p->child[r];
        continue;
      }
      while (r != *row.begin && p->sibling[r] < 0)
        r = resources[r].parent;
      r = r == *row.begin ? -1 : p->sibling[r];
    }
  return false;
}

/* ---- copying ---- */

/* A copy is a task of its own type. */
static void count(struct phases *p, enum type_of_device type, long begin, size_t bytes) {
  const long end = clock_ns();
  p->copies += 1e-9 * (double)(end - begin);
  worker_did(p->run, p->worker, p->g->copies + (int)type, p->worker->thread, begin, end, bytes);
}

static bool fails(struct phases *p, struct error *err) {
  if (err->code)
    run_fail(p->run, err->code, "%s", error_message(err));
  const bool failed = err->code;
  error_free(err);
  return failed;
}

static bool is_old_there(const struct segment *s) {
  return s->wanted && atomic_load_explicit(&s->newest, memory_order_relaxed) == NEWEST_HOST;
}

/* Neighbours go together: between them is nothing but what alignment takes. */
bool copies_in(struct phases *p) {
  struct error err = {0};
  for (size_t i = 0; i < p->nsegments && !err.code; i++) {
    struct segment *s = &p->segments[i];
    const size_t begin = s->at;
    const long start = clock_ns();
    size_t end = begin;
    for (; i < p->nsegments && is_old_there(&p->segments[i]); i++) {
      s = &p->segments[i];
      memcpy(p->staging + s->at, s->host, s->bytes);
      atomic_store_explicit(&s->newest, NEWEST_BOTH, memory_order_relaxed);
      end = s->at + s->bytes;
    }
    if (end == begin)
      continue;
    p->device->copy_in(p->device->self, begin, p->staging + begin, end - begin, &err);
    count(p, COPY_IN, start, end - begin);
  }
  for (size_t i = 0; i < p->nsegments; i++)
    p->segments[i].wanted = false;
  return !fails(p, &err);
}

static bool is_old_here(const struct segment *s, bool all) {
  return (all || s->wanted) && atomic_load_explicit(&s->newest, memory_order_relaxed) == NEWEST_DEVICE;
}

/* Little that lies between two segments comes along, and is not looked at here. */
bool copies_out(struct phases *p, bool all) {
  enum { LITTLE = 4096 };
  struct error err = {0};
  for (size_t i = 0, next; i < p->nsegments && !err.code; i = next) {
    next = i + 1;
    if (!is_old_here(&p->segments[i], all))
      continue;
    const size_t begin = p->segments[i].at;
    const long start = clock_ns();
    size_t end = begin + p->segments[i].bytes;
    for (size_t k = next; k < p->nsegments && p->segments[k].at < end + LITTLE; k++)
      if (is_old_here(&p->segments[k], all)) {
        end = p->segments[k].at + p->segments[k].bytes;
        next = k + 1;
      }
    if (p->device->copy_out(p->device->self, p->staging + begin, begin, end - begin, &err))
      break;
    for (size_t k = i; k < next; k++)
      if (is_old_here(&p->segments[k], all)) {
        memcpy(p->segments[k].host, p->staging + p->segments[k].at, p->segments[k].bytes);
        atomic_store_explicit(&p->segments[k].newest, NEWEST_BOTH, memory_order_release);
      }
    count(p, COPY_OUT, start, end - begin);
  }
  for (size_t i = 0; i < p->nsegments; i++)
    p->segments[i].wanted = false;
  return !fails(p, &err);
}
