/* Assertions for tests of plans and schedules. */
#ifndef TESTS_EXEC_EXPECT_H
#define TESTS_EXEC_EXPECT_H

#include "../unit.h"

#include "base/error.h"

static inline void expect_ok(int status, struct error *err) {
  if (status)
    fail_msg("%s", error_message(err));
}

#endif
