/* A kernel's C function reads the program's own variables, its compiled text what op_decl_const was given. Where
 * the checking form watches the function and a backend runs the text, both run on the same rows, and the first
 * difference is said. */
#ifndef OP2JIT_CHECK_TWIN_H
#define OP2JIT_CHECK_TWIN_H

#include "check/cell.h"

struct op_context;
struct twin;

/* *out NULL: nothing to compare. On all ranks at once. */
int twin_open(struct twin **out, struct op_context *ctx, const struct loop *loop, struct error *err);
void twin_free(struct twin *twin);
/* The call that is checked. NULL is no twin, here and below. */
void twin_take(struct twin *twin, const struct launch *launch);
/* The function has run on side 0 of `cell`. A warning, once. */
void twin_compare(struct twin *twin, struct op_context *ctx, const struct cell *cell, long element);

/* "kappa = 0.8, n = 3", the constants that the kernel uses, as op_decl_const or op_update_const was given them;
 * appended. */
void twin_tell_constants(const struct op_context *ctx, const struct loop *loop, struct text *out);

#endif
