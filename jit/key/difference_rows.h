/* The first difference between two columns of rows, "arg 2 form dat type double ...", in the program's own
 * words. */
#ifndef OP2JIT_JIT_DIFFERENCE_ROWS_H
#define OP2JIT_JIT_DIFFERENCE_ROWS_H

#include "jit/key/piece.h"

struct difference_side {
  struct piece column;
  struct piece arguments; /* that column of the same key, which tells who passes a dat */
  struct piece names;     /* lines of desc_name; may be empty */
};

/* Appends. Numbers count by first use, so one change may move many of them: things that have a name are compared
 * under it, and only if nothing is found so (`strict`) by number. Says nothing if there is no difference then. */
void difference_rows(const struct difference_side *from, const struct difference_side *to, bool strict,
                     struct text *out);

#endif
