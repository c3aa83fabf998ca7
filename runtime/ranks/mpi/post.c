/* Post: messages to whom a rank likes, without one from each to each to say so. What is sent is sent synchronously: it
 * is over when its receiver has taken it. A rank whose own messages are over begins a barrier that does not block, and
 * takes what comes until that is over; then all messages are taken. Nobody is two calls ahead of another rank, but one
 * call is possible: so calls alternate between two tags, or a message would be taken for one of the call before. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "inner.h"

/* A message that came, or a piece of one: of one rank they come in their order. */
struct letter {
  struct letter *next;
  int from, bytes;
  unsigned char data[];
};

struct post {
  struct comm *comm;
  int tag, count, sent;  /* messages */
  MPI_Request *requests; /* of them, then the barrier's */
  struct letter *first, **end;
};

static int send_all(struct post *p, const unsigned char *send, const size_t *bytes, struct error *err) {
  int status = MPI_SUCCESS;
  for (int r = 0; status == MPI_SUCCESS && r < p->comm->size; send += bytes[r++])
    for (int n = 0; r != p->comm->rank && status == MPI_SUCCESS && n < mpi_pieces(bytes[r]); n++) {
      status = MPI_Issend(send + (size_t)n * PIECE, mpi_piece(bytes[r], n), MPI_BYTE, r, p->tag,
                          mpi_state(p->comm)->mpi, &p->requests[p->sent]);
      p->sent += status == MPI_SUCCESS;
    }
  return mpi_check(status, "MPI_Issend", err);
}

/* What is there already: it does not wait. */
static int take_one(struct post *p, int *took, struct error *err) {
  MPI_Comm mpi = mpi_state(p->comm)->mpi;
  MPI_Status from;
  int bytes = 0;
  int status = MPI_Iprobe(MPI_ANY_SOURCE, p->tag, mpi, took, &from);
  if (status != MPI_SUCCESS || !*took)
    return mpi_check(status, "MPI_Iprobe", err);
  MPI_Get_count(&from, MPI_BYTE, &bytes);
  struct letter *letter = malloc(sizeof *letter + (size_t)bytes);
  if (!letter)
    return error_memory(err, "a message of another rank", sizeof *letter + (size_t)bytes);
  *letter = (struct letter){.from = from.MPI_SOURCE, .bytes = bytes};
  *p->end = letter;
  p->end = &letter->next;
  status = MPI_Recv(letter->data, bytes, MPI_BYTE, letter->from, p->tag, mpi, MPI_STATUS_IGNORE);
  return mpi_check(status, "MPI_Recv", err);
}

static int take_all(struct post *p, struct error *err) {
  struct mpi_wait w = {.comm = p->comm, .call = "post", .number = mpi_watch_number(p->comm)};
  MPI_Request *barrier = &p->requests[p->count];
  int code = OP_OK;
  for (int over = 0; !code && over <= p->count;) {
    int took = 0, done = 0, status = MPI_SUCCESS;
    if (over == p->count && *barrier == MPI_REQUEST_NULL)
      status = MPI_Ibarrier(mpi_state(p->comm)->mpi, barrier);
    code = mpi_check(status, "MPI_Ibarrier", err);
    if (!code)
      code = take_one(p, &took, err);
    if (!code)
      code = mpi_check(MPI_Test(&p->requests[over], &done, MPI_STATUS_IGNORE), "MPI_Test", err);
    over += done;
    if (!code && !took && !done)
      code = mpi_pause(&w, err);
  }
  return code;
}

/* In the order of the ranks; what this rank sends to itself is among it. */
static int sort(const struct post *p, const void *own, void **receive, size_t *bytes, struct error *err) {
  const size_t ranks = (size_t)p->comm->size;
  size_t *place = array_new(ranks, sizeof *place), total = 0;
  for (const struct letter *l = p->first; l; l = l->next)
    bytes[l->from] += (size_t)l->bytes;
  for (size_t r = 0; place && r < ranks; total += bytes[r++])
    place[r] = total;
  *receive = place ? array_new(total, 1) : NULL;
  if (!*receive) {
    free(place);
    return error_memory(err, "messages of other ranks", total);
  }
  unsigned char *to = *receive;
  if (bytes[p->comm->rank])
    memcpy(to + place[p->comm->rank], own, bytes[p->comm->rank]);
  for (const struct letter *l = p->first; l; l = l->next) {
    memcpy(to + place[l->from], l->data, (size_t)l->bytes);
    place[l->from] += (size_t)l->bytes;
  }
  free(place);
  return OP_OK;
}

static int begin(struct post *p, const size_t *send_bytes, size_t *receive_bytes, struct error *err) {
  const int code = mpi_watch_begin(p->comm, err);
  if (code)
    return code;
  p->tag = TAG_POST + mpi_state(p->comm)->posts;
  mpi_state(p->comm)->posts ^= 1;
  for (int r = 0; r < p->comm->size; r++) {
    receive_bytes[r] = r == p->comm->rank ? send_bytes[r] : 0;
    p->count += r == p->comm->rank ? 0 : mpi_pieces(send_bytes[r]);
  }
  p->requests = array_new((size_t)p->count + 1, sizeof *p->requests);
  if (!p->requests)
    return error_memory(err, "messages", ((size_t)p->count + 1) * sizeof *p->requests);
  p->requests[p->count] = MPI_REQUEST_NULL;
  return OP_OK;
}

int mpi_post(struct comm *c, void *send, const size_t *send_bytes, void **receive, size_t *receive_bytes,
             struct error *err) {
  struct post p = {.comm = c, .end = &p.first};
  const unsigned char *own = send;
  bool over = true;
  *receive = NULL;
  int code = begin(&p, send_bytes, receive_bytes, err);
  if (!code)
    code = send_all(&p, send, send_bytes, err);
  if (!code)
    code = take_all(&p, err);
  if (code)
    over = mpi_abandon(p.requests, 0, p.sent);
  for (int r = 0; r < c->rank; r++)
    own += send_bytes[r];
  if (!code)
    code = sort(&p, own, receive, receive_bytes, err);
  free(p.requests);
  if (over) /* else MPI may read it until the process ends */
    free(send);
  for (struct letter *l = p.first, *next; l; l = next) {
    next = l->next;
    free(l);
  }
  return code;
}
