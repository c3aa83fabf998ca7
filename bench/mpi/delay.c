/* A slower network between the ranks of one machine: preloaded (LD_PRELOAD), it comes between the library's plugin and MPI.
 * DELAY_SECONDS: how long a message is under way; DELAY_BYTES: how many bytes a second a rank sends. A reduction or a gather
 * takes the messages of a tree, up and down.
 *
 * Beside each message goes a small one, which says when the first would have arrived: the clock is the same for all
 * processes of a machine. The receiver's MPI_Test says no until then. Only what the plugin does in the steps of a program
 * is delayed: persistent messages, reductions and gathers that do not block, for which MPI_Test is the only wait. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Tags of the small messages are behind the plugin's own. */
enum { TAG = 1 << 20 };

struct delayed {
  struct delayed *next;
  MPI_Request request, beside; /* the small message's, or reduction's */
  double when;                 /* it arrives */
  size_t bytes;
  int sends, persistent, started, told; /* told: `when` is known here */
};

static struct delayed *all;
static double seconds, rate, busy; /* busy: this rank sends until then */
static int asked;                  /* the environment */
static long long count;

/* How many messages and collectives came late on this rank. */
long long delayed_count(void);
long long delayed_count(void) {
  return count;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double number(const char *name) {
  const char *text = getenv(name);
  return text ? strtod(text, NULL) : 0;
}

static struct delayed *add(MPI_Request request, int elements, MPI_Datatype type) {
  struct delayed *d = calloc(1, sizeof *d);
  int size = 0;
  if (!d) {
    fputs("delay: no memory\n", stderr);
    abort();
  }
  if (!asked++) {
    seconds = number("DELAY_SECONDS");
    rate = number("DELAY_BYTES");
  }
  PMPI_Type_size(type, &size);
  d->request = request;
  d->bytes = (size_t)elements * (size_t)size;
  d->next = all;
  return all = d;
}

static struct delayed **find(MPI_Request request) {
  struct delayed **d = &all;
  while (*d && (*d)->request != request)
    d = &(*d)->next;
  return d;
}

static void drop(struct delayed **d) {
  struct delayed *gone = *d;
  *d = gone->next;
  free(gone);
}

/* Seconds that the bytes are sent. */
static double sending(size_t bytes) {
  return rate > 0 ? (double)bytes / rate : 0;
}

/* ---- persistent messages ---- */

int MPI_Send_init(const void *buffer, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request) {
  const int status = PMPI_Send_init(buffer, elements, type, to, tag, comm, request);
  if (status != MPI_SUCCESS)
    return status;
  struct delayed *d = add(*request, elements, type);
  d->sends = d->persistent = 1;
  return PMPI_Send_init(&d->when, 1, MPI_DOUBLE, to, TAG + tag, comm, &d->beside);
}

int MPI_Recv_init(void *buffer, int elements, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request *request) {
  const int status = PMPI_Recv_init(buffer, elements, type, from, tag, comm, request);
  if (status != MPI_SUCCESS)
    return status;
  struct delayed *d = add(*request, elements, type);
  d->persistent = 1;
  return PMPI_Recv_init(&d->when, 1, MPI_DOUBLE, from, TAG + tag, comm, &d->beside);
}

int MPI_Start(MPI_Request *request) {
  struct delayed *d = *find(*request);
  if (d && d->sends) { /* one message after the other leaves this rank */
    const double begin = now();
    busy = (busy > begin ? busy : begin) + sending(d->bytes);
    d->when = busy + seconds;
  }
  const int status = PMPI_Start(request);
  if (!d || status != MPI_SUCCESS)
    return status;
  d->started = 1;
  d->told = 0;
  return PMPI_Start(&d->beside);
}

int MPI_Request_free(MPI_Request *request) {
  struct delayed **d = find(*request);
  if (*d) {
    PMPI_Request_free(&(*d)->beside);
    drop(d);
  }
  return PMPI_Request_free(request);
}

/* ---- collectives ---- */

/* They end so long after the last rank began. */
static int begin_collective(int status, MPI_Request request, int elements, MPI_Datatype type, MPI_Comm comm) {
  int ranks = 1, steps = 0;
  if (status != MPI_SUCCESS)
    return status;
  PMPI_Comm_size(comm, &ranks);
  for (int reached = 1; reached < ranks; reached *= 2)
    steps += 2;
  struct delayed *d = add(request, elements, type);
  d->started = 1;
  d->when = now() + steps * (seconds + sending(d->bytes));
  return PMPI_Iallreduce(MPI_IN_PLACE, &d->when, 1, MPI_DOUBLE, MPI_MAX, comm, &d->beside);
}

int MPI_Iallreduce(const void *from, void *to, int elements, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request) {
  const int status = PMPI_Iallreduce(from, to, elements, type, op, comm, request);
  return begin_collective(status, *request, elements, type, comm);
}

int MPI_Iallgather(const void *from, int sent, MPI_Datatype sent_type, void *to, int elements,
                   MPI_Datatype type, MPI_Comm comm, MPI_Request *request) {
  const int status = PMPI_Iallgather(from, sent, sent_type, to, elements, type, comm, request);
  return begin_collective(status, *request, elements, type, comm);
}

/* ---- waiting ---- */

/* It is there, and it is late enough. MPI gets on with it in any case. */
static int is_over(struct delayed *d, int *over) {
  int here = 0;
  int status = PMPI_Request_get_status(d->request, &here, MPI_STATUS_IGNORE);
  if (status == MPI_SUCCESS && !d->told)
    status = PMPI_Test(&d->beside, &d->told, MPI_STATUS_IGNORE);
  *over = status == MPI_SUCCESS && here && d->told && (d->sends || now() >= d->when);
  return status;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *out) {
  struct delayed **d = find(*request);
  if (!*d || !(*d)->started)
    return PMPI_Test(request, flag, out);
  const int status = is_over(*d, flag);
  if (status != MPI_SUCCESS || !*flag)
    return status;
  count += !(*d)->sends;
  (*d)->started = 0;
  if (!(*d)->persistent)
    drop(d);
  return PMPI_Test(request, flag, out);
}
