/* Made by op2jit (generator 21): loop subtract+norm, scalar, contract. */
/* shared: prologue */
static __attribute__((internal_linkage, used)) void subtract();
static __attribute__((internal_linkage, used)) void norm();
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#pragma clang optimize off
#pragma clang diagnostic push
#include "subtract+norm.c"
#pragma clang diagnostic pop
#pragma clang optimize on
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
static void op2_loop(double *restrict op2_d0, double *restrict op2_d1, const double *restrict op2_g2, double *restrict op2_g3, const int *restrict op2_list, long op2_begin, long op2_end) {
  double op2_a3[1];
  op2_a3[0] = -0.0;
  long op2_i = op2_begin;
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    /* shared: subtract+norm: element */
  }
  op2_g3[0] += op2_a3[0];
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[4], op2_frame[5], op2_list, op2_begin, op2_end);
}
