#include "jit/patience.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static void *wait_for_end(void *argument) {
  struct patience *p = argument;
  int code = 0;
  pthread_mutex_lock(&p->mutex);
  while (!p->done && code != ETIMEDOUT)
    code = pthread_cond_timedwait(&p->over, &p->mutex, &p->until);
  const bool late = !p->done;
  pthread_mutex_unlock(&p->mutex);
  if (late)
    log_line(p->log, isatty(STDERR_FILENO) ? LOG_WARN : LOG_INFO, "jit",
             "kernel %s (%d line%s) is being compiled, for more than %g s now", p->kernel, p->lines,
             p->lines == 1 ? "" : "s", p->seconds);
  return NULL;
}

/* Signals are for the program's threads. */
static bool start_thread(struct patience *p) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
    return false;
  const bool good = pthread_create(&p->thread, NULL, wait_for_end, p) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return good;
}

static struct timespec in_seconds(double seconds) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  const long long nanoseconds = t.tv_nsec + (long long)(1e9 * seconds);
  t.tv_sec += (time_t)(nanoseconds / 1000000000);
  t.tv_nsec = (long)(nanoseconds % 1000000000);
  return t;
}

void patience_begin(struct patience *p, const struct log *log, const char *kernel, const char *text,
                    double seconds) {
  *p = (struct patience){.log = log, .kernel = kernel, .seconds = seconds, .until = in_seconds(seconds)};
  for (const char *c = text; *c; c++)
    p->lines += *c == '\n' || !c[1];
  pthread_condattr_t attributes;
  if (!log || (!log_wants(log, LOG_INFO, "jit") && !isatty(STDERR_FILENO)) ||
      pthread_condattr_init(&attributes) != 0)
    return;
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&p->mutex, NULL);
  pthread_cond_init(&p->over, &attributes);
  pthread_condattr_destroy(&attributes);
  /* Without a thread nothing is said. */
  p->started = start_thread(p);
  if (!p->started) {
    pthread_cond_destroy(&p->over);
    pthread_mutex_destroy(&p->mutex);
  }
}

void patience_end(struct patience *p) {
  if (!p->started)
    return;
  pthread_mutex_lock(&p->mutex);
  p->done = true;
  pthread_cond_signal(&p->over);
  pthread_mutex_unlock(&p->mutex);
  pthread_join(p->thread, NULL);
  pthread_cond_destroy(&p->over);
  pthread_mutex_destroy(&p->mutex);
  p->started = false;
}
