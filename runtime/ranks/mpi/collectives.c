/* Calls of all ranks. None of MPI's own waits is used: each call is begun, and waited for in the plugin's loop. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "post.h"

/* ---- operations on doubles ---- */

static double added(double a, double b) {
  return a + b;
}

static double lesser(double a, double b) {
  return a != a || a < b ? a : b;
}

static double greater(double a, double b) {
  return a != a || a > b ? a : b;
}

#define OPERATION(name, combine)                                                                             \
  static void name(void *before, void *after, int *count, MPI_Datatype *type) {                              \
    const double *a = before;                                                                                \
    double *b = after;                                                                                       \
    (void)type;                                                                                              \
    for (int i = 0; i < *count; i++)                                                                         \
      b[i] = combine(a[i], b[i]);                                                                            \
  }
OPERATION(add, added)
OPERATION(take_lesser, lesser)
OPERATION(take_greater, greater)

int mpi_make_operations(MPI_Op operations[3], struct error *err) {
  MPI_User_function *const functions[] = {
      [COMM_SUM] = add, [COMM_MIN] = take_lesser, [COMM_MAX] = take_greater};
  int status = MPI_SUCCESS;
  /* Said not to commute, so that MPI combines them in the order of the ranks. */
  for (int i = 0; status == MPI_SUCCESS && i < 3; i++)
    status = MPI_Op_create(functions[i], 0, &operations[i]);
  return mpi_check(status, "MPI_Op_create", err);
}

/* ---- the calls ---- */

/* A call that fails because another rank did is left, but not ended: messages of the others may still arrive. So
 * what is small goes through memory that stays. (What is large is moved while all can still agree.) */
static void *safe(struct comm *c, void *memory, size_t bytes) {
  return bytes <= mpi_state(c)->room_bytes ? mpi_state(c)->room : memory;
}

static void copy(void *to, const void *from, size_t bytes) {
  if (bytes && to != from)
    memcpy(to, from, bytes);
}

static int finish(struct comm *c, int status, MPI_Request *request, const char *call, struct error *err) {
  return status == MPI_SUCCESS ? mpi_wait_for(c, request, 1, call, mpi_watch_number(c), err)
                               : mpi_check(status, call, err);
}

int mpi_barrier(struct comm *c, struct error *err) {
  MPI_Request request;
  const int code = mpi_watch_begin(c, err);
  return code ? code : finish(c, MPI_Ibarrier(mpi_state(c)->mpi, &request), &request, "a barrier", err);
}

int mpi_broadcast(struct comm *c, void *data, size_t bytes, int root, struct error *err) {
  unsigned char *memory = safe(c, data, bytes);
  int code = mpi_watch_begin(c, err);
  if (!code)
    copy(memory, data, bytes);
  for (int p = 0; !code && p < mpi_pieces(bytes); p++) {
    MPI_Request request;
    const int status = MPI_Ibcast(memory + (size_t)p * PIECE, mpi_piece(bytes, p), MPI_BYTE, root,
                                  mpi_state(c)->mpi, &request);
    code = finish(c, status, &request, "a broadcast", err);
  }
  if (!code)
    copy(data, memory, bytes);
  return code;
}

int mpi_reduce_all(struct comm *c, void *values, int count, enum comm_value type, enum comm_op op,
                   struct error *err) {
  const MPI_Op whole[] = {[COMM_SUM] = MPI_SUM, [COMM_MIN] = MPI_MIN, [COMM_MAX] = MPI_MAX};
  struct mpi_state *s = mpi_state(c);
  MPI_Request request;
  const size_t bytes = (size_t)count * (type == COMM_DOUBLE ? sizeof(double) : sizeof(long long));
  void *memory = safe(c, values, bytes);
  int code = mpi_watch_begin(c, err);
  if (code)
    return code;
  copy(memory, values, bytes);
  const int status =
      type == COMM_DOUBLE
          ? MPI_Iallreduce(MPI_IN_PLACE, memory, count, MPI_DOUBLE, s->operations[op], s->mpi, &request)
          : MPI_Iallreduce(MPI_IN_PLACE, memory, count, MPI_LONG_LONG, whole[op], s->mpi, &request);
  code = finish(c, status, &request, "a reduction", err);
  if (!code)
    copy(values, memory, bytes);
  return code;
}

int mpi_scan_before(struct comm *c, long long mine, long long *before, struct error *err) {
  MPI_Request request;
  long long *memory = (void *)mpi_state(c)->room; /* mine, then the sum */
  int code = mpi_watch_begin(c, err);
  *before = 0;
  if (code)
    return code;
  memory[0] = mine;
  const int status =
      MPI_Iexscan(&memory[0], &memory[1], 1, MPI_LONG_LONG, MPI_SUM, mpi_state(c)->mpi, &request);
  code = finish(c, status, &request, "a scan", err);
  if (!code && c->rank > 0) /* MPI leaves it undefined there */
    *before = memory[1];
  return code;
}

