#include "exec/executor.h"

#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "context/trace.h"

/* Below this many elements waking the workers costs more than they save. */
static const long small_set = 2048;

/* Generated code works in strips from the beginning of its range. Ranges that follow one another are run as one where
 * that leaves each element in the strip position it would have had: results do not depend on the number of threads. */
static const long strip_multiple = 64;

int executor_threads(const struct team *team, long elements, int wanted) {
  int most = team_threads(team);
  if (elements < small_set || most <= 1 || wanted == 1)
    return 1;
  return wanted > 0 && wanted < most ? wanted : most;
}

/* Behind `item`, run in one call up to `end`. */
static bool continues(const struct item *item, long end, const struct item *next) {
  return next->begin == end && next->work == item->work && (end - item->begin) % strip_multiple == 0;
}

/* A thread's copy of the frame of the work with reductions that it met last; and when it lets messages get on. */
struct copy {
  void *const *of;
  void **frame;
  bool polls; /* messages are under way, and this thread lets them get on */
  int items;  /* that run before it does so next */
};

/* The frame is the copy, and points to the item's own slot. */
static void *const *own_frame(const struct work *w, struct copy *copy, const struct item *item) {
  unsigned char *slot = w->slots + (size_t)item->slot * w->slot_bytes;
  if (copy->of != w->frame)
    memcpy(copy->frame, w->frame, (size_t)w->nframe * sizeof *copy->frame);
  copy->of = w->frame;
  for (int r = 0; r < w->nreductions; r++)
    copy->frame[w->reductions[r].index] = slot + w->reductions[r].offset;
  return copy->frame;
}

/* The first item, of those from `i` on, before which messages are to get on. */
static int next_poll(const struct copy *copy, int i, int end) {
  return copy->polls && end - i > copy->items ? i + copy->items : end;
}

/* Let messages get on: soon at first, as those that are long wait for an answer, then ever more seldom, up to 16 times a schedule.
 * Asking after each of many short items took as long as a tenth of them. */
static void poll_messages(const struct execution *e, struct copy *copy) {
  enum { most_polls = 16 };
  copy->polls = e->poll(e->poll_context);
  if (copy->items <= e->schedule->nitems / most_polls)
    copy->items *= 2;
}

/* Neighbours are run in one call where there are no results to keep apart. */
static void run_items(const struct execution *e, struct copy *copy, int begin, int end) {
  const struct item *items = e->schedule->items;
  for (int i = begin, stop = next_poll(copy, begin, end); i < end;) {
    const struct item *item = &items[i++];
    const struct work *w = &e->works[item->work];
    void *const *frame = w->frame;
    long last = item->end;
    if (w->nreductions)
      frame = own_frame(w, copy, item);
    else
      while (i < stop && continues(item, last, &items[i]))
        last = items[i++].end;
    w->function(frame, w->list, item->begin, last);
    if (i == stop && copy->polls) {
      poll_messages(e, copy);
      stop = next_poll(copy, i, end);
    }
  }
}

static void run_phase(const struct execution *e, struct copy *copy, const struct phase *phase, int thread,
                      int threads) {
  const struct item *items = e->schedule->items;
  int first = phase->first, end = first + phase->count;
  if (!phase->owned) {
    long count = phase->count;
    run_items(e, copy, first + (int)(count * thread / threads),
              first + (int)(count * (thread + 1) / threads));
    return;
  }
  for (int i = first, next; i < end; i = next) {
    for (next = i + 1; next < end && items[next].owner == items[i].owner;)
      next++;
    if (items[i].owner % threads == thread)
      run_items(e, copy, i, next);
  }
}

/* Those that wait for others as soon as they can, the first ones first. */
static void run_waiting(const struct execution *e, struct team *team, struct copy *copy, int thread,
                        int threads, double *waited) {
  struct waits *w = e->schedule->waits;
  for (int i; (i = waits_take(w, team, thread, threads, waited)) >= 0;) {
    run_items(e, copy, i, i + 1);
    waits_done(w, i);
  }
}

