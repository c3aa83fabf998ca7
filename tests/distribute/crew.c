#include "crew.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"

struct crew;

struct member {
  struct comm comm;
  struct crew *crew;
  pthread_t thread;
  struct crew_traffic traffic;
};

/* What a rank shows to the others between two barriers. */
struct shown {
  const void *data;
  const size_t *sizes;
};

struct crew {
  int size;
  pthread_barrier_t barrier;
  struct shown *shown;
  struct member *members;
  crew_work *work;
  void *user;
};

static struct crew *crew_of(struct comm *c) {
  return ((struct member *)c->state)->crew;
}

static const struct shown *show(struct comm *c, const void *data, const size_t *sizes) {
  struct crew *crew = crew_of(c);
  crew->shown[c->rank] = (struct shown){data, sizes};
  pthread_barrier_wait(&crew->barrier);
  return crew->shown;
}

static int done(struct comm *c) {
  pthread_barrier_wait(&crew_of(c)->barrier);
  return OP_OK;
}

static void copy(void *to, const void *from, size_t bytes) {
  if (bytes)
    memcpy(to, from, bytes);
}

static int crew_barrier(struct comm *c, struct error *err) {
  (void)err;
  return done(c);
}

static int crew_broadcast(struct comm *c, void *data, size_t bytes, int root, struct error *err) {
  (void)err;
  const struct shown *shown = show(c, data, NULL);
  if (c->rank != root)
    copy(data, shown[root].data, bytes);
  return done(c);
}

static double combine_double(double a, double b, enum comm_op op) {
  return op == COMM_SUM ? a + b : op == COMM_MIN ? (a < b ? a : b) : (a > b ? a : b);
}

static long long combine_llong(long long a, long long b, enum comm_op op) {
  return op == COMM_SUM ? a + b : op == COMM_MIN ? (a < b ? a : b) : (a > b ? a : b);
}

static int crew_reduce_all(struct comm *c, void *values, int count, enum comm_value type, enum comm_op op,
                           struct error *err) {
  (void)err;
  void *mine = array_new((size_t)count, sizeof(double));
  if (!mine)
    abort();
  copy(mine, values, (size_t)count * sizeof(double));
  const struct shown *shown = show(c, mine, NULL);
  for (int r = 0; r < c->size; r++)
    for (int i = 0; i < count; i++)
      if (type == COMM_DOUBLE) {
        const double *theirs = shown[r].data;
        double *out = values;
        out[i] = r ? combine_double(out[i], theirs[i], op) : theirs[i];
      } else {
        const long long *theirs = shown[r].data;
        long long *out = values;
        out[i] = r ? combine_llong(out[i], theirs[i], op) : theirs[i];
      }
  done(c);
  free(mine);
  return OP_OK;
}

static int crew_scan_before(struct comm *c, long long mine, long long *before, struct error *err) {
  (void)err;
  const struct shown *shown = show(c, &mine, NULL);
  long long sum = 0;
  for (int r = 0; r < c->rank; r++)
    sum += *(const long long *)shown[r].data;
  *before = sum;
  return done(c);
}

static int crew_gather_all(struct comm *c, const void *mine, size_t bytes, void *all, struct error *err) {
  (void)err;
  const struct shown *shown = show(c, mine, NULL);
  for (int r = 0; r < c->size; r++)
    copy((char *)all + (size_t)r * bytes, shown[r].data, bytes);
  return done(c);
}

static int crew_gather(struct comm *c, const void *mine, size_t bytes, void *all, const size_t *sizes,
                       int root, struct error *err) {
  (void)err, (void)bytes;
  const struct shown *shown = show(c, mine, NULL);
  size_t at = 0;
  for (int r = 0; c->rank == root && r < c->size; at += sizes[r++])
    copy((char *)all + at, shown[r].data, sizes[r]);
  return done(c);
}

