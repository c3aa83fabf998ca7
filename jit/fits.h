/* Do a kernel's parameters fit the loop's arguments? Before there is a tree, and where there is no compiler, its tokens say
 * it, in the words in which the prover's findings are told. */
#ifndef OP2JIT_JIT_FITS_H
#define OP2JIT_JIT_FITS_H

#include "jit/kernel/kernel.h"

/* Their number, const for what is only read, type and depth; nothing is said of types that tokens do not know.
 * OP_ERR_KERNEL with the parameter, its line with a caret, and what was expected. */
int kernel_check(const struct kernel *k, const struct desc *d, struct error *err);
/* Each variable of a module that a kernel in Fortran reads must be a constant of the description, of the same type and dim.
 * OP_ERR_CONST. */
int kernel_check_variables(const struct kernel *k, const struct desc *d, struct error *err);

#endif
