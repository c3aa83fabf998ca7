/* What one element's kernel did, compared with what its descriptors promise. */
#ifndef OP2JIT_CHECK_WATCH_H
#define OP2JIT_CHECK_WATCH_H

#include "check/cell.h"

/* Room for the rows of two runs. */
struct watch {
  unsigned char *before, *first; /* all rows of all arguments, one after the other */
  size_t bytes;
  size_t offset[OP_MAX_ARGS];
};
int watch_open(struct watch *watch, const struct cell *cell, struct error *err);
void watch_close(struct watch *watch);
/* Row r of an argument as it was before the last watched element. */
const unsigned char *watch_before(const struct watch *watch, const struct cell *cell, int arg, int r);

/* The rows are loaded with the element's values. Runs the kernel on them, twice where one run cannot tell; afterwards the rows
 * of READ are as before, those of WRITE, RW, MIN and MAX hold the new values and those of INC the increments. `element` is
 * the user's number. OP_ERR_VIOLATION. */
int watch_element(struct cell *cell, struct watch *watch, long long element, struct error *err);

#endif
