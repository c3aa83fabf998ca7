/* Indices beyond an array in running code. Code of such a shape reports each before it uses it. The call then
 * ends at once, unless the index may pass. The code also stops by a signal (BOUNDS_STOP) before it reaches
 * memory outside a variable. */
#ifndef OP2JIT_JIT_LOAD_BOUNDS_H
#define OP2JIT_JIT_LOAD_BOUNDS_H

#include <signal.h>
#include <stdbool.h>

#include "jit/kernel/kernel.h"

/* The signal of LLVM's trap: a breakpoint on aarch64, an invalid instruction on the others. */
#ifdef __aarch64__
enum { BOUNDS_STOP = SIGTRAP };
#else
enum { BOUNDS_STOP = SIGILL };
#endif

struct bounds_finding {
  /* The place of the array's name, or of the macro that has it, in the file that #line or #include names; line
   * 0: nothing was found. */
  int line, column;
  long long index;
  char type[64];         /* "'double[3]'" */
  bool passed;           /* the call went on */
  const char *condition; /* of an op_assert that does not hold, with line 0; part of the code */
};

/* May the call go on? */
typedef bool bounds_passes(const struct bounds_finding *finding, void *user);

/* Calls the function. False: an index was outside an array and may not pass, or a condition did not hold;
 * `found` says where, and effects of the call up to there stay. True: `found` has the last index that passed. */
bool bounds_call(range_function function, void *const *frame, long begin, long end, bounds_passes *passes,
                 void *user, struct bounds_finding *found);

/* A call was left by a jump to somewhere else. */
void bounds_left(void);

/* The name in the kernel's text where a finding is, and its length; 0: there is none. */
size_t bounds_name(const char *text, int line, int column, const char **name);
/* The number of subscripts that follow. If a macro has the array, the place is the macro's, and none follows. */
int bounds_subscripts(const char *after);
/* True: the index is that of a row of a table which is no member of a struct. */
bool bounds_is_of_row(const char *text, const struct bounds_finding *finding);

/* Functions that generated code calls, by the compiler's sanitizers. */
struct bounds_place;
void bounds_outside(const struct bounds_place *place, unsigned long index);
_Noreturn void bounds_assert_failed(const char *condition); /* called by op_assert */

#endif
