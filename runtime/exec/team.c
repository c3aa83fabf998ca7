#include "exec/team.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/list.h"
#include "exec/team_fill.h"
#include "exec/team_place.h"
#include "exec/team_quota.h"

static const struct team_fill *const fills[] = {
    [TEAM_DEFAULT] = &team_pthread_fill,
#ifdef OP2JIT_OPENMP
    [TEAM_OPENMP] = &team_openmp_fill,
#endif
    [TEAM_PTHREAD] = &team_pthread_fill,
};

/* ---- forked children ----------------------------------------------------------------------------------------*/

/* A page that the kernel clears in a forked child, so that runs need no system call to know one. NULL where there
 * are no such pages (Linux before 4.14): then the number of the process tells. */
static volatile char *mark_open(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *mark = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mark == MAP_FAILED)
    return NULL;
  if (madvise(mark, page, MADV_WIPEONFORK) == 0) {
    *mark = 1;
    return mark;
  }
  munmap(mark, page);
  return NULL;
}

static void mark_close(volatile char *mark) {
  if (mark)
    munmap((void *)mark, (size_t)sysconf(_SC_PAGESIZE));
}

static bool is_child(const struct team *team) {
  return team->mark ? !*team->mark : team->process != getpid();
}

/* ---- the host's OpenMP -------------------------------------------------------------------------------------*/

/* The folder's links are the threads and two more: one cheap call, and nothing to parse. 0: unknown. */
static long count_threads(const struct team *team) {
  struct stat folder;
  return team->watch >= 0 && fstat(team->watch, &folder) == 0 && folder.st_nlink > 2
             ? (long)folder.st_nlink - 2
             : 0;
}

static void end_watch(struct team *team) {
  if (team->watch >= 0)
    close(team->watch);
  team->watch = -1;
}

