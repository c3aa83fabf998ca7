/* What programs under mpirun assert with: a failure names the rank and what the library said last, and ends the job. */
#ifndef OP2JIT_TESTS_MPI_CHECK_H
#define OP2JIT_TESTS_MPI_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op2jit.h"

#define check(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "rank %d: %s:%d: not so: %s (%s)\n", check_rank(), __FILE__, __LINE__, #condition,     \
              op_last_error()->message);                                                                     \
      _Exit(1);                                                                                              \
    }                                                                                                        \
  } while (0)

static int check_rank(void);

#endif
