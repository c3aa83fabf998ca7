/* Builders of schedules from sizes and plans, and what all builders share. */
#include <limits.h>
#include <string.h>

#include "base/size.h"
#include "plan/plan.h"
#include "plan/schedule_new.h"
#include "run/schedule.h"

/* Chunks of a direct loop: enough of them for any machine, and the same whatever the number of threads, so that reductions are
 * too. Where each of them has results to combine they are fewer and longer, so that beginning and ending one costs nothing, in
 * steps that many threads can share out evenly; the others run in one go where they follow one another. */
static const long most_chunks = 256, combined_chunks = 64, long_chunk = 8192, least_chunk = 256,
                  chunk_multiple = 64;

void schedule_free(struct schedule *s) {
  free(s->items);
  free(s->phases);
  free(s->list);
  memset(s, 0, sizeof *s);
}

size_t schedule_bytes(const struct schedule *s) {
  return (size_t)s->nitems * sizeof *s->items + (size_t)s->nphases * sizeof *s->phases +
         (size_t)s->list_length * sizeof *s->list;
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

int schedule_whole(struct schedule *s, long size, struct error *err) {
  int status = schedule_new(s, 1, 1, 0, err);
  if (status)
    return status;
  schedule_add_phase(s, false);
  if (size > 0)
    schedule_add_item(s, WORK_RANGE, 0, size, -1);
  return OP_OK;
}

static long share_out(long size, long chunks) {
  return size / chunks + (size % chunks != 0);
}

long schedule_chunk_size(long size, bool combining) {
  const long fewest = combined_chunks * (size / (combined_chunks * long_chunk) + 1);
  const long chunk = share_out(size, combining && fewest < most_chunks ? fewest : most_chunks);
  return chunk < least_chunk ? least_chunk : (chunk + chunk_multiple - 1) / chunk_multiple * chunk_multiple;
}

int schedule_chunks(struct schedule *s, long size, long chunk, struct error *err) {
  if (chunk <= 0)
    chunk = schedule_chunk_size(size, false);
  int status = schedule_new(s, size / chunk + (size % chunk != 0), 1, 0, err);
  if (status)
    return status;
  schedule_add_phase(s, false);
  for (long begin = 0; begin < size; begin += chunk)
    schedule_add_item(s, WORK_RANGE, begin, size - begin > chunk ? begin + chunk : size, -1);
  return OP_OK;
}

int schedule_block_colours(struct schedule *s, const struct plan *plan, struct error *err) {
  int status = schedule_new(s, plan->nblocks, plan->ncolours, 0, err);
  if (status)
    return status;
  for (int colour = 0; colour < plan->ncolours; colour++) {
    schedule_add_phase(s, false);
    for (int i = plan->colour_first[colour]; i < plan->colour_first[colour + 1]; i++) {
      long begin = (long)plan->block_map[i] * plan->block_size;
      long end = plan->size - begin > plan->block_size ? begin + plan->block_size : plan->size;
      schedule_add_item(s, WORK_RANGE, begin, end, -1);
    }
  }
  return OP_OK;
}
