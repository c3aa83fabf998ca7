/* What several golden files have, at any depth, each piece behind its name: the line "shared: NAME" stands for it there, and in
 * the pieces behind it. */
/* piece: turn four by four */
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
/* piece: prologue */
#include "op2jit_prelude.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#define op2jit_assert(c, words) ((void)0)
typedef long long __attribute__((may_alias)) op2_longlong;
typedef unsigned long long __attribute__((may_alias)) op2_ulonglong;
/* piece: vectors of double */
typedef double op2_double2 __attribute__((vector_size(16), may_alias));
typedef double op2_double2u __attribute__((vector_size(16), aligned(8), may_alias));
typedef double op2_double4 __attribute__((vector_size(32), may_alias));
typedef double op2_double4u __attribute__((vector_size(32), aligned(8), may_alias));
typedef double op2_double8 __attribute__((vector_size(64), may_alias));
typedef double op2_double8u __attribute__((vector_size(64), aligned(8), may_alias));
/* piece: vectors of float */
typedef float op2_float2 __attribute__((vector_size(8), may_alias));
typedef float op2_float2u __attribute__((vector_size(8), aligned(4), may_alias));
typedef float op2_float4 __attribute__((vector_size(16), may_alias));
typedef float op2_float4u __attribute__((vector_size(16), aligned(4), may_alias));
typedef float op2_float8 __attribute__((vector_size(32), may_alias));
typedef float op2_float8u __attribute__((vector_size(32), aligned(4), may_alias));
/* piece: before the kernel */
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#pragma clang diagnostic push
/* piece: behind the kernel */
#pragma clang diagnostic pop
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
/* piece: op2_load_double_3 */
static inline __attribute__((always_inline)) void op2_load_double_3(double *lanes, const double *const *rows) {
  {
    op2_double4 z0 = *(const op2_double4u *)(rows[0] + 0);
    op2_double4 z1 = *(const op2_double4u *)(rows[1] + 0);
    op2_double4 z2 = *(const op2_double4u *)(rows[2] + 0);
    op2_double4 z3 = *(const op2_double4u *)(rows[3] + 0);
    /* shared: turn four by four */
    *(op2_double4 *)(lanes + 0) = z0;
    *(op2_double4 *)(lanes + 4) = z1;
    *(op2_double4 *)(lanes + 8) = z2;
  }
}
/* piece: op2_turn_double_3 */
static inline __attribute__((always_inline)) void op2_turn_double_3(double *rows, const double *lanes) {
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 0);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 4);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 8);
    op2_double4 z3 = z0;
    /* shared: turn four by four */
    *(op2_double4u *)(rows + 0) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 4) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 8) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 12) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
}
/* piece: op2_add_double_3 */
static inline __attribute__((always_inline)) void op2_add_double_3(double *row, const double *values) {
  *(op2_double2u *)(row + 0) += *(const op2_double2u *)(values + 0);
  row[2] += values[2];
}
/* piece: op2_put_double_3 */
static inline __attribute__((always_inline)) void op2_put_double_3(double *row, const double *values) {
  *(op2_double2u *)(row + 0) = *(const op2_double2u *)(values + 0);
  row[2] = values[2];
}
/* piece: add.c */
/* add.c */
void add(const double *x, double *y1, double *y2) { for (int n = 0; n < 3; n++) { double f = x[n] / 3; y1[n] += f; y2[n] -= f; } }

/* piece: op2_find_range */
static const int *op2_find_range(const int *op2_u, long op2_begin) {
  long op2_low = 0, op2_count = op2_u[0];
  const int *op2_first = op2_u + 1;
  if (op2_count > 0 && op2_begin < op2_first[(op2_count - 1) * 4 + 1]) {
    const int *op2_guess = op2_first + op2_begin * op2_count / op2_first[(op2_count - 1) * 4 + 1] * 4;
    if (op2_guess[0] <= op2_begin && op2_begin < op2_guess[1]) return op2_guess;
  }
  while (op2_count > 0) {
    const long op2_half = (op2_count + 1) / 2;
    const _Bool op2_later = op2_first[(op2_low + op2_half - 1) * 4 + 1] <= op2_begin;
    op2_low += __builtin_unpredictable(op2_later) ? op2_half : 0;
    op2_count -= op2_half;
  }
  return op2_first + op2_low * 4;
}
/* piece: axpy+dot.c */
/* axpy+dot.c */
void axpy(const double *a, const double *x, double *t, double *y) {
  *t = *a * *x;
  *y += *t;
}
void dot(const double *y, const double *t, double *sum) {
  *sum += *y * *t;
}

