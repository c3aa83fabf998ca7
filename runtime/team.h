/* The threads. One team per context, two fills: OpenMP (the only file with `omp parallel`) and pthreads.
 * Workers sleep after 50 microseconds without work. */
#ifndef OP2JIT_TEAM_H
#define OP2JIT_TEAM_H

#include "base/error.h"

struct team;

/* What each thread runs: `thread` is 0 .. threads-1, 0 is the caller. */
typedef void team_task(void *argument, int thread, int threads);

enum team_kind { TEAM_DEFAULT, TEAM_OPENMP, TEAM_PTHREAD };

/* `threads` 0: OMP_NUM_THREADS, else the CPUs of the affinity mask. TEAM_DEFAULT takes OpenMP where it is built.
 * OP_ERR_NOT_BUILT for a fill that is not; OP_ERR_MEMORY. */
int team_open(struct team **out, enum team_kind kind, int threads, struct error *err);
void team_close(struct team *team);
int team_threads(const struct team *team);
const char *team_name(const struct team *team); /* "openmp" or "pthread" */

/* Run the task on `threads` threads (at most team_threads; 1 calls it directly) and wait. In a forked child the
 * team makes itself anew. */
void team_run(struct team *team, int threads, team_task *task, void *argument);
/* Inside a task: wait for all threads of this run. */
void team_barrier(struct team *team);

#endif
