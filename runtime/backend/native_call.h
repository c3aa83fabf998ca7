/* Calling a kernel's C function with as many pointers as the loop has arguments. */
#ifndef OP2JIT_BACKEND_NATIVE_CALL_H
#define OP2JIT_BACKEND_NATIVE_CALL_H

#include "include/op2jit.h"

typedef void native_call(op_kernel_function function, void *const *pointers);
/* nargs 1 .. OP_MAX_ARGS. */
native_call *native_call_of(int nargs);

/* Kernels that are procedures of the program, called by their address for each element of a range: what runs in place
 * of generated code where a kernel has neither a text nor a template. */

/* Elements begin .. end-1, or list[begin] .. list[end-1]. The frame's first slot points to the loop's places
 * (op2/op2jit_compiled.h), which know the kernel. */
void native_range(void *const *frame, const int *list, long begin, long end);

#endif
