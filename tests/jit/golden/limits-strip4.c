/* Made by op2jit (generator 21): loop limits, strip4, contract. */
#include "op2jit_prelude.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#define op2jit_assert(c, words) ((void)0)
typedef long long __attribute__((may_alias)) op2_longlong;
typedef unsigned long long __attribute__((may_alias)) op2_ulonglong;
static inline __attribute__((always_inline)) void op2_better1(float *to, float start, float value) {
  const int beats = value < *to;
  if (start != start ? value == value && (*to != *to || beats) : value != value || beats) *to = value;
}
typedef float op2_float2 __attribute__((vector_size(8), may_alias));
typedef float op2_float2u __attribute__((vector_size(8), aligned(4), may_alias));
typedef float op2_float4 __attribute__((vector_size(16), may_alias));
typedef float op2_float4u __attribute__((vector_size(16), aligned(4), may_alias));
typedef float op2_float8 __attribute__((vector_size(32), may_alias));
typedef float op2_float8u __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void op2_load_float_2(float *lanes, const float *const *rows) {
  {
    op2_float4 z0 = __builtin_shufflevector(*(const op2_float2u *)(rows[0] + 0), *(const op2_float2u *)(rows[2] + 0), 0, 1, 2, 3);
    op2_float4 z1 = __builtin_shufflevector(*(const op2_float2u *)(rows[1] + 0), *(const op2_float2u *)(rows[3] + 0), 0, 1, 2, 3);
    op2_float4 t;
    t = __builtin_shufflevector(z0, z1, 0, 4, 2, 6);
    z1 = __builtin_shufflevector(z0, z1, 1, 5, 3, 7);
    z0 = t;
    *(op2_float4 *)(lanes + 0) = z0;
    *(op2_float4 *)(lanes + 4) = z1;
  }
}
static inline __attribute__((always_inline)) void op2_turn_float_2(float *rows, const float *lanes) {
  {
    op2_float4 z0 = *(const op2_float4 *)(lanes + 0);
    op2_float4 z1 = *(const op2_float4 *)(lanes + 4);
    op2_float4 t;
    t = __builtin_shufflevector(z0, z1, 0, 4, 2, 6);
    z1 = __builtin_shufflevector(z0, z1, 1, 5, 3, 7);
    z0 = t;
    *(op2_float2u *)(rows + 0) = __builtin_shufflevector(z0, z0, 0, 1);
    *(op2_float2u *)(rows + 2) = __builtin_shufflevector(z1, z1, 0, 1);
    *(op2_float2u *)(rows + 4) = __builtin_shufflevector(z0, z0, 2, 3);
    *(op2_float2u *)(rows + 6) = __builtin_shufflevector(z1, z1, 2, 3);
  }
}
static inline __attribute__((always_inline)) void op2_add_float_2(float *row, const float *values) {
  *(op2_float2u *)(row + 0) += *(const op2_float2u *)(values + 0);
}
static inline __attribute__((always_inline)) void op2_put_float_2(float *row, const float *values) {
  *(op2_float2u *)(row + 0) = *(const op2_float2u *)(values + 0);
}
static inline __attribute__((always_inline, internal_linkage)) void limits();
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#pragma clang diagnostic push
#include "limits.c"
#pragma clang diagnostic pop
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
static void op2_loop(const float *restrict op2_d0, float *restrict op2_d1, const int *restrict op2_t0, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  for (; op2_i + 4 <= op2_end; op2_i += 4) {
    float op2_l0[8] __attribute__((aligned(64)));
    op2_load_float_2(op2_l0 + 0, (const float *const[4]){op2_d0 + (op2_i + 0) * 2, op2_d0 + (op2_i + 1) * 2, op2_d0 + (op2_i + 2) * 2, op2_d0 + (op2_i + 3) * 2});
    float op2_l1[16] __attribute__((aligned(64)));
    const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 0], __ATOMIC_RELAXED)};
    op2_load_float_2(op2_l1 + 0, (const float *const[4]){op2_d1 + op2_m0_0[0] * 2, op2_d1 + op2_m0_0[1] * 2, op2_d1 + op2_m0_0[2] * 2, op2_d1 + op2_m0_0[3] * 2});
    const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 1], __ATOMIC_RELAXED)};
    op2_load_float_2(op2_l1 + 8, (const float *const[4]){op2_d1 + op2_m0_1[0] * 2, op2_d1 + op2_m0_1[1] * 2, op2_d1 + op2_m0_1[2] * 2, op2_d1 + op2_m0_1[3] * 2});
    float op2_b1[16] __attribute__((aligned(64)));
    __builtin_memcpy(op2_b1, op2_l1, sizeof op2_l1);
    #pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      float op2_a0[2];
      op2_a0[0] = op2_l0[0 * 4 + op2_l];
      op2_a0[1] = op2_l0[1 * 4 + op2_l];
      float op2_a1[4];
      op2_a1[0] = op2_l1[0 * 4 + op2_l];
      op2_a1[1] = op2_l1[1 * 4 + op2_l];
      op2_a1[2] = op2_l1[2 * 4 + op2_l];
      op2_a1[3] = op2_l1[3 * 4 + op2_l];
      float *op2_v1[2] = {op2_a1 + 0, op2_a1 + 2};
      limits(op2_a0, op2_v1);
      op2_l1[0 * 4 + op2_l] = op2_a1[0];
      op2_l1[1 * 4 + op2_l] = op2_a1[1];
      op2_l1[2 * 4 + op2_l] = op2_a1[2];
      op2_l1[3 * 4 + op2_l] = op2_a1[3];
    }
    #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      op2_better1(op2_d1 + op2_m0_0[op2_l] * 2 + 0, op2_b1[0 + op2_l], op2_l1[0 + op2_l]);
      op2_better1(op2_d1 + op2_m0_0[op2_l] * 2 + 1, op2_b1[4 + op2_l], op2_l1[4 + op2_l]);
      op2_better1(op2_d1 + op2_m0_1[op2_l] * 2 + 0, op2_b1[8 + op2_l], op2_l1[8 + op2_l]);
      op2_better1(op2_d1 + op2_m0_1[op2_l] * 2 + 1, op2_b1[12 + op2_l], op2_l1[12 + op2_l]);
    }
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    const int op2_m0_0 = op2_t0[op2_e * 2 + 0];
    const int op2_m0_1 = op2_t0[op2_e * 2 + 1];
    float *op2_v1[2] = {op2_d1 + op2_m0_0 * 2, op2_d1 + op2_m0_1 * 2};
    limits(op2_d0 + op2_e * 2, op2_v1);
  }
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_list, op2_begin, op2_end);
}
/* limits.c */
void limits(const float *x, float *low[2]) { for (int e = 0; e < 2; e++) for (int n = 0; n < 2; n++) if (x[n] < low[e][n]) low[e][n] = x[n]; }
