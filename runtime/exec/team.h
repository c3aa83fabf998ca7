/* The threads. One team per context, two fills behind one small table:
 *
 *   pthread   threads of our own. Idle they spin for a millisecond, after the first 50 microseconds only while
 *             nobody else wants their CPUs, and then sleep; for 0.1 seconds after somebody did twice they sleep
 *             after the 50 microseconds.
 *   openmp    the threads of the host's OpenMP runtime (gcc's libgomp or clang's libomp: both have the entry
 *             GOMP_parallel), so that host and library have one set of threads, and none spins against the
 *             other's. Between runs they wait as the runtime's OMP_WAIT_POLICY says: it is the host's pool.
 *             OMP_NUM_THREADS, OMP_PROC_BIND and OMP_PLACES hold because the runtime itself obeys them.
 *
 * TEAM_DEFAULT begins with pthreads and moves to the host's runtime, for good, as soon as the process turns out to
 * have one with threads: a host that is linked with OpenMP but runs no region of its own gets no spinning workers,
 * and one that does gets no second team. It looks before a run, at most every 0.2 milliseconds. Nothing is linked;
 * a runtime is looked for only when the process has threads that are not ours. A forked child begins anew with
 * pthreads (libgomp hangs there).
 *
 * Barriers inside a run wait like idle workers; with more threads than CPUs both sleep at once. */
#ifndef OP2JIT_EXEC_TEAM_H
#define OP2JIT_EXEC_TEAM_H

#include "base/error.h"

struct team;

/* The function that each thread runs: `thread` is 0 .. threads-1, 0 is the caller. */
typedef void team_task(void *argument, int thread, int threads);

/* TEAM_OPENMP loads libgomp (else libomp) if the process has none: for a user who set OMP_PROC_BIND or OMP_PLACES. */
enum team_kind { TEAM_DEFAULT, TEAM_OPENMP, TEAM_PTHREAD };

/* `threads` 0: what a loaded OpenMP runtime would take, else team_cpus(). Errors: OP_ERR_NOT_BUILT
 * for a fill that is not there; OP_ERR_MEMORY, also if threads cannot be started. */
int team_open(struct team **out, enum team_kind kind, int threads, struct error *err);
void team_close(struct team *team);
/* Where it says how many threads the library has beside the team's, at most: they are not the host's. At first none. */
void team_discount(struct team *team, const int *threads);
int team_threads(const struct team *team);      /* NULL: 1 */
const char *team_name(const struct team *team); /* "openmp" or "pthread" */

/* The CPUs that this process is allowed on, or fewer if its control group's quota is the time of fewer. */
int team_cpus(void);

/* Run the task on `threads` threads and wait; without a team (NULL) the caller does it alone. The task learns how many there are: at most `threads` and
 * team_threads, fewer if the runtime gives fewer, one (the caller, directly) inside a parallel region of the
 * host or inside another task. In a forked child the team makes itself anew, from pthreads. */
void team_run(struct team *team, int threads, team_task *task, void *argument);
/* Inside a task: wait for all threads of this run. A task that was run inside another task has only one thread and
 * must not call this. */
void team_barrier(struct team *team);

/* Inside a task: wait as at a barrier, but until the gate (team_gate.h) no longer has the value that was seen. */
struct gate;
void team_await(struct team *team, struct gate *gate, unsigned seen);

/* How many threads, of two to `most`, do work that takes one thread so many seconds, in phases with a barrier between,
 * it soonest, and when, by what a run of no work takes this team. That is measured once, in a millisecond or two at most;
 * inside a task or a region of the host it is taken for nothing. */
int team_best(struct team *team, double seconds, int phases, int most, double *takes);

/* Zero memory that was never touched, each piece by the thread that gets the elements there in direct loops: a page
 * lies near the thread that touches it first. The elements go from end to end of each `part` bytes (a component, where
 * components lie apart); 0: of all bytes. `team` may be NULL. */
void team_clear(struct team *team, void *memory, size_t bytes, size_t part);

#endif
