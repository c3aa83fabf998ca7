/* Made by op2jit (generator 21): loop subtract+norm, strip4, contract. */
/* shared: prologue */
/* shared: vectors of double */
/* shared: op2_load_double_1 */
static inline __attribute__((always_inline, internal_linkage)) void subtract();
static inline __attribute__((always_inline, internal_linkage)) void norm();
/* shared: before the kernel */
#include "subtract+norm.c"
/* shared: behind the kernel */
static void op2_loop(double *restrict op2_d0, double *restrict op2_d1, const double *restrict op2_g2, double *restrict op2_g3, const int *restrict op2_list, long op2_begin, long op2_end) {
  double op2_a3[1];
  op2_a3[0] = -0.0;
  long op2_i = op2_begin;
  double op2_k3[4] __attribute__((aligned(64)));
  for (int op2_l = 0; op2_l < 4; op2_l++) {
    op2_k3[0 * 4 + op2_l] = -0.0;
  }
  for (; op2_i + 4 <= op2_end; op2_i += 4) {
    double op2_l0[4] __attribute__((aligned(64)));
    __builtin_memcpy(op2_l0 + 0, op2_d0 + (op2_i + 0), sizeof(double) * 4);
    double op2_l1[4] __attribute__((aligned(64)));
    __builtin_memcpy(op2_l1 + 0, op2_d1 + (op2_i + 0), sizeof(double) * 4);
    double op2_l3[4] __attribute__((aligned(64)));
    #pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      double op2_a0[1];
      op2_a0[0] = op2_l0[0 * 4 + op2_l];
      double op2_a1[1];
      op2_a1[0] = op2_l1[0 * 4 + op2_l];
      double op2_a3[1];
      op2_a3[0] = -0.0;
      subtract(op2_a0, op2_a1, op2_g2);
      norm(op2_a1, op2_a3);
      op2_l0[0 * 4 + op2_l] = op2_a0[0];
      op2_l1[0 * 4 + op2_l] = op2_a1[0];
      op2_l3[0 * 4 + op2_l] = op2_a3[0];
    }
    __builtin_memcpy(op2_d0 + (op2_i + 0), op2_l0 + 0, sizeof(double) * 4);
    __builtin_memcpy(op2_d1 + (op2_i + 0), op2_l1 + 0, sizeof(double) * 4);
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      op2_k3[0 * 4 + op2_l] += op2_l3[0 * 4 + op2_l];
    }
  }
  for (int op2_l = 0; op2_l < 4; op2_l++) {
    op2_a3[0] += op2_k3[0 * 4 + op2_l];
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    /* shared: subtract+norm: element */
  }
  op2_g3[0] += op2_a3[0];
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[4], op2_frame[5], op2_list, op2_begin, op2_end);
}
