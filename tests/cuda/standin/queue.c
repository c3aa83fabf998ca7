/* Work given to streams, launches and events. Work is done as late as is allowed: when somebody waits. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "entries.h"

/* ---- queue ---- */
struct event {
  double seconds;
  bool recorded, done;
  long number; /* of the work that records it */
};
static struct {
  struct work *first, **last;
  long count, numbers; /* of works, and how many there were */
  bool flags;          /* some set flags, or waited for them */
} queue = {.last = &queue.first};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool flag_has_come(const struct work *w) {
  return (int32_t)(__atomic_load_n((const uint32_t *)w->to, __ATOMIC_SEQ_CST) - w->flag) >= 0;
}

/* Another process sets it, or this is its end. */
static void await_flag(const struct work *w) {
  enum { MOST_SECONDS = 60, NAP = 50 };
  for (const double begin = now(); !flag_has_come(w); usleep(NAP))
    if (now() - begin > (double)MOST_SECONDS) {
      driver_fail(CODE_LAUNCH_TIMEOUT);
      return;
    }
}

static void do_work(struct work *w) {
  switch (w->kind) {
  case WORK_COPY:
    memcpy((void *)w->to, w->staged ? w->staged : (void *)w->from, w->bytes);
    memory_define(w->to, w->bytes);
    break;
  case WORK_SET:
    memset((void *)w->to, w->value, w->bytes);
    memory_define(w->to, w->bytes);
    break;
  case WORK_LAUNCH: driver_fail(blocks_run(&w->launch)); break;
  case WORK_EVENT:
    w->event->seconds = now();
    w->event->done = true;
    break;
  case WORK_WAIT: break; /* what it waits for was done before */
  case WORK_SET_FLAG:
    __atomic_store_n((uint32_t *)w->to, w->flag, __ATOMIC_SEQ_CST);
    memory_define(w->to, sizeof w->flag);
    break;
  case WORK_AWAIT_FLAG: await_flag(w); break;
  }
}

static void work_free(struct work *w) {
  for (int i = 0; w->parameters && i < w->launch.function->kernel->nparameters; i++)
    free(w->parameters[i]);
  free(w->parameters);
  free(w->staged);
  free(w);
}

static void finish(struct work *w) {
  if (!driver_error())
    do_work(w);
  else if (w->kind == WORK_EVENT)
    w->event->done = true;
  work_free(w);
}

/* Streams that wait for flags which have not come. */
enum { MOST_STREAMS = 16 };
struct stuck {
  const void *streams[MOST_STREAMS];
  int count;
};

static bool is_in_queue(long number, const struct work *end) {
  for (const struct work *w = queue.first; w != end; w = w->next)
    if (w->number == number)
      return true;
  return false;
}

static bool is_stuck(struct stuck *s, const struct work *w) {
  for (int i = 0; i < s->count; i++)
    if (s->streams[i] == w->stream)
      return true;
  const bool stuck =
      (w->kind == WORK_AWAIT_FLAG && !flag_has_come(w)) || (w->kind == WORK_WAIT && is_in_queue(w->waits, w));
  if (stuck && s->count < MOST_STREAMS)
    s->streams[s->count++] = w->stream;
  return stuck;
}

/* Runs what is needed, in the order in which it came. `tries`: as far as flags have come. */
static int do_needed(bool tries) {
  struct stuck stuck = {.count = 0};
  for (struct work **link = &queue.first, *w; (w = *link);) {
    if (!w->needed || (tries && is_stuck(&stuck, w))) {
      link = &w->next;
      continue;
    }
    *link = w->next;
    queue.count--;
    finish(w);
  }
  queue.last = &queue.first;
  while (*queue.last)
    queue.last = &(*queue.last)->next;
  return driver_error();
}

int queue_drain(void) {
  for (struct work *w = queue.first; w; w = w->next)
    w->needed = true;
  return do_needed(false);
}

static void need_number(struct work *const *works, long n, long number) {
  for (long i = 0; i < n; i++)
    works[i]->needed |= works[i]->number == number;
}

/* The works before the i-th one on its stream. */
static void need_before(struct work *const *works, long i) {
  for (long j = 0; j < i; j++)
    works[j]->needed |= works[j]->stream == works[i]->stream;
}

/* All of the stream, or the work with this number, and what these wait for; what other streams have is done later. NULL is the
 * stream that waits for all others. */
static int drain(void *stream, long number, bool tries) {
  const long n = queue.count;
  struct work **works = stream || number ? malloc((size_t)n * sizeof *works + 1) : NULL;
  if (!works)
    return queue_drain();
  long i = 0;
  for (struct work *w = queue.first; w; w = w->next) {
    works[i++] = w;
    w->needed = w->number == number || (!number && w->stream == stream);
  }
  while (i-- > 0) {
    if (works[i]->needed && works[i]->kind == WORK_WAIT)
      need_number(works, i, works[i]->waits);
    if (works[i]->needed)
      need_before(works, i);
  }
  free(works);
  return do_needed(tries);
}

int queue_drain_to(const struct work *w) {
  return drain(NULL, w->number, false);
}

struct work *queue_add(enum work_kind kind, void *stream) {
  struct work *w = calloc(1, sizeof *w);
  if (!w)
    return NULL;
  w->kind = kind;
  w->stream = stream;
  w->number = ++queue.numbers;
  *queue.last = w;
  queue.last = &w->next;
  queue.count++;
  queue.flags |= kind == WORK_AWAIT_FLAG || kind == WORK_SET_FLAG;
  return w;
}
/* ---- launches ---- */
static int check_launch(const struct standin_function *f, const struct launch *l) {
  size_t threads = (size_t)l->block.x * l->block.y * l->block.z;
  if (!l->grid.x || !l->grid.y || !l->grid.z || !threads || threads > 1024 || l->grid.x > 0x7fffffff ||
      l->grid.y > 65535 || l->grid.z > 65535)
    return CODE_INVALID_VALUE;
  if (f->kernel->launch_bound && threads > (size_t)f->kernel->launch_bound)
    return CODE_INVALID_VALUE;
  return l->dynamic_bytes > (unsigned)f->dynamic_limit ? CODE_INVALID_VALUE : CODE_OK;
}

