/* The kernels of one seed as C functions, written by write_native at build time. */
#ifndef OP2JIT_TESTS_NATIVE_H
#define OP2JIT_TESTS_NATIVE_H

#include "op2jit.h"

enum { NATIVE_SEED = 20 };

struct native_kernel {
  const char *text;
  op_kernel_function function;
};
extern const struct native_kernel native_kernels[];
extern const int native_count;

#endif
