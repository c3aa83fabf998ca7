/* Straight ranges: elements one after the other whose targets follow one another too, in each of some columns of
 * maps, as in the rows of a structured mesh that was declared as an unstructured one. There a target is the
 * element plus an offset, and nobody need read the map. Found once for each part of a set; a function of the
 * tables only. The row reads of the request: begin, size and columns (one at least, each with a table). Linear time. */
#include <limits.h>
#include <string.h>

#include "base/list.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"

/* Fewer elements are not worth waking the threads. */
static const long parallel_from = 100000;

enum { HEAD = 2, BITS = 64 };

static int words_of(const struct straight *s) {
  return HEAD + s->ncolumns;
}

static int *range(const struct straight *s, long k) {
  return s->words + 1 + k * words_of(s);
}

/* ---- steps -----------------------------------------------------------------------------------------*/

/* A bit per element: do all its targets follow those of the element before? */
struct steps {
  const struct plan_request *request;
  uint64_t *bits;
};

/* The steps of one column, among elements first .. end-1; bit 0 is `first`. */
static uint64_t column_steps(const struct plan_column *c, long first, long end) {
  const int *target = c->table + first * c->arity + c->column;
  uint64_t bits = 0;
  for (long e = first; e < end; e++, target += c->arity)
    bits |= (uint64_t)(target[0] == target[-c->arity] + 1) << (e - first);
  return bits;
}

static void find_steps(void *argument, int thread, int threads) {
  const struct steps *s = argument;
  const struct plan_request *r = s->request;
  const long n = (r->size + BITS - 1) / BITS;
  for (long w = n * thread / threads, last = n * (thread + 1) / threads; w < last; w++) {
    const long end = (w + 1) * BITS < r->size ? (w + 1) * BITS : r->size;
    uint64_t bits = ~(uint64_t)0;
    for (int c = 0; c < r->ncolumns && bits; c++)
      /* The first element of all follows none. */
      bits &= w ? column_steps(&r->columns[c], w * BITS, end) : column_steps(&r->columns[c], 1, end) << 1;
    s->bits[w] = bits;
  }
}

/* The first element from `e` on that is a step, or is none; `size` if there is no such. */
static long next_element(const uint64_t *bits, long size, long e, bool step) {
  while (e < size) {
    const uint64_t rest = (step ? bits[e / BITS] : ~bits[e / BITS]) >> (e % BITS);
    if (rest) {
      e += __builtin_ctzll(rest);
      return e < size ? e : size;
    }
    e = (e / BITS + 1) * BITS;
  }
  return size;
}

/* The next range that begins at `e` or later: begin and end, counted from the request's first element. */
static bool next_range(const uint64_t *bits, long size, long e, long *begin, long *end) {
  while ((e = next_element(bits, size, e, true)) < size) {
    *begin = e - 1;
    *end = e = next_element(bits, size, e, false);
    if (*end - *begin >= STRAIGHT_SHORTEST)
      return true;
  }
  return false;
}

/* ---- the table -------------------------------------------------------------------------------------*/

static void put_range(const struct plan_request *r, int *words, long begin, long end) {
  words[0] = (int)(r->begin + begin);
  words[1] = (int)(r->begin + end);
  for (int c = 0; c < r->ncolumns; c++)
    words[HEAD + c] = (int)(column_target(&r->columns[c], begin) - r->begin - begin);
}

static int make_table(struct plan_entry *entry, const struct plan_request *r, const uint64_t *bits,
                      struct error *err) {
  struct straight *s = &entry->straight;
  long begin, end = 0, count = 0;
  for (long e = 0; next_range(bits, r->size, e, &begin, &end); e = end)
    count++;
  s->ncolumns = r->ncolumns;
  const size_t bytes = (size_t)words_of(s) * sizeof *s->words;
  s->words = arrays_add(&entry->arrays, (size_t)count + 2, bytes);
  if (!s->words)
    return error_memory(err, "the straight ranges of a set", ((size_t)count + 2) * bytes);
  for (long e = 0; next_range(bits, r->size, e, &begin, &end); e = end)
    put_range(r, range(s, s->count++), begin, end);
  range(s, s->count)[0] = range(s, s->count)[1] = INT_MAX;
  s->words[0] = (int)s->count;
  return OP_OK;
}

