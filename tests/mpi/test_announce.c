/* Who sends to whom, found by announcements: whether each is taken in its own round, also where a rank is late to see
 * that a round is over; and how many messages it takes. MPI's functions go through this program.
 *
 *   test-mpi-announce-KIND [OP2_...=...] */
#include <mpi.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"
#include "context/env.h"
#include "ranks/comm.h"

enum { ROUNDS = 400, MOST_RANKS = 64, LATE_CALLS = 6 };

static struct comm *comm;
static struct error err;

static int check_rank(void) {
  return comm ? comm->rank : -1;
}

/* ---- what goes through here ---- */

static struct {
  long long synchronous, others; /* messages sent */
  MPI_Request barrier;           /* of the round */
  int hidden;                    /* calls for which this rank is still not told that it is over */
} seen = {.barrier = MPI_REQUEST_NULL};

int MPI_Issend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm c,
               MPI_Request *request) {
  seen.synchronous++;
  return PMPI_Issend(data, count, type, to, tag, c, request);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm c,
              MPI_Request *request) {
  seen.others++;
  return PMPI_Isend(data, count, type, to, tag, c, request);
}

int MPI_Ibarrier(MPI_Comm c, MPI_Request *request) {
  const int status = PMPI_Ibarrier(c, request);
  seen.barrier = *request;
  return status;
}

/* A rank that is late sees only after a while that all have come to the barrier: the others send for the next round. */
int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
  if (seen.hidden > 0 && *request == seen.barrier && seen.barrier != MPI_REQUEST_NULL) {
    seen.hidden--;
    usleep(300);
    *done = 0;
    return MPI_SUCCESS;
  }
  return PMPI_Test(request, done, status);
}

/* ---- rounds ---- */

/* The same on all ranks. */
static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Some rounds are empty, in some each tells each, in most a few. */
static long said(int round, int from, int to) {
  const uint64_t r = mixed(((uint64_t)round * MOST_RANKS + (uint64_t)from) * MOST_RANKS + (uint64_t)to);
  const int kind = round % 7;
  if (kind == 0 || (kind != 1 && r % 3))
    return 0;
  return (long)(r >> 40) * MOST_RANKS * ROUNDS + (long)from * ROUNDS + round;
}

static void run_round(int round, bool anybody_late) {
  long counts[MOST_RANKS], in[MOST_RANKS];
  long long partners = 0;
  for (int r = 0; r < comm->size; r++) {
    counts[r] = said(round, comm->rank, r);
    in[r] = -1;
    partners += r != comm->rank && counts[r];
  }
  seen.synchronous = seen.others = 0;
  seen.hidden =
      anybody_late && (int)(mixed((uint64_t)round) % (uint64_t)comm->size) == comm->rank ? LATE_CALLS : 0;
  const int code = comm->table->announce(comm, counts, in, &err);
  if (code)
    fprintf(stderr, "%s\n", error_message(&err));
  check(!code);
  for (int r = 0; r < comm->size; r++)
    check(in[r] == said(round, r, comm->rank));
  check(seen.synchronous == partners && seen.others == 0);
}

int main(int argc, char **argv) {
  struct env env;
  struct text warnings = {0};
  check(!env_read(&env, argc, argv, &warnings, &err));
  const struct comm_options options = {
      .wanted = env_value(&env, ENV_MPI), .launcher = env.launcher, .plugins = env_value(&env, ENV_PLUGINS)};
  const int code = comm_open(&comm, &options, &err);
  if (code)
    fprintf(stderr, "%s\n", error_message(&err));
  check(!code && comm->size <= MOST_RANKS);
  comm->where = "the test";
  for (int round = 0; round < ROUNDS; round++)
    run_round(round, round % 2);
  if (comm->rank == 0)
    printf("%s, %d ranks: %d rounds\n", comm->table->name, comm->size, ROUNDS);
  comm_close(comm);
  text_free(&warnings);
  env_free(&env);
  error_free(&err);
  return 0;
}
