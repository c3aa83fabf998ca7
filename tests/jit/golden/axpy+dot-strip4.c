/* Made by op2jit (generator 21): loop axpy+dot, strip4, contract. */
/* shared: prologue */
/* shared: vectors of double */
/* shared: op2_load_double_1 */
static inline __attribute__((always_inline, internal_linkage)) void axpy();
static inline __attribute__((always_inline, internal_linkage)) void dot();
/* shared: before the kernel */
#include "axpy+dot.c"
/* shared: behind the kernel */
static void op2_loop(const double *restrict op2_d0, double *restrict op2_d1, double *restrict op2_d2, const double *restrict op2_g0, double *restrict op2_g4, const int *restrict op2_list, long op2_begin, long op2_end) {
  double op2_a4[1];
  op2_a4[0] = -0.0;
  long op2_i = op2_begin;
  double op2_k4[4] __attribute__((aligned(64)));
  for (int op2_l = 0; op2_l < 4; op2_l++) {
    op2_k4[0 * 4 + op2_l] = -0.0;
  }
  for (; op2_i + 4 <= op2_end; op2_i += 4) {
    double op2_l1[4] __attribute__((aligned(64)));
    __builtin_memcpy(op2_l1 + 0, op2_d0 + (op2_i + 0), sizeof(double) * 4);
    double op2_l2[4] __attribute__((aligned(64)));
    double op2_l3[4] __attribute__((aligned(64)));
    __builtin_memcpy(op2_l3 + 0, op2_d2 + (op2_i + 0), sizeof(double) * 4);
    double op2_l4[4] __attribute__((aligned(64)));
    #pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      double op2_a1[1];
      op2_a1[0] = op2_l1[0 * 4 + op2_l];
      double op2_a2[1];
      double op2_a3[1];
      op2_a3[0] = op2_l3[0 * 4 + op2_l];
      double op2_a4[1];
      op2_a4[0] = -0.0;
      double op2_p0_3[1];
      op2_p0_3[0] = -0.0;
      axpy(op2_g0, op2_a1, op2_a2, op2_p0_3);
      op2_a3[0] += op2_p0_3[0];
      dot(op2_a3, op2_a2, op2_a4);
      op2_l2[0 * 4 + op2_l] = op2_a2[0];
      op2_l3[0 * 4 + op2_l] = op2_a3[0];
      op2_l4[0 * 4 + op2_l] = op2_a4[0];
    }
    __builtin_memcpy(op2_d2 + (op2_i + 0), op2_l3 + 0, sizeof(double) * 4);
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
    /* shared: axpy+dot: element */
  }
  op2_g4[0] += op2_a4[0];
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_frame[3], op2_frame[7], op2_list, op2_begin, op2_end);
}
/* shared: axpy+dot.c */
