/* Every call of the comm's table, on any number of ranks: sizes of nothing, of a few bytes, and of more than one
 * message holds. Run as one process it tests the comm of one rank. */
#include <math.h>
#include <stdint.h>

#include "context/env.h"
#include "dense.h"
#include "ranks/agree.h"
#include "ranks/comm.h"

/* More than one piece of a message, and not a whole number of them. */
enum { LARGE = (1 << 24) + 12345 };

static struct comm *comm;
static struct error err;

static void works(int code, const char *call) {
  if (code)
    fprintf(stderr, "%s: %s\n", call, error_message(&err));
  check(code == OP_OK);
}
#define WORKS(call) works(call, #call)

static unsigned char value(int rank, size_t i) {
  return (unsigned char)((size_t)rank * 37 + i * 11 + i / 251);
}

static unsigned char *filled(int rank, size_t bytes) {
  unsigned char *data = malloc(bytes + 1);
  check(data);
  for (size_t i = 0; i < bytes; i++)
    data[i] = value(rank, i);
  return data;
}

static void check_filled(const unsigned char *data, int rank, size_t bytes) {
  size_t wrong = 0;
  for (size_t i = 0; i < bytes; i++)
    wrong += data[i] != value(rank, i);
  check(wrong == 0);
}

static void test_shape(void) {
  check(comm->rank >= 0 && comm->rank < comm->size);
  check(comm->node_rank >= 0 && comm->node_rank < comm->node_size && comm->node_size <= comm->size);
  check(comm->share >= 0);
}

static void test_broadcast(size_t bytes) {
  for (int root = 0; root<comm->size; root += bytes> 100 ? comm->size : 1) {
    unsigned char *data = filled(comm->rank == root ? root : 99, bytes);
    WORKS(comm->table->broadcast(comm, data, bytes, root, &err));
    check_filled(data, root, bytes);
    free(data);
  }
}

static void test_reductions(void) {
  const int n = comm->size, r = comm->rank;
  long long whole[3] = {r + 1, -r, (long long)r << 40};
  WORKS(comm->table->reduce_all(comm, whole, 3, COMM_LLONG, COMM_SUM, &err));
  check(whole[0] == (long long)n * (n + 1) / 2 && whole[1] == -(long long)n * (n - 1) / 2);
  whole[0] = r;
  WORKS(comm->table->reduce_all(comm, whole, 1, COMM_LLONG, COMM_MAX, &err));
  check(whole[0] == n - 1);
  whole[0] = r;
  WORKS(comm->table->reduce_all(comm, whole, 1, COMM_LLONG, COMM_MIN, &err));
  check(whole[0] == 0);
  double values[2] = {0.5 * r, r == n - 1 ? (double)NAN : r};
  WORKS(comm->table->reduce_all(comm, values, 2, COMM_DOUBLE, COMM_MAX, &err));
  check(values[0] == 0.5 * (n - 1));
  check(isnan(values[1]));
  values[0] = r == 0 ? (double)NAN : r;
  WORKS(comm->table->reduce_all(comm, values, 1, COMM_DOUBLE, COMM_MIN, &err));
  check(isnan(values[0]));
  WORKS(comm->table->reduce_all(comm, values, 0, COMM_DOUBLE, COMM_SUM, &err));
}

/* A sum that depends on the order has the same bits everywhere and every time. */
static void test_order_of_sums(void) {
  uint64_t first = 0;
  for (int again = 0; again < 20; again++) {
    double sum = pow(-1.1, comm->rank) * 1e10 + 1.0 / (1 + comm->rank);
    uint64_t bits, all[64];
    check(comm->size <= 64);
    WORKS(comm->table->reduce_all(comm, &sum, 1, COMM_DOUBLE, COMM_SUM, &err));
    memcpy(&bits, &sum, sizeof bits);
    WORKS(comm->table->gather_all(comm, &bits, sizeof bits, all, &err));
    for (int r = 0; r < comm->size; r++)
      check(all[r] == bits);
    check(again == 0 || bits == first);
    first = bits;
  }
}

