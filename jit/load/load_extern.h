/* Functions that loaded code may call: mathematics, its vector forms, and those that compilers call by
 * themselves. */
#ifndef OP2JIT_JIT_LOAD_EXTERN_H
#define OP2JIT_JIT_LOAD_EXTERN_H

#include <stddef.h>

/* Vector functions are in a library of their own (load_vector.h), opened by the first object that needs one. A
 * zeroed struct is ready. */
struct externs {
  void *vector_library;
};

/* NULL if there is no such function. */
void *extern_find(struct externs *externs, const char *name);
void externs_close(struct externs *externs);

#endif
