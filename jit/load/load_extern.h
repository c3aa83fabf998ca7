/* Functions that loaded code may call: mathematics, its vector forms, and those that compilers call by
 * themselves. */
#ifndef OP2JIT_JIT_LOAD_LOAD_EXTERN_H
#define OP2JIT_JIT_LOAD_LOAD_EXTERN_H

#include <gnu/libc-version.h>
#include <stddef.h>
#include <stdlib.h>

/* Vector functions are in a library of their own (load_vector_library), opened by the first object that needs one. A
 * zeroed struct is ready. */
struct externs {
  void *vector_library;
};

/* NULL if there is no such function. */
void *extern_find(struct externs *externs, const char *name);
void externs_close(struct externs *externs);

/* The library of vector functions, by the names of the vector ABIs (_ZGVbN2v_exp). glibc has libmvec for
 * aarch64 from 2.38 on; before that SLEEF may be there, whose functions have the same names. The compiler
 * plugin uses the same library. */

static inline const char *load_vector_library(void) {
#ifdef __aarch64__
  const int first_with_libmvec = 38; /* of glibc 2 */
  if (atoi(gnu_get_libc_version() + 2) < first_with_libmvec)
    return "libsleefgnuabi.so.3";
#endif
  return "libmvec.so.1";
}

#endif
