/* Locks of resources in a forest. The states of a resource and of all above it say whether it is free; each changes by
 * one atomic step, and nobody waits: who cannot go on undoes what was done.
 *
 * Taking is acquire and giving is release: who takes a lock sees what was done under it, and under those below it, which
 * all counted in it. Between them other threads only exchange values, which passes on what was released. Two tasks that
 * want a resource and one above it meet in the state of the upper one: no order between two variables is needed. */
#include "tasks/inner.h"

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

/* Those above `from`, up to but without `end`. */
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
