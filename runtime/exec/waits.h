/* Items that wait for one another, in place of phases with barriers between: each knows how many it waits for, and who
 * waits for it. Who is ready is a bit. A thread takes the first ready item of its own share, and where it has none the
 * last one of another thread's. Nothing is allocated while it runs, and no thread waits while an item is ready. */
#ifndef OP2JIT_EXEC_WAITS_H
#define OP2JIT_EXEC_WAITS_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/team.h"

struct waits;

/* One item that waits for another one. */
struct wait {
  int item, before;
};

/* Makes the waits of `nitems` items from a list in any order, which has no pair twice. OP_ERR_MEMORY, OP_ERR_SIZE. */
int waits_new(struct waits **out, int nitems, const struct wait *list, size_t count, struct error *err);
void waits_free(struct waits *w);
size_t waits_bytes(const struct waits *w);

/* The items that wait for item `i`. */
const int *waits_after(const struct waits *w, int i, int *count);
/* An order of the items in which each comes behind those that it waits for, the first ones first. Returns how many came:
 * fewer than there are where some wait for one another in a circle. `order` and `left` have room for all items. */
int waits_order(const struct waits *w, int *order, int *left);

/* ---- a run ---- */

/* By the caller, before threads take any. */
void waits_begin(struct waits *w);
/* The next item for this thread; -1: all are over. It may sleep meanwhile; the time is added to *waited (may be NULL). */
int waits_take(struct waits *w, struct team *team, int thread, int threads, double *waited);
/* It is over, and what it wrote is seen by those that wait for it. */
void waits_done(struct waits *w, int item);

#endif
