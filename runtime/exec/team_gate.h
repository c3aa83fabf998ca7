/* Waiting for another thread: spin for a while, then spin and let others have the CPU, then sleep in the kernel. A
 * gate is a counter; openers raise it, waiters wait until it differs from the value they have seen. What the
 * opener wrote before is seen by the waiter after. */
#ifndef OP2JIT_EXEC_TEAM_GATE_H
#define OP2JIT_EXEC_TEAM_GATE_H

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

struct gate {
  _Atomic uint32_t value, sleepers;
};

static inline void gate_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory"); /* takes as long as x86's pause; "yield" takes no time on most */
#endif
}

/* acquire, with the release of the opener: what was written before the gate opened is seen behind this. What comes after
 * in the program comes after: who reads a value, then says that it is here, has the value of before. */
static inline uint32_t gate_value(struct gate *g) {
  return atomic_load_explicit(&g->value, memory_order_acquire);
}

/* A sleeper announces itself before it looks a last time, an opener looks for sleepers after it has raised the
 * value; both in one total order (seq_cst), so that one of the two sees the other. Of those that sleep so many are woken. */
static inline void gate_open_for(struct gate *g, int waiters) {
  atomic_fetch_add(&g->value, 1);
  if (atomic_load(&g->sleepers))
    syscall(SYS_futex, &g->value, FUTEX_WAKE_PRIVATE, waiters, NULL, NULL, 0);
}
static inline void gate_open(struct gate *g) {
  gate_open_for(g, INT_MAX);
}

/* How long the threads of one team wait before they sleep. */
struct patience {
  long spin_ns;         /* 0: not at all */
  _Atomic long crowded; /* until when, on the gate's clock: others want the team's CPUs */
  _Atomic long kept;    /* when a waiter was kept from its CPU the last time */
};

/* How long a waiter spins without asking whether others want its CPU. Who is kept from it for longer than this
 * sleeps; twice within a short time means a crowd, once may be an interrupt. */
static const long gate_alone_ns = 50000;
/* A switch to another thread and back takes longer, with a round of spinning. */
static const long gate_brief_ns = 4000;

/* relaxed, here and below: a hint on how long to spin. An old one costs time, and no data comes with it. */
static inline bool gate_is_crowded(const struct patience *p, long now) {
  return now < atomic_load_explicit(&p->crowded, memory_order_relaxed);
}

static inline void gate_note_kept(struct patience *p, long now) {
  static const long memory_ns = 100000000, short_ns = 10000000;
  const long before = atomic_exchange_explicit(&p->kept, now, memory_order_relaxed);
  if (before > 0 && now - before < short_ns)
    atomic_store_explicit(&p->crowded, now + memory_ns, memory_order_relaxed);
}

/* How often the kernel has given this thread's CPU to others, or -1. A virtual machine's CPU that its host keeps
 * from it for a while counts nothing: to sleep then would only make the thread later. */
static inline long gate_switches(void) {
  struct rusage used;
  return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : -1;
}

/* Spins; true if the value changed. A CPU that has slept is slow for as long as a loop of medium size takes: a thread that
 * gives up too soon keeps the others waiting in the next loop, until they give up. So it stays on its CPU, unless
 * others want that: the kernel gives them all of their time, milliseconds, while it would wake a sleeper before
 * that is over. */
static inline bool gate_spin(struct gate *g, uint32_t seen, struct patience *p) {
  const long start = clock_ns();
  long switches = -1; /* known from the first yield on */
  const long longest = gate_is_crowded(p, start) ? gate_alone_ns : p->spin_ns;
  for (long spent = 0, before; spent < longest;) {
    for (int i = 0; i < 32; i++) {
      if (gate_value(g) != seen)
        return true;
      gate_pause();
    }
    if (spent > gate_alone_ns) {
      if (switches < 0)
        switches = gate_switches();
      sched_yield();
    }
    before = spent;
    spent = clock_ns() - start;
    if (switches >= 0 && spent - before > gate_brief_ns) {
      const long known = switches;
      switches = gate_switches();
      if (spent - before > gate_alone_ns && switches != known) {
        gate_note_kept(p, start + spent);
        return false;
      }
    }
  }
  return false;
}

static inline void gate_wait(struct gate *g, uint32_t seen, struct patience *p) {
  if (gate_value(g) != seen)
    return;
  if (p->spin_ns > 0 && gate_spin(g, seen, p))
    return;
  atomic_fetch_add(&g->sleepers, 1); /* seq_cst with the load below: see gate_open */
  while (atomic_load(&g->value) == seen)
    syscall(SYS_futex, &g->value, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
  atomic_fetch_sub(&g->sleepers, 1); /* seen late: one more call of the kernel, which finds nobody */
}

#endif
