/* The functions that Fortran has itself: a row for each name. */
#ifndef OP2JIT_JIT_KERNEL_FORTRAN_INTRINSICS_H
#define OP2JIT_JIT_KERNEL_FORTRAN_INTRINSICS_H

#include "jit/kernel/fortran/tree.h"

enum intrinsic_class {
  I_MATH,  /* of real numbers, to their type: `c` is C's function in double */
  I_ROUND, /* the same to a whole number, by C's function */
  I_ABS,
  I_EXTREMUM, /* `c`: C's sign */
  I_MOD,
  I_MODULO,
  I_SIGN,
  I_DIM,
  I_MERGE,
  I_CONVERT, /* to `to`, or to the kind of the second argument */
  I_BITS,    /* `c`: C's sign, or ~ */
  I_REDUCE,  /* `c`: the sign between the elements */
  I_EXTREME, /* of the elements: `c` is C's sign */
  I_COUNT,
  I_DOT,
  I_NORM,
  I_MATMUL,
  I_TRANSPOSE,
  I_RESHAPE,
  I_SIZE, /* from here on: the result is a number that the text says */
  I_BOUND,
  I_KIND,
  I_SELECTED,
  I_LARGEST /* `c`: the name in limits.h and float.h without its first letters */
};

struct intrinsic {
  const char *c;
  enum intrinsic_class class;
  int least, most;  /* arguments */
  struct f_type to; /* I_CONVERT and names of old that say a type: the result's */
};

#endif
