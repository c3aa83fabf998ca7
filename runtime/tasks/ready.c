/* The ready tasks of a thread: a heap by weight, the largest at its root. */
#include <limits.h>

#include "base/list.h"
#include "tasks/inner.h"

/* relaxed, wherever `count` is read or written here: it changes under the mutex, which hands on tasks and what they waited
 * for. Who reads it without the mutex takes a hint; that a sleeper overlooks nothing is seen to in run.c. */

/* How far a thread looks for a task whose locks are free. Nobody starves: those that it passed over have locks that
 * running tasks hold. */
enum { LOOKS = 256 };

static void put_at(struct ready *q, int i, struct entry e) {
  while (i > 0 && q->heap[(i - 1) / 2].weight < e.weight) {
    q->heap[i] = q->heap[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  q->heap[i] = e;
}

/* The hole at i is filled by an entry from the end. */
static void fill(struct ready *q, int i, int count, struct entry e) {
  for (int child = 2 * i + 1; child < count; child = 2 * i + 1) {
    if (child + 1 < count && q->heap[child + 1].weight > q->heap[child].weight)
      child++;
    if (q->heap[child].weight <= e.weight)
      break;
    q->heap[i] = q->heap[child];
    i = child;
  }
  put_at(q, i, e);
}

static bool grow(struct ready *q) {
  const int most = q->most > INT_MAX / 2 ? INT_MAX : q->most ? 2 * q->most : 64;
  struct entry *heap = most > q->most ? array_resize(q->heap, (size_t)most, sizeof *heap) : NULL;
  if (heap) {
    q->heap = heap;
    q->most = most;
  }
  return heap;
}

bool ready_put(struct ready *q, struct task *task, double weight) {
  pthread_mutex_lock(&q->mutex);
  const int count = atomic_load_explicit(&q->count, memory_order_relaxed);
  const bool room = count < q->most || grow(q);
  if (room) {
    put_at(q, count, (struct entry){weight, task});
    atomic_store_explicit(&q->count, count + 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&q->mutex);
  return room;
}

static struct task *take_first(struct ready *q, const struct task_graph *g, long long *refused,
                               bool *disturbed) {
  const int count = atomic_load_explicit(&q->count, memory_order_relaxed);
  for (int i = 0; i < count && i < LOOKS; i++) {
    struct task *task = q->heap[i].task;
    if (!locks_take(g, task_locks(g, task), disturbed)) {
      ++*refused;
      continue;
    }
    if (i < count - 1)
      fill(q, i, count - 1, q->heap[count - 1]);
    atomic_store_explicit(&q->count, count - 1, memory_order_relaxed);
    return task;
  }
  return NULL;
}

struct task *ready_take(struct ready *q, const struct task_graph *g, bool surely, long long *refused,
                        bool *disturbed) {
  if (atomic_load_explicit(&q->count, memory_order_relaxed) == 0)
    return NULL;
  if (surely)
    pthread_mutex_lock(&q->mutex);
  else if (pthread_mutex_trylock(&q->mutex) != 0)
    return NULL;
  struct task *task = take_first(q, g, refused, disturbed);
  pthread_mutex_unlock(&q->mutex);
  return task;
}

/* Locks of resources in a forest. The states of a resource and of all above it say whether it is free; each changes by
 * one atomic step, and nobody waits: who cannot go on undoes what was done.
 *
 * Taking is acquire and giving is release: who takes a lock sees what was done under it, and under those below it, which
 * all counted in it. Between them other threads only exchange values, which passes on what was released. Two tasks that
 * want a resource and one above it meet in the state of the upper one: no order between two variables is needed. */

/* relaxed: a hint, which taking it proves. */
static bool is_free(const struct resource *resources, int r) {
  if (atomic_load_explicit(&resources[r].state, memory_order_relaxed) != 0)
    return false;
  while ((r = resources[r].parent) >= 0)
    if (atomic_load_explicit(&resources[r].state, memory_order_relaxed) == LOCKED)
      return false;
  return true;
}

/* One more below is locked; false: this one is. */
static bool hold(struct resource *r) {
  int state = atomic_load_explicit(&r->state, memory_order_relaxed); /* a guess, here and in what failed */
  while (state != LOCKED)
    if (atomic_compare_exchange_weak_explicit(&r->state, &state, state + 1, memory_order_acquire,
                                              memory_order_relaxed))
      return true;
  return false;
}

/* Resources above `from`, up to but without `end`. */
static void let_go(struct resource *resources, int from, int end) {
  for (int a = resources[from].parent; a != end; a = resources[a].parent)
    atomic_fetch_sub_explicit(&resources[a].state, 1, memory_order_release);
}

static bool take_one(struct resource *resources, int r) {
  int unlocked = 0;
  /* relaxed where it fails: then nothing of the resource is looked at */
  if (!atomic_compare_exchange_strong_explicit(&resources[r].state, &unlocked, LOCKED, memory_order_acquire,
                                               memory_order_relaxed))
    return false;
  for (int a = resources[r].parent; a >= 0; a = resources[a].parent)
    if (!hold(&resources[a])) {
      let_go(resources, r, a);
      atomic_store_explicit(&resources[r].state, 0, memory_order_release);
      return false;
    }
  return true;
}

static void give_one(struct resource *resources, int r) {
  let_go(resources, r, -1);
  atomic_store_explicit(&resources[r].state, 0, memory_order_release);
}

bool locks_cover(const struct task_graph *g, struct row locks, int resource) {
  for (const int *l = locks.begin; l < locks.end && *l >= 0; l++)
    if (resource_is_in(g, resource, *l))
      return true;
  return false;
}

bool locks_take(const struct task_graph *g, struct row locks, bool *disturbed) {
  /* First a look that changes nothing: mostly a running task has the lock, and then nobody is disturbed. */
  for (const int *l = locks.begin; l < locks.end && *l >= 0; l++)
    if (!is_free(g->resources, *l))
      return false;
  for (const int *l = locks.begin; l < locks.end && *l >= 0; l++)
    if (!take_one(g->resources, *l)) {
      *disturbed = true;
      while (l-- > locks.begin)
        give_one(g->resources, *l);
      return false;
    }
  return true;
}

void locks_give(const struct task_graph *g, struct row locks) {
  for (const int *l = locks.begin; l < locks.end && *l >= 0; l++)
    give_one(g->resources, *l);
}
