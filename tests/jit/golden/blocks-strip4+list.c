/* Made by op2jit (generator 21): loop blocks, strip4+list, contract. */
#pragma op2jit rolled
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
static inline __attribute__((always_inline)) void op2_add_double_9(double *row, const double *values) {
  *(op2_double8u *)(row + 0) += *(const op2_double8u *)(values + 0);
  row[8] += values[8];
}
static inline __attribute__((always_inline)) void op2_put_double_9(double *row, const double *values) {
  *(op2_double8u *)(row + 0) = *(const op2_double8u *)(values + 0);
  row[8] = values[8];
}
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
static inline __attribute__((always_inline)) void op2_add_double_18(double *row, const double *values) {
  *(op2_double8u *)(row + 0) += *(const op2_double8u *)(values + 0);
  *(op2_double8u *)(row + 8) += *(const op2_double8u *)(values + 8);
  *(op2_double2u *)(row + 16) += *(const op2_double2u *)(values + 16);
}
static inline __attribute__((always_inline)) void op2_put_double_18(double *row, const double *values) {
  *(op2_double8u *)(row + 0) = *(const op2_double8u *)(values + 0);
  *(op2_double8u *)(row + 8) = *(const op2_double8u *)(values + 8);
  *(op2_double2u *)(row + 16) = *(const op2_double2u *)(values + 16);
}
static inline __attribute__((always_inline, internal_linkage)) void blocks();
#pragma clang diagnostic pop
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#pragma GCC visibility push(hidden)
#pragma clang diagnostic push
#include "blocks.c"
#pragma clang diagnostic pop
#pragma GCC visibility pop
#pragma clang attribute pop
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#pragma clang diagnostic ignored "-Wint-conversion"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wincompatible-pointer-types-discards-qualifiers"
static void op2_loop(const double *restrict op2_d0, const double *restrict op2_d1, double *restrict op2_d2, const int *restrict op2_t0, const op2_longlong *restrict op2_z0, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  while (op2_i < op2_end) {
    const long op2_stop = op2_end - op2_i < 4 ? op2_end : op2_i + 4;
    if (op2_stop - op2_i == 4) {
      op2_longlong op2_f0[4], op2_n, op2_differ = 0;
      for (int op2_l = 0; op2_l < 4; op2_l++) {
        op2_f0[op2_l] = op2_z0[op2_list[op2_i + op2_l]];
      }
      op2_n = op2_z0[op2_list[op2_i] + 1] - op2_f0[0];
      for (int op2_l = 1; op2_l < 4; op2_l++) {
        op2_differ |= op2_z0[op2_list[op2_i + op2_l] + 1] - op2_f0[op2_l] - op2_n;
      }
      op2_n = op2_differ ? 0 : op2_n;
      if (op2_n == 1) {
        for (long op2_p = op2_i + 32; op2_p < op2_i + 36 && op2_p < op2_end; op2_p++) {
          const long op2_q = op2_list[op2_p];
          __builtin_prefetch(op2_z0 + op2_q);
          __builtin_prefetch(op2_d2 + op2_q * 3);
        }
        const int op2_count0 = 1;
        const long op2_e[4] = {op2_list[op2_i + 0], op2_list[op2_i + 1], op2_list[op2_i + 2], op2_list[op2_i + 3]};
        double op2_l0[36] __attribute__((aligned(64)));
        op2_load_double_9(op2_l0 + 0, (const double *const[4]){op2_d0 + op2_f0[0] * 9, op2_d0 + op2_f0[1] * 9, op2_d0 + op2_f0[2] * 9, op2_d0 + op2_f0[3] * 9});
        double op2_l1[12] __attribute__((aligned(64)));
        const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[op2_f0[0] + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_f0[1] + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_f0[2] + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_f0[3] + 0], __ATOMIC_RELAXED)};
        op2_load_double_3(op2_l1 + 0, (const double *const[4]){op2_d1 + op2_m0_0[0] * 3, op2_d1 + op2_m0_0[1] * 3, op2_d1 + op2_m0_0[2] * 3, op2_d1 + op2_m0_0[3] * 3});
        double op2_l2[12] __attribute__((aligned(64)));
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
        double op2_r2[16] __attribute__((aligned(64)));
        op2_turn_double_3(op2_r2 + 0, op2_l2 + 0);
        op2_put_double_3(op2_d2 + op2_e[0] * 3, op2_r2 + 0);
        op2_put_double_3(op2_d2 + op2_e[1] * 3, op2_r2 + 4);
        op2_put_double_3(op2_d2 + op2_e[2] * 3, op2_r2 + 8);
        op2_put_double_3(op2_d2 + op2_e[3] * 3, op2_r2 + 12);
        op2_i += 4;
        continue;
      }
      if (op2_n == 2) {
        for (long op2_p = op2_i + 32; op2_p < op2_i + 36 && op2_p < op2_end; op2_p++) {
          const long op2_q = op2_list[op2_p];
          __builtin_prefetch(op2_z0 + op2_q);
          __builtin_prefetch(op2_d2 + op2_q * 3);
        }
        const int op2_count0 = 2;
        const long op2_e[4] = {op2_list[op2_i + 0], op2_list[op2_i + 1], op2_list[op2_i + 2], op2_list[op2_i + 3]};
        double op2_l0[72] __attribute__((aligned(64)));
        op2_load_double_18(op2_l0 + 0, (const double *const[4]){op2_d0 + op2_f0[0] * 9, op2_d0 + op2_f0[1] * 9, op2_d0 + op2_f0[2] * 9, op2_d0 + op2_f0[3] * 9});
        double op2_l1[24] __attribute__((aligned(64)));
        const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[op2_f0[0] + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_f0[1] + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_f0[2] + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_f0[3] + 0], __ATOMIC_RELAXED)};
        op2_load_double_3(op2_l1 + 0, (const double *const[4]){op2_d1 + op2_m0_0[0] * 3, op2_d1 + op2_m0_0[1] * 3, op2_d1 + op2_m0_0[2] * 3, op2_d1 + op2_m0_0[3] * 3});
        const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[op2_f0[0] + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_f0[1] + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_f0[2] + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[op2_f0[3] + 1], __ATOMIC_RELAXED)};
        op2_load_double_3(op2_l1 + 12, (const double *const[4]){op2_d1 + op2_m0_1[0] * 3, op2_d1 + op2_m0_1[1] * 3, op2_d1 + op2_m0_1[2] * 3, op2_d1 + op2_m0_1[3] * 3});
        double op2_l2[12] __attribute__((aligned(64)));
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
        double op2_r2[16] __attribute__((aligned(64)));
        op2_turn_double_3(op2_r2 + 0, op2_l2 + 0);
        op2_put_double_3(op2_d2 + op2_e[0] * 3, op2_r2 + 0);
        op2_put_double_3(op2_d2 + op2_e[1] * 3, op2_r2 + 4);
        op2_put_double_3(op2_d2 + op2_e[2] * 3, op2_r2 + 8);
        op2_put_double_3(op2_d2 + op2_e[3] * 3, op2_r2 + 12);
        op2_i += 4;
        continue;
      }
    }
    #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
    for (; op2_i < op2_stop; op2_i++) {
      for (long op2_p = op2_i + 32; op2_p < op2_i + 33 && op2_p < op2_end; op2_p++) {
        const long op2_q = op2_list[op2_p];
        __builtin_prefetch(op2_z0 + op2_q);
        __builtin_prefetch(op2_d2 + op2_q * 3);
      }
      const long op2_e = op2_list[op2_i];
      const op2_longlong op2_first0 = op2_z0[op2_e];
      const int op2_count0 = (int)(op2_z0[op2_e + 1] - op2_first0);
      const double *op2_v0[4] = {op2_d0 + op2_first0 * 9, (const double *)0, (const double *)(long)-9, (const double *)(long)op2_count0};
      const double *op2_v1[4] = {op2_d1, (const double *)(op2_t0 + op2_first0), (const double *)(long)3, (const double *)(long)op2_count0};
      blocks(op2_count0, op2_v0, op2_v1, op2_d2 + op2_e * 3);
    }
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    for (long op2_p = op2_i + 32; op2_p < op2_i + 33 && op2_p < op2_end; op2_p++) {
      const long op2_q = op2_list[op2_p];
      __builtin_prefetch(op2_z0 + op2_q);
      __builtin_prefetch(op2_d2 + op2_q * 3);
    }
    const long op2_e = op2_list[op2_i];
    const op2_longlong op2_first0 = op2_z0[op2_e];
    const int op2_count0 = (int)(op2_z0[op2_e + 1] - op2_first0);
    const double *op2_v0[4] = {op2_d0 + op2_first0 * 9, (const double *)0, (const double *)(long)-9, (const double *)(long)op2_count0};
    const double *op2_v1[4] = {op2_d1, (const double *)(op2_t0 + op2_first0), (const double *)(long)3, (const double *)(long)op2_count0};
    blocks(op2_count0, op2_v0, op2_v1, op2_d2 + op2_e * 3);
  }
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_frame[3], op2_frame[17], op2_list, op2_begin, op2_end);
}
/* blocks.c */
void blocks(int n, const double **a, const double **x, double *y) {
  y[0] = y[1] = y[2] = 0;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 9; i++)
      y[i / 3] += OP_ROW(a, k)[i] * OP_ROW(x, k)[i % 3];
}

