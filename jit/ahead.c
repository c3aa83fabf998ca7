#include "jit/job.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
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
  /* While code is coming nothing is measured: that shall not take seconds where all processors have work. */
  behind_open(&a->behind, BEHIND_LOWEST / 2);
}

/* ---- the end of the process -----------------------------------------------------------------------*/

/* exit() pulls the compiler's own data away below the thread, if the program does not end with op_exit: after an error,
 * for one. So it waits. One for the process, as exit() is. */
static struct {
  pthread_once_t once;
  /* release when a compile is over, acquire at exit, after which no thread touches the compiler */
  atomic_int compiling;
  atomic_int
      process; /* a forked child has none of these threads; it has one thread when it looks: any order would do */
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

static void work(void *argument) {
  struct ahead *a = argument;
  const struct compile_result *r = &a->result->result;
  a->result->target->compile(a->result->self, &a->request, &a->result->result);
  a->result->seconds = r->seconds_front + r->seconds_middle + r->seconds_back;
  note_end();
}

/* A compile has its own thread, and the one with a large stack that the compiler may start and wait for. */
static void count_threads(struct ahead *a) {
  enum { OWN = 1, COMPILERS = 1 };
  const int before = a->counted;
  a->counted = a->behind.started ? OWN + COMPILERS : 0;
  if (a->threads)
    *a->threads += a->counted - before;
}

/* ---- asking --------------------------------------------------------------------------------------*/

static void forget_work(struct ahead *a) {
  generated_free(&a->generated);
  free(a->fp);
  free(a->result);
  a->fp = NULL;
  a->result = NULL;
  count_threads(a);
}

/* A forked child forgets the work without freeing it: the parent's thread may have been changing it. */
static void leave_to_parent(struct ahead *a) {
  if (!behind_is_lost(&a->behind))
    return;
  a->generated = (struct generated){0};
  a->fp = NULL;
  a->result = NULL;
  forget_work(a);
}

void ahead_finish(struct ahead *a) {
  leave_to_parent(a);
  if (!a->behind.started)
    return;
  behind_finish(&a->behind);
  a->result->next = a->results;
  a->results = a->result;
  a->result = NULL;
  forget_work(a);
}

void ahead_collect(struct ahead *a) {
  leave_to_parent(a);
  if (behind_is_done(&a->behind))
    ahead_finish(a);
}

bool ahead_begin(struct ahead *a, const struct target *target, void *self, const char *hash,
                 struct generated *generated, const struct compile_request *like) {
  ahead_collect(a);
  if (a->behind.started)
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
  generated_files(&a->generated, a->files);
  a->request = *like;
  a->request.fp = a->fp;
  a->request.files = a->files;
  a->request.nfiles = GENERATED_FILES;
  note_begin();
  if (!behind_begin(&a->behind, work, a))
    note_end();
  count_threads(a);
  if (a->behind.started)
    *generated = (struct generated){0};
  else {
    a->generated = (struct generated){0};
    forget_work(a);
  }
  return a->behind.started;
}

bool ahead_is_busy(const struct ahead *a) {
  return behind_is_busy(&a->behind);
}

static struct ahead_result **find_result(struct ahead *a, const char *hash) {
  ahead_collect(a);
  struct ahead_result **at = &a->results;
  while (*at && strcmp((*at)->hash, hash) != 0)
    at = &(*at)->next;
  return at;
}

bool ahead_has(struct ahead *a, const char *hash) {
  return *find_result(a, hash) != NULL;
}

bool ahead_take(struct ahead *a, const char *hash, struct compile_result *result, double *seconds) {
  struct ahead_result **at = find_result(a, hash), *r = *at;
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
  if (a->behind.started) {
    behind_finish(&a->behind);
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
