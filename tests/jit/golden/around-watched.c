/* Made by op2jit (generator 6): loop around, watched, contract. */
#include "op2jit_prelude.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
typedef long long __attribute__((may_alias)) op2_longlong;
typedef unsigned long long __attribute__((may_alias)) op2_ulonglong;
static inline __attribute__((always_inline, internal_linkage)) void around();
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#include "around.c"
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Weverything"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
static void op2_loop(const op2_longlong *restrict op2_d0, double *restrict op2_d1, long op2_s1, const int *restrict op2_t0, op2_longlong *restrict op2_r0, double *restrict op2_r1, long *restrict op2_stop, const int *restrict op2_list, long op2_begin, long op2_end) {
  typedef unsigned char __attribute__((may_alias)) op2_bits1;
  typedef unsigned short __attribute__((may_alias)) op2_bits2;
  typedef unsigned int __attribute__((may_alias)) op2_bits4;
  typedef unsigned long long __attribute__((may_alias)) op2_bits8;
  for (long op2_e = op2_begin; op2_e < op2_end; op2_e++) {
    const int op2_m0_0 = op2_t0[op2_e * 3 + 0];
    const int op2_m0_1 = op2_t0[op2_e * 3 + 1];
    const int op2_m0_2 = op2_t0[op2_e * 3 + 2];
    op2_r0[0 + 0] = op2_d0[op2_m0_0 * 1 + 0];
    op2_r0[10 + 0] = op2_d0[op2_m0_1 * 1 + 0];
    op2_r0[20 + 0] = op2_d0[op2_m0_2 * 1 + 0];
    const op2_longlong *op2_v0[19] = {op2_r0 - 9, op2_r0 - 9, op2_r0 - 9, op2_r0 - 9, op2_r0 - 9, op2_r0 - 9, op2_r0 - 9, op2_r0 - 9, op2_r0 + 0, op2_r0 + 10, op2_r0 + 20, op2_r0 + 21, op2_r0 + 21, op2_r0 + 21, op2_r0 + 21, op2_r0 + 21, op2_r0 + 21, op2_r0 + 21, op2_r0 + 21};
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_r1[0 + op2_c] = 0;
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_r1[40 + op2_c] = 0;
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_r1[80 + op2_c] = 0;
    }
    double *op2_v1[19] = {op2_r1 - 20, op2_r1 - 20, op2_r1 - 20, op2_r1 - 20, op2_r1 - 20, op2_r1 - 20, op2_r1 - 20, op2_r1 - 20, op2_r1 + 0, op2_r1 + 40, op2_r1 + 80, op2_r1 + 100, op2_r1 + 100, op2_r1 + 100, op2_r1 + 100, op2_r1 + 100, op2_r1 + 100, op2_r1 + 100, op2_r1 + 100};
    around(op2_v0 + 8, op2_v1 + 8);
    int op2_odd = 0;
    op2_odd |= ((const op2_bits8 *)op2_r0)[0 + 0] != *(const op2_bits8 *)&op2_d0[op2_m0_0 * 1 + 0];
    op2_odd |= ((const op2_bits8 *)op2_r0)[10 + 0] != *(const op2_bits8 *)&op2_d0[op2_m0_1 * 1 + 0];
    op2_odd |= ((const op2_bits8 *)op2_r0)[20 + 0] != *(const op2_bits8 *)&op2_d0[op2_m0_2 * 1 + 0];
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_odd |= (((const op2_bits8 *)op2_r1)[0 + op2_c] & 0x7ff0000000000000ull) == 0x7ff0000000000000ull;
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_odd |= (((const op2_bits8 *)op2_r1)[40 + op2_c] & 0x7ff0000000000000ull) == 0x7ff0000000000000ull;
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_odd |= (((const op2_bits8 *)op2_r1)[80 + op2_c] & 0x7ff0000000000000ull) == 0x7ff0000000000000ull;
    }
    if (__builtin_expect(op2_odd, 0)) {
      *op2_stop = op2_e;
      return;
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_d1[op2_c * op2_s1 + (long)op2_m0_0] += op2_r1[0 + op2_c];
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_d1[op2_c * op2_s1 + (long)op2_m0_1] += op2_r1[40 + op2_c];
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_d1[op2_c * op2_s1 + (long)op2_m0_2] += op2_r1[80 + op2_c];
    }
  }
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], (long)op2_frame[6], op2_frame[2], op2_frame[12], op2_frame[13], op2_frame[14], op2_list, op2_begin, op2_end);
}
/* around.c */
void around(const long long *x[3], double **y) {
  for (int i = 0; i < 3; i++)
    y[i][0] += (double)x[i][0];
}

