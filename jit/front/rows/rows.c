#include "jit/front/rows/rows.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBERS = sizeof(struct row_facts) / sizeof(int) };

/* Zeros at the end are left out. */
void row_facts_print(const struct row_facts *r, struct text *out) {
  int numbers[NUMBERS], count = NUMBERS;
  memcpy(numbers, r, sizeof numbers);
  while (count > 1 && !numbers[count - 1])
    count--;
  for (int i = 0; i < count; i++)
    text_addf(out, "%d ", numbers[i]);
}

/* Places follow one another, within the text. */
static bool follows(const struct row_range *at, int *done, size_t length) {
  const bool good = *done <= at->begin && at->begin <= at->end && (size_t)at->end <= length;
  *done = at->end;
  return good;
}

static bool is_inside(const struct row_range *at, size_t length) {
  int begin = 0;
  return follows(at, &begin, length);
}

static bool loop_fits(const struct split_loop *l, int *done, size_t length) {
  int inside = l->all.begin;
  bool good = follows(&l->all, done, length) && follows(&l->zero, &inside, (size_t)l->all.end) &&
              follows(&l->step, &inside, (size_t)l->all.end) && is_inside(&l->counter, length) &&
              l->nresults >= 0 && l->nresults <= SPLIT_RESULTS;
  for (int i = 0; good && i < l->nresults; i++)
    good = is_inside(&l->results[i].name, length) && l->results[i].kind >= SPLIT_SUM &&
           l->results[i].kind <= SPLIT_MOST;
  return good;
}

bool row_facts_parse(const char *words, size_t length, struct row_facts *out) {
  int numbers[NUMBERS] = {0}, done = 0;
  for (int i = 0; i < NUMBERS && *words; i++) {
    char *end;
    numbers[i] = (int)strtol(words, &end, 10);
    if (*end != ' ')
      return false;
    words = end + 1;
  }
  memcpy(out, numbers, sizeof numbers);
  bool good = !*words && out->why >= 0 && out->why < WHY_COUNT && out->nloops >= 0 &&
              out->nloops <= SPLIT_LOOPS && out->nstays >= 0 && out->nstays <= STAYS;
  for (int i = 0; good && i < out->nloops; i++)
    good = loop_fits(&out->loops[i], &done, length);
  done = 0;
  for (int i = 0; good && i < out->nstays; i++)
    good = follows(&out->stays[i].at, &done, length);
  return good;
}

bool row_facts_stay(const struct row_facts *r, int arg) {
  for (int i = 0; i < r->nstays; i++)
    if (r->stays[i].kind == STAY_PARAMETER && r->stays[i].arg == arg)
      return true;
  return false;
}