long straight_covered(const struct straight *s, int width) {
  long covered = 0;
  for (long k = 0; k < s->count; k++) {
    const int *r = range(s, k);
    covered += r[1] - r[0] >= width ? r[1] - r[0] - width + 1 : 0;
  }
  return covered;
}

/* ---- verifying -------------------------------------------------------------------------------------*/

#define WRONG(...) return error_mistake(err, OP_ERR_PLAN, __VA_ARGS__)

static int verify_order(const struct straight *s, const struct plan_request *r, struct error *err) {
  long last = r->begin;
  if (s->ncolumns != r->ncolumns)
    WRONG("the straight ranges are for %d columns, %d were asked for", s->ncolumns, r->ncolumns);
  if (s->words[0] != s->count)
    WRONG("there are %ld straight ranges, generated code is told %d", s->count, s->words[0]);
  for (long k = 0; k < s->count; k++) {
    const int *at = range(s, k);
    if (at[0] < last || at[1] - at[0] < STRAIGHT_SHORTEST)
      WRONG("straight range %ld is from element %d to %d, expected at least %d elements from %ld on", k,
            at[0], at[1], STRAIGHT_SHORTEST, last);
    last = at[1];
  }
  if (last > r->begin + r->size)
    WRONG("the straight ranges end at element %ld, the elements at %ld", last, r->begin + r->size);
  if (range(s, s->count)[0] != INT_MAX || range(s, s->count)[1] != INT_MAX)
    WRONG("no end is marked behind straight range %ld", s->count);
  return OP_OK;
}

static int verify_targets(const struct straight *s, const struct plan_request *r, struct error *err) {
  for (long k = 0; k < s->count; k++)
    for (long e = range(s, k)[0]; e < range(s, k)[1]; e++)
      for (int c = 0; c < r->ncolumns; c++) {
        const long target = column_target(&r->columns[c], e - r->begin), said = e + range(s, k)[HEAD + c];
        if (target != said)
          WRONG("element %ld has target %ld in column %d, straight range %ld says %ld", e, target, c, k,
                said);
      }
  return OP_OK;
}

static bool is_step(const struct plan_request *r, long e) {
  for (int c = 0; c < r->ncolumns; c++)
    if (column_target(&r->columns[c], e) != column_target(&r->columns[c], e - 1) + 1)
      return false;
  return true;
}

/* Each straight range stands in the table, from its first element to its last. */
static int verify_all_listed(const struct straight *s, const struct plan_request *r, struct error *err) {
  long next = 0, begin = 0;
  for (long e = 1; e <= r->size; e++) {
    if (e < r->size && is_step(r, e))
      continue;
    if (e - begin >= STRAIGHT_SHORTEST) {
      const int *at = range(s, next);
      if (next == s->count || at[0] != r->begin + begin || at[1] != r->begin + e)
        WRONG("elements %ld to %ld are a straight range; number %ld in the table is from %d to %d",
              r->begin + begin, r->begin + e, next, at[0], at[1]);
      next++;
    }
    begin = e;
  }
  return OP_OK;
}

static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  const struct straight *s = &e->straight;
  const struct plan_request *r = &w->request;
  int status = level >= 1 ? verify_order(s, r, err) : OP_OK;
  if (!status && level >= 2)
    status = verify_targets(s, r, err);
  return status || level < 2 ? status : verify_all_listed(s, r, err);
}

/* ---- the row ---------------------------------------------------------------------------------------*/

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  const struct plan_request *r = &w->request;
  const size_t n = ((size_t)r->size + BITS - 1) / BITS;
  struct steps steps = {.request = r, .bits = array_new(n, sizeof *steps.bits)};
  if (!steps.bits)
    return error_memory(err, "the straight ranges of a set", n * sizeof *steps.bits);
  team_run(team, r->size >= parallel_from ? team_threads(team) : 1, find_steps, &steps);
  const int status = make_table(e, r, steps.bits, err);
  free(steps.bits);
  return status;
}

static void describe(const struct plan_entry *e, struct text *out) {
  text_addf(out, ", %ld ranges", e->straight.count);
}

const struct strategy strategy_straight = {.name = "straight",
                                           .columns = COLUMNS_USED,
                                           .looks = LOOKS_AT_ORDER,
                                           .build = build,
                                           .verify = verify,
                                           .describe = describe};
