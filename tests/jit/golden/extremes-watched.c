/* Made by op2jit (generator 6): loop extremes, watched, contract. */
#include "op2jit_prelude.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
typedef long long __attribute__((may_alias)) op2_longlong;
typedef unsigned long long __attribute__((may_alias)) op2_ulonglong;
static float late;
static void *const op2_c0 = (void *)&late;
struct op2_info5 { long long element; int payload[1]; };
static inline __attribute__((always_inline, internal_linkage)) void extremes();
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#include "extremes.c"
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Weverything"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
static void op2_loop(const float *restrict op2_d0, const int *restrict op2_x0, int *restrict op2_g3, float *restrict op2_g4, const float *restrict op2_b4, struct op2_info5 *restrict op2_g5, float *restrict op2_r0, int *restrict op2_r1, float *restrict op2_r2, int *restrict op2_r3, float *restrict op2_r4, int *restrict op2_r5, long *restrict op2_stop, const int *restrict op2_list, long op2_begin, long op2_end) {
  typedef unsigned char __attribute__((may_alias)) op2_bits1;
  typedef unsigned short __attribute__((may_alias)) op2_bits2;
  typedef unsigned int __attribute__((may_alias)) op2_bits4;
  typedef unsigned long long __attribute__((may_alias)) op2_bits8;
  for (long op2_e = op2_begin; op2_e < op2_end; op2_e++) {
    op2_r0[0 + 0] = op2_d0[op2_e * 1 + 0];
    int op2_n1_0;
    op2_n1_0 = op2_x0[op2_e];
    op2_r1[0] = op2_n1_0;
    op2_r3[0 + 0] = 0;
    op2_r4[0] = op2_b4[0];
    extremes(op2_r0, op2_r1, op2_r2, op2_r3, op2_r4, op2_r5);
    int op2_odd = 0;
    op2_odd |= ((const op2_bits4 *)op2_r0)[0 + 0] != *(const op2_bits4 *)&op2_d0[op2_e * 1 + 0];
    op2_odd |= op2_r1[0] != op2_n1_0;
    op2_odd |= op2_r4[0] != op2_b4[0] && !(op2_r4[0] < op2_g4[0] && op2_r4[0] >= op2_b4[0]);
    if (__builtin_expect(op2_odd, 0)) {
      *op2_stop = op2_e;
      return;
    }
    op2_g3[0] += op2_r3[0];
  }
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  for (int op2_c = 0; op2_c < 1; op2_c++) {
    typedef unsigned int __attribute__((may_alias)) op2_bits;
    const op2_bits op2_new = ((const op2_bits *)op2_frame[9])[op2_c];
    if (((op2_bits *)op2_c0)[op2_c] != op2_new) {
      ((op2_bits *)op2_c0)[op2_c] = op2_new;
    }
  }
  op2_loop(op2_frame[0], op2_frame[8], op2_frame[4], op2_frame[5], op2_frame[14], op2_frame[6], op2_frame[17], op2_frame[18], op2_frame[19], op2_frame[20], op2_frame[21], op2_frame[22], op2_frame[23], op2_list, op2_begin, op2_end);
}
/* extremes.c */
void extremes(const float *a, const int *e, float *w, int *count, float *most, int *where) {
  w[0] = a[0] * late;
  ++*count;
  if (w[0] > *most) {
    *most = w[0];
    *where = *e;
  }
}

