/* Kernels that are right, made at random, and the same kernels with one mistake in them. */
#ifndef OP2JIT_TESTS_RIGHT_INVENT_H
#define OP2JIT_TESTS_RIGHT_INVENT_H

#include <stdbool.h>

#include "base/text.h"
#include "base/types.h"

enum { RIGHT_ARGS = 8, RIGHT_ARITY = 3 };

struct right_arg {
  enum type_code type;
  int dim, access;
  bool vector, global;
};

struct right_kernel {
  struct text text;
  struct right_arg args[RIGHT_ARGS];
  int nargs;
  char mistake[96]; /* "" or what is wrong */
};

/* The kernel "k" of that number: always the same. A mistake is one that shows on data between 0 and 2, and numbers
 * from 0 to 3. */
void right_invent(unsigned long number, bool mistaken, struct right_kernel *out);
void right_free(struct right_kernel *k);

#endif
