/* Made by op2jit (generator 21): loop update+save_soln+adt_calc, scalar, contract. */
/* shared: prologue */
static const double gam __attribute__((unused)) = 0x1.666666p+0;
static const double gm1 __attribute__((unused)) = 0x1.999998p-2;
static const double cfl __attribute__((unused)) = 0x1.ccccccp-1;
static __attribute__((internal_linkage, used)) void update();
static __attribute__((internal_linkage, used)) void save_soln();
static __attribute__((internal_linkage, used)) void adt_calc();
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#pragma clang optimize off
#pragma clang diagnostic push
#include "update+save_soln+adt_calc.c"
#pragma clang diagnostic pop
#pragma clang optimize on
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
static void op2_loop(double *restrict op2_d0, double *restrict op2_d1, double *restrict op2_d2, double *restrict op2_d3, const double *restrict op2_d4, const int *restrict op2_t0, double *restrict op2_g4, const int *restrict op2_list, long op2_begin, long op2_end) {
  double op2_a4[1];
  op2_a4[0] = -0.0;
  long op2_i = op2_begin;
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    /* shared: update+save_soln+adt_calc: element */
  }
  op2_g4[0] += op2_a4[0];
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_frame[3], op2_frame[4], op2_frame[5], op2_frame[10], op2_list, op2_begin, op2_end);
}
