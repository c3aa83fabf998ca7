/* Owner ranges that add in the order of the elements: bit for bit what one thread makes that runs all of them in turn, on any
 * number of threads.
 *
 * Each thread owns a contiguous range of every target set. Elements that follow one another and have all targets in one
 * range are run by its owner, straight into memory. All others write what they add into rows of their own first, in a
 * phase before; and each owner comes to those rows, between its own elements, where their turn is. */
#ifndef OP2JIT_PLAN_TURNS_H
#define OP2JIT_PLAN_TURNS_H

#include "plan/gather.h"

/* Works of its schedule behind WORK_RANGE: the elements of the list, apart; and for each target set what owners add of their
 * rows. An item of these is from entry to entry of the set's `turned`: pairs of an entry as in a reverse map, and its target. */
enum { WORK_APART = 1, WORK_TURNED = 2 };

struct plan_entry;
struct plan_wish;
/* The row's. */
int turns_verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err);

#endif
