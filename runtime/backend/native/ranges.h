/* Kernels that are procedures of the program, called by their address for each element of a range: what runs in place
 * of generated code where a kernel has neither a text nor a template. */
#ifndef OP2JIT_BACKEND_NATIVE_RANGES_H
#define OP2JIT_BACKEND_NATIVE_RANGES_H

/* Elements begin .. end-1, or list[begin] .. list[end-1]. The frame's first slot points to the loop's places
 * (op2/op2jit_compiled.h), which know the kernel. */
void native_range(void *const *frame, const int *list, long begin, long end);

#endif
