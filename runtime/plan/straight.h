/* Straight ranges: elements one after the other whose targets follow one another too, in each of some columns of
 * maps, as in the rows of a structured mesh that was declared as an unstructured one. There a target is the
 * element plus an offset, and nobody need read the map. Found once for each part of a set; a function of the
 * tables only. Linear time. */
#ifndef OP2JIT_STRAIGHT_H
#define OP2JIT_STRAIGHT_H

#include "plan/plan.h"

/* Shorter ranges are of no use to strips, and would make the table large. */
enum { STRAIGHT_SHORTEST = 8 };

/* All ranges, as long as they can be. `words` is what generated code reads: how many there are; then for each, in
 * the order of elements, first element, the one behind the last (numbers of the set), target minus element for
 * each column; and one more that begins and ends at INT_MAX. */
struct straight {
  int *words;
  long count;
  int ncolumns;
};

/* Reads of the request: begin, size and columns (one at least, each with a table). `team` may be NULL. OP_ERR_MEMORY. */
int straight_build(struct straight *s, const struct plan_request *request, struct team *team,
                   struct error *err);
void straight_free(struct straight *s);
size_t straight_bytes(const struct straight *s);
/* Elements in strips of `width` that lie inside ranges: the mean over all elements that strips can begin at. */
long straight_covered(const struct straight *s, int width);
/* OP_ERR_PLAN unless the ranges are in order (level 1), each target is where they say, and none is missing (2). */
int straight_verify(const struct straight *s, const struct plan_request *request, int level,
                    struct error *err);

#endif
