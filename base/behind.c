#include "base/behind.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

void behind_open(struct behind *b, int nice) {
  b->nice = nice;
  /* Fails beyond 1024 processors; then the thread runs where its maker does. */
  b->known = sched_getaffinity(0, sizeof b->processors, &b->processors) == 0;
}

static void *work(void *argument) {
  struct behind *b = argument;
  setpriority(PRIO_PROCESS, 0, b->nice); /* of this thread, on Linux */
  if (b->known)
    sched_setaffinity(0, sizeof b->processors, &b->processors);
  b->work(b->argument);
  atomic_store_explicit(&b->done, true, memory_order_release);
  return NULL;
}

/* Signals go to the program's threads. Signals of the thread's own mistakes are not blocked: a compiler catches
 * them. */
static bool start(struct behind *b) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
  sigset_t all, before;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    sigdelset(&all, own[i]);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
    return false;
  const bool good = pthread_create(&b->thread, NULL, work, b) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return good;
}

bool behind_begin(struct behind *b, void (*task)(void *argument), void *argument) {
  b->work = task;
  b->argument = argument;
  b->process = getpid();
  atomic_store_explicit(&b->done, false, memory_order_relaxed); /* starting the thread hands it on */
  return b->started = start(b);
}

bool behind_is_busy(const struct behind *b) {
  return b->started && !atomic_load_explicit(&b->done, memory_order_acquire) && b->process == getpid();
}

bool behind_is_done(const struct behind *b) {
  return b->started && atomic_load_explicit(&b->done, memory_order_acquire);
}

bool behind_is_lost(struct behind *b) {
  const bool lost = b->started && b->process != getpid();
  b->started &= !lost;
  return lost;
}

void behind_finish(struct behind *b) {
  if (b->started)
    pthread_join(b->thread, NULL);
  b->started = false;
}
