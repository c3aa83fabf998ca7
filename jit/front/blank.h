/* What a kernel text may say and need not: headers, and prototypes of functions that every kernel has. Both become
 * blanks, so that positions stay. */
#ifndef OP2JIT_JIT_BLANK_H
#define OP2JIT_JIT_BLANK_H

#include "jit/front/kernel.h"

/* OP_ERR_KERNEL: an #include is not accepted. */
int kernel_blank(struct kernel *k, struct error *err);

#endif
