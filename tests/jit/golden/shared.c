/* What several golden files have, each piece behind its name: a line with the name stands for it there. */
/* shared: prologue */
#include "op2jit_prelude.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#define op2jit_assert(c, words) ((void)0)
typedef long long __attribute__((may_alias)) op2_longlong;
typedef unsigned long long __attribute__((may_alias)) op2_ulonglong;
/* shared: vectors of double */
typedef double op2_double2 __attribute__((vector_size(16), may_alias));
typedef double op2_double2u __attribute__((vector_size(16), aligned(8), may_alias));
typedef double op2_double4 __attribute__((vector_size(32), may_alias));
typedef double op2_double4u __attribute__((vector_size(32), aligned(8), may_alias));
typedef double op2_double8 __attribute__((vector_size(64), may_alias));
typedef double op2_double8u __attribute__((vector_size(64), aligned(8), may_alias));
/* shared: vectors of float */
typedef float op2_float2 __attribute__((vector_size(8), may_alias));
typedef float op2_float2u __attribute__((vector_size(8), aligned(4), may_alias));
typedef float op2_float4 __attribute__((vector_size(16), may_alias));
typedef float op2_float4u __attribute__((vector_size(16), aligned(4), may_alias));
typedef float op2_float8 __attribute__((vector_size(32), may_alias));
typedef float op2_float8u __attribute__((vector_size(32), aligned(4), may_alias));
/* shared: before the kernel */
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#pragma clang diagnostic push
/* shared: behind the kernel */
#pragma clang diagnostic pop
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
/* shared: op2_load_double_3 */
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
/* shared: op2_turn_double_3 */
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
/* shared: op2_add_double_3 */
static inline __attribute__((always_inline)) void op2_add_double_3(double *row, const double *values) {
  *(op2_double2u *)(row + 0) += *(const op2_double2u *)(values + 0);
  row[2] += values[2];
}
/* shared: op2_put_double_3 */
static inline __attribute__((always_inline)) void op2_put_double_3(double *row, const double *values) {
  *(op2_double2u *)(row + 0) = *(const op2_double2u *)(values + 0);
  row[2] = values[2];
}
/* shared: add.c */
/* add.c */
void add(const double *x, double *y1, double *y2) { for (int n = 0; n < 3; n++) { double f = x[n] / 3; y1[n] += f; y2[n] -= f; } }

/* shared: op2_find_range */
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
/* shared: axpy+dot.c */
/* axpy+dot.c */
void axpy(const double *a, const double *x, double *t, double *y) {
  *t = *a * *x;
  *y += *t;
}
void dot(const double *y, const double *t, double *sum) {
  *sum += *y * *t;
}