static void test_scan(void) {
  long long before = -1, expected = 0;
  for (int r = 0; r < comm->rank; r++)
    expected += 10 + r;
  WORKS(comm->table->scan_before(comm, 10 + comm->rank, &before, &err));
  check(before == expected);
}

static void test_gather_all(size_t bytes) {
  unsigned char *mine = filled(comm->rank, bytes), *all = malloc((size_t)comm->size * bytes + 1);
  check(all);
  WORKS(comm->table->gather_all(comm, mine, bytes, all, &err));
  for (int r = 0; r < comm->size; r++)
    check_filled(all + (size_t)r * bytes, r, bytes);
  free(mine);
  free(all);
}

/* Rank r gives `unit` times r bytes: the first none. */
static void test_gather(size_t unit, int root) {
  size_t sizes[64], total = 0;
  for (int r = 0; r < comm->size; r++)
    total += sizes[r] = unit * (size_t)r;
  unsigned char *mine = filled(comm->rank, sizes[comm->rank]), *all = malloc(total + 1);
  check(all);
  WORKS(comm_gather(comm, mine, sizes[comm->rank], comm->rank == root ? all : NULL,
                    comm->rank == root ? sizes : NULL, root, &err));
  size_t at = 0;
  for (int r = 0; r < comm->size && comm->rank == root; at += sizes[r++])
    check_filled(all + at, r, sizes[r]);
  free(mine);
  free(all);
}

/* Every third pair of ranks has nothing to say to each other. */
static size_t between(int from, int to, size_t unit) {
  return (from + to) % 3 == 0 ? 0 : unit + (size_t)from;
}

static void test_exchange(size_t unit) {
  size_t give[64], take[64], out = 0, in = 0, at = 0;
  for (int r = 0; r < comm->size; r++) {
    out += give[r] = between(comm->rank, r, unit);
    in += take[r] = between(r, comm->rank, unit);
  }
  unsigned char *send = malloc(out + 1), *receive = malloc(in + 1);
  check(send && receive);
  for (int r = 0; r < comm->size; at += give[r++])
    for (size_t i = 0; i < give[r]; i++)
      send[at + i] = value(comm->rank * 8 + r, i);
  struct comm_messages to = messages_of(give, comm->size), from = messages_of(take, comm->size);
  WORKS(comm->table->exchange(comm, send, &to, receive, &from, &err));
  comm_messages_free(&to);
  comm_messages_free(&from);
  at = 0;
  for (int r = 0; r < comm->size; at += take[r++])
    check_filled(receive + at, r * 8 + comm->rank, take[r]);
  free(send);
  free(receive);
}

/* The same where receivers learn what comes. */
static void test_post(size_t unit) {
  size_t give[64], take[64], out = 0, at = 0;
  for (int r = 0; r < comm->size; r++)
    out += give[r] = between(comm->rank, r, unit);
  unsigned char *send = malloc(out + 1);
  void *receive = NULL;
  check(send);
  for (int r = 0; r < comm->size; at += give[r++])
    for (size_t i = 0; i < give[r]; i++)
      send[at + i] = value(comm->rank * 8 + r, i);
  struct comm_messages to = messages_of(give, comm->size), from;
  WORKS(comm->table->post(comm, send, &to, &receive, &from, &err));
  spread_messages(&from, take, comm->size);
  comm_messages_free(&to);
  at = 0;
  for (int r = 0; r < comm->size; at += take[r++]) {
    check(take[r] == between(r, comm->rank, unit));
    check_filled((unsigned char *)receive + at, r * 8 + comm->rank, take[r]);
  }
  free(receive);
}

/* A ring, also to oneself when there is one rank only; the same messages several times. */
static void test_messages(size_t bytes) {
  if (!comm->table->send_init) /* one process has nobody to send to */
    return;
  const int next = (comm->rank + 1) % comm->size, last = (comm->rank + comm->size - 1) % comm->size;
  unsigned char *out = filled(comm->rank, bytes), *in = filled(99, bytes);
  struct comm_request *requests[2] = {0};
  WORKS(comm->table->send_init(comm, out, bytes, next, 7, &requests[0], &err));
  WORKS(comm->table->receive_init(comm, in, bytes, last, 7, &requests[1], &err));
  for (int again = 0; again < 3; again++) {
    bool done = false;
    memset(in, 0, bytes);
    WORKS(comm->table->start(comm, requests, 2, &err));
    WORKS(comm->table->test(comm, requests, 2, &done, &err));
    WORKS(comm->table->wait(comm, requests, 2, &err));
    check_filled(in, last, bytes);
    WORKS(comm->table->test(comm, requests, 2, &done, &err));
    check(done);
  }
  for (int i = 0; i < 2; i++)
    comm->table->request_free(comm, requests[i]);
  free(out);
  free(in);
}

