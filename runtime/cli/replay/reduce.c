/* Fewer calls and elements, by halves first (Zeller's delta debugging). */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "cli/replay/replay.h"

/* So many runs are enough. */
enum { RUNS_MOST = 3000 };

static void replace(struct capture *c, struct capture *with) {
  capture_free(c);
  *c = *with;
  *with = (struct capture){0};
}

/* ---- elements ---- */

/* By set: which elements run. A byte each. */
struct running {
  unsigned char **sets;
  int nsets;
  long long count;
};

static void running_free(struct running *r) {
  for (int s = 0; r->sets && s < r->nsets; s++)
    free(r->sets[s]);
  free(r->sets);
  *r = (struct running){0};
}

static bool running_make(struct running *r, const struct capture *c) {
  *r = (struct running){.sets = array_new((size_t)c->nsets, sizeof *r->sets)};
  for (int s = 0; r->sets && s < c->nsets; s++, r->nsets++)
    if (!(r->sets[s] = array_new((size_t)c->sets[s].size, 1)))
      return false;
  for (int i = 0; r->sets && i < c->ncalls; i++)
    for (long long k = 0; k < c->calls[i].count; k++)
      r->sets[c->calls[i].set][c->calls[i].elements ? c->calls[i].elements[k] : k] = 1;
  for (int s = 0; r->sets && s < c->nsets; s++)
    for (long long e = 0; e < c->sets[s].size; e++)
      r->count += r->sets[s][e];
  return r->sets;
}

/* All that run but number `begin` to `end`, in the order of sets and elements. */
static int without(const struct capture *c, long long begin, long long end, struct capture *out,
                   struct error *err) {
  struct running r;
  long long at = 0;
  int code = capture_copy(c, out, err);
  if (!running_make(&r, c) && !code)
    code = error_memory(err, "a capture", 0);
  for (int s = 0; !code && s < c->nsets; s++)
    for (long long e = 0; e < c->sets[s].size; e++)
      if (r.sets[s][e]) {
        r.sets[s][e] = at < begin || at >= end;
        at++;
      }
  if (!code)
    code = capture_select(out, (const unsigned char *const *)r.sets, err);
  running_free(&r);
  return code;
}

static int count_running(const struct capture *c, long long *count, struct error *err) {
  struct running r;
  const bool good = running_make(&r, c);
  *count = r.count;
  running_free(&r);
  return good ? OP_OK : error_memory(err, "a capture", 0);
}

static int reduce_elements(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  long long count = 0, parts = 2;
  int code = count_running(c, &count, err);
  while (!code && count > 1 && j->runs < RUNS_MOST) {
    bool any = false;
    for (long long p = 0; !code && p < parts && count > 1 && j->runs < RUNS_MOST;) {
      struct capture less;
      const long long begin = count * p / parts, end = count * (p + 1) / parts;
      code = without(c, begin, end, &less, err);
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
      code = capture_select(&less, NULL, err);
    }
    if (!code && fault_is_there(j, &less, f))
      replace(c, &less);
    capture_free(&less);
  }
  return code;
}

/* ---- what no way has ---- */

/* Rows of the place that are wrong, by how few elements touch them: only those of one row may go without changing it. */
static long long touching(const struct capture *c, int dat, long long row, struct running *r) {
  long long count = 0;
  for (int s = 0; s < c->nsets; s++)
    memset(r->sets[s], 0, (size_t)c->sets[s].size);
  for (int i = 0; i < c->ncalls; i++)
    for (long long n = 0; n < c->calls[i].count; n++) {
      const long long e = c->calls[i].elements ? c->calls[i].elements[n] : n;
      for (int a = 0; a < c->calls[i].nargs; a++) {
        const struct capture_arg *arg = &c->calls[i].args[a];
        if (arg->dat != dat || arg->form != DESC_DAT)
          continue;
        const struct capture_map *map = arg->map >= 0 ? &c->maps[arg->map] : NULL;
        const bool entry = map && c->sets[c->dats[dat].set].entries_of == arg->map;
        bool touches = !map && e == row;
        for (long long k = map ? capture_begin(map, e) : 0; map && k < capture_end(map, e); k++)
          touches |= (entry ? k : map->table[k]) == row;
        count += touches && !r->sets[c->calls[i].set][e];
        r->sets[c->calls[i].set][e] |= touches;
      }
    }
  return count;
}