/* shared: op2_load_double_1 */
static inline __attribute__((always_inline)) void op2_load_double_1(double *lanes, const double *const *rows) {
  {
    op2_double4 z0 = {rows[0][0], rows[1][0], rows[2][0], rows[3][0]};
    *(op2_double4 *)(lanes + 0) = z0;
  }
}
/* shared: op2_load_double_9 */
static inline __attribute__((always_inline)) void op2_load_double_9(double *lanes, const double *const *rows) {
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
    *(op2_double4 *)(lanes + 12) = z3;
  }
  {
    op2_double4 z0 = *(const op2_double4u *)(rows[0] + 4);
    op2_double4 z1 = *(const op2_double4u *)(rows[1] + 4);
    op2_double4 z2 = *(const op2_double4u *)(rows[2] + 4);
    op2_double4 z3 = *(const op2_double4u *)(rows[3] + 4);
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
/* shared: op2_turn_double_9 */
static inline __attribute__((always_inline)) void op2_turn_double_9(double *rows, const double *lanes) {
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 0);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 4);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 8);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 12);
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
    *(op2_double4u *)(rows + 9) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 18) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 27) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 16);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 20);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 24);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 28);
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
/* shared: op2_add_double_9 */
static inline __attribute__((always_inline)) void op2_add_double_9(double *row, const double *values) {
  *(op2_double8u *)(row + 0) += *(const op2_double8u *)(values + 0);
  row[8] += values[8];
}
/* shared: op2_put_double_9 */
static inline __attribute__((always_inline)) void op2_put_double_9(double *row, const double *values) {
  *(op2_double8u *)(row + 0) = *(const op2_double8u *)(values + 0);
  row[8] = values[8];
}
/* shared: op2_load_double_18 */
static inline __attribute__((always_inline)) void op2_load_double_18(double *lanes, const double *const *rows) {
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
    *(op2_double4 *)(lanes + 12) = z3;
  }
  {
    op2_double4 z0 = *(const op2_double4u *)(rows[0] + 4);
    op2_double4 z1 = *(const op2_double4u *)(rows[1] + 4);
    op2_double4 z2 = *(const op2_double4u *)(rows[2] + 4);
    op2_double4 z3 = *(const op2_double4u *)(rows[3] + 4);
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
/* shared: op2_turn_double_18 */
static inline __attribute__((always_inline)) void op2_turn_double_18(double *rows, const double *lanes) {
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 0);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 4);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 8);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 12);
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
    *(op2_double4u *)(rows + 18) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 36) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 54) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 16);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 20);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 24);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 28);
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
/* shared: op2_add_double_18 */
static inline __attribute__((always_inline)) void op2_add_double_18(double *row, const double *values) {
  *(op2_double8u *)(row + 0) += *(const op2_double8u *)(values + 0);
  *(op2_double8u *)(row + 8) += *(const op2_double8u *)(values + 8);
  *(op2_double2u *)(row + 16) += *(const op2_double2u *)(values + 16);
}
/* shared: op2_put_double_18 */
static inline __attribute__((always_inline)) void op2_put_double_18(double *row, const double *values) {
  *(op2_double8u *)(row + 0) = *(const op2_double8u *)(values + 0);
  *(op2_double8u *)(row + 8) = *(const op2_double8u *)(values + 8);
  *(op2_double2u *)(row + 16) = *(const op2_double2u *)(values + 16);
}
/* shared: blocks.c */
/* blocks.c */
void blocks(int n, const double **a, const double **x, double *y) {
  y[0] = y[1] = y[2] = 0;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 9; i++)
      y[i / 3] += OP_ROW(a, k)[i] * OP_ROW(x, k)[i % 3];
}

/* shared: count.c */
/* count.c */
void count(const int *e, const int t[2], int *sum) {
  *sum += e[0] - t[0] - t[1];
}

/* shared: extremes.c */
/* extremes.c */
void extremes(const float *a, const int *e, float *w, int *count, float *most, int *where) {
  w[0] = a[0] * late;
  ++*count;
  if (w[0] > *most) {
    *most = w[0];
    *where = *e;
  }
}

/* shared: op2_load_float_1 */
static inline __attribute__((always_inline)) void op2_load_float_1(float *lanes, const float *const *rows) {
  {
    op2_float4 z0 = {rows[0][0], rows[1][0], rows[2][0], rows[3][0]};
    *(op2_float4 *)(lanes + 0) = z0;
  }
}
/* shared: op2_load_float_2 */
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
/* shared: op2_turn_float_2 */
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
/* shared: op2_add_float_2 */
static inline __attribute__((always_inline)) void op2_add_float_2(float *row, const float *values) {
  *(op2_float2u *)(row + 0) += *(const op2_float2u *)(values + 0);
}
/* shared: op2_put_float_2 */
static inline __attribute__((always_inline)) void op2_put_float_2(float *row, const float *values) {
  *(op2_float2u *)(row + 0) = *(const op2_float2u *)(values + 0);
}
/* shared: res.c */
/* res.c */
void res(const double *x1, const double *x2, const double *q, double *r1, double *r2) {
  double f = eps * (x1[0] - x2[0]) * q[0];
  r1[0] += f;
  r2[1] -= f;
}

/* shared: op2_load_double_2 */
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
/* shared: op2_turn_double_2 */
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
/* shared: op2_add_double_2 */
static inline __attribute__((always_inline)) void op2_add_double_2(double *row, const double *values) {
  *(op2_double2u *)(row + 0) += *(const op2_double2u *)(values + 0);
}
/* shared: op2_put_double_2 */
static inline __attribute__((always_inline)) void op2_put_double_2(double *row, const double *values) {
  *(op2_double2u *)(row + 0) = *(const op2_double2u *)(values + 0);
}