/* piece: op2_load_double_1 */
static inline __attribute__((always_inline)) void op2_load_double_1(double *lanes, const double *const *rows) {
  {
    op2_double4 z0 = {rows[0][0], rows[1][0], rows[2][0], rows[3][0]};
    *(op2_double4 *)(lanes + 0) = z0;
  }
}
/* piece: op2_load_double_9 */
static inline __attribute__((always_inline)) void op2_load_double_9(double *lanes, const double *const *rows) {
  {
    op2_double4 z0 = *(const op2_double4u *)(rows[0] + 0);
    op2_double4 z1 = *(const op2_double4u *)(rows[1] + 0);
    op2_double4 z2 = *(const op2_double4u *)(rows[2] + 0);
    op2_double4 z3 = *(const op2_double4u *)(rows[3] + 0);
    /* shared: turn four by four */
    *(op2_double4 *)(lanes + 0) = z0;
    *(op2_double4 *)(lanes + 4) = z1;
    *(op2_double4 *)(lanes + 8) = z2;
    *(op2_double4 *)(lanes + 12) = z3;
  }
  {
    op2_double4 z0 = *(const op2_double4u *)(rows[0] + 4);
    op2_double4 z1 = *(const op2_double4u *)(rows[1] + 4);
    op2_double4 z2 = *(const op2_double4u *)(rows[2] + 4);
    op2_double4 z3 = *(const op2_double4u *)(rows[3] + 4);
    /* shared: turn four by four */
    *(op2_double4 *)(lanes + 16) = z0;
    *(op2_double4 *)(lanes + 20) = z1;
    *(op2_double4 *)(lanes + 24) = z2;
    *(op2_double4 *)(lanes + 28) = z3;
  }
  {
    op2_double4 z0 = {rows[0][8], rows[1][8], rows[2][8], rows[3][8]};
    *(op2_double4 *)(lanes + 32) = z0;
  }
}
/* piece: op2_turn_double_9 */
static inline __attribute__((always_inline)) void op2_turn_double_9(double *rows, const double *lanes) {
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 0);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 4);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 8);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 12);
    /* shared: turn four by four */
    *(op2_double4u *)(rows + 0) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 9) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 18) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 27) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 16);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 20);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 24);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 28);
    /* shared: turn four by four */
    *(op2_double4u *)(rows + 4) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 13) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 22) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 31) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 32);
    rows[8] = z0[0];
    rows[17] = z0[1];
    rows[26] = z0[2];
    rows[35] = z0[3];
  }
}
/* piece: op2_add_double_9 */
static inline __attribute__((always_inline)) void op2_add_double_9(double *row, const double *values) {
  *(op2_double8u *)(row + 0) += *(const op2_double8u *)(values + 0);
  row[8] += values[8];
}
/* piece: op2_put_double_9 */
static inline __attribute__((always_inline)) void op2_put_double_9(double *row, const double *values) {
  *(op2_double8u *)(row + 0) = *(const op2_double8u *)(values + 0);
  row[8] = values[8];
}
/* piece: op2_load_double_18 */
static inline __attribute__((always_inline)) void op2_load_double_18(double *lanes, const double *const *rows) {
  {
    op2_double4 z0 = *(const op2_double4u *)(rows[0] + 0);
    op2_double4 z1 = *(const op2_double4u *)(rows[1] + 0);
    op2_double4 z2 = *(const op2_double4u *)(rows[2] + 0);
    op2_double4 z3 = *(const op2_double4u *)(rows[3] + 0);
    /* shared: turn four by four */
    *(op2_double4 *)(lanes + 0) = z0;
    *(op2_double4 *)(lanes + 4) = z1;
    *(op2_double4 *)(lanes + 8) = z2;
    *(op2_double4 *)(lanes + 12) = z3;
  }
  {
    op2_double4 z0 = *(const op2_double4u *)(rows[0] + 4);
    op2_double4 z1 = *(const op2_double4u *)(rows[1] + 4);
    op2_double4 z2 = *(const op2_double4u *)(rows[2] + 4);
    op2_double4 z3 = *(const op2_double4u *)(rows[3] + 4);
    /* shared: turn four by four */
    *(op2_double4 *)(lanes + 16) = z0;
    *(op2_double4 *)(lanes + 20) = z1;
    *(op2_double4 *)(lanes + 24) = z2;
    *(op2_double4 *)(lanes + 28) = z3;
  }
  {
    op2_double4 z0 = *(const op2_double4u *)(rows[0] + 8);
    op2_double4 z1 = *(const op2_double4u *)(rows[1] + 8);
    op2_double4 z2 = *(const op2_double4u *)(rows[2] + 8);
    op2_double4 z3 = *(const op2_double4u *)(rows[3] + 8);
    /* shared: turn four by four */
    *(op2_double4 *)(lanes + 32) = z0;
    *(op2_double4 *)(lanes + 36) = z1;
    *(op2_double4 *)(lanes + 40) = z2;
    *(op2_double4 *)(lanes + 44) = z3;
  }
  {
    op2_double4 z0 = *(const op2_double4u *)(rows[0] + 12);
    op2_double4 z1 = *(const op2_double4u *)(rows[1] + 12);
    op2_double4 z2 = *(const op2_double4u *)(rows[2] + 12);
    op2_double4 z3 = *(const op2_double4u *)(rows[3] + 12);
    /* shared: turn four by four */
    *(op2_double4 *)(lanes + 48) = z0;
    *(op2_double4 *)(lanes + 52) = z1;
    *(op2_double4 *)(lanes + 56) = z2;
    *(op2_double4 *)(lanes + 60) = z3;
  }
  {
    op2_double4 z0 = __builtin_shufflevector(*(const op2_double2u *)(rows[0] + 16), *(const op2_double2u *)(rows[2] + 16), 0, 1, 2, 3);
    op2_double4 z1 = __builtin_shufflevector(*(const op2_double2u *)(rows[1] + 16), *(const op2_double2u *)(rows[3] + 16), 0, 1, 2, 3);
    op2_double4 t;
    t = __builtin_shufflevector(z0, z1, 0, 4, 2, 6);
    z1 = __builtin_shufflevector(z0, z1, 1, 5, 3, 7);
    z0 = t;
    *(op2_double4 *)(lanes + 64) = z0;
    *(op2_double4 *)(lanes + 68) = z1;
  }
}
/* piece: op2_turn_double_18 */
static inline __attribute__((always_inline)) void op2_turn_double_18(double *rows, const double *lanes) {
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 0);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 4);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 8);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 12);
    /* shared: turn four by four */
    *(op2_double4u *)(rows + 0) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 18) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 36) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 54) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 16);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 20);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 24);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 28);
    /* shared: turn four by four */
    *(op2_double4u *)(rows + 4) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 22) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 40) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 58) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 32);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 36);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 40);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 44);
    /* shared: turn four by four */
    *(op2_double4u *)(rows + 8) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 26) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 44) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 62) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 48);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 52);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 56);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 60);
    /* shared: turn four by four */
    *(op2_double4u *)(rows + 12) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 30) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 48) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 66) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 64);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 68);
    op2_double4 t;
    t = __builtin_shufflevector(z0, z1, 0, 4, 2, 6);
    z1 = __builtin_shufflevector(z0, z1, 1, 5, 3, 7);
    z0 = t;
    *(op2_double2u *)(rows + 16) = __builtin_shufflevector(z0, z0, 0, 1);
    *(op2_double2u *)(rows + 34) = __builtin_shufflevector(z1, z1, 0, 1);
    *(op2_double2u *)(rows + 52) = __builtin_shufflevector(z0, z0, 2, 3);
    *(op2_double2u *)(rows + 70) = __builtin_shufflevector(z1, z1, 2, 3);
  }
}
/* piece: op2_add_double_18 */
static inline __attribute__((always_inline)) void op2_add_double_18(double *row, const double *values) {
  *(op2_double8u *)(row + 0) += *(const op2_double8u *)(values + 0);
  *(op2_double8u *)(row + 8) += *(const op2_double8u *)(values + 8);
  *(op2_double2u *)(row + 16) += *(const op2_double2u *)(values + 16);
}
/* piece: op2_put_double_18 */
static inline __attribute__((always_inline)) void op2_put_double_18(double *row, const double *values) {
  *(op2_double8u *)(row + 0) = *(const op2_double8u *)(values + 0);
  *(op2_double8u *)(row + 8) = *(const op2_double8u *)(values + 8);
  *(op2_double2u *)(row + 16) = *(const op2_double2u *)(values + 16);
}
/* piece: blocks.c */
/* blocks.c */
void blocks(int n, const double **a, const double **x, double *y) {
  y[0] = y[1] = y[2] = 0;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 9; i++)
      y[i / 3] += OP_ROW(a, k)[i] * OP_ROW(x, k)[i % 3];
}

