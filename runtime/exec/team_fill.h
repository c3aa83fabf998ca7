/* The functions of a fill of the team, and the members that all fills share. For runtime/exec/team*.c only. */
#ifndef OP2JIT_EXEC_TEAM_FILL_H
#define OP2JIT_EXEC_TEAM_FILL_H

#include <stdbool.h>
#include <sys/types.h>

#include "exec/team.h"
#include "exec/team_gate.h"

struct team_fill {
  const char *name;
  /* Fill in team->state; call team_decide before a thread is started. */
  int (*open)(struct team *team, struct error *err);
  void (*close)(struct team *team);
  /* True if the caller is inside a parallel region of the host. NULL: it never is. */
  bool (*busy)(const struct team *team);
  /* Run on up to `threads` threads; calls team_start on each of them before the task. */
  void (*run)(struct team *team, int threads, team_task *task, void *argument);
};

/* With two threads, and with all. */
enum { COST_TWO, COST_ALL, TEAM_COSTS };

struct team {
  _Alignas(64) _Atomic int arrived; /* at the barrier */
  _Alignas(64) struct gate barrier; /* apart from what arrivals write */
  _Atomic int members;              /* of this run, for the barrier */
  pid_t process;                    /* that opened it: another one is a forked child */
  volatile char *mark;              /* 1, but 0 in a forked child; NULL: `process` tells */
  const struct team_fill *fill;
  void *state;              /* the fill's own */
  struct patience patience; /* before sleeping */
  int threads;
  bool running;
  /* Watching for threads of the host: the folder of the process's threads (-1: no need), where it says how many are the
   * library's own, and how many others it had at most. */
  int watch;
  const int *discount;
  long process_threads;
  long looked;             /* when, on the gate's clock */
  double cost[TEAM_COSTS]; /* what a run of no work takes; 0: not measured */
};

extern const struct team_fill team_pthread_fill;
#ifdef OP2JIT_OPENMP
extern const struct team_fill team_openmp_fill;
/* Threads that a runtime which is loaded would take; 0: none is loaded. */
int team_openmp_threads(void);
#endif

/* Settle what the user left open: the number of threads (0: the CPUs), and how long to spin. */
void team_decide(struct team *team, int threads);

/* All threads of a run say the same number. */
static inline void team_start(struct team *team, int threads) {
  /* relaxed: the thread's own store, or one before its gate opened */
  atomic_store_explicit(&team->members, threads, memory_order_relaxed);
}

#endif
