/* Made by op2jit (generator 21): loop update+save_soln+adt_calc, scalar, contract. */
#include "op2jit_prelude.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#define op2jit_assert(c, words) ((void)0)
typedef long long __attribute__((may_alias)) op2_longlong;
typedef unsigned long long __attribute__((may_alias)) op2_ulonglong;
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
    const int op2_m0_0 = op2_t0[op2_e * 4 + 0];
    const int op2_m0_1 = op2_t0[op2_e * 4 + 1];
    const int op2_m0_2 = op2_t0[op2_e * 4 + 2];
    const int op2_m0_3 = op2_t0[op2_e * 4 + 3];
    double op2_a0[4];
    op2_a0[0 + 0] = op2_d0[op2_e * 4 + 0];
    op2_a0[0 + 1] = op2_d0[op2_e * 4 + 1];
    op2_a0[0 + 2] = op2_d0[op2_e * 4 + 2];
    op2_a0[0 + 3] = op2_d0[op2_e * 4 + 3];
    double op2_a1[4];
    double op2_a3[1];
    op2_a3[0 + 0] = op2_d3[op2_e * 1 + 0];
    const double *op2_v5[4] = {op2_d4 + op2_m0_0 * 2, op2_d4 + op2_m0_1 * 2, op2_d4 + op2_m0_2 * 2, op2_d4 + op2_m0_3 * 2};
    update(op2_a0, op2_a1, op2_d2 + op2_e * 4, op2_a3, op2_a4);
    save_soln(op2_a1, op2_a0);
    adt_calc(op2_v5, op2_a1, op2_a3);
    op2_d0[op2_e * 4 + 0] = op2_a0[0 + 0];
    op2_d0[op2_e * 4 + 1] = op2_a0[0 + 1];
    op2_d0[op2_e * 4 + 2] = op2_a0[0 + 2];
    op2_d0[op2_e * 4 + 3] = op2_a0[0 + 3];
    op2_d1[op2_e * 4 + 0] = op2_a1[0 + 0];
    op2_d1[op2_e * 4 + 1] = op2_a1[0 + 1];
    op2_d1[op2_e * 4 + 2] = op2_a1[0 + 2];
    op2_d1[op2_e * 4 + 3] = op2_a1[0 + 3];
    op2_d3[op2_e * 1 + 0] = op2_a3[0 + 0];
  }
  op2_g4[0] += op2_a4[0];
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_frame[3], op2_frame[4], op2_frame[5], op2_frame[10], op2_list, op2_begin, op2_end);
}