struct focus {
  int dat; /* -1: none */
  long long row, elements;
};

/* Of the first values that differ the one that fewest elements touch. */
static void find_focus(const struct judge *j, const struct capture *c, const struct places *places,
                       const struct outcome *ran, struct running *r, struct focus *out) {
  enum { LOOKS = 64 };
  for (int p = 0, looks = 0; p < places->count; p++) {
    struct place place = places->items[p];
    const size_t size = type_info(place.type)->size, count = place.count;
    for (size_t v = 0; place.kind == PLACE_DAT && place.kept && v < count && looks < LOOKS; v++, looks++) {
      place.count = count - v;
      v += place_differs(&place, ran->values + place.offset + v * size, place.kept + v * size, j->bits);
      if (v >= count)
        break;
      const size_t dim = (size_t)c->dats[place.number].dim;
      const long long row = (long long)(v / dim), elements = touching(c, place.number, row, r);
      if (out->dat < 0 || elements < out->elements)
        *out = (struct focus){place.number, row, elements};
    }
  }
}

/* What is kept becomes what a run makes of it, but for that row. */
static int keep_row(struct judge *j, struct capture *c, const struct focus *focus, const unsigned char *row,
                    struct error *err) {
  struct places places;
  struct outcome ran = {0};
  int code = places_find(c, &places, err);
  if (!code)
    code = rerun(&j->wanted, c, &places, &ran, err);
  for (int p = 0; !code && p < places.count; p++) {
    const struct place *place = &places.items[p];
    if (place->kept)
      memcpy((unsigned char *)(size_t)place->kept, ran.values + place->offset, place->bytes);
  }
  const size_t size = capture_row(&c->dats[focus->dat]);
  if (!code)
    memcpy(c->dats[focus->dat].after + (size_t)focus->row * size, row, size);
  outcome_free(&ran, &places);
  places_free(&places);
  return code;
}

static int reduce_to(struct judge *j, struct capture *c, struct focus *focus, struct running *r,
                     struct error *err) {
  const size_t size = capture_row(&c->dats[focus->dat]);
  unsigned char *row = malloc(size);
  if (!row)
    return error_memory(err, "a row", size);
  memcpy(row, c->dats[focus->dat].after + (size_t)focus->row * size, size);
  touching(c, focus->dat, focus->row, r);
  int code = capture_select_telling(c, (const unsigned char *const *)r->sets, &focus->dat, &focus->row, err);
  if (!code)
    code = keep_row(j, c, focus, row, err);
  free(row);
  return code;
}

/* Where only an extreme shows it: the text finds one beyond what the program found, so some element is wrong there. Which element
 * of a sum is wrong nobody can tell. */
static int reduce_extreme(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  j->beyond = true;
  if (fault_is_there(j, c, f))
    return reduce_elements(j, c, f, err);
  j->beyond = false;
  return OP_OK;
}

static int reduce_kept(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  struct places places;
  struct outcome ran = {0};
  struct running r = {0};
  struct focus focus = {.dat = -1};
  int code = places_find(c, &places, err);
  if (!code)
    code = rerun(&j->wanted, c, &places, &ran, err);
  if (!code && !running_make(&r, c))
    code = error_memory(err, "a capture", 0);
  if (!code && ran.end == RERUN_RAN)
    find_focus(j, c, &places, &ran, &r, &focus);
  outcome_free(&ran, &places);
  places_free(&places);
  if (!code && focus.dat >= 0)
    code = reduce_to(j, c, &focus, &r, err);
  running_free(&r);
  return code || focus.dat >= 0 ? code : reduce_extreme(j, c, f, err);
}

int reduce(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  int code = reduce_calls(j, c, f, err);
  if (!code)
    code = f->kind == FAULT_KEPT ? reduce_kept(j, c, f, err) : reduce_elements(j, c, f, err);
  if (!code && f->kind != FAULT_KEPT)
    shorten(j, c, f);
  return code;
}