static int crew_exchange(struct comm *c, const void *send, const size_t *send_bytes, void *receive,
                         const size_t *receive_bytes, struct error *err) {
  (void)err;
  const struct shown *shown = show(c, send, send_bytes);
  struct member *me = c->state;
  size_t at = 0;
  for (int r = 0; r < c->size; at += receive_bytes[r++]) {
    size_t from = 0;
    for (int before = 0; before < c->rank; before++)
      from += shown[r].sizes[before];
    if (shown[r].sizes[c->rank] != receive_bytes[r]) {
      fprintf(stderr, "rank %d sends %zu bytes to rank %d, which expects %zu\n", r, shown[r].sizes[c->rank],
              c->rank, receive_bytes[r]);
      abort();
    }
    copy((char *)receive + at, (const char *)shown[r].data + from, receive_bytes[r]);
    if (r != c->rank && send_bytes[r]) {
      me->traffic.bytes += (long long)send_bytes[r];
      me->traffic.messages++;
    }
  }
  return done(c);
}

static size_t bytes_before(const size_t *bytes, int rank) {
  size_t sum = 0;
  for (int r = 0; r < rank; r++)
    sum += bytes[r];
  return sum;
}

static int crew_post(struct comm *c, void *send, const size_t *send_bytes, void **receive,
                     size_t *receive_bytes, struct error *err) {
  const struct shown *shown = show(c, send, send_bytes);
  struct member *me = c->state;
  for (int r = 0; r < c->size; r++)
    receive_bytes[r] = shown[r].sizes[c->rank];
  char *to = *receive = array_new(bytes_before(receive_bytes, c->size), 1);
  if (!to)
    return error_memory(err, "messages", bytes_before(receive_bytes, c->size));
  for (int r = 0; r < c->size; to += receive_bytes[r++]) {
    copy(to, (const char *)shown[r].data + bytes_before(shown[r].sizes, c->rank), receive_bytes[r]);
    if (r != c->rank && send_bytes[r]) {
      me->traffic.bytes += (long long)send_bytes[r];
      me->traffic.messages++;
    }
  }
  me->traffic.posts++;
  const int code = done(c);
  free(send);
  return code;
}

static void crew_abort(struct comm *c, int status) {
  (void)c, (void)status;
  abort();
}

static const struct comm_table crew_table = {.version = COMM_TABLE_VERSION,
                                             .name = "crew",
                                             .barrier = crew_barrier,
                                             .broadcast = crew_broadcast,
                                             .reduce_all = crew_reduce_all,
                                             .scan_before = crew_scan_before,
                                             .gather_all = crew_gather_all,
                                             .gather = crew_gather,
                                             .exchange = crew_exchange,
                                             .post = crew_post,
                                             .abort = crew_abort};

struct crew_traffic crew_traffic(struct comm *comm) {
  struct member *me = comm->state;
  const struct crew_traffic sent = me->traffic;
  me->traffic = (struct crew_traffic){0};
  return sent;
}

static void *member_main(void *argument) {
  struct member *me = argument;
  struct error err = {0};
  if (me->crew->work(&me->comm, me->crew->user, &err)) {
    fprintf(stderr, "rank %d of %d: %s\n", me->comm.rank, me->comm.size, error_message(&err));
    _exit(1);
  }
  error_free(&err);
  return NULL;
}

void crew_run(int ranks, crew_work *work, void *user) {
  struct crew crew = {.size = ranks,
                      .shown = array_new((size_t)ranks, sizeof(struct shown)),
                      .members = array_new((size_t)ranks, sizeof(struct member)),
                      .work = work,
                      .user = user};
  if (!crew.shown || !crew.members || pthread_barrier_init(&crew.barrier, NULL, (unsigned)ranks))
    abort();
  for (int r = 0; r < ranks; r++) {
    struct member *m = &crew.members[r];
    m->crew = &crew;
    m->comm = (struct comm){.table = &crew_table,
                            .rank = r,
                            .size = ranks,
                            .node_rank = r,
                            .node_size = ranks,
                            .fortran = -1,
                            .state = m};
    if (pthread_create(&m->thread, NULL, member_main, m))
      abort();
  }
  for (int r = 0; r < ranks; r++)
    pthread_join(crew.members[r].thread, NULL);
  pthread_barrier_destroy(&crew.barrier);
  free(crew.shown);
  free(crew.members);
}
