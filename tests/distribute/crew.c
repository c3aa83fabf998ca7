#include "crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"

enum { STACK = 1 << 20 };

struct crew;

/* A message that lies in its receiver's box between two barriers. */
struct letter {
  struct letter *next;
  int from;
  size_t bytes;
  const void *data;
};

struct member {
  struct comm comm;
  struct crew *crew;
  pthread_t thread;
  struct crew_traffic own, *traffic; /* `own` of the whole crew's member; of those split from it the same */
  pthread_mutex_t mutex;             /* of the box */
  struct letter *box;
  int letters;
};

struct crew {
  int size;
  atomic_int left; /* members that have not closed it, where it was split from another one */
  pthread_barrier_t barrier;
  const void **shown; /* what each rank shows to the others between two barriers */
  struct member *members;
  crew_work *work;
  void *user;
};

static struct crew *crew_of(struct comm *c) {
  return ((struct member *)c->state)->crew;
}

static const void *const *show(struct comm *c, const void *data, size_t bytes) {
  struct crew *crew = crew_of(c);
  struct crew_traffic *traffic = ((struct member *)c->state)->traffic;
  traffic->collectives++;
  traffic->widest = (long long)bytes > traffic->widest ? (long long)bytes : traffic->widest;
  crew->shown[c->rank] = data;
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
  const void *const *shown = show(c, data, bytes);
  if (c->rank != root)
    copy(data, shown[root], bytes);
  return done(c);
}

static double combine_double(double a, double b, enum comm_op op) {
  return op == COMM_SUM ? a + b : op == COMM_MIN ? (a < b ? a : b) : (a > b ? a : b);
}

static long long combine_llong(long long a, long long b, enum comm_op op) {
  return op == COMM_SUM ? a + b : op == COMM_MIN ? (a < b ? a : b) : (a > b ? a : b);
}

/* Each rank combines a slice of the values, in the order of the ranks, where rank 0 has its own. */
static void combine_slice(struct comm *c, const void *const *shown, int count, enum comm_value type,
                          enum comm_op op) {
  const long long begin = (long long)count * c->rank / c->size,
                  end = (long long)count * (c->rank + 1) / c->size;
  union {
    const void *read;
    void *memory;
  } out = {.read = shown[0]};
  for (int r = 1; r < c->size; r++)
    for (long long i = begin; i < end; i++)
      if (type == COMM_DOUBLE)
        ((double *)out.memory)[i] =
            combine_double(((double *)out.memory)[i], ((const double *)shown[r])[i], op);
      else
        ((long long *)out.memory)[i] =
            combine_llong(((long long *)out.memory)[i], ((const long long *)shown[r])[i], op);
}

static int crew_reduce_all(struct comm *c, void *values, int count, enum comm_value type, enum comm_op op,
                           struct error *err) {
  (void)err;
  const size_t bytes = (size_t)count * sizeof(double);
  const void *const *shown = show(c, values, bytes);
  combine_slice(c, shown, count, type, op);
  done(c);
  if (c->rank)
    copy(values, shown[0], bytes);
  return done(c);
}

static int crew_scan_before(struct comm *c, long long mine, long long *before, struct error *err) {
  (void)err;
  const void *const *shown = show(c, &mine, sizeof mine);
  long long sum = 0;
  for (int r = 0; r < c->rank; r++)
    sum += *(const long long *)shown[r];
  *before = sum;
  return done(c);
}

static int crew_gather_all(struct comm *c, const void *mine, size_t bytes, void *all, struct error *err) {
  (void)err;
  const void *const *shown = show(c, mine, bytes);
  for (int r = 0; r < c->size; r++)
    copy((char *)all + (size_t)r * bytes, shown[r], bytes);
  ((struct member *)c->state)->traffic->everybody++;
  return done(c);
}

/* ---- messages ---- */

/* Into the boxes of those that they are for; the letters are there until all ranks are done. */
static struct letter *send_letters(struct comm *c, const void *send, const struct comm_messages *to) {
  struct member *me = c->state;
  struct letter *letters = array_new((size_t)to->count, sizeof *letters);
  const char *data = send;
  if (!letters)
    abort();
  for (int i = 0; i < to->count; data += to->bytes[i++]) {
    if (i && to->ranks[i] <= to->ranks[i - 1])
      abort();
    if (!to->bytes[i])
      continue;
    struct member *receiver = &me->crew->members[to->ranks[i]];
    pthread_mutex_lock(&receiver->mutex);
    letters[i] = (struct letter){receiver->box, c->rank, to->bytes[i], data};
    receiver->box = &letters[i];
    receiver->letters++;
    pthread_mutex_unlock(&receiver->mutex);
    if (to->ranks[i] != c->rank) {
      me->traffic->bytes += (long long)to->bytes[i];
      me->traffic->messages++;
    }
  }
  pthread_barrier_wait(&me->crew->barrier);
  return letters;
}

static int by_sender(const void *a, const void *b) {
  const struct letter *x = *(struct letter *const *)a, *y = *(struct letter *const *)b;
  return (x->from > y->from) - (x->from < y->from);
}

/* This rank's box in the order of the ranks; it is empty then. */
static struct letter **take_letters(struct comm *c, int *count) {
  struct member *me = c->state;
  struct letter **all = array_new((size_t)me->letters, sizeof *all);
  if (!all)
    abort();
  *count = 0;
  for (struct letter *l = me->box; l; l = l->next) {
    all[(*count)++] = l;
    me->traffic->received += l->from != c->rank;
  }
  qsort((void *)all, (size_t)*count, sizeof *all, by_sender);
  me->box = NULL;
  me->letters = 0;
  return all;
}

