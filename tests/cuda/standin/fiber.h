/* The part of fibers that depends on the processor: x86-64 and aarch64. */
#ifndef STANDIN_FIBER_H
#define STANDIN_FIBER_H

#include <ucontext.h>

/* Saves the callee's registers on this stack, goes on with the other one. */
__attribute__((visibility("hidden"))) void fiber_switch(void **save, void *load);

/* Values that fiber_switch loads so that `main` begins, on a stack that ends at `top`. */
void *fiber_begin(char *top, void (*main)(void));

/* Where a signal came from, and: behind its handler `to` begins, on the stack that was in use. */
const void *fiber_place(const ucontext_t *context);
void fiber_divert(ucontext_t *context, void (*to)(void));

#endif