static void test_split(void) {
  struct comm *part = NULL;
  WORKS(comm->table->split(comm, comm->rank % 2, &part, &err));
  check(part && part->size == (comm->size + 1 - comm->rank % 2) / 2 && part->rank == comm->rank / 2);
  long long sum = comm->rank;
  WORKS(part->table->reduce_all(part, &sum, 1, COMM_LLONG, COMM_SUM, &err));
  long long expected = 0;
  for (int r = comm->rank % 2; r < comm->size; r += 2)
    expected += r;
  check(sum == expected);
  comm_close(part);
  WORKS(comm->table->split(comm, comm->rank == 0 ? -1 : 4, &part, &err));
  check((part == NULL) == (comm->rank == 0));
  comm_close(part);
}

/* The second rank fails alone among some of the ranks, where each waits in another comm: all get its error. */
static void test_part_fails(const struct comm_options *given) {
  struct comm_options options = *given;
  struct comm *part = NULL, *inner = NULL;
  struct error failure = {0};
  options.hang = 0.2;
  WORKS(comm_open(&comm, &options, &err));
  comm->where = "the part";
  if (comm->size > 2) {
    WORKS(comm->table->split(comm, comm->rank > 0, &part, &err));
    WORKS(part->table->split(part, 0, &inner, &err));
    error_set(&failure, OP_ERR_MEMORY, "no room");
    const int code = comm->rank == 0   ? comm->table->barrier(comm, &err)
                     : comm->rank == 1 ? agree_on_success(part, OP_ERR_MEMORY, &failure)
                                       : inner->table->barrier(inner, &err);
    check(code == OP_ERR_MEMORY && (comm->rank == 1 || strstr(error_message(&err), "rank 1: no room")));
    error_clear(&err);
  }
  error_free(&failure);
  comm_close(inner);
  comm_close(part);
  comm_close(comm);
}

static void test_all(bool large) {
  test_shape();
  WORKS(comm->table->barrier(comm, &err));
  const size_t sizes[] = {0, 1, 1000};
  for (int i = 0; i < 3; i++) {
    test_broadcast(sizes[i]);
    test_gather_all(sizes[i]);
    test_gather(sizes[i], 0);
    test_gather(sizes[i], comm->size - 1);
    test_exchange(sizes[i]);
    test_post(sizes[i]);
    test_messages(sizes[i]);
  }
  test_reductions();
  test_order_of_sums();
  test_scan();
  test_split();
  if (!large || comm->size > 2) /* more ranks would only take more memory */
    return;
  test_broadcast(LARGE);
  test_gather_all(LARGE);
  test_gather(LARGE, 0);
  test_exchange(LARGE);
  test_post(LARGE);
  test_messages(LARGE);
}

int main(int argc, char **argv) {
  struct env env;
  struct text warnings = {0};
  works(env_read(&env, argc, argv, &warnings, &err), "env_read");
  const struct comm_options options = {
      .wanted = env_value(&env, ENV_MPI), .launcher = env.launcher, .plugins = env_value(&env, ENV_PLUGINS)};
  /* Twice: MPI begins once, comms may come and go. */
  for (int again = 0; again < 2; again++) {
    WORKS(comm_open(&comm, &options, &err));
    comm->where = "the test";
    check(env.launcher || comm->size == 1);
    test_all(again == 0);
    if (comm->rank == 0)
      printf("%s, %d ranks: every call\n", comm->table->name, comm->size);
    comm_close(comm);
  }
  test_part_fails(&options);
  text_free(&warnings);
  env_free(&env);
  error_free(&err);
  return 0;
}
