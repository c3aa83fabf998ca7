/* OP_ROW(x, k) and OP_ANY_ORDER in kernel texts of OP_KERNEL_DEF. */
#ifndef OP2JIT_JIT_FRONT_ROWS_FOLD_H
#define OP2JIT_JIT_FRONT_ROWS_FOLD_H

#include "base/text.h"

/* Puts OP_ROW and OP_ANY_ORDER back into a text of OP_KERNEL_DEF, where the C compiler has replaced them.
 * Returns `text` itself if it has none of them, else the text in `room`, with *length changed. NULL: no memory. */
const char *rows_folded(const char *text, size_t *length, struct text *room);

/* The condition on k that checked runs test, for the message that it does not hold. */
#define ROWS_CONDITION "0 <= k && k < n, in OP_ROW(x, k)"

#endif