struct run {
  struct team *team;
  const struct execution *execution;
};

/* The longest frame of works with reductions, at least 1. */
static int longest_frame(const struct execution *e) {
  int longest = 1;
  for (int w = 0; w < e->nworks; w++)
    if (e->works[w].nreductions && e->works[w].nframe > longest)
      longest = e->works[w].nframe;
  return longest;
}

static void wait_for_all(struct team *team, struct trace_thread *own) {
  const double start = own ? clock_seconds() : 0;
  team_barrier(team);
  if (own)
    own->waited += clock_seconds() - start;
}

static void run_thread(void *argument, int thread, int threads) {
  const struct run *run = argument;
  const struct execution *e = run->execution;
  struct trace_thread *own = e->watch ? &e->watch[thread] : NULL;
  if (own)
    own->start = clock_seconds();
  void *frame[longest_frame(e)];
  struct copy copy = {.frame = frame, .polls = e->poll && thread == 0, .items = 1};
  if (e->schedule->waits)
    run_waiting(e, run->team, &copy, thread, threads, own ? &own->waited : NULL);
  for (int p = 0; !e->schedule->waits && p < e->schedule->nphases; p++) {
    if (p > 0 && threads > 1)
      wait_for_all(run->team, own);
    run_phase(e, &copy, &e->schedule->phases[p], thread, threads);
  }
  if (own)
    own->seconds = clock_seconds() - own->start;
}

int executor_useful(const struct schedule *schedule, int threads) {
  int most = 1;
  for (int p = 0; p < schedule->nphases; p++)
    if (schedule->phases[p].count > most)
      most = schedule->phases[p].count;
  return threads < most ? threads : most;
}

void executor_run(struct team *team, const struct execution *e) {
  struct run run = {.team = team, .execution = e};
  int threads = executor_useful(e->schedule, e->threads);
  if (e->schedule->waits)
    waits_begin(e->schedule->waits);
  if (threads <= 1 || !team)
    run_thread(&run, 0, 1);
  else
    team_run(team, threads, run_thread, &run);
}

void schedule_free(struct schedule *s) {
  arrays_free(&s->arrays);
  waits_free(s->waits);
  *s = (struct schedule){0};
}

size_t schedule_bytes(const struct schedule *s) {
  return s->arrays.bytes + waits_bytes(s->waits);
}

int schedule_new(struct schedule *s, long nitems, long nphases, long list_length, struct error *err) {
  *s = (struct schedule){.list_length = list_length};
  if (nitems > INT_MAX || nphases > INT_MAX)
    return error_set(err, OP_ERR_SIZE, "a schedule of %ld items is too long; use larger blocks", nitems);
  s->items = arrays_add(&s->arrays, (size_t)nitems, sizeof *s->items);
  s->phases = arrays_add(&s->arrays, (size_t)nphases, sizeof *s->phases);
  s->list = list_length ? arrays_add(&s->arrays, (size_t)list_length, sizeof *s->list) : NULL;
  if (!s->arrays.failed)
    return OP_OK;
  schedule_free(s);
  return error_memory(err, "a schedule",
                      (size_t)nitems * sizeof *s->items + (size_t)list_length * sizeof(int));
}

void schedule_add_phase(struct schedule *s, bool owned) {
  s->phases[s->nphases++] = (struct phase){.first = s->nitems, .owned = owned};
}

void schedule_add_item(struct schedule *s, int work, long begin, long end, int owner) {
  s->items[s->nitems++] =
      (struct item){.begin = begin, .end = end, .work = work, .owner = owner, .slot = s->nslots++};
  s->phases[s->nphases - 1].count++;
}

void schedule_shift(struct schedule *s, long begin) {
  for (int i = 0; i < s->nitems; i++)
    if (s->items[i].work == WORK_RANGE) {
      s->items[i].begin += begin;
      s->items[i].end += begin;
    }
  for (long p = 0; p < s->list_length; p++)
    s->list[p] += (int)begin;
}