int mpi_gather_all(struct comm *c, const void *mine, size_t bytes, void *all, struct error *err) {
  unsigned char *to = all;
  int code = mpi_watch_begin(c, err);
  if (code)
    return code;
  memmove(to + (size_t)c->rank * bytes, mine, bytes);
  if (bytes <= PIECE) {
    const size_t total = (size_t)c->size * bytes;
    unsigned char *memory = safe(c, to, total);
    MPI_Request request;
    copy(memory, to, total);
    const int status =
        MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, memory, (int)bytes, MPI_BYTE, mpi_state(c)->mpi, &request);
    code = finish(c, status, &request, "a gather", err);
    if (!code)
      copy(to, memory, total);
    return code;
  }
  for (int r = 0; !code && r < c->size; r++)
    code = mpi_broadcast(c, to + (size_t)r * bytes, bytes, r, err);
  return code;
}

/* ---- messages of different sizes ---- */

struct mail {
  MPI_Request *requests; /* receives first */
  int receives, count;
};

static int mail_receive(struct comm *c, struct mail *m, unsigned char *data, size_t bytes, int from) {
  int status = MPI_SUCCESS;
  for (int p = 0; status == MPI_SUCCESS && p < mpi_pieces(bytes); p++)
    status = MPI_Irecv(data + (size_t)p * PIECE, mpi_piece(bytes, p), MPI_BYTE, from, TAG_EXCHANGE,
                       mpi_state(c)->mpi, &m->requests[m->count++]);
  m->receives = m->count;
  return status;
}

static int mail_send(struct comm *c, struct mail *m, const unsigned char *data, size_t bytes, int to) {
  int status = MPI_SUCCESS;
  for (int p = 0; status == MPI_SUCCESS && p < mpi_pieces(bytes); p++)
    status = MPI_Isend(data + (size_t)p * PIECE, mpi_piece(bytes, p), MPI_BYTE, to, TAG_EXCHANGE,
                       mpi_state(c)->mpi, &m->requests[m->count++]);
  return status;
}

static size_t pieces_of(const struct comm *c, const struct comm_messages *m) {
  size_t pieces = 0;
  for (int i = 0; i < m->count; i++)
    pieces += m->ranks[i] == c->rank ? 0 : (size_t)mpi_pieces(m->bytes[i]);
  return pieces;
}

/* The part that a rank sends to itself, or NULL, and its size. */
static const unsigned char *own_of(const struct comm *c, const struct comm_messages *m, const void *data,
                                   size_t *bytes) {
  const unsigned char *at = data;
  *bytes = 0;
  for (int i = 0; i < m->count; at += m->bytes[i++])
    if (m->ranks[i] == c->rank) {
      *bytes = m->bytes[i];
      return at;
    }
  return NULL;
}

int mpi_exchange(struct comm *c, const void *send, const struct comm_messages *to, void *receive,
                 const struct comm_messages *from, struct error *err) {
  size_t mine, wanted;
  const unsigned char *own = own_of(c, to, send, &mine);
  const unsigned char *place = own_of(c, from, receive, &wanted);
  if (mine != wanted)
    return error_mistake(err, OP_ERR_INTERNAL, "an exchange sends %zu bytes to itself and receives %zu", mine,
                         wanted);
  const size_t pieces = pieces_of(c, to) + pieces_of(c, from);
  int code = mpi_watch_begin(c, err), status = MPI_SUCCESS;
  struct mail m = {.requests = array_new(pieces, sizeof *m.requests)};
  if (!code && !m.requests)
    code = error_memory(err, "messages", pieces * sizeof *m.requests);
  unsigned char *into = receive;
  const unsigned char *out = send;
  if (!code && mine)
    memmove(into + (place - into), own, mine);
  for (int i = 0; !code && status == MPI_SUCCESS && i < from->count; into += from->bytes[i++])
    if (from->ranks[i] != c->rank)
      status = mail_receive(c, &m, into, from->bytes[i], from->ranks[i]);
  for (int i = 0; !code && status == MPI_SUCCESS && i < to->count; out += to->bytes[i++])
    if (to->ranks[i] != c->rank)
      status = mail_send(c, &m, out, to->bytes[i], to->ranks[i]);
  if (!code)
    code = mpi_check(status, "an exchange", err);
  if (!code)
    code = mpi_wait_for(c, m.requests, m.count, "an exchange", mpi_watch_number(c), err);
  if (code)
    mpi_abandon(m.requests, m.receives, m.count);
  free(m.requests);
  return code;
}
