/* Post: whether each message is taken in its own round, also where a rank is late to see that a round is over; and how
 * many messages it takes. MPI's functions go through this program.
 *
 *   test-mpi-post-KIND [OP2_...=...] */
#include <mpi.h>
#include <stdint.h>
#include <unistd.h>

#include "context/env.h"
#include "dense.h"
#include "ranks/comm.h"

enum { ROUNDS = 400, MOST_RANKS = 64, MOST_NUMBERS = 20000, LATE_CALLS = 6 };

static struct comm *comm;
static struct error err;

/* ---- what goes through here ---- */

static struct {
  long long synchronous, others; /* messages sent */
  MPI_Comm comm;                 /* the library's */
  bool fails;                    /* looking for messages fails */
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

int MPI_Iprobe(int from, int tag, MPI_Comm c, int *there, MPI_Status *status) {
  seen.comm = c;
  return seen.fails ? MPI_ERR_OTHER : PMPI_Iprobe(from, tag, c, there, status);
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

/* How many numbers: some rounds are empty, in some each sends to each, in most a few do. */
static size_t count_of(int round, int from, int to) {
  const uint64_t r = mixed(((uint64_t)round * MOST_RANKS + (uint64_t)from) * MOST_RANKS + (uint64_t)to);
  const int kind = round % 7;
  if (kind == 0 || (kind != 1 && r % 3))
    return 0;
  return r % 50 ? (r >> 40) % 30 : (r >> 40) % MOST_NUMBERS;
}

static uint64_t number_of(int round, int from, int to, size_t i) {
  return mixed((((uint64_t)round * MOST_RANKS + (uint64_t)from) * MOST_RANKS + (uint64_t)to) * MOST_NUMBERS +
               i);
}

static void run_round(int round, bool anybody_late) {
  size_t send_bytes[MOST_RANKS], receive_bytes[MOST_RANKS], at = 0;
  long long partners = 0;
  uint64_t *send = malloc((size_t)comm->size * MOST_NUMBERS * sizeof *send);
  void *receive = NULL;
  check(send);
  for (int r = 0; r < comm->size; r++) {
    const size_t count = count_of(round, comm->rank, r);
    send_bytes[r] = count * sizeof *send;
    partners += r != comm->rank && count > 0;
    for (size_t i = 0; i < count; i++)
      send[at++] = number_of(round, comm->rank, r, i);
  }
  seen.synchronous = seen.others = 0;
  seen.hidden =
      anybody_late && (int)(mixed((uint64_t)round) % (uint64_t)comm->size) == comm->rank ? LATE_CALLS : 0;
  struct comm_messages to = messages_of(send_bytes, comm->size), from;
  const int code = comm->table->post(comm, send, &to, &receive, &from, &err);
  if (code)
    fprintf(stderr, "%s\n", error_message(&err));
  check(!code);
  spread_messages(&from, receive_bytes, comm->size);
  comm_messages_free(&to);
  const uint64_t *got = receive;
  for (int r = 0; r < comm->size; r++) {
    const size_t count = count_of(round, r, comm->rank);
    check(receive_bytes[r] == count * sizeof *got);
    for (size_t i = 0; i < count; i++)
      check(*got++ == number_of(round, r, comm->rank, i));
  }
  check(seen.synchronous == partners && seen.others == 0);
  free(receive);
}

/* Rank 0 gets an error while a long message of it is on its way: rank 1 takes it later, whatever rank 0 does with
 * memory meanwhile. */
static void fail_while_sending(void) {
  const int many = 1 << 20, tag = 1;
  size_t send_bytes[MOST_RANKS] = {0};
  uint64_t *numbers = malloc((size_t)many * sizeof *numbers);
  int word = 0;
  check(numbers);
  for (int i = 0; i < many; i++)
    numbers[i] = comm->rank == 0 ? number_of(1, 0, 1, (size_t)i) : 0;
  if (comm->rank == 0) {
    void *receive = NULL;
    send_bytes[1] = (size_t)many * sizeof *numbers;
    seen.fails = true;
    struct comm_messages to = messages_of(send_bytes, comm->size), from;
    check(comm->table->post(comm, numbers, &to, &receive, &from, &err) == OP_ERR_MPI);
    comm_messages_free(&to);
    seen.fails = false;
    error_clear(&err);
    unsigned char *others = malloc(send_bytes[1]);
    check(others && !receive);
    memset(others, 0xee, send_bytes[1]);
    check(PMPI_Send(&word, 1, MPI_INT, 1, tag, MPI_COMM_WORLD) == MPI_SUCCESS);
    check(PMPI_Recv(&word, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    check(others[0] == 0xee);
    free(others);
  }
  if (comm->rank == 1) {
    check(PMPI_Recv(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    check(PMPI_Recv(numbers, many * (int)sizeof *numbers, MPI_BYTE, 0, MPI_ANY_TAG, seen.comm,
                    MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < many; i++)
      check(numbers[i] == number_of(1, 0, 1, (size_t)i));
    check(PMPI_Send(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD) == MPI_SUCCESS);
  }
  if (comm->rank > 0)
    free(numbers);
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
  if (comm->size > 1)
    fail_while_sending();
  if (comm->rank == 0)
    printf("%s, %d ranks: %d rounds\n", comm->table->name, comm->size, ROUNDS);
  comm_close(comm);
  text_free(&warnings);
  env_free(&env);
  error_free(&err);
  return 0;
}
