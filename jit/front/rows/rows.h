/* OP_ROW(x, k) in kernel texts, which leads to the rows of ragged maps. */
#ifndef OP2JIT_JIT_FRONT_ROWS_H
#define OP2JIT_JIT_FRONT_ROWS_H

#include "base/text.h"
#include "jit/front/kernel.h"

/* OP_KERNEL_DEF gives the text as the C compiler sees it, with what OP_ROW and OP_ANY_ORDER stand for. The text with these
 * words in their place, as people wrote it: `text` itself if there is none of it, else in `room`, with *length changed. NULL: no memory. */
const char *rows_folded(const char *text, size_t *length, struct text *room);

/* What checked runs ask of a k: the condition that does not hold. */
#define ROWS_CONDITION "0 <= k && k < n, in OP_ROW(x, k)"

/* OP_ERR_KERNEL: what a ragged map leads to is used by something else than OP_ROW, which C cannot see: `x[k]` compiles
 * too; or OP_ROW is used of something else. Helpers that are passed it are looked at as well. */
int rows_check(const struct kernel *k, const struct desc *d, struct error *err);
/* OP_ERR_KERNEL: OP_ROW stands where a number is meant, and C would subtract or compare pointers. A part of rows_check. */
int rows_check_values(const struct kernel *k, struct error *err);

#endif
