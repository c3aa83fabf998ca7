/* Functions that parse.c, blank.c, cut.c, parameters.c and jit/fits.c share. */
#ifndef OP2JIT_JIT_KERNEL_PARAMETERS_H
#define OP2JIT_JIT_KERNEL_PARAMETERS_H

#include "jit/kernel/kernel.h"

/* blank.c: turns needless parts of a text (headers, and prototypes of functions that every kernel has) into
 * blanks, so that positions stay. OP_ERR_KERNEL: an #include is not accepted. */
int kernel_blank(struct kernel *k, struct error *err);

/* cut.c: leaves out of a parsed text what the kernel does not use. *changed: the text changed and must be
 * parsed again. */
int kernel_cut(struct kernel *k, bool *changed, struct error *err);

/* Marks the names that a text declares outside of functions; of macros, all. `declares` has room for each token. */
void tokens_declared(const struct tokens *t, bool *declares);

/* Split the parameter list of the kernel's function and read each parameter as far as that goes. */
int parameters_parse(struct kernel *k, struct error *err);

/* Leaves the text alone: frees what was read in it. */
void kernel_forget(struct kernel *k);

/* The index behind the bracket that closes the one at `open`; the end if none does. */
size_t kernel_skip_brackets(const struct tokens *t, size_t open);
/* OP_ERR_KERNEL: "kernel NAME: ...", then the place, its line and a caret. */
int kernel_error(const struct kernel *k, int line, int column, struct error *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
