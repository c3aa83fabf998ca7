/* The gather form: an increment turned round. Instead of each element adding to its targets, a first phase lets each
 * element write what it would add into a row of its own, and a second lets each target collect what belongs to
 * it, in the order of the elements. No colours, two phases, and the very sums that a serial loop makes, bit for
 * bit, on any number of threads. */
#ifndef OP2JIT_GATHER_H
#define OP2JIT_GATHER_H

#include "plan/plan.h"

/* For each element of a target set who reaches it, by elements and then by columns. */
struct reverse_map {
  long size;    /* targets */
  int *first;   /* size + 1 */
  int *entries; /* element * columns + column, where `column` counts the columns given; or see `begin` */
  int columns;
  long *
      begin; /* columns + 1, where one of them is of a ragged map: an entry is its column's begin, and behind that the
                * number of the target among all of the column. NULL: none is */
};

/* All columns must have one target set. `order` has the elements as their entries are to stand; NULL: as they are. Linear
 * time. It lies in `arrays`. Errors: OP_ERR_MEMORY; OP_ERR_SIZE if an entry does not fit an int. */
int reverse_build(struct reverse_map *map, struct arrays *arrays, long size,
                  const struct plan_column *columns, int ncolumns, const int *order, struct error *err);
/* The column of an entry; *place: the number of the element, or in a ragged map that of the target. */
static inline int reverse_column(const struct reverse_map *map, int entry, long *place) {
  if (!map->begin) {
    *place = entry / map->columns;
    return entry % map->columns;
  }
  int c = 0;
  while (entry >= map->begin[c + 1])
    c++;
  *place = entry - map->begin[c];
  return c;
}
/* OP_ERR_PLAN unless it holds each element and column once, at its target, in order; `by` the request's numbers, or NULL. */
int reverse_verify(const struct reverse_map *map, long size, const struct plan_column *columns,
                   const struct plan_request *by, struct error *err);

/* Works of turns (turns.c) behind WORK_RANGE: the elements of the list, apart; and for each target set what owners add of
 * their rows. An item of these is from entry to entry of the set's `turned`: pairs of an entry as in a reverse map, and its
 * target. */
enum { WORK_APART = 1, WORK_TURNED = 2 };

/* The request's elements in chunks as work 0, then for each map i its targets as
 * work 1 + i, in chunks of a size that is chosen: there may be many of them, and few elements that take long. */
int schedule_gather(struct schedule *s, const struct plan_request *request, const struct reverse_map *maps,
                    int nmaps, struct error *err);

#endif
