/* Verifying a schedule of a loop that increments: whatever built it. */
#include <string.h>

#include "base/size.h"
#include "plan/plan.h"
#include "plan/plan_inner.h"
#include "plan/strategy.h"

#define WRONG(...) return error_mistake(err, OP_ERR_PLAN, __VA_ARGS__)

struct check {
  const struct schedule *s;
  const struct plan_request *r;
  struct marks marks; /* who wrote a target last: `done` + 1 + group, groups counted over all phases */
  bool *met;          /* elements */
  uint32_t done;      /* groups of earlier phases */
};

/* Counted from the request's first element. */
static long element_at(const struct check *c, const struct item *item, long position) {
  return (item->work == WORK_LIST ? c->s->list[position] : position) - c->r->begin;
}

static int verify_item(const struct check *c, int i, int phase, struct error *err) {
  const struct item *item = &c->s->items[i];
  const bool listed = item->work == WORK_LIST;
  long begin = listed ? 0 : c->r->begin, end = listed ? c->s->list_length : c->r->begin + c->r->size;
  if (item->work != WORK_RANGE && item->work != WORK_LIST)
    WRONG("item %d is of work %d, expected 0 or 1", i, item->work);
  if (item->begin < begin || item->begin > item->end || item->end > end)
    WRONG("item %d goes from %ld to %ld, expected a range in %ld to %ld", i, item->begin, item->end, begin,
          end);
  if (item->slot != i)
    WRONG("item %d has reduction slot %d; slots are in the order of items", i, item->slot);
  if (c->s->phases[phase].owned != (item->owner >= 0))
    WRONG("item %d has owner %d in a phase %s owners", i, item->owner,
          c->s->phases[phase].owned ? "with" : "without");
  return OP_OK;
}

/* Items of one owner run one after the other and may meet; all others may not. */
static int verify_targets(struct check *c, int i, int phase, struct error *err) {
  const struct item *item = &c->s->items[i];
  uint32_t group = c->done + 1 + (uint32_t)(item->owner >= 0 ? item->owner : i - c->s->phases[phase].first);
  for (long p = item->begin; p < item->end; p++) {
    long e = element_at(c, item, p);
    if (e < 0 || e >= c->r->size)
      WRONG("item %d lists element %ld, the set has %ld", i, e, c->r->size);
    if (c->met[e])
      WRONG("element %ld runs twice, the second time in item %d of phase %d", e, i, phase);
    c->met[e] = true;
    for (int k = 0; k < c->r->ncolumns; k++) {
      const struct plan_column *column = &c->r->columns[k];
      for (long place = column_place(column, e); place < column_place(column, e + 1); place++) {
        uint32_t *mark = &c->marks.of_column[k][column_target(column, place)];
        if (*mark > c->done && *mark != group)
          WRONG("element %ld of item %d in phase %d writes target %d, and so does another item of the phase",
                e, i, phase, column_target(column, place));
        *mark = group;
      }
    }
  }
  return OP_OK;
}

static uint32_t groups_of(const struct schedule *s, const struct phase *phase) {
  int most = phase->count - 1;
  for (int i = phase->first; i < phase->first + phase->count; i++)
    if (s->items[i].owner > most)
      most = s->items[i].owner;
  return (uint32_t)(most + 1);
}

static int verify_phases(struct check *c, struct error *err) {
  int status = OP_OK, next = 0;
  for (int p = 0; p < c->s->nphases && !status; p++) {
    const struct phase *phase = &c->s->phases[p];
    if (phase->first != next || phase->count < 0 || phase->count > c->s->nitems - next)
      WRONG("phase %d has items %d to %d, expected to begin at %d of %d", p, phase->first,
            phase->first + phase->count, next, c->s->nitems);
    next += phase->count;
    for (int i = phase->first; i < next && !status; i++) {
      status = verify_item(c, i, p, err);
      if (!status)
        status = verify_targets(c, i, p, err);
    }
    c->done += groups_of(c->s, phase);
  }
  if (!status && next != c->s->nitems)
    WRONG("the phases have %d items, the schedule %d", next, c->s->nitems);
  if (!status && c->s->nslots != c->s->nitems)
    WRONG("the schedule has %d reduction slots for %d items", c->s->nslots, c->s->nitems);
  return status;
}

static int verify_all_met(const struct check *c, struct error *err) {
  for (long e = 0; e < c->r->size; e++)
    if (!c->met[e])
      WRONG("element %ld never runs", e);
  return OP_OK;
}

int schedule_verify(const struct schedule *s, const struct plan_request *r, struct error *err) {
  struct check check = {.s = s, .r = r};
  check.met = array_new((size_t)r->size, sizeof *check.met);
  if (!check.met)
    return error_memory(err, "the check of a schedule", (size_t)r->size);
  int status = marks_new(&check.marks, r->columns, r->ncolumns, err);
  if (!status)
    status = verify_phases(&check, err);
  if (!status)
    status = verify_all_met(&check, err);
  marks_free(&check.marks);
  free(check.met);
  return status;
}

int verify_dealt(const struct plan_entry *e, const struct plan_wish *wish, int level, struct error *err) {
  return level >= 2 ? schedule_verify(&e->schedule, &wish->request, err) : OP_OK;
}