/* A pointer that a kernel gets is NULL, an address of the device, or of pinned memory of the host. */
static int check_parameters(const struct standin_function *f, void **parameters) {
  for (int i = 0; i < f->kernel->nparameters; i++) {
    address p = f->kernel->is_pointer[i] ? *(address *)parameters[i] : 0;
    if (!p || is_of_device(p) || is_pinned((const void *)(uintptr_t)p))
      continue;
    finding("host pointer", NULL, 0, "parameter %d of kernel %s is %#llx, not an address of the device", i,
            f->kernel->name, p);
    return driver_fail(CODE_ILLEGAL_ADDRESS);
  }
  return CODE_OK;
}

static int give(const struct launch *given, void *stream, void **parameters) {
  const struct standin_function *f = given->function;
  const struct launch l = *given;
  int code = check_launch(f, &l);
  if (!code)
    code = check_parameters(f, parameters);
  if (code)
    return code;
  int n = f->kernel->nparameters;
  void **copy = calloc((size_t)n + 1, sizeof *copy);
  struct work *w = copy ? queue_add(WORK_LAUNCH, stream) : NULL;
  if (!w) {
    free(copy);
    return CODE_OUT_OF_MEMORY;
  }
  for (int i = 0; i < n; i++)
    if ((copy[i] = malloc(f->kernel->sizes[i])))
      memcpy(copy[i], parameters[i], f->kernel->sizes[i]);
  w->launch = l;
  w->launch.parameters = w->parameters = copy;
  return CODE_OK;
}

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned dynamic, void *stream, void **parameters, void **extra) {
  (void)extra;
  ENTER();
  const struct launch l = {
      .function = function, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_bytes = dynamic};
  return give(&l, stream, parameters);
}

/* As cuda.h lays them out. */
struct attribute {
  int id;
  char unused[4];
  union {
    int number;
    char bytes[64];
  } value;
};
struct launch_config {
  unsigned gx, gy, gz, bx, by, bz, dynamic;
  void *stream;
  const struct attribute *attributes;
  unsigned nattributes;
};

/* The one attribute that there is: programmatic stream serialization. */
EXPORT int cuLaunchKernelEx(const struct launch_config *c, void *function, void **parameters, void **extra) {
  enum { SERIALIZATION = 6, CAPABILITY = 90 };
  ENTER();
  if (!standin_settings.dependents)
    return CODE_NOT_SUPPORTED;
  if (extra || c->nattributes != 1 || c->attributes->id != SERIALIZATION ||
      c->attributes->value.number != 1 || standin_settings.capability < CAPABILITY)
    return CODE_INVALID_VALUE;
  const struct launch l = {.function = function,
                           .grid = {c->gx, c->gy, c->gz},
                           .block = {c->bx, c->by, c->bz},
                           .dynamic_bytes = c->dynamic,
                           .dependent = true};
  return give(&l, c->stream, parameters);
}

/* ---- streams and events ---- */
EXPORT int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  ENTER();
  *stream = malloc(1);
  return *stream ? CODE_OK : CODE_OUT_OF_MEMORY;
}
EXPORT int cuStreamDestroy_v2(void *stream) {
  queue_drain();
  free(stream);
  return CODE_OK;
}
EXPORT int cuStreamSynchronize(void *stream) {
  ENTER();
  return drain(stream, 0, false);
}
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  const struct event *e = event;
  (void)flags;
  ENTER();
  struct work *w = e->recorded && !e->done ? queue_add(WORK_WAIT, stream) : NULL;
  if (w)
    w->waits = e->number;
  return w || !e->recorded || e->done ? CODE_OK : CODE_OUT_OF_MEMORY;
}
EXPORT int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  ENTER();
  *event = calloc(1, sizeof(struct event));
  return *event ? CODE_OK : CODE_OUT_OF_MEMORY;
}
EXPORT int cuEventDestroy_v2(void *event) {
  queue_drain();
  free(event);
  return CODE_OK;
}
EXPORT int cuEventRecord(void *event, void *stream) {
  ENTER();
  struct work *w = queue_add(WORK_EVENT, stream);
  if (!w)
    return CODE_OUT_OF_MEMORY;
  w->event = event;
  w->event->recorded = true;
  w->event->done = false;
  w->event->number = w->number;
  return CODE_OK;
}
EXPORT int cuEventSynchronize(void *event) {
  const struct event *e = event;
  ENTER();
  return e->recorded && !e->done ? drain(NULL, e->number, false) : driver_error();
}
EXPORT int cuEventQuery(void *event) {
  ENTER();
  struct event *e = event;
  const int code = queue.flags && e->recorded && !e->done ? drain(NULL, e->number, true) : CODE_OK;
  return code ? code : !e->recorded || e->done ? CODE_OK : CODE_NOT_READY;
}
EXPORT int cuEventElapsedTime(float *milliseconds, void *first, void *second) {
  ENTER();
  struct event *a = first, *b = second;
  if (!a->recorded || !b->recorded)
    return CODE_INVALID_HANDLE;
  if (!a->done || !b->done)
    return CODE_NOT_READY;
  *milliseconds = (float)((b->seconds - a->seconds) * 1e3);
  return CODE_OK;
}
