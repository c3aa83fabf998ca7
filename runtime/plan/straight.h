/* Straight ranges: elements one after the other whose targets follow one another too, in each of some columns of
 * maps, as in the rows of a structured mesh that was declared as an unstructured one. There a target is the
 * element plus an offset, and nobody need read the map. Found once for each part of a set; a function of the
 * tables only. The row reads of the request: begin, size and columns (one at least, each with a table). Linear time. */
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

/* Elements in strips of `width` that lie inside ranges: the mean over all elements that strips can begin at. */
long straight_covered(const struct straight *s, int width);

#endif
