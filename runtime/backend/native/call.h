/* Calling a kernel's C function with as many pointers as the loop has arguments. */
#ifndef OP2JIT_BACKEND_NATIVE_CALL_H
#define OP2JIT_BACKEND_NATIVE_CALL_H

#include "op2jit.h"

typedef void native_call(op_kernel_function function, void *const *pointers);
/* nargs 1 .. OP_MAX_ARGS. */
native_call *native_call_of(int nargs);

#endif
