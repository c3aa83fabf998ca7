/* Post: messages to whom a rank likes, without one from each to each to say so. What is sent is sent synchronously: it
 * is over when its receiver has taken it. A rank whose own messages are over begins a barrier that does not block, and
 * takes what comes until that is over; then all messages are taken. Nobody is two calls ahead of another rank, but one
 * call is possible: so calls alternate between two tags, or a message would be taken for one of the call before. */
#include "post.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"

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

/* The first rounds are the short waits, and cost nothing more; later ones give the CPU to whoever wants it, and
 * look at the clock. */
enum { ROUNDS = 256 };
/* A crowded rank gives the CPU away at once, and after so long it sleeps. */
static const double patience = 1e-3;
enum { NAP = 50 }; /* microseconds */
/* Seconds after which a rank that waits looks whether another one failed. */
static const double soon = 0.02;
/* Seconds after which ranks that wait ask where the others are, if OP2_HANG does not say less. */
static const double long_enough = 3;

int mpi_check(int status, const char *call, struct error *err) {
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (status == MPI_SUCCESS)
    return OP_OK;
  MPI_Error_string(status, words, &length);
  return error_set(err, OP_ERR_MPI, "%s failed: %s", call, words);
}

static void tell(struct mpi_wait *w, double waited) {
  const struct comm *c = w->comm;
  const char *where = c->where ? c->where + strspn(c->where, "\t") : "a call of the library";
  char line[512];
  snprintf(
      line, sizeof line,
      "op2jit: rank %d: warning: has waited for %.0f s in %.*s (%s); another rank has not called it yet\n",
      c->rank, waited, (int)strcspn(where, "\n"), where, w->call);
  fputs(line, stderr);
  w->told = true;
}

int mpi_pause(struct mpi_wait *w, struct error *err) {
  const struct comm *c = w->comm;
  const bool crowded = mpi_state(c)->crowded;
  if (++w->rounds < ROUNDS && !crowded)
    return OP_OK;
  sched_yield();
  const double t = clock_seconds();
  if (w->begin == 0)
    w->begin = t;
  const double waited = t - w->begin;
  if (crowded && waited > patience)
    usleep(NAP);
  if (c->hang > 0 && waited > c->hang && !w->told)
    tell(w, waited);
  const double suspicious = c->hang > 0 && c->hang < long_enough ? c->hang : long_enough;
  return waited > soon ? mpi_watch_look(w, c->failure || waited > suspicious, err) : OP_OK;
}

int mpi_wait_for(struct comm *c, MPI_Request *requests, int count, const char *call, long long number,
                 struct error *err) {
  struct mpi_wait w = {.comm = c, .call = call, .number = number};
  int code = OP_OK;
  for (int first = 0; !code && first < count;) {
    int done = 0;
    const int status = MPI_Test(&requests[first], &done, MPI_STATUS_IGNORE);
    if (status != MPI_SUCCESS)
      return mpi_check(status, call, err);
    if (done)
      first++;
    else
      code = mpi_pause(&w, err);
  }
  return code;
}

bool mpi_abandon(MPI_Request *requests, int receives, int count) {
  bool over = true;
  int i = 0;
  const double begin = clock_seconds();
  for (int r = 0; r < receives; r++)
    if (requests[r] != MPI_REQUEST_NULL)
      MPI_Cancel(&requests[r]);
  for (int done = 0; i < count && clock_seconds() - begin < 1; i += done) {
    done = 1;
    if (MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      done = 1;
    /* A receiver that went away. MPI has a copy of all but long messages. */
    if (!done && i >= receives) {
      over = false;
      done = MPI_Request_free(&requests[i]) == MPI_SUCCESS;
    }
    sched_yield();
  }
  return over && i == count;
}
