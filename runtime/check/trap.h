/* Divisions of whole numbers by zero in kernels that are being checked, where the processor has a signal for them
 * (x86 does), and stops of generated code at memory outside a variable (jit/load/load_bounds.h): they end the call
 * that they happen in, between trap_begin and trap_end; what else has these signals goes to who had them before. */
#ifndef OP2JIT_CHECK_TRAP_H
#define OP2JIT_CHECK_TRAP_H

#include <stdbool.h>

void trap_begin(void);
void trap_end(void);
enum trap_cause { TRAP_NONE, TRAP_DIVIDED, TRAP_LEFT, TRAP_ASSERTED };
/* Calls run(user). TRAP_NONE: it came to its end. */
enum trap_cause trap_call(void (*run)(void *user), void *user);
/* An op_assert of a C function does not hold: ends the call. Comes back where none is being run. */
void trap_assert_failed(const char *condition);
/* The condition of the last op_assert that failed. */
const char *trap_condition(void);

#endif
