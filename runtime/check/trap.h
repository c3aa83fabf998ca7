/* Divisions of whole numbers by zero in kernels that are being checked. Where the processor has a signal for them
 * (x86 does), it ends the call that they happen in, between trap_begin and trap_end; what else has that signal
 * goes to who had it before. */
#ifndef OP2JIT_CHECK_TRAP_H
#define OP2JIT_CHECK_TRAP_H

#include <stdbool.h>

void trap_begin(void);
void trap_end(void);
/* Calls run(user). False: it divided by zero, and ended there. */
bool trap_call(void (*run)(void *user), void *user);

#endif
