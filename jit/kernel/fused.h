/* Joins the texts of several kernels to one, for a fused loop. Each kernel keeps its own functions: a name that
 * one text declares and another one uses is changed in the first. */
#ifndef OP2JIT_JIT_KERNEL_FUSED_H
#define OP2JIT_JIT_KERNEL_FUSED_H

#include "jit/kernel/kernel.h"

/* True: the two can stand in one text. Both are C behind the same shared text. */
bool fused_texts_may_join(const struct desc *a, const struct desc *b);
/* Fills out->text and out->members, but for their arguments, and out->consts: those of all. OP_ERR_MEMORY,
 * OP_ERR_KERNEL. */
int fused_text(struct desc *out, const struct desc *const *members, int n, struct error *err);

#endif
