/* The library of vector functions, by the names of the vector ABIs (_ZGVbN2v_exp). glibc has libmvec for
 * aarch64 from 2.38 on; before that SLEEF may be there, whose functions have the same names. The compiler
 * plugin uses the same library. */
#ifndef OP2JIT_JIT_LOAD_VECTOR_H
#define OP2JIT_JIT_LOAD_VECTOR_H

#include <gnu/libc-version.h>
#include <stdlib.h>

static inline const char *load_vector_library(void) {
#ifdef __aarch64__
  const int first_with_libmvec = 38; /* of glibc 2 */
  if (atoi(gnu_get_libc_version() + 2) < first_with_libmvec)
    return "libsleefgnuabi.so.3";
#endif
  return "libmvec.so.1";
}

#endif