/* piece: count.c */
/* count.c */
void count(const int *e, const int t[2], int *sum) {
  *sum += e[0] - t[0] - t[1];
}

/* piece: extremes.c */
/* extremes.c */
void extremes(const float *a, const int *e, float *w, int *count, float *most, int *where) {
  w[0] = a[0] * late;
  ++*count;
  if (w[0] > *most) {
    *most = w[0];
    *where = *e;
  }
}

/* piece: op2_load_float_1 */
static inline __attribute__((always_inline)) void op2_load_float_1(float *lanes, const float *const *rows) {
  {
    op2_float4 z0 = {rows[0][0], rows[1][0], rows[2][0], rows[3][0]};
    *(op2_float4 *)(lanes + 0) = z0;
  }
}
/* piece: op2_load_float_2 */
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
/* piece: op2_turn_float_2 */
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
/* piece: op2_add_float_2 */
static inline __attribute__((always_inline)) void op2_add_float_2(float *row, const float *values) {
  *(op2_float2u *)(row + 0) += *(const op2_float2u *)(values + 0);
}
/* piece: op2_put_float_2 */
static inline __attribute__((always_inline)) void op2_put_float_2(float *row, const float *values) {
  *(op2_float2u *)(row + 0) = *(const op2_float2u *)(values + 0);
}
/* piece: res.c */
/* res.c */
void res(const double *x1, const double *x2, const double *q, double *r1, double *r2) {
  double f = eps * (x1[0] - x2[0]) * q[0];
  r1[0] += f;
  r2[1] -= f;
}

