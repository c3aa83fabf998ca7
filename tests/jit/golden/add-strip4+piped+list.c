/* Made by op2jit (generator 21): loop add, strip4+piped+list, contract. */
#include "op2jit_prelude.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#define op2jit_assert(c, words) ((void)0)
typedef long long __attribute__((may_alias)) op2_longlong;
typedef unsigned long long __attribute__((may_alias)) op2_ulonglong;
typedef double op2_double2 __attribute__((vector_size(16), may_alias));
typedef double op2_double2u __attribute__((vector_size(16), aligned(8), may_alias));
typedef double op2_double4 __attribute__((vector_size(32), may_alias));
typedef double op2_double4u __attribute__((vector_size(32), aligned(8), may_alias));
typedef double op2_double8 __attribute__((vector_size(64), may_alias));
typedef double op2_double8u __attribute__((vector_size(64), aligned(8), may_alias));
static inline __attribute__((always_inline)) void op2_load_double_3(double *lanes, const double *const *rows) {
  {
    op2_double4 z0 = *(const op2_double4u *)(rows[0] + 0);
    op2_double4 z1 = *(const op2_double4u *)(rows[1] + 0);
    op2_double4 z2 = *(const op2_double4u *)(rows[2] + 0);
    op2_double4 z3 = *(const op2_double4u *)(rows[3] + 0);
    op2_double4 t;
    t = __builtin_shufflevector(z0, z1, 0, 4, 2, 6);
    z1 = __builtin_shufflevector(z0, z1, 1, 5, 3, 7);
    z0 = t;
    t = __builtin_shufflevector(z2, z3, 0, 4, 2, 6);
    z3 = __builtin_shufflevector(z2, z3, 1, 5, 3, 7);
    z2 = t;
    t = __builtin_shufflevector(z0, z2, 0, 1, 4, 5);
    z2 = __builtin_shufflevector(z0, z2, 2, 3, 6, 7);
    z0 = t;
    t = __builtin_shufflevector(z1, z3, 0, 1, 4, 5);
    z3 = __builtin_shufflevector(z1, z3, 2, 3, 6, 7);
    z1 = t;
    *(op2_double4 *)(lanes + 0) = z0;
    *(op2_double4 *)(lanes + 4) = z1;
    *(op2_double4 *)(lanes + 8) = z2;
  }
}
static inline __attribute__((always_inline)) void op2_turn_double_3(double *rows, const double *lanes) {
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 0);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 4);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 8);
    op2_double4 z3 = z0;
    op2_double4 t;
    t = __builtin_shufflevector(z0, z1, 0, 4, 2, 6);
    z1 = __builtin_shufflevector(z0, z1, 1, 5, 3, 7);
    z0 = t;
    t = __builtin_shufflevector(z2, z3, 0, 4, 2, 6);
    z3 = __builtin_shufflevector(z2, z3, 1, 5, 3, 7);
    z2 = t;
    t = __builtin_shufflevector(z0, z2, 0, 1, 4, 5);
    z2 = __builtin_shufflevector(z0, z2, 2, 3, 6, 7);
    z0 = t;
    t = __builtin_shufflevector(z1, z3, 0, 1, 4, 5);
    z3 = __builtin_shufflevector(z1, z3, 2, 3, 6, 7);
    z1 = t;
    *(op2_double4u *)(rows + 0) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 4) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 8) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 12) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
}
static inline __attribute__((always_inline)) void op2_add_double_3(double *row, const double *values) {
  *(op2_double2u *)(row + 0) += *(const op2_double2u *)(values + 0);
  row[2] += values[2];
}
static inline __attribute__((always_inline)) void op2_put_double_3(double *row, const double *values) {
  *(op2_double2u *)(row + 0) = *(const op2_double2u *)(values + 0);
  row[2] = values[2];
}
static inline __attribute__((always_inline, internal_linkage)) void add();
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#pragma clang diagnostic push
#include "add.c"
#pragma clang diagnostic pop
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
static void op2_loop(double *restrict op2_d0, const double *restrict op2_d1, const int *restrict op2_t0, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  if (op2_i + 4 <= op2_end) {
    const long op2_start = op2_i, op2_last = op2_i + (op2_end - op2_i) / 4 * 4 - 4;
    double op2_r1[16] __attribute__((aligned(64)));
    double op2_r2[16] __attribute__((aligned(64)));
    double op2_l0[12] __attribute__((aligned(64)));
    {
      const long op2_e[4] = {op2_list[op2_i + 0], op2_list[op2_i + 1], op2_list[op2_i + 2], op2_list[op2_i + 3]};
      const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[op2_e[0] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[1] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[2] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[3] * 2 + 0], __ATOMIC_RELAXED)};
      op2_load_double_3(op2_l0 + 0, (const double *const[4]){op2_d1 + op2_m0_0[0] * 3, op2_d1 + op2_m0_0[1] * 3, op2_d1 + op2_m0_0[2] * 3, op2_d1 + op2_m0_0[3] * 3});
    }
    for (; op2_i + 4 <= op2_end; op2_i += 4) {
      for (long op2_p = op2_i + 32; op2_p < op2_i + 36 && op2_p < op2_end; op2_p++) {
        const long op2_q = op2_list[op2_p];
        __builtin_prefetch(op2_t0 + op2_q * 2);
      }
      const long op2_e[4] = {op2_list[op2_i + 0], op2_list[op2_i + 1], op2_list[op2_i + 2], op2_list[op2_i + 3]};
      double op2_l1[12] __attribute__((aligned(64)));
      double op2_l2[12] __attribute__((aligned(64)));
      #pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
      for (int op2_l = 0; op2_l < 4; op2_l++) {
        double op2_a0[3];
        op2_a0[0] = op2_l0[0 * 4 + op2_l];
        op2_a0[1] = op2_l0[1 * 4 + op2_l];
        op2_a0[2] = op2_l0[2 * 4 + op2_l];
        double op2_a1[3];
        op2_a1[0] = -0.0;
        op2_a1[1] = -0.0;
        op2_a1[2] = -0.0;
        double op2_a2[3];
        op2_a2[0] = -0.0;
        op2_a2[1] = -0.0;
        op2_a2[2] = -0.0;
        add(op2_a0, op2_a1, op2_a2);
        op2_l1[0 * 4 + op2_l] = op2_a1[0];
        op2_l1[1 * 4 + op2_l] = op2_a1[1];
        op2_l1[2 * 4 + op2_l] = op2_a1[2];
        op2_l2[0 * 4 + op2_l] = op2_a2[0];
        op2_l2[1 * 4 + op2_l] = op2_a2[1];
        op2_l2[2 * 4 + op2_l] = op2_a2[2];
      }
      if (op2_i > op2_start) {
        const long op2_before = op2_i - 4;
        {
          const long op2_i = op2_before;
          const long op2_e[4] = {op2_list[op2_i + 0], op2_list[op2_i + 1], op2_list[op2_i + 2], op2_list[op2_i + 3]};
          const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[op2_e[0] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[1] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[2] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[3] * 2 + 0], __ATOMIC_RELAXED)};
          const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[op2_e[0] * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[1] * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[2] * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[3] * 2 + 1], __ATOMIC_RELAXED)};
          op2_add_double_3(op2_d0 + op2_m0_0[0] * 3, op2_r1 + 0);
          op2_add_double_3(op2_d0 + op2_m0_1[0] * 3, op2_r2 + 0);
          op2_add_double_3(op2_d0 + op2_m0_0[1] * 3, op2_r1 + 4);
          op2_add_double_3(op2_d0 + op2_m0_1[1] * 3, op2_r2 + 4);
          op2_add_double_3(op2_d0 + op2_m0_0[2] * 3, op2_r1 + 8);
          op2_add_double_3(op2_d0 + op2_m0_1[2] * 3, op2_r2 + 8);
          op2_add_double_3(op2_d0 + op2_m0_0[3] * 3, op2_r1 + 12);
          op2_add_double_3(op2_d0 + op2_m0_1[3] * 3, op2_r2 + 12);
        }
      }
      {
        const long op2_next = op2_i < op2_last ? op2_i + 4 : op2_i;
        const long op2_i = op2_next;
        const long op2_e[4] = {op2_list[op2_i + 0], op2_list[op2_i + 1], op2_list[op2_i + 2], op2_list[op2_i + 3]};
        const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[op2_e[0] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[1] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[2] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[3] * 2 + 0], __ATOMIC_RELAXED)};
        op2_load_double_3(op2_l0 + 0, (const double *const[4]){op2_d1 + op2_m0_0[0] * 3, op2_d1 + op2_m0_0[1] * 3, op2_d1 + op2_m0_0[2] * 3, op2_d1 + op2_m0_0[3] * 3});
      }
      op2_turn_double_3(op2_r1 + 0, op2_l1 + 0);
      op2_turn_double_3(op2_r2 + 0, op2_l2 + 0);
    }
    if (op2_i > op2_start) {
      const long op2_before = op2_i - 4;
      {
        const long op2_i = op2_before;
        const long op2_e[4] = {op2_list[op2_i + 0], op2_list[op2_i + 1], op2_list[op2_i + 2], op2_list[op2_i + 3]};
        const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[op2_e[0] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[1] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[2] * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[3] * 2 + 0], __ATOMIC_RELAXED)};
        const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[op2_e[0] * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[1] * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[2] * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_e[3] * 2 + 1], __ATOMIC_RELAXED)};
        op2_add_double_3(op2_d0 + op2_m0_0[0] * 3, op2_r1 + 0);
        op2_add_double_3(op2_d0 + op2_m0_1[0] * 3, op2_r2 + 0);
        op2_add_double_3(op2_d0 + op2_m0_0[1] * 3, op2_r1 + 4);
        op2_add_double_3(op2_d0 + op2_m0_1[1] * 3, op2_r2 + 4);
        op2_add_double_3(op2_d0 + op2_m0_0[2] * 3, op2_r1 + 8);
        op2_add_double_3(op2_d0 + op2_m0_1[2] * 3, op2_r2 + 8);
        op2_add_double_3(op2_d0 + op2_m0_0[3] * 3, op2_r1 + 12);
        op2_add_double_3(op2_d0 + op2_m0_1[3] * 3, op2_r2 + 12);
      }
    }
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    for (long op2_p = op2_i + 32; op2_p < op2_i + 33 && op2_p < op2_end; op2_p++) {
      const long op2_q = op2_list[op2_p];
      __builtin_prefetch(op2_t0 + op2_q * 2);
    }
    const long op2_e = op2_list[op2_i];
    const int op2_m0_0 = op2_t0[op2_e * 2 + 0];
    const int op2_m0_1 = op2_t0[op2_e * 2 + 1];
    add(op2_d1 + op2_m0_0 * 3, op2_d0 + op2_m0_0 * 3, op2_d0 + op2_m0_1 * 3);
  }
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_list, op2_begin, op2_end);
}
/* add.c */
void add(const double *x, double *y1, double *y2) { for (int n = 0; n < 3; n++) { double f = x[n] / 3; y1[n] += f; y2[n] -= f; } }

