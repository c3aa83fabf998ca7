/* Made by op2jit (generator 21): loop five, strip4+straight, contract. */
/* shared: prologue */
/* shared: vectors of double */
/* shared: op2_load_double_1 */
static inline __attribute__((always_inline)) void op2_load_double_5(double *lanes, const double *const *rows) {
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
    op2_double4 z0 = {rows[0][4], rows[1][4], rows[2][4], rows[3][4]};
    *(op2_double4 *)(lanes + 16) = z0;
  }
}
static inline __attribute__((always_inline)) void op2_turn_double_5(double *rows, const double *lanes) {
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 0);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 4);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 8);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 12);
    /* shared: turn four by four */
    *(op2_double4u *)(rows + 0) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 5) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 10) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 15) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 16);
    rows[4] = z0[0];
    rows[9] = z0[1];
    rows[14] = z0[2];
    rows[19] = z0[3];
  }
}
static inline __attribute__((always_inline)) void op2_add_double_5(double *row, const double *values) {
  *(op2_double4u *)(row + 0) += *(const op2_double4u *)(values + 0);
  row[4] += values[4];
}
static inline __attribute__((always_inline)) void op2_put_double_5(double *row, const double *values) {
  *(op2_double4u *)(row + 0) = *(const op2_double4u *)(values + 0);
  row[4] = values[4];
}
static const int *op2_find_range(const int *op2_u, long op2_begin) {
  long op2_low = 0, op2_count = op2_u[0];
  const int *op2_first = op2_u + 1;
  if (op2_count > 0 && op2_begin < op2_first[(op2_count - 1) * 7 + 1]) {
    const int *op2_guess = op2_first + op2_begin * op2_count / op2_first[(op2_count - 1) * 7 + 1] * 7;
    if (op2_guess[0] <= op2_begin && op2_begin < op2_guess[1]) return op2_guess;
  }
  while (op2_count > 0) {
    const long op2_half = (op2_count + 1) / 2;
    const _Bool op2_later = op2_first[(op2_low + op2_half - 1) * 7 + 1] <= op2_begin;
    op2_low += __builtin_unpredictable(op2_later) ? op2_half : 0;
    op2_count -= op2_half;
  }
  return op2_first + op2_low * 7;
}
static inline __attribute__((always_inline, internal_linkage)) void five();
/* shared: before the kernel */
#include "five.c"
/* shared: behind the kernel */
static void op2_loop(const double *restrict op2_d0, const double *restrict op2_d1, double *restrict op2_d2, const int *restrict op2_t0, const op2_longlong *restrict op2_z0, const int *restrict op2_u, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  const int *op2_range = op2_find_range(op2_u, op2_begin);
  while (op2_i + 4 <= op2_end) {
    if (op2_range[1] <= op2_i) {
      op2_range += 7;
      continue;
    }
    if (__builtin_expect(op2_range[0] <= op2_i, 1)) {
      const long op2_stop = op2_range[1] < op2_end ? op2_range[1] : op2_end;
      const long op2_o0_0 = op2_range[2];
      const long op2_o0_1 = op2_range[3];
      const long op2_o0_2 = op2_range[4];
      const long op2_o0_3 = op2_range[5];
      const long op2_o0_4 = op2_range[6];
      for (; op2_i + 4 <= op2_stop; op2_i += 4) {
        const int op2_count0 = 5;
        double op2_l0[20] __attribute__((aligned(64)));
        op2_load_double_5(op2_l0 + 0, (const double *const[4]){op2_d0 + (op2_i + 0) * 5, op2_d0 + (op2_i + 1) * 5, op2_d0 + (op2_i + 2) * 5, op2_d0 + (op2_i + 3) * 5});
        double op2_l1[20] __attribute__((aligned(64)));
        __builtin_memcpy(op2_l1 + 0, op2_d1 + (op2_i + op2_o0_0 + 0), sizeof(double) * 4);
        __builtin_memcpy(op2_l1 + 4, op2_d1 + (op2_i + op2_o0_1 + 0), sizeof(double) * 4);
        __builtin_memcpy(op2_l1 + 8, op2_d1 + (op2_i + op2_o0_2 + 0), sizeof(double) * 4);
        __builtin_memcpy(op2_l1 + 12, op2_d1 + (op2_i + op2_o0_3 + 0), sizeof(double) * 4);
        __builtin_memcpy(op2_l1 + 16, op2_d1 + (op2_i + op2_o0_4 + 0), sizeof(double) * 4);
        double op2_l2[4] __attribute__((aligned(64)));
        /* shared: five: lanes */
        __builtin_memcpy(op2_d2 + (op2_i + 0), op2_l2 + 0, sizeof(double) * 4);
      }
      if (__builtin_expect(op2_i + 4 > op2_end || op2_range[1] <= op2_i, 1)) {
        continue;
      }
    }
    const int op2_count0 = 5;
    double op2_l0[20] __attribute__((aligned(64)));
    op2_load_double_5(op2_l0 + 0, (const double *const[4]){op2_d0 + (op2_i + 0) * 5, op2_d0 + (op2_i + 1) * 5, op2_d0 + (op2_i + 2) * 5, op2_d0 + (op2_i + 3) * 5});
    double op2_l1[20] __attribute__((aligned(64)));
    const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 5 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 5 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 5 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 5 + 0], __ATOMIC_RELAXED)};
    op2_load_double_1(op2_l1 + 0, (const double *const[4]){op2_d1 + op2_m0_0[0], op2_d1 + op2_m0_0[1], op2_d1 + op2_m0_0[2], op2_d1 + op2_m0_0[3]});
    const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 5 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 5 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 5 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 5 + 1], __ATOMIC_RELAXED)};
    op2_load_double_1(op2_l1 + 4, (const double *const[4]){op2_d1 + op2_m0_1[0], op2_d1 + op2_m0_1[1], op2_d1 + op2_m0_1[2], op2_d1 + op2_m0_1[3]});
    const long op2_m0_2[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 5 + 2], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 5 + 2], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 5 + 2], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 5 + 2], __ATOMIC_RELAXED)};
    op2_load_double_1(op2_l1 + 8, (const double *const[4]){op2_d1 + op2_m0_2[0], op2_d1 + op2_m0_2[1], op2_d1 + op2_m0_2[2], op2_d1 + op2_m0_2[3]});
    const long op2_m0_3[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 5 + 3], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 5 + 3], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 5 + 3], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 5 + 3], __ATOMIC_RELAXED)};
    op2_load_double_1(op2_l1 + 12, (const double *const[4]){op2_d1 + op2_m0_3[0], op2_d1 + op2_m0_3[1], op2_d1 + op2_m0_3[2], op2_d1 + op2_m0_3[3]});
    const long op2_m0_4[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 5 + 4], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 5 + 4], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 5 + 4], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 5 + 4], __ATOMIC_RELAXED)};
    op2_load_double_1(op2_l1 + 16, (const double *const[4]){op2_d1 + op2_m0_4[0], op2_d1 + op2_m0_4[1], op2_d1 + op2_m0_4[2], op2_d1 + op2_m0_4[3]});
    double op2_l2[4] __attribute__((aligned(64)));
    /* shared: five: lanes */
    __builtin_memcpy(op2_d2 + (op2_i + 0), op2_l2 + 0, sizeof(double) * 4);
    op2_i += 4;
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    const op2_longlong op2_first0 = (op2_longlong)op2_e * 5;
    const int op2_count0 = 5;
    const double *op2_v0[4] = {op2_d0 + op2_first0 * 1, (const double *)0, (const double *)(long)-1, (const double *)(long)op2_count0};
    const double *op2_v1[4] = {op2_d1, (const double *)(op2_t0 + op2_first0), (const double *)(long)1, (const double *)(long)op2_count0};
    five(op2_count0, op2_v0, op2_v1, op2_d2 + op2_e);
  }
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_frame[3], op2_frame[17], op2_frame[16], op2_list, op2_begin, op2_end);
}
/* five.c */
void five(int n, const double **a, const double **x, double *y) {
  double sum = 0;
  OP_ANY_ORDER
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(a, k) * *OP_ROW(x, k);
  *y = sum;
}