static int end_letters(struct comm *c, struct letter *sent, struct letter **came) {
  const int code = done(c);
  free(sent);
  free((void *)came);
  return code;
}

static int crew_exchange(struct comm *c, const void *send, const struct comm_messages *to, void *receive,
                         const struct comm_messages *from, struct error *err) {
  (void)err;
  struct letter *sent = send_letters(c, send, to);
  int count, at = 0;
  struct letter **came = take_letters(c, &count);
  char *into = receive;
  for (int i = 0; i < from->count; into += from->bytes[i++]) {
    if (!from->bytes[i])
      continue;
    if (at == count || came[at]->from != from->ranks[i] || came[at]->bytes != from->bytes[i]) {
      fprintf(stderr, "rank %d expects %zu bytes of rank %d, which sends others\n", c->rank, from->bytes[i],
              from->ranks[i]);
      abort();
    }
    copy(into, came[at]->data, came[at]->bytes);
    at++;
  }
  if (at != count)
    abort();
  return end_letters(c, sent, came);
}

static int crew_post(struct comm *c, void *send, const struct comm_messages *to, void **receive,
                     struct comm_messages *from, struct error *err) {
  struct letter *sent = send_letters(c, send, to);
  int count;
  struct letter **came = take_letters(c, &count);
  size_t total = 0;
  for (int i = 0; i < count; i++)
    total += came[i]->bytes;
  char *into = *receive = array_new(total, 1);
  if (!into || !comm_messages_new(from, count))
    return error_memory(err, "messages", total);
  for (int i = 0; i < count; into += came[i++]->bytes) {
    from->ranks[i] = came[i]->from;
    from->bytes[i] = came[i]->bytes;
    copy(into, came[i]->data, came[i]->bytes);
  }
  ((struct member *)c->state)->traffic->posts++;
  const int code = end_letters(c, sent, came);
  free(send);
  return code;
}

/* ---- part of a crew ---- */

static const struct comm_table crew_table;

static void crew_begin(struct crew *crew, int size) {
  *crew = (struct crew){.size = size,
                        .left = size,
                        .shown = array_new((size_t)size, sizeof(void *)),
                        .members = array_new((size_t)size, sizeof(struct member))};
  if (!crew->shown || !crew->members || pthread_barrier_init(&crew->barrier, NULL, (unsigned)size))
    abort();
  for (int r = 0; r < size; r++) {
    struct member *m = &crew->members[r];
    m->crew = crew;
    m->traffic = &m->own;
    m->comm = (struct comm){.table = &crew_table,
                            .rank = r,
                            .size = size,
                            .node_rank = r,
                            .node_size = size,
                            .fortran = -1,
                            .state = m};
    pthread_mutex_init(&m->mutex, NULL);
  }
}

static void crew_end(struct crew *crew) {
  for (int r = 0; r < crew->size; r++)
    pthread_mutex_destroy(&crew->members[r].mutex);
  pthread_barrier_destroy(&crew->barrier);
  free((void *)crew->shown);
  free(crew->members);
}

/* The lowest rank of each colour makes the part. */
static int crew_split(struct comm *c, int colour, struct comm **out, struct error *err) {
  (void)err;
  const void *const *shown = show(c, &colour, sizeof colour);
  int first = -1, rank = 0, size = 0;
  for (int r = 0; r < c->size; r++) {
    const bool same = *(const int *)shown[r] == colour;
    first = same && first < 0 ? r : first;
    rank += same && r < c->rank;
    size += same;
  }
  done(c);
  struct crew *part = NULL;
  if (first == c->rank && colour >= 0) {
    part = array_new(1, sizeof *part);
    if (!part)
      abort();
    crew_begin(part, size);
  }
  shown = show(c, part, sizeof part);
  union {
    const void *read;
    struct crew *crew;
  } found = {.read = shown[first]};
  done(c);
  *out = colour < 0 ? NULL : &found.crew->members[rank].comm;
  if (*out)
    found.crew->members[rank].traffic = ((struct member *)c->state)->traffic;
  return OP_OK;
}

static void crew_close(struct comm *c) {
  struct crew *crew = crew_of(c);
  if (atomic_fetch_sub(&crew->left, 1) == 1) {
    crew_end(crew);
    free(crew);
  }
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
                                             .exchange = crew_exchange,
                                             .post = crew_post,
                                             .split = crew_split,
                                             .close = crew_close,
                                             .abort = crew_abort};

struct crew_traffic crew_traffic(struct comm *comm) {
  struct member *me = comm->state;
  const struct crew_traffic sent = *me->traffic;
  *me->traffic = (struct crew_traffic){0};
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
  struct crew crew;
  pthread_attr_t small; /* thousands of stacks */
  if (pthread_attr_init(&small) || pthread_attr_setstacksize(&small, STACK))
    abort();
  crew_begin(&crew, ranks);
  crew.work = work;
  crew.user = user;
  for (int r = 0; r < ranks; r++)
    if (pthread_create(&crew.members[r].thread, &small, member_main, &crew.members[r]))
      abort();
  for (int r = 0; r < ranks; r++)
    pthread_join(crew.members[r].thread, NULL);
  pthread_attr_destroy(&small);
  crew_end(&crew);
}
