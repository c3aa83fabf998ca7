/* Kernels of OP2's programs that do other than their arguments say: each loop gets one warning, and runs by a reading
 * of its arguments in which what the kernel does is right. */
#ifndef OP2JIT_API_OP2_SAFE_H
#define OP2JIT_API_OP2_SAFE_H

#include "record/record.h"

/* Can a device run the text of a loop whose elements meet, in conflict-free colours? `why` may say why not. */
bool safe_on_device(const struct loop *loop, struct text *why);
/* See struct loop_functions: with the text and other accesses, else without it. */
bool safe_reread(struct op_context *ctx, struct loop *loop, int code, struct error *err);

#endif
