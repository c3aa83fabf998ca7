/* Assertions for programs under mpirun: a failure names the rank and what the library said last, and ends the job. */
#ifndef OP2JIT_TESTS_MPI_CHECK_H
#define OP2JIT_TESTS_MPI_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op2jit.h"

#define check(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "rank %s: %s:%d: not so: %s (%s)\n", check_rank(), __FILE__, __LINE__, #condition,     \
              op_last_error()->message);                                                                     \
      _Exit(1);                                                                                              \
    }                                                                                                        \
  } while (0)

/* As mpirun says it: there is a rank before the library is open, and after it is closed. */
static inline const char *check_rank(void) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *other = getenv("PMI_RANK");
  return rank ? rank : other ? other : "?";
}

#endif
