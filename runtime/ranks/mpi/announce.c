/* How ranks find out who sends to them without a message from each to each. What is sent is sent synchronously: it
 * is over when its receiver has taken it. A rank whose own messages are over begins a barrier that does not block,
 * and takes what comes until that is over; then all messages are taken. Nobody is two calls ahead of another rank,
 * but one call is possible: so calls alternate between two tags, or a message would be taken for one of the call
 * before. */
#include <stdlib.h>

#include "base/size.h"
#include "inner.h"

struct announcing {
  struct comm *comm;
  int tag, partners;
  MPI_Request *requests; /* one for each partner, then the barrier's */
  int sent;
};

/* The counts are read as long as nobody has taken them, even if this call is left: so they lie in memory that
 * stays. */
static int send_counts(struct announcing *a, const long *counts, struct error *err) {
  long *sent = (void *)mpi_state(a->comm)->room;
  int status = MPI_SUCCESS;
  for (int r = 0; status == MPI_SUCCESS && r < a->comm->size; r++)
    if (r != a->comm->rank && counts[r]) {
      sent[a->sent] = counts[r];
      status =
          MPI_Issend(&sent[a->sent], 1, MPI_LONG, r, a->tag, mpi_state(a->comm)->mpi, &a->requests[a->sent]);
      a->sent += status == MPI_SUCCESS;
    }
  return mpi_check(status, "MPI_Issend", err);
}

/* Ends what is there already: it does not wait. */
static int take_one(const struct announcing *a, long *in, int *took, struct error *err) {
  MPI_Comm mpi = mpi_state(a->comm)->mpi;
  MPI_Status from;
  int status = MPI_Iprobe(MPI_ANY_SOURCE, a->tag, mpi, took, &from);
  if (status == MPI_SUCCESS && *took)
    status = MPI_Recv(&in[from.MPI_SOURCE], 1, MPI_LONG, from.MPI_SOURCE, a->tag, mpi, MPI_STATUS_IGNORE);
  return mpi_check(status, "MPI_Recv", err);
}

static int take_all(const struct announcing *a, long *in, struct error *err) {
  struct mpi_wait w = {.comm = a->comm, .call = "announcements", .number = mpi_watch_number(a->comm)};
  MPI_Request *barrier = &a->requests[a->partners];
  int code = OP_OK;
  for (int over = 0; !code && over <= a->partners;) {
    int took = 0, done = 0, status = MPI_SUCCESS;
    if (over == a->partners && *barrier == MPI_REQUEST_NULL)
      status = MPI_Ibarrier(mpi_state(a->comm)->mpi, barrier);
    code = mpi_check(status, "MPI_Ibarrier", err);
    if (!code)
      code = take_one(a, in, &took, err);
    if (!code)
      code = mpi_check(MPI_Test(&a->requests[over], &done, MPI_STATUS_IGNORE), "MPI_Test", err);
    over += done;
    if (!code && !took && !done)
      code = mpi_pause(&w, err);
  }
  return code;
}

int mpi_announce(struct comm *c, const long *counts, long *in, struct error *err) {
  struct announcing a = {.comm = c, .tag = TAG_ANNOUNCE + mpi_state(c)->announcements};
  int code = mpi_watch_begin(c, err);
  if (code)
    return code;
  mpi_state(c)->announcements ^= 1;
  for (int r = 0; r < c->size; r++) {
    in[r] = r == c->rank ? counts[r] : 0;
    a.partners += r != c->rank && counts[r];
  }
  a.requests = array_new((size_t)a.partners + 1, sizeof *a.requests);
  if (!a.requests)
    return error_memory(err, "messages", ((size_t)a.partners + 1) * sizeof *a.requests);
  a.requests[a.partners] = MPI_REQUEST_NULL;
  code = send_counts(&a, counts, err);
  if (!code)
    code = take_all(&a, in, err);
  if (code)
    mpi_abandon(a.requests, 0, a.sent);
  free(a.requests);
  return code;
}
