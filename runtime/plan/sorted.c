/* Elements sorted by the number of their targets, within windows that stay in the caches: those of a strip then have as
 * many, and whether a loop over targets ends is foreseen. Items and their results stay as they are. */
#include "plan/plan.h"

#include <string.h>

/* Elements of a window; longer rows than the buckets tell apart stay in their order. */
enum { WINDOW = 2048, BUCKETS = 64 };

static int bucket_of(const long long *first, int e) {
  const long long length = first[e + 1] - first[e];
  return length < BUCKETS ? (int)length : BUCKETS - 1;
}

static void sort_window(const long long *first, int *list, long n) {
  int place[BUCKETS + 1] = {0}, room[WINDOW];
  memcpy(room, list, (size_t)n * sizeof *list);
  for (long i = 0; i < n; i++)
    place[bucket_of(first, room[i]) + 1]++;
  for (int b = 0; b < BUCKETS; b++)
    place[b + 1] += place[b];
  for (long i = 0; i < n; i++)
    list[place[bucket_of(first, room[i])]++] = room[i];
}

static void add_sorted(struct schedule *out, const struct schedule *in, const struct item *item, long *length,
                       const long long *first) {
  const long begin = *length;
  for (long p = item->begin; p < item->end; p++)
    out->list[(*length)++] = item->work == WORK_LIST ? in->list[p] : (int)p;
  for (long from = begin; from < *length; from += WINDOW)
    sort_window(first, out->list + from, *length - from < WINDOW ? *length - from : WINDOW);
  schedule_add_item(out, WORK_LIST, begin, *length, item->owner);
}

int schedule_sorted(struct schedule *out, const struct schedule *in, const long long *first,
                    struct error *err) {
  long length = 0;
  for (int i = 0; i < in->nitems; i++)
    length += in->items[i].end - in->items[i].begin;
  const int status = schedule_new(out, in->nitems, in->nphases, length, err);
  if (status)
    return status;
  length = 0;
  for (int p = 0; p < in->nphases; p++) {
    const struct phase *phase = &in->phases[p];
    schedule_add_phase(out, phase->owned);
    for (int i = 0; i < phase->count; i++)
      add_sorted(out, in, &in->items[phase->first + i], &length, first);
  }
  out->threads = in->threads;
  out->waits = in->waits;
  return OP_OK;
}
