/* Made by op2jit (generator 6): loop res, watched, contract. */
#include "op2jit_prelude.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
typedef long long __attribute__((may_alias)) op2_longlong;
typedef unsigned long long __attribute__((may_alias)) op2_ulonglong;
static const double eps __attribute__((unused)) = 0x1.999999999999ap-5;
static inline __attribute__((always_inline, internal_linkage)) void res();
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#include "res.c"
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Weverything"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
static void op2_loop(const double *restrict op2_d0, const double *restrict op2_d1, long op2_s1, double *restrict op2_d2, const int *restrict op2_t0, const int *restrict op2_t1, double *restrict op2_r0, double *restrict op2_r1, double *restrict op2_r2, double *restrict op2_r3, double *restrict op2_r4, long *restrict op2_stop, const int *restrict op2_list, long op2_begin, long op2_end) {
  typedef unsigned char __attribute__((may_alias)) op2_bits1;
  typedef unsigned short __attribute__((may_alias)) op2_bits2;
  typedef unsigned int __attribute__((may_alias)) op2_bits4;
  typedef unsigned long long __attribute__((may_alias)) op2_bits8;
  for (long op2_e = op2_begin; op2_e < op2_end; op2_e++) {
    const int op2_m0_0 = op2_t0[op2_e * 2 + 0];
    const int op2_m0_1 = op2_t0[op2_e * 2 + 1];
    const int op2_m1_0 = op2_t1[op2_e * 2 + 0];
    const int op2_m1_1 = op2_t1[op2_e * 2 + 1];
    op2_r0[0 + 0] = op2_d0[op2_m0_0 * 2 + 0];
    op2_r0[0 + 1] = op2_d0[op2_m0_0 * 2 + 1];
    op2_r1[0 + 0] = op2_d0[op2_m0_1 * 2 + 0];
    op2_r1[0 + 1] = op2_d0[op2_m0_1 * 2 + 1];
    op2_r2[0 + 0] = op2_d1[0 * op2_s1 + op2_m1_0];
    op2_r2[0 + 1] = op2_d1[1 * op2_s1 + op2_m1_0];
    op2_r2[0 + 2] = op2_d1[2 * op2_s1 + op2_m1_0];
    op2_r2[0 + 3] = op2_d1[3 * op2_s1 + op2_m1_0];
    op2_r3[0 + 0] = 0;
    op2_r3[0 + 1] = 0;
    op2_r4[0 + 0] = 0;
    op2_r4[0 + 1] = 0;
    res(op2_r0, op2_r1, op2_r2, op2_r3, op2_r4);
    int op2_odd = 0;
    op2_odd |= ((const op2_bits8 *)op2_r0)[0 + 0] != *(const op2_bits8 *)&op2_d0[op2_m0_0 * 2 + 0];
    op2_odd |= ((const op2_bits8 *)op2_r0)[0 + 1] != *(const op2_bits8 *)&op2_d0[op2_m0_0 * 2 + 1];
    op2_odd |= ((const op2_bits8 *)op2_r1)[0 + 0] != *(const op2_bits8 *)&op2_d0[op2_m0_1 * 2 + 0];
    op2_odd |= ((const op2_bits8 *)op2_r1)[0 + 1] != *(const op2_bits8 *)&op2_d0[op2_m0_1 * 2 + 1];
    op2_odd |= ((const op2_bits8 *)op2_r2)[0 + 0] != *(const op2_bits8 *)&op2_d1[0 * op2_s1 + op2_m1_0];
    op2_odd |= ((const op2_bits8 *)op2_r2)[0 + 1] != *(const op2_bits8 *)&op2_d1[1 * op2_s1 + op2_m1_0];
    op2_odd |= ((const op2_bits8 *)op2_r2)[0 + 2] != *(const op2_bits8 *)&op2_d1[2 * op2_s1 + op2_m1_0];
    op2_odd |= ((const op2_bits8 *)op2_r2)[0 + 3] != *(const op2_bits8 *)&op2_d1[3 * op2_s1 + op2_m1_0];
    op2_odd |= (((const op2_bits8 *)op2_r3)[0 + 0] & 0x7ff0000000000000ull) == 0x7ff0000000000000ull;
    op2_odd |= (((const op2_bits8 *)op2_r3)[0 + 1] & 0x7ff0000000000000ull) == 0x7ff0000000000000ull;
    op2_odd |= (((const op2_bits8 *)op2_r4)[0 + 0] & 0x7ff0000000000000ull) == 0x7ff0000000000000ull;
    op2_odd |= (((const op2_bits8 *)op2_r4)[0 + 1] & 0x7ff0000000000000ull) == 0x7ff0000000000000ull;
    if (__builtin_expect(op2_odd, 0)) {
      *op2_stop = op2_e;
      return;
    }
    op2_d2[op2_m1_0 * 2 + 0] += op2_r3[0 + 0];
    op2_d2[op2_m1_0 * 2 + 1] += op2_r3[0 + 1];
    op2_d2[op2_m1_1 * 2 + 0] += op2_r4[0 + 0];
    op2_d2[op2_m1_1 * 2 + 1] += op2_r4[0 + 1];
  }
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], (long)op2_frame[11], op2_frame[2], op2_frame[3], op2_frame[4], op2_frame[23], op2_frame[24], op2_frame[25], op2_frame[26], op2_frame[27], op2_frame[28], op2_list, op2_begin, op2_end);
}
/* res.c */
void res(const double *x1, const double *x2, const double *q, double *r1, double *r2) {
  double f = eps * (x1[0] - x2[0]) * q[0];
  r1[0] += f;
  r2[1] -= f;
}

