/* Waiting for another thread: spin for a while, then sleep in the kernel. A gate is a counter; openers raise
 * it, waiters wait until it differs from the value they have seen. What the opener wrote before is seen by
 * the waiter after. */
#ifndef OP2JIT_TEAM_GATE_H
#define OP2JIT_TEAM_GATE_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct gate {
  _Atomic uint32_t value, sleepers;
};

static inline long gate_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (long)t.tv_sec * 1000000000L + t.tv_nsec;
}

static inline void gate_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

static inline uint32_t gate_value(struct gate *g) {
  return atomic_load_explicit(&g->value, memory_order_acquire);
}

/* A sleeper announces itself before it looks a last time, an opener looks for sleepers after it has raised the
 * value; both in one total order (seq_cst), so that one of the two sees the other. */
static inline void gate_open(struct gate *g) {
  atomic_fetch_add(&g->value, 1);
  if (atomic_load(&g->sleepers))
    syscall(SYS_futex, &g->value, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static inline void gate_wait(struct gate *g, uint32_t seen, long spin_ns) {
  if (gate_value(g) != seen)
    return;
  if (spin_ns > 0) {
    long end = gate_clock() + spin_ns;
    do {
      for (int i = 0; i < 32; i++) {
        if (gate_value(g) != seen)
          return;
        gate_pause();
      }
    } while (gate_clock() < end);
  }
  atomic_fetch_add(&g->sleepers, 1);
  while (atomic_load(&g->value) == seen)
    syscall(SYS_futex, &g->value, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
  atomic_fetch_sub(&g->sleepers, 1);
}

#endif
