/* Fewer calls and elements, by halves first (Zeller's delta debugging). */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "cli/replay.h"

/* So many runs are enough. */
enum { RUNS_MOST = 3000 };

static void replace(struct capture *c, struct capture *with) {
  capture_free(c);
  *c = *with;
  *with = (struct capture){0};
}

/* ---- elements ---- */

/* By set: which elements run, a byte each. NULL: no memory. */
static unsigned char **find_running(const struct capture *c) {
  unsigned char **runs = capture_flags(c);
  for (int i = 0; runs && i < c->ncalls; i++)
    for (long long k = 0; k < c->calls[i].count; k++)
      runs[c->calls[i].set][capture_element(&c->calls[i], k)] = 1;
  return runs;
}

/* All that run but number `begin` to `end`, in the order of sets and elements; and how many ran. */
static int without(const struct capture *c, long long begin, long long end, struct capture *out,
                   long long *count, struct error *err) {
  unsigned char **runs = find_running(c);
  int code = capture_copy(c, out, err);
  if (!runs && !code)
    code = error_memory(err, "a capture", 0);
  *count = 0;
  for (int s = 0; !code && s < c->nsets; s++)
    for (long long e = 0; e < c->sets[s].size; e++)
      if (runs[s][e]) {
        runs[s][e] = *count < begin || *count >= end;
        (*count)++;
      }
  if (!code)
    code = capture_select(out, (const unsigned char *const *)runs, NULL, NULL, err);
  capture_flags_free(runs, c->nsets);
  return code;
}

static int reduce_elements(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  long long count = 0, parts = 2, ignored;
  struct capture all;
  int code = without(c, 0, 0, &all, &count, err);
  capture_free(&all);
  while (!code && count > 1 && j->runs < RUNS_MOST) {
    bool any = false;
    for (long long p = 0; !code && p < parts && count > 1 && j->runs < RUNS_MOST;) {
      struct capture less;
      const long long begin = count * p / parts, end = count * (p + 1) / parts;
      code = without(c, begin, end, &less, &ignored, err);
      const bool still = !code && end > begin && end - begin < count && fault_is_there(j, &less, f);
      if (still) {
        replace(c, &less);
        count -= end - begin;
        parts = parts > 2 ? parts - 1 : 2;
        any = true;
      } else
        p++;
      capture_free(&less);
    }
    if (!any && parts >= count)
      break;
    parts = any ? parts : 2 * parts;
    parts = parts > count ? count : parts;
  }
  return code;
}

/* ---- calls ---- */

static int reduce_calls(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  int code = OP_OK;
  for (int i = c->ncalls - 1; !code && i >= 0 && c->ncalls > 1; i--) {
    struct capture less;
    code = capture_copy(c, &less, err);
    if (!code) {
      capture_drop_call(&less, i);
      code = capture_select(&less, NULL, NULL, NULL, err);
    }
    if (!code && fault_is_there(j, &less, f))
      replace(c, &less);
    capture_free(&less);
  }
  return code;
}

/* ---- values that no way of running has ---- */

/* Elements that touch a row of a dat; how many. Only those of one row may go without changing it. */
static long long touching(const struct capture *c, int data, long long row, unsigned char **runs) {
  long long count = 0;
  for (int s = 0; s < c->nsets; s++)
    memset(runs[s], 0, (size_t)c->sets[s].size);
  for (int i = 0; i < c->ncalls; i++)
    for (long long n = 0; n < c->calls[i].count; n++) {
      const struct capture_call *call = &c->calls[i];
      unsigned char *run = &runs[call->set][capture_element(call, n)];
      for (int a = 0; a < call->nargs; a++) {
        if (call->args[a].data != data || call->args[a].form != DESC_DAT)
          continue;
        const struct capture_reach reach = capture_reach(c, &call->args[a], capture_element(call, n));
        bool touches = false;
        for (long long k = reach.begin; k < reach.end; k++)
          touches |= capture_place(&reach, k) == row;
        count += touches && !*run;
        *run |= touches;
      }
    }
  return count;
}

struct focus {
  int data; /* -1: none */
  long long row, elements;
};

/* Among the first values that differ, finds the one that fewest elements touch. */
static void find_focus(const struct judge *j, const struct capture *c, const struct outcome *ran,
                       unsigned char **runs, struct focus *out) {
  enum { LOOKS = 64 };
  for (int p = 0, looks = 0; p < ran->places.count; p++) {
    const struct place *place = &ran->places.items[p];
    const unsigned char *kept = place->data->kind == CAPTURE_DAT ? place->data->after : NULL;
    for (size_t v = 0; kept && looks < LOOKS; v++, looks++) {
      v = place_differs(place, v, ran->values + place->offset, kept, j->bits);
      if (v >= place->count)
        break;
      const long long row = (long long)v / place->data->dim, elements = touching(c, place->number, row, runs);
      if (out->data < 0 || elements < out->elements)
        *out = (struct focus){place->number, row, elements};
    }
  }
}

int reduce_keep(struct judge *j, struct capture *c, int data, long long row, const unsigned char *kept,
                struct error *err) {
  struct outcome ran;
  const int code = rerun(&j->wanted, c, &ran, err);
  for (int p = 0; !code && p < ran.places.count; p++) {
    const struct place *place = &ran.places.items[p];
    if (place->data->after)
      memcpy(place->data->after, ran.values + place->offset, capture_bytes(c, place->data));
  }
  const size_t size = capture_row(&c->data[data]);
  if (!code)
    memcpy(c->data[data].after + (size_t)row * size, kept, size);
  outcome_free(&ran);
  return code;
}

static int reduce_to(struct judge *j, struct capture *c, struct focus *focus, unsigned char **runs,
                     struct error *err) {
  const size_t size = capture_row(&c->data[focus->data]);
  unsigned char *row = malloc(size);
  if (!row)
    return error_memory(err, "a row", size);
  memcpy(row, c->data[focus->data].after + (size_t)focus->row * size, size);
  touching(c, focus->data, focus->row, runs);
  int code = reduce_needs(c, runs, err);
  if (!code)
    code = capture_select(c, (const unsigned char *const *)runs, &focus->data, &focus->row, err);
  if (!code)
    code = reduce_keep(j, c, focus->data, focus->row, row, err);
  free(row);
  return code;
}

/* Where only a global shows it. Of an extreme the text finds one beyond what the program found, so some element is wrong
 * there. */
static int reduce_global(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  j->beyond = true;
  if (fault_is_there(j, c, f))
    return reduce_elements(j, c, f, err);
  j->beyond = false;
  return reduce_sum(j, c, err);
}

static int reduce_kept(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  struct outcome ran;
  struct focus focus = {.data = -1};
  const int nsets = c->nsets;
  unsigned char **runs = capture_flags(c);
  int code = rerun(&j->wanted, c, &ran, err);
  if (!code && !runs)
    code = error_memory(err, "a capture", 0);
  if (!code && ran.end == RERUN_RAN)
    find_focus(j, c, &ran, runs, &focus);
  outcome_free(&ran);
  if (!code)
    code = focus.data >= 0 ? reduce_to(j, c, &focus, runs, err) : reduce_global(j, c, f, err);
  capture_flags_free(runs, nsets);
  return code;
}

int reduce(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  int code = reduce_calls(j, c, f, err);
  if (!code)
    code = f->kind == FAULT_KEPT ? reduce_kept(j, c, f, err) : reduce_elements(j, c, f, err);
  if (!code && f->kind != FAULT_KEPT)
    shorten(j, c, f);
  return code;
}
