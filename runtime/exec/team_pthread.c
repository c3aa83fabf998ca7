/* The pthread fill: workers that wait at a gate of their own for the next task. */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "exec/team_fill.h"
#include "exec/team_place.h"

struct worker {
  _Alignas(64) struct gate gate; /* raised once per task; only the workers that take part are raised */
  struct team *team;
  struct pool *pool;
  struct places *places; /* the pool's: read here, on a line that others leave alone */
  team_task *task;       /* NULL: end */
  void *argument;
  uint64_t run;
  int thread, threads;
  long left; /* when this worker last left a CPU to another thread, on the gate's clock */
  pthread_t handle;
};

struct pool {
  struct places *places; /* NULL: more threads than CPUs */
  uint64_t run;
  int nworkers;
  _Alignas(64) _Atomic int pending; /* workers that have not finished */
  struct gate done;
  struct worker workers[];
};

/* Leaving costs some microseconds, and on a CPU that others want too it helps nobody: once in a while is enough. */
static void keep_apart(struct worker *self) {
  static const long pause_ns = 1000000;
  if (place_claim(self->places, self->run))
    return;
  long now = clock_ns();
  if (now - self->left < pause_ns)
    return;
  self->left = now;
  place_leave(self->places, self->run);
  place_claim(self->places, self->run);
}

static void *work(void *argument) {
  struct worker *self = argument;
  for (uint32_t seen = 0;; seen++) {
    gate_wait(&self->gate, seen, &self->team->patience);
    if (!self->task)
      return NULL;
    if (self->places)
      keep_apart(self);
    self->task(self->argument, self->thread, self->threads);
    /* release: what this worker's task wrote; acquire: the last one has what all wrote, and hands it on by the gate */
    if (atomic_fetch_sub(&self->pool->pending, 1) == 1)
      gate_open(&self->pool->done);
  }
}

static void send(struct worker *w, team_task *task, void *argument, int threads) {
  w->task = task;
  w->argument = argument;
  w->threads = threads;
  w->run = w->pool->run;
  gate_open(&w->gate);
}

static void pool_free(struct pool *pool) {
  places_close(pool->places);
  free(pool);
}

static void stop(struct pool *pool) {
  for (int i = 0; i < pool->nworkers; i++)
    send(&pool->workers[i], NULL, NULL, 0);
  for (int i = 0; i < pool->nworkers; i++)
    pthread_join(pool->workers[i].handle, NULL);
  pool_free(pool);
}

static void pool_close(struct team *team) {
  if (!team->state)
    return; /* a forked child that could not start threads */
  if (team->process == getpid())
    stop(team->state);
  else
    pool_free(team->state); /* a forked child: there is nobody to join */
}

/* Signals of the host are for the host's own threads, but for those that a thread brings on itself. */
static int start(struct team *team, struct pool *pool, int nworkers) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF};
  sigset_t blocked, old;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    sigdelset(&blocked, own[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, &old);
  int status = 0;
  for (int i = 0; i < nworkers && !status; i++) {
    struct worker *w = &pool->workers[i];
    w->team = team;
    w->pool = pool;
    w->places = pool->places;
    w->thread = i + 1;
    status = pthread_create(&w->handle, NULL, work, w);
    if (!status)
      pool->nworkers++;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return status;
}

static int pool_open(struct team *team, struct error *err) {
  team_decide(team, 0);
  int nworkers = team->threads - 1;
  struct pool *pool = NULL;
  size_t bytes;
  if (!size_mul((size_t)nworkers, sizeof *pool->workers, &bytes) || !size_add(bytes, sizeof *pool, &bytes) ||
      posix_memalign((void **)&pool, _Alignof(struct pool), bytes) != 0)
    return error_memory(err, "the team of threads", (size_t)nworkers * sizeof *pool->workers);
  memset(pool, 0, bytes);
  if (team->patience.spin_ns > 0)
    pool->places = places_open();
  int status = start(team, pool, nworkers);
  if (status) {
    int got = pool->nworkers;
    stop(pool);
    return error_set(err, OP_ERR_MEMORY,
                     "thread %d of %d could not be started (%s); ask for fewer with OP2_THREADS", got + 2,
                     team->threads, strerror(status));
  }
  team->state = pool;
  return OP_OK;
}

static void pool_run(struct team *team, int threads, team_task *task, void *argument) {
  struct pool *pool = team->state;
  uint32_t seen = gate_value(&pool->done);
  team_start(team, threads);
  pool->run++;
  if (pool->places)
    place_claim(pool->places, pool->run);
  /* relaxed: the workers' gates open after it, and opening releases; those of the last run are behind `done` */
  atomic_store_explicit(&pool->pending, threads - 1, memory_order_relaxed);
  for (int i = 0; i < threads - 1; i++)
    send(&pool->workers[i], task, argument, threads);
  task(argument, 0, threads);
  gate_wait(&pool->done, seen, &team->patience);
}

const struct team_fill team_pthread_fill = {
    .name = "pthread",
    .open = pool_open,
    .close = pool_close,
    .run = pool_run,
};