#ifdef OP2JIT_OPENMP
/* A runtime that is there and threads that are not ours: they are taken for the runtime's. */
static void begin_watch(struct team *team) {
  int threads = team_openmp_threads();
  if (!team->threads)
    team->threads = threads;
  team->watch = open("/proc/self/task", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (threads && count_threads(team) != 1) {
    end_watch(team);
    team->fill = &team_openmp_fill;
  }
}

static void move_to_openmp(struct team *team) {
  struct error err = {0};
  void *pool = team->state;
  if (team_openmp_fill.open(team, &err) == OP_OK) {
    void *openmp = team->state;
    team->state = pool;
    team->fill->close(team);
    team->fill = &team_openmp_fill;
    team->state = openmp;
    team->cost[COST_TWO] = team->cost[COST_ALL] = 0;
    end_watch(team);
  }
  error_free(&err);
}

/* How long the number of the process's threads is taken for what it was: asking costs more than a small run. */
static const long look_pause_ns = 200000;

/* A runtime that began to run in the pause is found by the first run after it: until then there are two teams. */
static void look_at_host(struct team *team) {
  const long now = clock_ns();
  if (now - team->looked < look_pause_ns)
    return;
  team->looked = now;
  const long threads = count_threads(team) - (team->discount ? *team->discount : 0);
  if (threads <= team->process_threads)
    return;
  if (team_openmp_threads() > 0)
    move_to_openmp(team);
  team->process_threads = threads;
}
#else
static void begin_watch(struct team *team) {
  (void)team;
}
static void look_at_host(struct team *team) {
  (void)team;
}
#endif

int team_open(struct team **out, enum team_kind kind, int threads, struct error *err) {
  *out = NULL;
  if (threads < 0)
    return error_set(err, OP_ERR_ARGUMENT, "%d threads were asked for; give 1 or more, or 0 for all CPUs",
                     threads);
  const struct team_fill *fill = fills[kind];
  if (!fill)
    return error_set(err, OP_ERR_NOT_BUILT,
                     "threads by OpenMP were asked for, but this library was built without them; build "
                     "with -Dopenmp=enabled");
  struct team *team = NULL;
  if (posix_memalign((void **)&team, _Alignof(struct team), sizeof *team) != 0)
    return error_memory(err, "the team of threads", sizeof *team);
  memset(team, 0, sizeof *team);
  team->fill = fill;
  team->threads = threads;
  team->process = getpid();
  team->mark = mark_open();
  team->watch = -1;
  if (kind == TEAM_DEFAULT)
    begin_watch(team);
  int status = team->fill->open(team, err);
  if (status) {
    end_watch(team);
    mark_close(team->mark);
    free(team);
    return status;
  }
  team->process_threads = count_threads(team);
  *out = team;
  return OP_OK;
}

void team_close(struct team *team) {
  if (!team)
    return;
  end_watch(team);
  team->fill->close(team);
  mark_close(team->mark);
  free(team);
}

void team_discount(struct team *team, const int *threads) {
  team->discount = threads;
}

int team_threads(const struct team *team) {
  return team ? team->threads : 1;
}

const char *team_name(const struct team *team) {
  return team->fill->name;
}

/* The parent's threads do not exist here, and libgomp would wait for them: pthreads, or the caller alone. */
static void renew_in_child(struct team *team) {
  struct error err = {0};
  end_watch(team);
  team->fill->close(team);
  team->state = NULL;
  team->process = getpid();
  if (team->mark)
    *team->mark = 1;
  team->fill = &team_pthread_fill;
  memset(&team->barrier, 0, sizeof team->barrier);
  team->arrived = 0;
  if (team_pthread_fill.open(team, &err) != OP_OK)
    team->threads = 1;
  error_free(&err);
}

static bool is_busy(const struct team *team) {
  return team->running || (team->fill->busy && team->fill->busy(team));
}

void team_run(struct team *team, int threads, team_task *task, void *argument) {
  if (!team) {
    task(argument, 0, 1);
    return;
  }
  if (threads > 1 && !team->running && is_child(team))
    renew_in_child(team);
  if (threads > 1 && !team->running && team->watch >= 0)
    look_at_host(team);
  if (threads > team->threads)
    threads = team->threads;
  if (threads <= 1 || is_busy(team)) {
    if (!team->running)
      team_start(team, 1);
    task(argument, 0, 1);
    return;
  }
  team->running = true;
  team->fill->run(team, threads, task, argument);
  team->running = false;
}

void team_barrier(struct team *team) {
  /* relaxed: see team_start */
  int members = atomic_load_explicit(&team->members, memory_order_relaxed);
  if (members <= 1)
    return;
  uint32_t seen = gate_value(&team->barrier); /* acquire: not later than the arrival */
  /* release: what this thread wrote; acquire: the last one has what all wrote, and hands it on by the gate */
  if (atomic_fetch_add(&team->arrived, 1) == members - 1) {
    /* relaxed: the gate opens after it, and nobody arrives again before that */
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    gate_open(&team->barrier);
  } else {
    gate_wait(&team->barrier, seen, &team->patience);
  }
}

void team_await(struct team *team, struct gate *gate, unsigned seen) {
  gate_wait(gate, seen, &team->patience);
}

/* ---- what it costs ------------------------------------------------------------------------------------*/

static void no_work(void *argument, int thread, int threads) {
  (void)argument, (void)thread, (void)threads;
}

/* The least of some runs, as of threads that are awake; where others want the CPUs few will do. */
static double measure_cost(struct team *team, int threads) {
  enum { RUNS = 8, FEWEST = 4 };
  const double most_seconds = 0.5e-3, begun = clock_seconds();
  double least = 0, before = begun;
  for (int run = 0; run < RUNS && (run < FEWEST || before < begun + most_seconds); run++) {
    team_run(team, threads, no_work, NULL);
    const double now = clock_seconds();
    least = run == 0 || now - before < least ? now - before : least;
    before = now;
  }
  return least;
}

/* Between what two threads take and what all take it grows evenly. */
static double cost_of(struct team *team, int threads) {
  double *cost = team->cost;
  if (cost[COST_ALL] <= 0 && !is_busy(team)) {
    cost[COST_TWO] = measure_cost(team, 2);
    cost[COST_ALL] = team->threads > 2 ? measure_cost(team, team->threads) : cost[COST_TWO];
  }
  const double more = team->threads > 2 ? (double)(threads - 2) / (team->threads - 2) : 0;
  return cost[COST_TWO] + more * (cost[COST_ALL] - cost[COST_TWO]);
}

int team_best(struct team *team, double seconds, int phases, int most, double *takes) {
  int best = 2;
  for (int threads = 2; threads <= most;
       threads = threads < most && 2 * threads > most ? most : 2 * threads) {
    const double now = seconds / threads + phases * cost_of(team, threads);
    if (threads == 2 || now < *takes) {
      best = threads;
      *takes = now;
    }
  }
  return best;
}

/* ---- first touch ---------------------------------------------------------------------------------------*/

static const size_t small_memory = (size_t)1 << 20;

struct clearing {
  unsigned char *memory;
  size_t bytes, part;
};

static void clear_piece(void *argument, int thread, int threads) {
  const struct clearing *c = argument;
  for (size_t from = 0; from < c->bytes; from += c->part) {
    const size_t part = c->bytes - from < c->part ? c->bytes - from : c->part;
    size_t begin = part / (size_t)threads * (size_t)thread;
    size_t end = thread + 1 < threads ? part / (size_t)threads * (size_t)(thread + 1) : part;
    memset(c->memory + from + begin, 0, end - begin);
  }
}

void team_clear(struct team *team, void *memory, size_t bytes, size_t part) {
  struct clearing c = {.memory = memory, .bytes = bytes, .part = part ? part : bytes};
  team_run(team, team && bytes >= small_memory ? team->threads : 1, clear_piece, &c);
}
