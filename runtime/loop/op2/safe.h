/* Kernels of OP2's programs that do other than their arguments say: each loop gets one warning, and runs by a reading
 * of its arguments in which what the kernel does is right. */
#ifndef OP2JIT_LOOP_SAFE_H
#define OP2JIT_LOOP_SAFE_H

#include "record/record.h"

/* Is there another reading, with which its text may do? `err` says what is wrong. */
bool safe_has_reading(const struct loop *loop, const struct error *err);
/* Can a device run the text of a loop whose elements meet, in conflict-free colours? `why` may say why not. */
bool safe_on_device(const struct loop *loop, struct text *why);
/* That reading; false: there is none. `err` says what is wrong, and is cleared then. */
bool safe_with_text(struct op_context *ctx, struct loop *loop, struct error *err);
/* Without its text, because of `code` and `err`, which is cleared. OP_ERR_MEMORY. */
int safe_without_text(struct op_context *ctx, struct loop *loop, int code, struct error *err);

#endif
