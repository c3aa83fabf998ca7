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
  int from;
  long number; /* in the order of their coming */
  size_t bytes;
  const unsigned char *data;
  unsigned char room[];
};

struct post {
  struct comm *comm;
  int tag, count, sent;  /* messages */
  MPI_Request *requests; /* of them, then the barrier's */
  struct letter *first, **end;
  long letters;
};

static int send_all(struct post *p, const unsigned char *send, const struct comm_messages *to,
                    struct error *err) {
  int status = MPI_SUCCESS;
  for (int i = 0; status == MPI_SUCCESS && i < to->count; send += to->bytes[i++])
    for (int n = 0; to->ranks[i] != p->comm->rank && status == MPI_SUCCESS && n < mpi_pieces(to->bytes[i]);
         n++) {
      status = MPI_Issend(send + (size_t)n * PIECE, mpi_piece(to->bytes[i], n), MPI_BYTE, to->ranks[i],
                          p->tag, mpi_state(p->comm)->mpi, &p->requests[p->sent]);
      p->sent += status == MPI_SUCCESS;
    }
  return mpi_check(status, "MPI_Issend", err);
}

/* Take a message that is there already, without waiting. */
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
  *letter = (struct letter){
      .from = from.MPI_SOURCE, .number = p->letters++, .bytes = (size_t)bytes, .data = letter->room};
  *p->end = letter;
  p->end = &letter->next;
  status = MPI_Recv(letter->room, bytes, MPI_BYTE, letter->from, p->tag, mpi, MPI_STATUS_IGNORE);
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

static int by_rank(const void *a, const void *b) {
  const struct letter *x = *(struct letter *const *)a, *y = *(struct letter *const *)b;
  return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                            : (x->number > y->number) - (x->number < y->number);
}

/* Messages of this rank to itself are letters, too, which stay where they are. */
static int add_own(struct post *p, const unsigned char *send, const struct comm_messages *to,
                   struct error *err) {
  for (int i = 0; i < to->count; send += to->bytes[i++]) {
    if (to->ranks[i] != p->comm->rank || !to->bytes[i])
      continue;
    struct letter *letter = malloc(sizeof *letter);
    if (!letter)
      return error_memory(err, "a message to this rank", sizeof *letter);
    *letter =
        (struct letter){.from = p->comm->rank, .number = p->letters++, .bytes = to->bytes[i], .data = send};
    *p->end = letter;
    p->end = &letter->next;
  }
  return OP_OK;
}

static struct letter **sorted(const struct post *p) {
  struct letter **all = array_new((size_t)p->letters, sizeof *all);
  long n = 0;
  for (struct letter *l = p->first; all && l; l = l->next)
    all[n++] = l;
  if (all)
    qsort(all, (size_t)n, sizeof *all, by_rank);
  return all;
}

/* In the order of the ranks. */
static int sort(const struct post *p, void **receive, struct comm_messages *from, struct error *err) {
  struct letter **all = sorted(p);
  int ranks = 0;
  size_t total = 0;
  for (long i = 0; all && i < p->letters; total += all[i++]->bytes)
    ranks += i == 0 || all[i]->from != all[i - 1]->from;
  *receive = all ? array_new(total, 1) : NULL;
  if (!*receive || !comm_messages_new(from, ranks)) {
    free(*receive);
    free((void *)all);
    *receive = NULL;
    return error_memory(err, "messages of other ranks", total);
  }
  unsigned char *to = *receive;
  int last = -1;
  for (long i = 0; i < p->letters; to += all[i++]->bytes) {
    last += i == 0 || all[i]->from != all[i - 1]->from;
    from->ranks[last] = all[i]->from;
    from->bytes[last] += all[i]->bytes;
    memcpy(to, all[i]->data, all[i]->bytes);
  }
  free((void *)all);
  return OP_OK;
}

static int begin(struct post *p, const struct comm_messages *to, struct error *err) {
  const int code = mpi_watch_begin(p->comm, err);
  if (code)
    return code;
  p->tag = TAG_POST + mpi_state(p->comm)->posts;
  mpi_state(p->comm)->posts ^= 1;
  for (int i = 0; i < to->count; i++)
    p->count += to->ranks[i] == p->comm->rank ? 0 : mpi_pieces(to->bytes[i]);
  p->requests = array_new((size_t)p->count + 1, sizeof *p->requests);
  if (!p->requests)
    return error_memory(err, "messages", ((size_t)p->count + 1) * sizeof *p->requests);
  p->requests[p->count] = MPI_REQUEST_NULL;
  return OP_OK;
}

int mpi_post(struct comm *c, void *send, const struct comm_messages *to, void **receive,
             struct comm_messages *from, struct error *err) {
  struct post p = {.comm = c, .end = &p.first};
  bool over = true;
  *receive = NULL;
  *from = (struct comm_messages){0};
  int code = begin(&p, to, err);
  if (!code)
    code = send_all(&p, send, to, err);
  if (!code)
    code = take_all(&p, err);
  if (code)
    over = mpi_abandon(p.requests, 0, p.sent);
  if (!code)
    code = add_own(&p, send, to, err);
  if (!code)
    code = sort(&p, receive, from, err);
  free(p.requests);
  if (over) /* else MPI may read it until the process ends */
    free(send);
  for (struct letter *l = p.first, *next; l; l = next) {
    next = l->next;
    free(l);
  }
  return code;
}
