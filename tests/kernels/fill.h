/* Values for the table's kernels to start from: reproducible, within what each kernel takes. */
#ifndef OP2JIT_TESTS_KERNELS_FILL_H
#define OP2JIT_TESTS_KERNELS_FILL_H

#include <stdlib.h>

#include "base/types.h"

static inline double kernel_fraction(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (double)(1 << 24);
}

static inline void kernel_fill(unsigned *seed, enum type_code type, unsigned char *at, int count) {
  for (int i = 0; i < count; i++) {
    const double v = kernel_fraction(seed);
    switch (type) {
    case TYPE_DOUBLE: ((double *)(void *)at)[i] = 0.5 + v; break;
    case TYPE_FLOAT: ((float *)(void *)at)[i] = (float)(0.5 + v); break;
    case TYPE_INT: ((int *)(void *)at)[i] = (int)(40 * v) - 20; break;
    case TYPE_UINT: ((unsigned *)(void *)at)[i] = (unsigned)(4e9 * v); break;
    case TYPE_LONGLONG: ((long long *)(void *)at)[i] = (long long)(2e9 * v) - 1000000000; break;
    case TYPE_ULONGLONG: ((unsigned long long *)(void *)at)[i] = (unsigned long long)(9e18 * v); break;
    case TYPE_BOOL: ((bool *)at)[i] = v < 0.5; break;
    case TYPE_CHAR: ((char *)at)[i] = (char)("xyz"[(int)(3 * v)]); break;
    case TYPE_SHORT: ((short *)(void *)at)[i] = (short)(2000 * v - 1000); break;
    default: abort(); /* a type that no kernel of the table has */
    }
  }
}

#endif
