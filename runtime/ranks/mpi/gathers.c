/* Gathers that are begun, and waited for by their end. Each has memory of its own, which stays as long as MPI may write
 * to it. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "inner.h"

struct comm_gather {
  MPI_Request request;
  long long number; /* of what all ranks begin on the comm */
  unsigned char all[];
};

int mpi_gather_begin(struct comm *c, const void *mine, size_t bytes, struct comm_gather **out,
                     struct error *err) {
  struct comm_gather *g = NULL;
  size_t room;
  *out = NULL;
  if (size_mul((size_t)c->size, bytes, &room) && size_add(room, sizeof *g, &room))
    g = malloc(room);
  if (!g)
    return error_memory(err, "what ranks bring together", (size_t)c->size * bytes);
  int code = mpi_watch_begin(c, err);
  if (!code) {
    g->number = mpi_watch_number(c);
    memcpy(g->all + (size_t)c->rank * bytes, mine, bytes);
    code = mpi_check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, g->all, (int)bytes, MPI_BYTE,
                                    mpi_state(c)->mpi, &g->request),
                     "MPI_Iallgather", err);
  }
  if (code)
    free(g);
  else
    *out = g;
  return code;
}

int mpi_gather_test(struct comm *c, struct comm_gather *g, bool *done, struct error *err) {
  int there = 0;
  (void)c;
  const int status = MPI_Test(&g->request, &there, MPI_STATUS_IGNORE);
  *done = there != 0;
  return mpi_check(status, "MPI_Test", err);
}

int mpi_gather_end(struct comm *c, struct comm_gather *g, const unsigned char **all, struct error *err) {
  *all = g->all;
  return mpi_wait_for(c, &g->request, 1, "results", g->number, err);
}

void mpi_gather_free(struct comm *c, struct comm_gather *g) {
  (void)c;
  if (g && g->request == MPI_REQUEST_NULL)
    free(g);
}
