/* Made by op2jit (generator 21): loop update+save_soln+adt_calc, strip4, contract. */
/* shared: prologue */
static const double gam __attribute__((unused)) = 0x1.666666p+0;
static const double gm1 __attribute__((unused)) = 0x1.999998p-2;
static const double cfl __attribute__((unused)) = 0x1.ccccccp-1;
/* shared: vectors of double */
static inline __attribute__((always_inline)) void op2_load_double_4(double *lanes, const double *const *rows) {
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
}
static inline __attribute__((always_inline)) void op2_turn_double_4(double *rows, const double *lanes) {
  {
    op2_double4 z0 = *(const op2_double4 *)(lanes + 0);
    op2_double4 z1 = *(const op2_double4 *)(lanes + 4);
    op2_double4 z2 = *(const op2_double4 *)(lanes + 8);
    op2_double4 z3 = *(const op2_double4 *)(lanes + 12);
    /* shared: turn four by four */
    *(op2_double4u *)(rows + 0) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 4) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 8) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_double4u *)(rows + 12) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
}
static inline __attribute__((always_inline)) void op2_add_double_4(double *row, const double *values) {
  *(op2_double4u *)(row + 0) += *(const op2_double4u *)(values + 0);
}
static inline __attribute__((always_inline)) void op2_put_double_4(double *row, const double *values) {
  *(op2_double4u *)(row + 0) = *(const op2_double4u *)(values + 0);
}
/* shared: op2_load_double_1 */
/* shared: op2_load_double_2 */
/* shared: op2_turn_double_2 */
/* shared: op2_add_double_2 */
/* shared: op2_put_double_2 */
static inline __attribute__((always_inline, internal_linkage)) void update();
static inline __attribute__((always_inline, internal_linkage)) void save_soln();
static inline __attribute__((always_inline, internal_linkage)) void adt_calc();
/* shared: before the kernel */
#include "update+save_soln+adt_calc.c"
/* shared: behind the kernel */
static void op2_loop(double *restrict op2_d0, double *restrict op2_d1, double *restrict op2_d2, double *restrict op2_d3, const double *restrict op2_d4, const int *restrict op2_t0, double *restrict op2_g4, const int *restrict op2_list, long op2_begin, long op2_end) {
  double op2_a4[1];
  op2_a4[0] = -0.0;
  long op2_i = op2_begin;
  double op2_k4[4] __attribute__((aligned(64)));
  for (int op2_l = 0; op2_l < 4; op2_l++) {
    op2_k4[0 * 4 + op2_l] = -0.0;
  }
  for (; op2_i + 4 <= op2_end; op2_i += 4) {
    double op2_l0[16] __attribute__((aligned(64)));
    op2_load_double_4(op2_l0 + 0, (const double *const[4]){op2_d0 + (op2_i + 0) * 4, op2_d0 + (op2_i + 1) * 4, op2_d0 + (op2_i + 2) * 4, op2_d0 + (op2_i + 3) * 4});
    double op2_l1[16] __attribute__((aligned(64)));
    double op2_l2[16] __attribute__((aligned(64)));
    op2_load_double_4(op2_l2 + 0, (const double *const[4]){op2_d2 + (op2_i + 0) * 4, op2_d2 + (op2_i + 1) * 4, op2_d2 + (op2_i + 2) * 4, op2_d2 + (op2_i + 3) * 4});
    double op2_l3[4] __attribute__((aligned(64)));
    __builtin_memcpy(op2_l3 + 0, op2_d3 + (op2_i + 0), sizeof(double) * 4);
    double op2_l4[4] __attribute__((aligned(64)));
    double op2_l5[32] __attribute__((aligned(64)));
    const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 4 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 4 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 4 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 4 + 0], __ATOMIC_RELAXED)};
    op2_load_double_2(op2_l5 + 0, (const double *const[4]){op2_d4 + op2_m0_0[0] * 2, op2_d4 + op2_m0_0[1] * 2, op2_d4 + op2_m0_0[2] * 2, op2_d4 + op2_m0_0[3] * 2});
    const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 4 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 4 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 4 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 4 + 1], __ATOMIC_RELAXED)};
    op2_load_double_2(op2_l5 + 8, (const double *const[4]){op2_d4 + op2_m0_1[0] * 2, op2_d4 + op2_m0_1[1] * 2, op2_d4 + op2_m0_1[2] * 2, op2_d4 + op2_m0_1[3] * 2});
    const long op2_m0_2[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 4 + 2], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 4 + 2], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 4 + 2], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 4 + 2], __ATOMIC_RELAXED)};
    op2_load_double_2(op2_l5 + 16, (const double *const[4]){op2_d4 + op2_m0_2[0] * 2, op2_d4 + op2_m0_2[1] * 2, op2_d4 + op2_m0_2[2] * 2, op2_d4 + op2_m0_2[3] * 2});
    const long op2_m0_3[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 4 + 3], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 4 + 3], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 4 + 3], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 4 + 3], __ATOMIC_RELAXED)};
    op2_load_double_2(op2_l5 + 24, (const double *const[4]){op2_d4 + op2_m0_3[0] * 2, op2_d4 + op2_m0_3[1] * 2, op2_d4 + op2_m0_3[2] * 2, op2_d4 + op2_m0_3[3] * 2});
    #pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      double op2_a0[4];
      op2_a0[0] = op2_l0[0 * 4 + op2_l];
      op2_a0[1] = op2_l0[1 * 4 + op2_l];
      op2_a0[2] = op2_l0[2 * 4 + op2_l];
      op2_a0[3] = op2_l0[3 * 4 + op2_l];
      double op2_a1[4];
      double op2_a2[4];
      op2_a2[0] = op2_l2[0 * 4 + op2_l];
      op2_a2[1] = op2_l2[1 * 4 + op2_l];
      op2_a2[2] = op2_l2[2 * 4 + op2_l];
      op2_a2[3] = op2_l2[3 * 4 + op2_l];
      double op2_a3[1];
      op2_a3[0] = op2_l3[0 * 4 + op2_l];
      double op2_a4[1];
      op2_a4[0] = -0.0;
      double op2_a5[8];
      op2_a5[0] = op2_l5[0 * 4 + op2_l];
      op2_a5[1] = op2_l5[1 * 4 + op2_l];
      op2_a5[2] = op2_l5[2 * 4 + op2_l];
      op2_a5[3] = op2_l5[3 * 4 + op2_l];
      op2_a5[4] = op2_l5[4 * 4 + op2_l];
      op2_a5[5] = op2_l5[5 * 4 + op2_l];
      op2_a5[6] = op2_l5[6 * 4 + op2_l];
      op2_a5[7] = op2_l5[7 * 4 + op2_l];
      const double *op2_v5[4] = {op2_a5 + 0, op2_a5 + 2, op2_a5 + 4, op2_a5 + 6};
      update(op2_a0, op2_a1, op2_a2, op2_a3, op2_a4);
      save_soln(op2_a1, op2_a0);
      adt_calc(op2_v5, op2_a1, op2_a3);
      op2_l0[0 * 4 + op2_l] = op2_a0[0];
      op2_l0[1 * 4 + op2_l] = op2_a0[1];
      op2_l0[2 * 4 + op2_l] = op2_a0[2];
      op2_l0[3 * 4 + op2_l] = op2_a0[3];
      op2_l1[0 * 4 + op2_l] = op2_a1[0];
      op2_l1[1 * 4 + op2_l] = op2_a1[1];
      op2_l1[2 * 4 + op2_l] = op2_a1[2];
      op2_l1[3 * 4 + op2_l] = op2_a1[3];
      op2_l2[0 * 4 + op2_l] = op2_a2[0];
      op2_l2[1 * 4 + op2_l] = op2_a2[1];
      op2_l2[2 * 4 + op2_l] = op2_a2[2];
      op2_l2[3 * 4 + op2_l] = op2_a2[3];
      op2_l3[0 * 4 + op2_l] = op2_a3[0];
      op2_l4[0 * 4 + op2_l] = op2_a4[0];
    }
    double op2_r0[16] __attribute__((aligned(64)));
    op2_turn_double_4(op2_r0 + 0, op2_l0 + 0);
    double op2_r1[16] __attribute__((aligned(64)));
    op2_turn_double_4(op2_r1 + 0, op2_l1 + 0);
    double op2_r2[16] __attribute__((aligned(64)));
    op2_turn_double_4(op2_r2 + 0, op2_l2 + 0);
    __builtin_memcpy(op2_d3 + (op2_i + 0), op2_l3 + 0, sizeof(double) * 4);
    op2_put_double_4(op2_d0 + (op2_i + 0) * 4, op2_r0 + 0);
    op2_put_double_4(op2_d1 + (op2_i + 0) * 4, op2_r1 + 0);
    op2_put_double_4(op2_d2 + (op2_i + 0) * 4, op2_r2 + 0);
    op2_put_double_4(op2_d0 + (op2_i + 1) * 4, op2_r0 + 4);
    op2_put_double_4(op2_d1 + (op2_i + 1) * 4, op2_r1 + 4);
    op2_put_double_4(op2_d2 + (op2_i + 1) * 4, op2_r2 + 4);
    op2_put_double_4(op2_d0 + (op2_i + 2) * 4, op2_r0 + 8);
    op2_put_double_4(op2_d1 + (op2_i + 2) * 4, op2_r1 + 8);
    op2_put_double_4(op2_d2 + (op2_i + 2) * 4, op2_r2 + 8);
    op2_put_double_4(op2_d0 + (op2_i + 3) * 4, op2_r0 + 12);
    op2_put_double_4(op2_d1 + (op2_i + 3) * 4, op2_r1 + 12);
    op2_put_double_4(op2_d2 + (op2_i + 3) * 4, op2_r2 + 12);
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      op2_k4[0 * 4 + op2_l] += op2_l4[0 * 4 + op2_l];
    }
  }
  for (int op2_l = 0; op2_l < 4; op2_l++) {
    op2_a4[0] += op2_k4[0 * 4 + op2_l];
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    /* shared: update+save_soln+adt_calc: element */
  }
  op2_g4[0] += op2_a4[0];
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_frame[3], op2_frame[4], op2_frame[5], op2_frame[10], op2_list, op2_begin, op2_end);
}
