#include "tune/layout_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

/* By how much the other layout has to be better. */
#define NOISE 0.97

enum { AS_IT_WAS, TURNED, AS_IT_WAS_AGAIN };

int layout_trial_add(struct layout_trial *t, const void *loop, const char *variant, double weight,
                     struct error *err) {
  struct layout_timed *loops = array_resize(t->loops, (size_t)t->nloops + 1, sizeof *loops);
  if (!loops)
    return error_memory(err, "the trial of a layout", ((size_t)t->nloops + 1) * sizeof *loops);
  t->loops = loops;
  loops[t->nloops] = (struct layout_timed){.loop = loop, .variant = strdup(variant), .weight = weight};
  if (!loops[t->nloops].variant)
    return error_memory(err, "the trial of a layout", strlen(variant) + 1);
  t->nloops++;
  return OP_OK;
}

void layout_trial_clear(struct layout_trial *t) {
  for (int i = 0; i < t->nloops; i++)
    free(t->loops[i].variant);
  free(t->loops);
  *t = (struct layout_trial){0};
}

static struct layout_timed *find(const struct layout_trial *t, const void *loop) {
  for (int i = 0; i < t->nloops; i++)
    if (t->loops[i].loop == loop)
      return &t->loops[i];
  return NULL;
}

void layout_trial_forget(struct layout_trial *t, const void *loop) {
  struct layout_timed *timed = find(t, loop);
  if (!timed)
    return;
  free(timed->variant);
  *timed = t->loops[--t->nloops];
}

const struct layout_timed *layout_trial_find(const struct layout_trial *t, const void *loop) {
  return find(t, loop);
}

bool layout_trial_wants(const struct layout_trial *t, const void *loop) {
  const struct layout_timed *timed = find(t, loop);
  return timed && timed->count <= LAYOUT_SAMPLES;
}

void layout_trial_record(struct layout_trial *t, const void *loop, double seconds) {
  struct layout_timed *timed = find(t, loop);
  if (!timed || timed->count > LAYOUT_SAMPLES || !(seconds > 0) || !isfinite(seconds))
    return;
  if (timed->count > 0)
    timed->seconds[t->phase][timed->count - 1] = seconds;
  timed->count++;
}

static int by_size(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static double median(const struct layout_timed *timed, int phase) {
  double sorted[LAYOUT_SAMPLES];
  memcpy(sorted, timed->seconds[phase], sizeof sorted);
  qsort(sorted, LAYOUT_SAMPLES, sizeof *sorted, by_size);
  return sorted[LAYOUT_SAMPLES / 2];
}

double layout_trial_median(const struct layout_trial *t, int which) {
  return median(&t->loops[which], TURNED);
}

static double round_seconds(const struct layout_trial *t, int phase) {
  double sum = 0;
  for (int i = 0; i < t->nloops; i++)
    sum += t->loops[i].weight * median(&t->loops[i], phase);
  return sum;
}

double layout_trial_before(const struct layout_trial *t) {
  const double first = round_seconds(t, AS_IT_WAS);
  return t->phase < AS_IT_WAS_AGAIN ? first : fmin(first, round_seconds(t, AS_IT_WAS_AGAIN));
}

double layout_trial_after(const struct layout_trial *t) {
  return round_seconds(t, TURNED);
}

static bool is_complete(const struct layout_trial *t) {
  for (int i = 0; i < t->nloops; i++)
    if (t->loops[i].count <= LAYOUT_SAMPLES)
      return false;
  return true;
}

static enum layout_verdict next_phase(struct layout_trial *t) {
  t->phase++;
  for (int i = 0; i < t->nloops; i++)
    t->loops[i].count = 0;
  return LAYOUT_TURN;
}

enum layout_verdict layout_trial_step(struct layout_trial *t) {
  if (!is_complete(t))
    return LAYOUT_GOES_ON;
  if (t->phase == AS_IT_WAS)
    return next_phase(t);
  const bool better = layout_trial_after(t) < NOISE * layout_trial_before(t);
  if (t->phase == TURNED)
    return better ? next_phase(t) : LAYOUT_TURN_BACK;
  return better ? LAYOUT_TURN_OVER : LAYOUT_STAY;
}
