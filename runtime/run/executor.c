#include "run/schedule.h"

#include <string.h>

/* Below this many elements waking the workers costs more than they save. */
static const long small_set = 2048;

/* Generated code works in strips from the beginning of its range. Ranges that follow one another are run as one where
 * that leaves each element in the strip position it would have had: results do not depend on the number of threads. */
static const long strip_multiple = 64;

int executor_threads(const struct team *team, long elements, int wanted) {
  int most = team ? team_threads(team) : 1;
  if (elements < small_set || most <= 1 || wanted == 1)
    return 1;
  return wanted > 0 && wanted < most ? wanted : most;
}

static bool continues(const struct item *item, const struct item *next) {
  return next->begin == item->end && next->function == item->function &&
         (item->end - item->begin) % strip_multiple == 0;
}

static void run_item(const struct execution *e, void *const *frame, const struct item *item) {
  if (e->step)
    e->step(e, frame, item);
  else
    e->functions[item->function](frame, e->schedule->list, item->begin, item->end);
}

/* Without reductions the frame is shared and neighbours are run in one call. */
static void run_plain(const struct execution *e, int begin, int end) {
  const struct item *items = e->schedule->items;
  for (int i = begin; i < end;) {
    struct item item = items[i++];
    while (i < end && continues(&item, &items[i]))
      item.end = items[i++].end;
    run_item(e, e->frame, &item);
  }
}

static void run_reducing(const struct execution *e, void **frame, int begin, int end) {
  for (int i = begin; i < end; i++) {
    const struct item *item = &e->schedule->items[i];
    unsigned char *slot = e->slots + (size_t)item->slot * e->slot_bytes;
    for (int r = 0; r < e->nreductions; r++)
      frame[e->reductions[r].index] = slot + e->reductions[r].offset;
    run_item(e, frame, item);
  }
}

/* One item after the other, so that messages get on in between. */
static void run_polling(const struct execution *e, void **frame, int begin, int end) {
  for (int i = begin; i < end; i++) {
    if (e->nreductions)
      run_reducing(e, frame, i, i + 1);
    else
      run_plain(e, i, i + 1);
    e->poll(e->poll_context);
  }
}

static void run_items(const struct execution *e, void **frame, int begin, int end, bool poll) {
  if (poll)
    run_polling(e, frame, begin, end);
  else if (e->nreductions)
    run_reducing(e, frame, begin, end);
  else
    run_plain(e, begin, end);
}

static void run_phase(const struct execution *e, void **frame, const struct phase *phase, int thread,
                      int threads) {
  const struct item *items = e->schedule->items;
  const bool poll = e->poll && thread == 0;
  int first = phase->first, end = first + phase->count;
  if (!phase->owned) {
    long count = phase->count;
    run_items(e, frame, first + (int)(count * thread / threads),
              first + (int)(count * (thread + 1) / threads), poll);
    return;
  }
  for (int i = first, next; i < end; i = next) {
    for (next = i + 1; next < end && items[next].owner == items[i].owner;)
      next++;
    if (items[i].owner % threads == thread)
      run_items(e, frame, i, next, poll);
  }
}

struct run {
  struct team *team;
  const struct execution *execution;
};

static void run_thread(void *argument, int thread, int threads) {
  const struct run *run = argument;
  const struct execution *e = run->execution;
  void *frame[e->nframe > 0 ? e->nframe : 1];
  if (e->nreductions)
    memcpy(frame, e->frame, (size_t)e->nframe * sizeof *frame);
  for (int p = 0; p < e->schedule->nphases; p++) {
    if (p > 0 && threads > 1)
      team_barrier(run->team);
    run_phase(e, frame, &e->schedule->phases[p], thread, threads);
  }
}

/* No more threads than the widest phase has items. */
static int useful_threads(const struct execution *e) {
  int most = 1;
  for (int p = 0; p < e->schedule->nphases; p++)
    if (e->schedule->phases[p].count > most)
      most = e->schedule->phases[p].count;
  return e->threads < most ? e->threads : most;
}

void executor_run(struct team *team, const struct execution *e) {
  struct run run = {.team = team, .execution = e};
  int threads = useful_threads(e);
  if (threads <= 1 || !team)
    run_thread(&run, 0, 1);
  else
    team_run(team, threads, run_thread, &run);
}
