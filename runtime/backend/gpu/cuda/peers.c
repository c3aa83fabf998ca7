/* Memory of other processes, and flags in it that streams set and wait for. Where the host waits for a stream that waits so, it
 * looks whether the other rank failed: then the flags come from here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/gpu/cuda/cuda.h"
#include "base/clock.h"
#include "ranks/comm.h"

/* So many waits may be on their way; then the host waits for the oldest. */
enum { MOST_WAITS = 8, BESIDE_STREAM_0 = 1, NO_TIMES = 2, PEER_ACCESS = 1 };
/* Until a flag is a number or above it; and then for writes of other devices, where that is a thing to ask for. */
enum { ATTRIBUTE_FLUSHES = 98, WAIT_AND_FLUSH = 1 << 30 };
/* Seconds after which a wait counts anew as long as the device has other work to do. */
static const double own_work = 0.5;

struct cuda_flags {
  cuda_stream beside;
  unsigned how; /* streams wait */
  struct wait {
    cuda_event reached, over;
    const gpu_address *flags;
    int n;
    unsigned number;
  } waits[MOST_WAITS]; /* in turn */
  int first, count;
};

bool cuda_has_peers(const struct cuda_driver *d) {
  return d->peer_give && d->peer_take && d->peer_drop && d->flag_set && d->flag_await;
}

void cuda_flags_free(struct cuda *cuda) {
  struct cuda_flags *f = cuda->flags;
  for (int i = 0; f && i < MOST_WAITS; i++) {
    if (f->waits[i].reached)
      cuda->driver.event_destroy(f->waits[i].reached);
    if (f->waits[i].over)
      cuda->driver.event_destroy(f->waits[i].over);
  }
  if (f && f->beside)
    cuda->driver.stream_destroy(f->beside);
  free(f);
  cuda->flags = NULL;
  error_free(&cuda->told);
}

static int make(struct cuda *cuda) {
  const struct cuda_driver *d = &cuda->driver;
  struct cuda_flags *f = cuda->flags = calloc(1, sizeof *f);
  int code = f ? d->stream_create(&f->beside, BESIDE_STREAM_0) : CUDA_OUT_OF_MEMORY, flushes = 0;
  if (!code && !d->device_attribute(&flushes, ATTRIBUTE_FLUSHES, cuda->device.handle) && flushes)
    f->how = WAIT_AND_FLUSH;
  for (int i = 0; !code && i < MOST_WAITS; i++) {
    code = d->event_create(&f->waits[i].reached, NO_TIMES);
    if (!code)
      code = d->event_create(&f->waits[i].over, NO_TIMES);
  }
  if (code)
    cuda_flags_free(cuda);
  return code;
}

/* ---- memory ---- */

int cuda_peer_give(void *self, gpu_address at, struct gpu_handle *out) {
  return ((struct cuda *)self)->driver.peer_give(out, at);
}

int cuda_peer_take(void *self, const struct gpu_handle *handle, gpu_address *out) {
  return ((struct cuda *)self)->driver.peer_take(out, *handle, PEER_ACCESS);
}

int cuda_peer_drop(void *self, gpu_address at) {
  return ((struct cuda *)self)->driver.peer_drop(at);
}

/* ---- flags ---- */

/* Others will not set them. */
static void give_up(struct cuda *cuda) {
  struct cuda_flags *f = cuda->flags;
  for (; f->count; f->count--, f->first = (f->first + 1) % MOST_WAITS) {
    const struct wait *w = &f->waits[f->first];
    for (int i = 0; i < w->n; i++)
      cuda->driver.flag_set(f->beside, w->flags[i], w->number, 0);
  }
  cuda->driver.stream_wait(f->beside);
}

/* *reached: the device has nothing to do but wait for the oldest. */
static int look(struct cuda *cuda, bool *reached) {
  struct cuda_flags *f = cuda->flags;
  int code = 0;
  *reached = false;
  for (; f->count && !(code = cuda->driver.event_query(f->waits[f->first].over)); f->count--)
    f->first = (f->first + 1) % MOST_WAITS;
  if (f->count && code == CUDA_NOT_READY)
    code = cuda->driver.event_query(f->waits[f->first].reached);
  *reached = f->count && !code;
  return code == CUDA_NOT_READY ? 0 : code;
}

static void tell(const struct comm *comm, double waited) {
  const char *where = comm->where ? comm->where + strspn(comm->where, "\t") : "a call of the library";
  char line[512];
  snprintf(line, sizeof line,
           "op2jit: rank %d: warning: has waited for %.0f s in %.*s (messages from GPU to GPU); another rank "
           "has not sent them yet\n",
           comm->rank, waited, (int)strcspn(where, "\n"), where);
  fputs(line, stderr);
}

/* Until at most so many waits are left. */
static int await(struct cuda *cuda, int left) {
  struct cuda_flags *f = cuda->flags;
  struct comm *comm = cuda->comm;
  bool anew = true, reached = false, was = false, told = false;
  double begin = clock_seconds();
  for (;;) {
    const int code = look(cuda, &reached);
    const double waited = clock_seconds() - begin;
    if (code || f->count <= left)
      return code;
    if (anew || reached != was || (!reached && waited > own_work)) {
      begin = clock_seconds();
      anew = true;
    } else if (reached && comm->hang > 0 && waited > comm->hang && !told) {
      tell(comm, waited);
      told = true;
    }
    was = reached;
    if (comm->table->pause(comm, anew, &cuda->told)) {
      give_up(cuda);
      return CUDA_TOLD;
    }
    anew = false;
  }
}

int cuda_settle(void *self) {
  struct cuda *cuda = self;
  const int code = cuda_give(self);
  return code || !cuda->flags || !cuda->flags->count ? code : await(cuda, 0);
}

int cuda_flag_set(void *self, gpu_address flag, unsigned number) {
  const struct cuda *cuda = self;
  const int code = cuda->told.code ? CUDA_TOLD : cuda_give(self);
  return code ? code : cuda->driver.flag_set(cuda->stream, flag, number, 0);
}

int cuda_flag_await(void *self, const gpu_address *flags, int n, unsigned number) {
  struct cuda *cuda = self;
  const struct cuda_driver *d = &cuda->driver;
  int code = cuda->told.code ? CUDA_TOLD : cuda_give(self);
  if (!code && !cuda->flags)
    code = make(cuda);
  struct cuda_flags *f = cuda->flags;
  if (!code)
    code = await(cuda, MOST_WAITS - 1);
  if (code)
    return code;
  struct wait *w = &f->waits[(f->first + f->count) % MOST_WAITS];
  w->flags = flags;
  w->n = n;
  w->number = number;
  code = d->event_record(w->reached, cuda->stream);
  for (int i = 0; !code && i < n; i++)
    code = d->flag_await(cuda->stream, flags[i], number, f->how);
  f->count += !code;
  return code ? code : d->event_record(w->over, cuda->stream);
}

int cuda_flag_try(void *self, double seconds, bool *come) {
  struct cuda *cuda = self;
  const double begin = clock_seconds();
  bool reached = false, failed = false;
  int code = 0;
  for (bool anew = true;
       !failed && !(code = look(cuda, &reached)) && cuda->flags->count && clock_seconds() - begin < seconds;
       anew = false)
    failed = cuda->comm->table->pause(cuda->comm, anew, &cuda->told);
  *come = !code && !cuda->flags->count;
  if (!*come)
    give_up(cuda);
  return code;
}
