/* Indices beyond an array, seen while generated code runs. Code whose shape asks for it tells of each before it is
 * used; the call that it happens in then ends at once. */
#ifndef OP2JIT_JIT_LOAD_BOUNDS_H
#define OP2JIT_JIT_LOAD_BOUNDS_H

#include <stdbool.h>

#include "jit/front/describe.h"

struct bounds_finding {
  /* Of the array's name, or of the macro that has it, in the file that #line or #include names; line 0: nothing
   * was found. */
  int line, column;
  long long index;
  char type[64]; /* "'double[3]'" */
};

/* Calls the function. False if an index was outside an array: then `found` says where, and what the call had done
 * by then is done. */
bool bounds_call(range_function function, void *const *frame, long begin, long end,
                 struct bounds_finding *found);

/* A call was left by a jump to somewhere else. */
void bounds_left(void);

/* What generated code calls, in the words of the compiler's sanitizers. */
struct bounds_place;
_Noreturn void bounds_outside(const struct bounds_place *place, unsigned long index);

#endif