/* piece: op2_load_double_2 */
static inline __attribute__((always_inline)) void op2_load_double_2(double *lanes, const double *const *rows) {
  {
    op2_double4 z0 = __builtin_shufflevector(*(const op2_double2u *)(rows[0] + 0), *(const op2_double2u *)(rows[2] + 0), 0, 1, 2, 3);
    op2_double4 z1 = __builtin_shufflevector(*(const op2_double2u *)(rows[1] + 0), *(const op2_double2u *)(rows[3] + 0), 0, 1, 2, 3);
    op2_double4 t;
    t = __builtin_shufflevector(z0, z1, 0, 4, 2, 6);
    z1 = __builtin_shufflevector(z0, z1, 1, 5, 3, 7);
    z0 = t;
    *(op2_double4 *)(lanes + 0) = z0;
    *(op2_double4 *)(lanes + 4) = z1;
  }
}
/* piece: op2_turn_double_2 */
static inline __attribute__((always_inline)) void op2_turn_double_2(double *rows, const double *lanes) {
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 0);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 4);
    op2_double4 t;
    t = __builtin_shufflevector(z0, z1, 0, 4, 2, 6);
    z1 = __builtin_shufflevector(z0, z1, 1, 5, 3, 7);
    z0 = t;
    *(op2_double2u *)(rows + 0) = __builtin_shufflevector(z0, z0, 0, 1);
    *(op2_double2u *)(rows + 2) = __builtin_shufflevector(z1, z1, 0, 1);
    *(op2_double2u *)(rows + 4) = __builtin_shufflevector(z0, z0, 2, 3);
    *(op2_double2u *)(rows + 6) = __builtin_shufflevector(z1, z1, 2, 3);
  }
}
/* piece: op2_add_double_2 */
static inline __attribute__((always_inline)) void op2_add_double_2(double *row, const double *values) {
  *(op2_double2u *)(row + 0) += *(const op2_double2u *)(values + 0);
}
/* piece: op2_put_double_2 */
static inline __attribute__((always_inline)) void op2_put_double_2(double *row, const double *values) {
  *(op2_double2u *)(row + 0) = *(const op2_double2u *)(values + 0);
}
/* piece: res: lanes */
#pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
for (int op2_l = 0; op2_l < 4; op2_l++) {
  double op2_a0[2];
  op2_a0[0] = op2_l0[0 * 4 + op2_l];
  op2_a0[1] = op2_l0[1 * 4 + op2_l];
  double op2_a1[2];
  op2_a1[0] = op2_l1[0 * 4 + op2_l];
  op2_a1[1] = op2_l1[1 * 4 + op2_l];
  double op2_a2[4];
  op2_a2[0] = op2_l2[0 * 4 + op2_l];
  op2_a2[1] = op2_l2[1 * 4 + op2_l];
  op2_a2[2] = op2_l2[2 * 4 + op2_l];
  op2_a2[3] = op2_l2[3 * 4 + op2_l];
  double op2_a3[2];
  op2_a3[0] = -0.0;
  op2_a3[1] = -0.0;
  double op2_a4[2];
  op2_a4[0] = -0.0;
  op2_a4[1] = -0.0;
  res(op2_a0, op2_a1, op2_a2, op2_a3, op2_a4);
  op2_l3[0 * 4 + op2_l] = op2_a3[0];
  op2_l3[1 * 4 + op2_l] = op2_a3[1];
  op2_l4[0 * 4 + op2_l] = op2_a4[0];
  op2_l4[1 * 4 + op2_l] = op2_a4[1];
}
/* piece: res: strip by maps */
double op2_l0[8] __attribute__((aligned(64)));
const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 0], __ATOMIC_RELAXED)};
op2_load_double_2(op2_l0 + 0, (const double *const[4]){op2_d0 + op2_m0_0[0] * 2, op2_d0 + op2_m0_0[1] * 2, op2_d0 + op2_m0_0[2] * 2, op2_d0 + op2_m0_0[3] * 2});
double op2_l1[8] __attribute__((aligned(64)));
const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 1], __ATOMIC_RELAXED)};
op2_load_double_2(op2_l1 + 0, (const double *const[4]){op2_d0 + op2_m0_1[0] * 2, op2_d0 + op2_m0_1[1] * 2, op2_d0 + op2_m0_1[2] * 2, op2_d0 + op2_m0_1[3] * 2});
double op2_l2[16] __attribute__((aligned(64)));
const long op2_m1_0[4] = {(unsigned)__atomic_load_n(&op2_t1[(op2_i + 0) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t1[(op2_i + 1) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t1[(op2_i + 2) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t1[(op2_i + 3) * 2 + 0], __ATOMIC_RELAXED)};
op2_load_double_1(op2_l2 + 0, (const double *const[4]){op2_d1 + 0 * op2_s1 + op2_m1_0[0], op2_d1 + 0 * op2_s1 + op2_m1_0[1], op2_d1 + 0 * op2_s1 + op2_m1_0[2], op2_d1 + 0 * op2_s1 + op2_m1_0[3]});
op2_load_double_1(op2_l2 + 4, (const double *const[4]){op2_d1 + 1 * op2_s1 + op2_m1_0[0], op2_d1 + 1 * op2_s1 + op2_m1_0[1], op2_d1 + 1 * op2_s1 + op2_m1_0[2], op2_d1 + 1 * op2_s1 + op2_m1_0[3]});
op2_load_double_1(op2_l2 + 8, (const double *const[4]){op2_d1 + 2 * op2_s1 + op2_m1_0[0], op2_d1 + 2 * op2_s1 + op2_m1_0[1], op2_d1 + 2 * op2_s1 + op2_m1_0[2], op2_d1 + 2 * op2_s1 + op2_m1_0[3]});
op2_load_double_1(op2_l2 + 12, (const double *const[4]){op2_d1 + 3 * op2_s1 + op2_m1_0[0], op2_d1 + 3 * op2_s1 + op2_m1_0[1], op2_d1 + 3 * op2_s1 + op2_m1_0[2], op2_d1 + 3 * op2_s1 + op2_m1_0[3]});
double op2_l3[8] __attribute__((aligned(64)));
double op2_l4[8] __attribute__((aligned(64)));
/* shared: res: lanes */
const long op2_m1_1[4] = {(unsigned)__atomic_load_n(&op2_t1[(op2_i + 0) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t1[(op2_i + 1) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t1[(op2_i + 2) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t1[(op2_i + 3) * 2 + 1], __ATOMIC_RELAXED)};
double op2_r3[8] __attribute__((aligned(64)));
op2_turn_double_2(op2_r3 + 0, op2_l3 + 0);
double op2_r4[8] __attribute__((aligned(64)));
op2_turn_double_2(op2_r4 + 0, op2_l4 + 0);
op2_add_double_2(op2_d2 + op2_m1_0[0] * 2, op2_r3 + 0);
op2_add_double_2(op2_d2 + op2_m1_1[0] * 2, op2_r4 + 0);
op2_add_double_2(op2_d2 + op2_m1_0[1] * 2, op2_r3 + 2);
op2_add_double_2(op2_d2 + op2_m1_1[1] * 2, op2_r4 + 2);
op2_add_double_2(op2_d2 + op2_m1_0[2] * 2, op2_r3 + 4);
op2_add_double_2(op2_d2 + op2_m1_1[2] * 2, op2_r4 + 4);
op2_add_double_2(op2_d2 + op2_m1_0[3] * 2, op2_r3 + 6);
op2_add_double_2(op2_d2 + op2_m1_1[3] * 2, op2_r4 + 6);
/* piece: res: element */
const int op2_m0_0 = op2_t0[op2_e * 2 + 0];
const int op2_m0_1 = op2_t0[op2_e * 2 + 1];
const int op2_m1_0 = op2_t1[op2_e * 2 + 0];
const int op2_m1_1 = op2_t1[op2_e * 2 + 1];
double op2_a2[4];
op2_a2[0 + 0] = op2_d1[0 * op2_s1 + op2_m1_0];
op2_a2[0 + 1] = op2_d1[1 * op2_s1 + op2_m1_0];
op2_a2[0 + 2] = op2_d1[2 * op2_s1 + op2_m1_0];
op2_a2[0 + 3] = op2_d1[3 * op2_s1 + op2_m1_0];
res(op2_d0 + op2_m0_0 * 2, op2_d0 + op2_m0_1 * 2, op2_a2, op2_d2 + op2_m1_0 * 2, op2_d2 + op2_m1_1 * 2);
/* piece: add: lanes */
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
/* piece: add: strip to targets */
op2_add_double_3(op2_d0 + op2_m0_0[0] * 3, op2_r1 + 0);
op2_add_double_3(op2_d0 + op2_m0_1[0] * 3, op2_r2 + 0);
op2_add_double_3(op2_d0 + op2_m0_0[1] * 3, op2_r1 + 4);
op2_add_double_3(op2_d0 + op2_m0_1[1] * 3, op2_r2 + 4);
op2_add_double_3(op2_d0 + op2_m0_0[2] * 3, op2_r1 + 8);
op2_add_double_3(op2_d0 + op2_m0_1[2] * 3, op2_r2 + 8);
op2_add_double_3(op2_d0 + op2_m0_0[3] * 3, op2_r1 + 12);
op2_add_double_3(op2_d0 + op2_m0_1[3] * 3, op2_r2 + 12);
/* piece: blocks: lanes of rows of one */
#pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
for (int op2_l = 0; op2_l < 4; op2_l++) {
  double op2_a0[9];
  op2_a0[0] = op2_l0[0 * 4 + op2_l];
  op2_a0[1] = op2_l0[1 * 4 + op2_l];
  op2_a0[2] = op2_l0[2 * 4 + op2_l];
  op2_a0[3] = op2_l0[3 * 4 + op2_l];
  op2_a0[4] = op2_l0[4 * 4 + op2_l];
  op2_a0[5] = op2_l0[5 * 4 + op2_l];
  op2_a0[6] = op2_l0[6 * 4 + op2_l];
  op2_a0[7] = op2_l0[7 * 4 + op2_l];
  op2_a0[8] = op2_l0[8 * 4 + op2_l];
  const double *op2_v0[4] = {op2_a0, (const double *)0, (const double *)-9L, (const double *)1L};
  double op2_a1[3];
  op2_a1[0] = op2_l1[0 * 4 + op2_l];
  op2_a1[1] = op2_l1[1 * 4 + op2_l];
  op2_a1[2] = op2_l1[2 * 4 + op2_l];
  const double *op2_v1[4] = {op2_a1, (const double *)0, (const double *)-3L, (const double *)1L};
  double op2_a2[3];
  blocks(op2_count0, op2_v0, op2_v1, op2_a2);
  op2_l2[0 * 4 + op2_l] = op2_a2[0];
  op2_l2[1 * 4 + op2_l] = op2_a2[1];
  op2_l2[2 * 4 + op2_l] = op2_a2[2];
}
/* piece: blocks: lanes of rows of two */
#pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
for (int op2_l = 0; op2_l < 4; op2_l++) {
  double op2_a0[18];
  for (int op2_c = 0; op2_c < 18; op2_c++) {
    op2_a0[op2_c] = op2_l0[op2_c * 4 + op2_l];
  }
  const double *op2_v0[4] = {op2_a0, (const double *)0, (const double *)-9L, (const double *)2L};
  double op2_a1[6];
  op2_a1[0] = op2_l1[0 * 4 + op2_l];
  op2_a1[1] = op2_l1[1 * 4 + op2_l];
  op2_a1[2] = op2_l1[2 * 4 + op2_l];
  op2_a1[3] = op2_l1[3 * 4 + op2_l];
  op2_a1[4] = op2_l1[4 * 4 + op2_l];
  op2_a1[5] = op2_l1[5 * 4 + op2_l];
  const double *op2_v1[4] = {op2_a1, (const double *)0, (const double *)-3L, (const double *)2L};
  double op2_a2[3];
  blocks(op2_count0, op2_v0, op2_v1, op2_a2);
  op2_l2[0 * 4 + op2_l] = op2_a2[0];
  op2_l2[1 * 4 + op2_l] = op2_a2[1];
  op2_l2[2 * 4 + op2_l] = op2_a2[2];
}
/* piece: blocks: element */
const op2_longlong op2_first0 = op2_z0[op2_e];
const int op2_count0 = (int)(op2_z0[op2_e + 1] - op2_first0);
const double *op2_v0[4] = {op2_d0 + op2_first0 * 9, (const double *)0, (const double *)(long)-9, (const double *)(long)op2_count0};
const double *op2_v1[4] = {op2_d1, (const double *)(op2_t0 + op2_first0), (const double *)(long)3, (const double *)(long)op2_count0};
blocks(op2_count0, op2_v0, op2_v1, op2_d2 + op2_e * 3);
/* piece: count: strip by maps */
const int op2_m0_0[4] = {op2_t0[(op2_i + 0) * 2 + 0], op2_t0[(op2_i + 1) * 2 + 0], op2_t0[(op2_i + 2) * 2 + 0], op2_t0[(op2_i + 3) * 2 + 0]};
const int op2_m0_1[4] = {op2_t0[(op2_i + 0) * 2 + 1], op2_t0[(op2_i + 1) * 2 + 1], op2_t0[(op2_i + 2) * 2 + 1], op2_t0[(op2_i + 3) * 2 + 1]};
int op2_l1[8] __attribute__((aligned(64)));
for (int op2_l = 0; op2_l < 4; op2_l++) {
  op2_l1[0 + op2_l] = op2_x1[op2_m0_0[op2_l]];
  op2_l1[4 + op2_l] = op2_x1[op2_m0_1[op2_l]];
}
int op2_l2[4] __attribute__((aligned(64)));
#pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
for (int op2_l = 0; op2_l < 4; op2_l++) {
  int op2_a0[1];
  op2_a0[0] = (int)(op2_i + 0) + op2_l;
  int op2_a1[2];
  op2_a1[0] = op2_l1[0 * 4 + op2_l];
  op2_a1[1] = op2_l1[1 * 4 + op2_l];
  int op2_a2[1];
  op2_a2[0] = 0;
  count(op2_a0, op2_a1, op2_a2);
  op2_l2[0 * 4 + op2_l] = op2_a2[0];
}
for (int op2_l = 0; op2_l < 4; op2_l++) {
  op2_k2[0 * 4 + op2_l] += op2_l2[0 * 4 + op2_l];
}
/* piece: count: element */
const int op2_m0_0 = op2_t0[op2_e * 2 + 0];
const int op2_m0_1 = op2_t0[op2_e * 2 + 1];
int op2_a0[1];
op2_a0[0] = (int)op2_e;
int op2_a1[2];
op2_a1[0] = op2_x1[op2_m0_0];
op2_a1[1] = op2_x1[op2_m0_1];
count(op2_a0, op2_a1, op2_a2);
/* piece: extremes: element */
int op2_a1[1];
op2_a1[0] = op2_x0[op2_e];
float op2_a2[3];
float op2_a4[1] = {*op2_b4};
int op2_a5[1];
extremes(op2_d0 + op2_e, op2_a1, op2_a2, op2_a3, op2_a4, op2_a5);
const long long op2_i4 = op2_x0[op2_e];
const int op2_n4 = op2_a4[0] != op2_a4[0], op2_o4 = op2_g4[0] != op2_g4[0];
const int op2_w4 = op2_a4[0] > op2_g4[0] || (op2_b4[0] != op2_b4[0] ? op2_o4 && !op2_n4 : op2_n4 && !op2_o4), op2_q4 = op2_a4[0] == op2_g4[0] || (op2_n4 && op2_o4);
if (op2_w4 || (op2_q4 && op2_i4 < op2_g5->element)) {
  op2_g4[0] = op2_a4[0];
  op2_g5->element = op2_i4;
  op2_g5->payload[0] = op2_a5[0];
}
/* piece: five: lanes */
#pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
for (int op2_l = 0; op2_l < 4; op2_l++) {
  double op2_a0[5];
  op2_a0[0] = op2_l0[0 * 4 + op2_l];
  op2_a0[1] = op2_l0[1 * 4 + op2_l];
  op2_a0[2] = op2_l0[2 * 4 + op2_l];
  op2_a0[3] = op2_l0[3 * 4 + op2_l];
  op2_a0[4] = op2_l0[4 * 4 + op2_l];
  const double *op2_v0[4] = {op2_a0, (const double *)0, (const double *)-1L, (const double *)5L};
  double op2_a1[5];
  op2_a1[0] = op2_l1[0 * 4 + op2_l];
  op2_a1[1] = op2_l1[1 * 4 + op2_l];
  op2_a1[2] = op2_l1[2 * 4 + op2_l];
  op2_a1[3] = op2_l1[3 * 4 + op2_l];
  op2_a1[4] = op2_l1[4 * 4 + op2_l];
  const double *op2_v1[4] = {op2_a1, (const double *)0, (const double *)-1L, (const double *)5L};
  double op2_a2[1];
  five(op2_count0, op2_v0, op2_v1, op2_a2);
  op2_l2[0 * 4 + op2_l] = op2_a2[0];
}
/* piece: axpy+dot: element */
double op2_a2[1];
double op2_a3[1];
op2_a3[0 + 0] = op2_d2[op2_e * 1 + 0];
axpy(op2_g0, op2_d0 + op2_e, op2_a2, op2_a3);
dot(op2_a3, op2_a2, op2_a4);
op2_d2[op2_e * 1 + 0] = op2_a3[0 + 0];
/* piece: subtract+norm: element */
double op2_a1[1];
op2_a1[0 + 0] = op2_d1[op2_e * 1 + 0];
subtract(op2_d0 + op2_e, op2_a1, op2_g2);
norm(op2_a1, op2_a3);
op2_d1[op2_e * 1 + 0] = op2_a1[0 + 0];
/* piece: update+save_soln+adt_calc: element */
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
