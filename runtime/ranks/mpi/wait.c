#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "inner.h"

/* The first rounds are the short waits, and cost nothing more; later ones give the CPU to whoever wants it, and
 * look at the clock. */
enum { ROUNDS = 256 };
/* A crowded rank gives the CPU away at once, and after so long it sleeps. */
static const double patience = 1e-3;
enum { NAP = 50 }; /* microseconds */
/* Seconds after which a rank that waits looks whether another one failed. */
static const double soon = 0.02;
/* Seconds after which ranks that wait ask where the others are, if OP2_HANG does not say less. */
static const double long_enough = 3;

int mpi_check(int status, const char *call, struct error *err) {
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (status == MPI_SUCCESS)
    return OP_OK;
  MPI_Error_string(status, words, &length);
  return error_set(err, OP_ERR_MPI, "%s failed: %s", call, words);
}

static void tell(struct mpi_wait *w, double waited) {
  const struct comm *c = w->comm;
  const char *where = c->where ? c->where + strspn(c->where, "\t") : "a call of the library";
  char line[512];
  snprintf(
      line, sizeof line,
      "op2jit: rank %d: warning: has waited for %.0f s in %.*s (%s); another rank has not called it yet\n",
      c->rank, waited, (int)strcspn(where, "\n"), where, w->call);
  fputs(line, stderr);
  w->told = true;
}

int mpi_pause(struct mpi_wait *w, struct error *err) {
  const struct comm *c = w->comm;
  const bool crowded = mpi_state(c)->crowded;
  if (++w->rounds < ROUNDS && !crowded)
    return OP_OK;
  sched_yield();
  const double t = clock_seconds();
  if (w->begin == 0)
    w->begin = t;
  const double waited = t - w->begin;
  if (crowded && waited > patience)
    usleep(NAP);
  if (c->hang > 0 && waited > c->hang && !w->told)
    tell(w, waited);
  const double suspicious = c->hang > 0 && c->hang < long_enough ? c->hang : long_enough;
  return waited > soon ? mpi_watch_look(w, c->failure || waited > suspicious, err) : OP_OK;
}

int mpi_wait_for(struct comm *c, MPI_Request *requests, int count, const char *call, long long number,
                 struct error *err) {
  struct mpi_wait w = {.comm = c, .call = call, .number = number};
  int code = OP_OK;
  for (int first = 0; !code && first < count;) {
    int done = 0;
    const int status = MPI_Test(&requests[first], &done, MPI_STATUS_IGNORE);
    if (status != MPI_SUCCESS)
      return mpi_check(status, call, err);
    if (done)
      first++;
    else
      code = mpi_pause(&w, err);
  }
  return code;
}

bool mpi_abandon(MPI_Request *requests, int receives, int count) {
  bool over = true;
  int i = 0;
  const double begin = clock_seconds();
  for (int r = 0; r < receives; r++)
    if (requests[r] != MPI_REQUEST_NULL)
      MPI_Cancel(&requests[r]);
  for (int done = 0; i < count && clock_seconds() - begin < 1; i += done) {
    done = 1;
    if (MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      done = 1;
    /* A receiver that went away. MPI has a copy of all but long messages. */
    if (!done && i >= receives) {
      over = false;
      done = MPI_Request_free(&requests[i]) == MPI_SUCCESS;
    }
    sched_yield();
  }
  return over && i == count;
}
