/* The begin and the end of tests of the public calls. The backend is OP2_BACKEND's. */
#ifndef OP2JIT_TESTS_SUPPORT_H
#define OP2JIT_TESTS_SUPPORT_H

#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op2jit.h"

/* A call that must work: the library's own words if it does not. */
#define works(call)                                                                                          \
  do {                                                                                                       \
    int code_ = (call);                                                                                      \
    if (code_ != OP_OK)                                                                                      \
      fail_msg("%s: %s", #call, op_last_error()->message);                                                   \
  } while (0)
#define fails(code, call) assert_int_equal((call), (code))

static inline int start(void **state) {
  (void)state;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  return op_init(0, NULL, 0);
}

static inline int stop(void **state) {
  (void)state;
  return op_exit();
}

#define LIBRARY_TEST(name) TEST_BETWEEN(name, start, stop)

static inline op_arg direct(op_dat dat, int dim, const char *type, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, type, access);
}

#endif
