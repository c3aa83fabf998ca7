/* The OpenMP fill: the only place that starts an OpenMP region. It goes through the entry GOMP_parallel, to which
 * gcc turns `omp parallel` and which clang's libomp has too, looked up in the process instead of linked: so the
 * region runs on the host's runtime whichever it is, and a host without one is not given one. */
#include <dlfcn.h>

#include "base/list.h"
#include "exec/team_fill.h"

struct openmp {
  void (*parallel)(void (*body)(void *), void *argument, unsigned threads, unsigned flags);
  int (*thread_num)(void);
  int (*num_threads)(void);
  int (*max_threads)(void);
  int (*in_parallel)(void);
};

static const char *const runtimes[] = {"libgomp.so.1", "libomp.so.5", "libiomp5.so", "libomp.so"};
enum { nruntimes = sizeof runtimes / sizeof *runtimes };

/* All functions from one place: two runtimes in one process must not be mixed. */
static bool find_entries(struct openmp *omp, void *handle) {
  const struct {
    const char *name;
    void *to;
  } entries[] = {{"GOMP_parallel", &omp->parallel},
                 {"omp_get_thread_num", &omp->thread_num},
                 {"omp_get_num_threads", &omp->num_threads},
                 {"omp_get_max_threads", &omp->max_threads},
                 {"omp_in_parallel", &omp->in_parallel}};
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (!(*(void **)entries[i].to = dlsym(handle, entries[i].name)))
      return false;
  return true;
}

/* First what the host is linked with, then what was opened privately, then (mode 0) from disk. Handles are not
 * closed: a runtime with threads cannot be unloaded. */
static bool find_runtime(struct openmp *omp, int mode) {
  if (find_entries(omp, RTLD_DEFAULT))
    return true;
  for (int i = 0; i < nruntimes; i++) {
    void *handle = dlopen(runtimes[i], RTLD_NOW | RTLD_LOCAL | mode);
    if (handle && find_entries(omp, handle))
      return true;
    if (handle)
      dlclose(handle);
  }
  return false;
}

int team_openmp_threads(void) {
  struct openmp omp;
  return find_runtime(&omp, RTLD_NOLOAD) ? omp.max_threads() : 0;
}

static int openmp_open(struct team *team, struct error *err) {
  struct openmp *omp = array_new(1, sizeof *omp);
  if (!omp)
    return error_memory(err, "the team of threads", sizeof *omp);
  if (!find_runtime(omp, RTLD_NOLOAD) && !find_runtime(omp, 0)) {
    free(omp);
    return error_set(err, OP_ERR_NOT_BUILT,
                     "threads by OpenMP were asked for, but neither libgomp.so.1 nor libomp.so.5 can be "
                     "loaded; install libgomp1, or unset OMP_PROC_BIND and OMP_PLACES");
  }
  team_decide(team, omp->max_threads());
  team->state = omp;
  return OP_OK;
}

static void openmp_close(struct team *team) {
  free(team->state);
}

static bool in_region(const struct team *team) {
  const struct openmp *omp = team->state;
  return omp->in_parallel() != 0;
}

struct region {
  struct team *team;
  int threads;
  team_task *task;
  void *argument;
};

static void enter(void *argument) {
  const struct region *region = argument;
  const struct openmp *omp = region->team->state;
  int thread = omp->thread_num(), threads = omp->num_threads();
  if (threads > region->threads)
    threads = region->threads;
  if (thread >= threads)
    return;
  team_start(region->team, threads);
  region->task(region->argument, thread, threads);
}

/* Always the whole team: libgomp ends the threads that a smaller region does not need and makes them again. */
static void openmp_run(struct team *team, int threads, team_task *task, void *argument) {
  const struct openmp *omp = team->state;
  struct region region = {.team = team, .threads = threads, .task = task, .argument = argument};
  omp->parallel(enter, &region, (unsigned)team->threads, 0);
}

const struct team_fill team_openmp_fill = {
    .name = "openmp",
    .open = openmp_open,
    .close = openmp_close,
    .busy = in_region,
    .run = openmp_run,
};
