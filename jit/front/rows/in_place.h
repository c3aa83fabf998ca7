/* Arguments through ragged maps whose rows a kernel only reads and writes where it names them, or by a pointer that a
 * declaration in it gives: it neither passes such a pointer on nor changes it. Where pointers have a space each, these
 * rows can stay where they are. Where the text leaves a doubt the answer is no. */
#ifndef OP2JIT_FRONT_ROWS_IN_PLACE_H
#define OP2JIT_FRONT_ROWS_IN_PLACE_H

#include "jit/front/kernel.h"

struct in_place {
  bool args[OP_MAX_ARGS]; /* by argument */
  size_t *declared;       /* tokens: where declarations of pointers to such rows begin */
  size_t ndeclared;
};

/* False: no memory. in_place_free in either case. */
bool rows_in_place(const struct kernel *k, const struct desc *d, struct in_place *out);
void in_place_free(struct in_place *p);
/* Which argument's rows, of those in place, are named by the OP_ROW at a token; -1: none. */
int in_place_row(const struct kernel *k, const struct desc *d, const struct in_place *p, size_t at);

#endif
