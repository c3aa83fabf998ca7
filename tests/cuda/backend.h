/* Shared by tests of the CUDA backend as a user meets it. */
#ifndef OP2JIT_TESTS_CUDA_BACKEND_H
#define OP2JIT_TESTS_CUDA_BACKEND_H

#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "backend/gpu/gpu.h"
#include "op2jit.h"

/* op_init with up to two words more; NULL: none. */
static inline int start(const char *first, const char *second) {
  char *argv[] = {"test",         "OP2_BACKEND=cuda",       "OP2_CACHE=off",
                  "OP2_TUNE=off", (char *)(uintptr_t)first, (char *)(uintptr_t)second};
  return op_init(4 + (first != NULL) + (second != NULL), argv, 0);
}

static inline void says(const char *words) {
  if (!strstr(op_last_error()->message, words))
    fail_msg("expected \"%s\" in: %s", words, op_last_error()->message);
}

#define works(call)                                                                                          \
  do {                                                                                                       \
    if ((call) != OP_OK)                                                                                     \
      fail_msg("%s: %s", #call, op_last_error()->message);                                                   \
  } while (0)

static inline bool is_standin(void) {
  return strstr(getenv("OP2_CUDA_DRIVER"), "standin");
}

/* For cases that ask the stand-in to fail: a real driver does not. */
static inline void needs_standin(void) {
  if (!is_standin())
    skip_since("a real driver does not fail as it is asked to; the stand-in does");
}

/* Errors are returned, and findings are not printed. Skipped without a stand-in, or a real driver that is named. */
static inline void begin_tests(void) {
  if (!getenv("OP2_CUDA_DRIVER")) {
    puts("skipped: OP2_CUDA_DRIVER names no stand-in and no driver");
    exit(77);
  }
  setenv("STANDIN_QUIET", "1", 1);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
}

#endif
