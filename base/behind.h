/* One piece of work on a thread of its own, of lower priority, while the program goes on. Only the thread that
 * owns the struct may call these functions. Nobody else may touch what the work touches until it is done. */
#ifndef OP2JIT_BASE_BEHIND_H
#define OP2JIT_BASE_BEHIND_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct behind {
  cpu_set_t
      processors; /* where the process could run at the beginning: a thread started behind a pinned parallel */
  bool known;     /* region would inherit its one processor */
  int nice;       /* of the thread */
  bool started;
  pid_t process; /* process that started it: a forked child has no such thread */
  pthread_t thread;
  atomic_bool done; /* release by the thread, acquire by the owner, which then sees what the work wrote */
  void (*work)(void *argument);
  void *argument;
};

/* Notes where the process may run. `nice`: from 0 to BEHIND_LOWEST, which takes only idle time. */
enum { BEHIND_LOWEST = 19 };
void behind_open(struct behind *b, int nice);
/* False: no thread can be started. None is under way. */
bool behind_begin(struct behind *b, void (*work)(void *argument), void *argument);
bool behind_is_busy(const struct behind *b);
/* It was begun, and is done: behind_finish does not wait. */
bool behind_is_done(const struct behind *b);
/* True in a forked child, which has a copy of the struct and no such thread. Afterwards no work is under way. */
bool behind_is_lost(struct behind *b);
/* Wait for it. */
void behind_finish(struct behind *b);

#endif
