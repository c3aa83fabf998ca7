#include "run/schedule.h"

#include <limits.h>
#include <string.h>

#include "base/size.h"

void schedule_free(struct schedule *s) {
  free(s->items);
  free(s->phases);
  free(s->list);
  waits_free(s->waits);
  memset(s, 0, sizeof *s);
}

size_t schedule_bytes(const struct schedule *s) {
  return (size_t)s->nitems * sizeof *s->items + (size_t)s->nphases * sizeof *s->phases +
         (size_t)s->list_length * sizeof *s->list + waits_bytes(s->waits);
}

int schedule_new(struct schedule *s, long nitems, long nphases, long list_length, struct error *err) {
  memset(s, 0, sizeof *s);
  if (nitems > INT_MAX || nphases > INT_MAX)
    return error_set(err, OP_ERR_SIZE, "a schedule of %ld items is too long; use larger blocks", nitems);
  s->items = array_new((size_t)nitems, sizeof *s->items);
  s->phases = array_new((size_t)nphases, sizeof *s->phases);
  s->list = list_length ? array_new((size_t)list_length, sizeof *s->list) : NULL;
  if (!s->items || !s->phases || (list_length && !s->list)) {
    schedule_free(s);
    return error_memory(err, "a schedule",
                        (size_t)nitems * sizeof *s->items + (size_t)list_length * sizeof(int));
  }
  s->list_length = list_length;
  return OP_OK;
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
