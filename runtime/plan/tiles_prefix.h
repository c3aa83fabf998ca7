/* Prefixes of a map, in both directions: which targets do the first elements reach, and which elements reach the first
 * targets? Both answers never fall, so that each is a table; kept for every so many elements only, and rounded up in
 * between. */
#ifndef OP2JIT_PLAN_TILES_PREFIX_H
#define OP2JIT_PLAN_TILES_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/list.h"
#include "exec/team.h"

/* Tables of large sets have a row for so many elements; strips of generated code stay the same where ranges begin at such
 * elements. */
enum { PREFIX_STEP = 64 };

struct prefix_request {
  const int *table; /* rows of `arity` targets */
  int arity;
  const long long *first;  /* of a ragged map: see tiles.h, as its table and arity. NULL */
  long from, to;           /* sizes of both sets */
  int from_step, to_step;  /* powers of two */
  const int *element;      /* at each position of another order of the elements; NULL: their own */
  const int *new_position; /* of each target in another order of these; NULL: their own */
  bool wraps;              /* what goes round a periodic mesh is kept apart */
  const bool *seen;        /* elements that count, NULL: all; the others' targets may be any */
};

/* Elements of a periodic mesh whose targets are at the other end: of elements and targets at the beginning those
 * below, at the end those from there on. */
struct prefix_ends {
  long low_element, high_element, low_target, high_target;
};

struct prefix {
  int arity;
  long from, to;
  int from_shift, to_shift;
  int *targets;  /* per step of elements and column: 1 + the highest target of the elements before */
  int *elements; /* per step of targets and column: 1 + the last element that reaches a target before */
  struct prefix_ends ends; /* of what the tables do not have: none, unless it was asked for */
};

/* The same for any number of threads; `team` may be NULL. The tables lie in `arrays`. OP_ERR_MEMORY. */
int prefix_build(struct prefix *p, struct arrays *arrays, const struct prefix_request *r, struct team *team,
                 struct error *err);

static inline long prefix_at(const int *table, int arity, int shift, int column, long below) {
  const long step = (below + (1L << shift) - 1) >> shift;
  return table[step * arity + column];
}
/* Elements below this one reach, through the column, no target from the result on. */
static inline long prefix_targets(const struct prefix *p, int column, long element) {
  return prefix_at(p->targets, p->arity, p->from_shift, column, element);
}
/* Targets below this one are reached, through the column, by no element from the result on. */
static inline long prefix_elements(const struct prefix *p, int column, long target) {
  return prefix_at(p->elements, p->arity, p->to_shift, column, target);
}

#endif
