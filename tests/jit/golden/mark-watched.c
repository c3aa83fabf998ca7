/* Made by op2jit (generator 6): loop mark, watched, contract. */
#include "op2jit_prelude.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
typedef long long __attribute__((may_alias)) op2_longlong;
typedef unsigned long long __attribute__((may_alias)) op2_ulonglong;
static inline __attribute__((always_inline, internal_linkage)) void mark();
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#include "mark.c"
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Weverything"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
static void op2_loop(_Bool *restrict op2_d0, _Bool *restrict op2_d1, long op2_s1, _Bool *restrict op2_d2, const int *restrict op2_t0, _Bool *restrict op2_g3, double *restrict op2_g4, float *restrict op2_g5, _Bool *restrict op2_r0, _Bool *restrict op2_r1, _Bool *restrict op2_r2, _Bool *restrict op2_r3, double *restrict op2_r4, float *restrict op2_r5, long *restrict op2_stop, const int *restrict op2_list, long op2_begin, long op2_end) {
  typedef unsigned char __attribute__((may_alias)) op2_bits1;
  typedef unsigned short __attribute__((may_alias)) op2_bits2;
  typedef unsigned int __attribute__((may_alias)) op2_bits4;
  typedef unsigned long long __attribute__((may_alias)) op2_bits8;
  const op2_bits1 op2_poison0 = (op2_bits1)0xa1a1a1a1a1a1a1a1ull;
  const op2_bits4 op2_poison5 = (op2_bits4)0xa5a5a5a5a5a5a5a5ull;
  for (long op2_e = op2_begin; op2_e < op2_end; op2_e++) {
    const int op2_m0_0 = op2_t0[op2_e * 1 + 0];
    ((op2_bits1 *)op2_r0)[0 + 0] = op2_poison0;
    ((op2_bits1 *)op2_r1)[0 + 0] = *(op2_bits1 *)&op2_d1[0 * op2_s1 + op2_m0_0];
    ((op2_bits1 *)op2_r1)[0 + 1] = *(op2_bits1 *)&op2_d1[1 * op2_s1 + op2_m0_0];
    op2_r2[0 + 0] = 0;
    ((op2_bits1 *)op2_r3)[0 + 0] = *(op2_bits1 *)&op2_g3[0];
    op2_r4[0] = op2_g4[0];
    ((op2_bits4 *)op2_r5)[0 + 0] = op2_poison5;
    mark(op2_r0, op2_r1, op2_r2, op2_r3, op2_r4, op2_r5);
    int op2_odd = 0;
    op2_odd |= ((const op2_bits1 *)op2_r0)[0 + 0] == op2_poison0;
    op2_odd |= !(((op2_bits1 *)op2_r3)[0 + 0] >= *(op2_bits1 *)&op2_g3[0]);
    op2_odd |= (((const op2_bits8 *)op2_r4)[0 + 0] & 0x7ff0000000000000ull) == 0x7ff0000000000000ull;
    op2_odd |= ((const op2_bits4 *)op2_r5)[0 + 0] == op2_poison5;
    op2_odd |= (((const op2_bits4 *)op2_r5)[0 + 0] & 0x7f800000u) == 0x7f800000u;
    if (__builtin_expect(op2_odd, 0)) {
      *op2_stop = op2_e;
      return;
    }
    *(op2_bits1 *)&op2_d0[op2_e * 1 + 0] = ((op2_bits1 *)op2_r0)[0 + 0];
    *(op2_bits1 *)&op2_d1[0 * op2_s1 + op2_m0_0] = ((op2_bits1 *)op2_r1)[0 + 0];
    *(op2_bits1 *)&op2_d1[1 * op2_s1 + op2_m0_0] = ((op2_bits1 *)op2_r1)[0 + 1];
    *(op2_bits1 *)&op2_d2[op2_m0_0 * 1 + 0] = *(op2_bits1 *)&op2_d2[op2_m0_0 * 1 + 0] || ((op2_bits1 *)op2_r2)[0 + 0];
    *(op2_bits1 *)&op2_g3[0] = ((op2_bits1 *)op2_r3)[0 + 0];
    op2_g4[0] = op2_r4[0];
    op2_g5[0] = op2_r5[0];
  }
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], (long)op2_frame[11], op2_frame[2], op2_frame[3], op2_frame[7], op2_frame[8], op2_frame[9], op2_frame[22], op2_frame[23], op2_frame[24], op2_frame[25], op2_frame[26], op2_frame[27], op2_frame[28], op2_list, op2_begin, op2_end);
}
/* mark.c */
void mark(bool *w, bool *rw, bool *inc, bool *any, double *t, float *r) {
  *w = !rw[1];
  *inc += *w;
  if (*w > *any)
    *any = *w;
  *t += 1;
  *r = 2;
}

