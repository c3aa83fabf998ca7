#include "jit/ahead.h"
#include "base/clock.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct ahead_result {
  struct ahead_result *next;
  char hash[65];
  const struct target *target;
  void *self; /* the target's */
  struct compile_result result;
  double seconds;
};

void ahead_open(struct ahead *a, int *threads) {
  a->threads = threads;
  /* Fails beyond 1024 processors; then the thread runs where its maker does. */
  a->known = sched_getaffinity(0, sizeof a->processors, &a->processors) == 0;
}

/* ---- the end of the process -----------------------------------------------------------------------*/

/* exit() pulls the compiler's own data away below the thread, if the program does not end with op_exit: after an error,
 * for one. So it waits. One for the process, as exit() is. */
static struct {
  pthread_once_t once;
  atomic_int compiling;
  atomic_int process; /* a forked child has none of these threads */
} leaving = {.once = PTHREAD_ONCE_INIT};

static void let_compilers_finish(void) {
  const struct timespec moment = {.tv_nsec = 1000000};
  while (atomic_load(&leaving.compiling) > 0 && atomic_load(&leaving.process) == getpid())
    nanosleep(&moment, NULL);
}

static void register_wait(void) {
  atexit(let_compilers_finish);
}

static void note_begin(void) {
  pthread_once(&leaving.once, register_wait);
  if (atomic_exchange(&leaving.process, getpid()) != getpid())
    atomic_store(&leaving.compiling, 0);
  atomic_fetch_add(&leaving.compiling, 1);
}

static void note_end(void) {
  atomic_fetch_sub(&leaving.compiling, 1);
}

/* ---- the thread ----------------------------------------------------------------------------------*/

static void *work(void *argument) {
  struct ahead *a = argument;
  const int lowest = 19;
  setpriority(PRIO_PROCESS, 0, lowest); /* of this thread, on Linux */
  if (a->known)
    sched_setaffinity(0, sizeof a->processors, &a->processors);
  double start = clock_seconds();
  a->result->target->compile(a->result->self, &a->request, &a->result->result);
  a->result->seconds = clock_seconds() - start;
  note_end();
  atomic_store_explicit(&a->done, true, memory_order_release);
  return NULL;
}

/* Signals are for the program's threads; what a compiler's own mistake raises is not blocked, it is caught there. */
static bool start_thread(struct ahead *a) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
  sigset_t all, before;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    sigdelset(&all, own[i]);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
    return false;
  bool good = pthread_create(&a->thread, NULL, work, a) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return good;
}

/* A compile has its own thread, and the one with a large stack that the compiler may start and wait for. */
static void set_started(struct ahead *a, bool started) {
  enum { OWN = 1, COMPILERS = 1 };
  a->started = started;
  if (a->threads)
    *a->threads = started ? OWN + COMPILERS : 0;
}

/* ---- asking --------------------------------------------------------------------------------------*/

static void forget_work(struct ahead *a) {
  generated_free(&a->generated);
  free(a->fp);
  free(a->result);
  a->fp = NULL;
  a->result = NULL;
  set_started(a, false);
}

/* A forked child has only a copy of what its parent's thread was at: memory that nobody owns any more. */
static void leave_to_parent(struct ahead *a) {
  if (!a->started || a->process == getpid())
    return;
  a->generated = (struct generated){0};
  a->fp = NULL;
  a->result = NULL;
  set_started(a, false);
}

void ahead_finish(struct ahead *a) {
  leave_to_parent(a);
  if (!a->started)
    return;
  pthread_join(a->thread, NULL);
  a->result->next = a->results;
  a->results = a->result;
  a->result = NULL;
  forget_work(a);
}

void ahead_collect(struct ahead *a) {
  leave_to_parent(a);
  if (a->started && atomic_load_explicit(&a->done, memory_order_acquire))
    ahead_finish(a);
}

static void fill_files(struct ahead *a) {
  const struct generated *g = &a->generated;
  a->files[0] = (struct compile_file){g->main_file, text_str(&g->main), g->main.length};
  a->files[1] = (struct compile_file){g->kernel_file, text_str(&g->kernel), g->kernel.length};
  a->files[2] = (struct compile_file){g->prelude_file, g->prelude, strlen(g->prelude)};
}

bool ahead_begin(struct ahead *a, const struct target *target, void *self, const char *hash,
                 struct generated *generated, const struct compile_request *like) {
  ahead_collect(a);
  if (a->started)
    return false;
  a->result = calloc(1, sizeof *a->result);
  a->fp = strdup(like->fp);
  if (!a->result || !a->fp || strlen(hash) >= sizeof a->result->hash) {
    forget_work(a);
    return false;
  }
  a->generated = *generated;
  memcpy(a->result->hash, hash, strlen(hash) + 1);
  a->result->target = target;
  a->result->self = self;
  fill_files(a);
  a->request = *like;
  a->request.fp = a->fp;
  a->request.files = a->files;
  a->request.nfiles = 3;
  a->process = getpid();
  atomic_store(&a->done, false);
  note_begin();
  set_started(a, start_thread(a));
  if (!a->started)
    note_end();
  if (a->started)
    *generated = (struct generated){0};
  else {
    a->generated = (struct generated){0};
    forget_work(a);
  }
  return a->started;
}

bool ahead_is_busy(const struct ahead *a) {
  return a->started && !atomic_load_explicit(&a->done, memory_order_acquire) && a->process == getpid();
}

static struct ahead_result **find(struct ahead *a, const char *hash) {
  ahead_collect(a);
  struct ahead_result **at = &a->results;
  while (*at && strcmp((*at)->hash, hash) != 0)
    at = &(*at)->next;
  return at;
}

bool ahead_has(struct ahead *a, const char *hash) {
  return *find(a, hash) != NULL;
}

bool ahead_take(struct ahead *a, const char *hash, struct compile_result *result, double *seconds) {
  struct ahead_result **at = find(a, hash), *r = *at;
  if (!r)
    return false;
  *result = r->result;
  *seconds = r->seconds;
  *at = r->next;
  free(r);
  return true;
}

void ahead_close(struct ahead *a) {
  leave_to_parent(a);
  if (a->started) {
    pthread_join(a->thread, NULL);
    a->result->target->release(a->result->self, &a->result->result);
    forget_work(a);
  }
  while (a->results) {
    struct ahead_result *next = a->results->next;
    a->results->target->release(a->results->self, &a->results->result);
    free(a->results);
    a->results = next;
  }
}
