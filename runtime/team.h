/* The threads. One team per context, two fills behind one small table:
 *
 *   openmp    runs on the threads of an OpenMP runtime (gcc's libgomp or clang's libomp: both have the entry
 *             GOMP_parallel). A host program that has such a runtime shares its pool with the library, so
 *             that there is no second set of threads and none that spins against the host's. OMP_NUM_THREADS,
 *             OMP_PROC_BIND, OMP_PLACES and OMP_WAIT_POLICY hold because the runtime itself obeys them.
 *   pthread   threads of our own, for processes without an OpenMP runtime, builds without the OpenMP fill,
 *             the thread sanitizer, and a forked child (libgomp hangs there).
 *
 * Waiting: barriers inside a run, and the pthread fill's idle workers, spin for 50 microseconds and then
 * sleep; with more threads than CPUs they sleep at once. Between runs the openmp fill's workers are the
 * host's own pool and wait as its OMP_WAIT_POLICY says. TEAM_DEFAULT therefore takes openmp exactly if the
 * process has a runtime when the team is opened, else pthread; nothing is linked. */
#ifndef OP2JIT_TEAM_H
#define OP2JIT_TEAM_H

#include "base/error.h"

struct team;

/* What each thread runs: `thread` is 0 .. threads-1, 0 is the caller. */
typedef void team_task(void *argument, int thread, int threads);

/* TEAM_OPENMP loads libgomp (else libomp) if the process has none: for a user who set OMP_PROC_BIND or OMP_PLACES. */
enum team_kind { TEAM_DEFAULT, TEAM_OPENMP, TEAM_PTHREAD };

/* `threads` 0: what the OpenMP runtime would take, else the CPUs of the affinity mask. Errors: OP_ERR_NOT_BUILT
 * for a fill that is not there; OP_ERR_MEMORY, also if threads cannot be started. */
int team_open(struct team **out, enum team_kind kind, int threads, struct error *err);
void team_close(struct team *team);
int team_threads(const struct team *team);
const char *team_name(const struct team *team); /* "openmp" or "pthread" */

/* Run the task on `threads` threads and wait. The task learns how many there are: at most `threads` and
 * team_threads, fewer if the runtime gives fewer, one (the caller, directly) inside a parallel region of the
 * host or inside another task. In a forked child the team makes itself anew, from pthreads. */
void team_run(struct team *team, int threads, team_task *task, void *argument);
/* Inside a task: wait for all threads of this run. A task that was run inside another task has only one thread and
 * must not call this. */
void team_barrier(struct team *team);

/* Zero memory that was never touched, each piece by the thread that gets the elements there in direct loops: a page
 * lies near the thread that touches it first. `team` may be NULL. */
void team_clear(struct team *team, void *memory, size_t bytes);

#endif
