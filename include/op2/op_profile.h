/* OP2's timing of a program's sections, in a tree; loops have op_timing_output. */
#ifndef OP_PROFILE_H
#define OP_PROFILE_H

#include "op_lib_c.h"

#if defined(__cplusplus) && !defined(OP2JIT_READING_FEW)
#include <chrono>
#include <functional>
#include <string>
#include <vector>
#endif

static inline void op_profile_start(const char *name) {
  op2jit_op2_profile_start(name);
}
static inline void op_profile_enter(const char *name) {
  op2jit_op2_profile_enter(name);
}
static inline void op_profile_enter_kernel(const char *name, const char *target, const char *variant) {
  (void)target, (void)variant;
  op2jit_op2_profile_enter(name);
}
static inline void op_profile_next(const char *name) {
  op2jit_op2_profile_exit();
  op2jit_op2_profile_enter(name);
}
static inline void op_profile_exit(void) {
  op2jit_op2_profile_exit();
}
static inline void op_profile_end(void) {
  op2jit_op2_profile_end();
}
static inline void op_profile_output(void) {
  op2jit_op2_profile_output("");
}
static inline void op_profile_output_json(const char *file) {
  op2jit_op2_profile_output(file);
}

#endif
