/* Made by op2jit (generator 21): loop extremes, strip4+list, contract. */
/* shared: prologue */
static float late;
static void *const op2_c0 = (void *)&late;
struct op2_info5 { op2_longlong element; int payload[1]; };
/* shared: vectors of float */
/* shared: op2_load_float_1 */
static inline __attribute__((always_inline, internal_linkage)) void extremes();
/* shared: before the kernel */
#include "extremes.c"
/* shared: behind the kernel */
static void op2_loop(const float *restrict op2_d0, const int *restrict op2_x0, int *restrict op2_g3, float *restrict op2_g4, const float *restrict op2_b4, struct op2_info5 *restrict op2_g5, const int *restrict op2_list, long op2_begin, long op2_end) {
  int op2_a3[1];
  op2_a3[0] = 0;
  long op2_i = op2_begin;
  int op2_k3[4] __attribute__((aligned(64)));
  for (int op2_l = 0; op2_l < 4; op2_l++) {
    op2_k3[0 * 4 + op2_l] = 0;
  }
  for (; op2_i + 4 <= op2_end; op2_i += 4) {
    for (long op2_p = op2_i + 32; op2_p < op2_i + 36 && op2_p < op2_end; op2_p++) {
      const long op2_q = op2_list[op2_p];
      __builtin_prefetch(op2_d0 + op2_q * 1);
    }
    const long op2_e[4] = {op2_list[op2_i + 0], op2_list[op2_i + 1], op2_list[op2_i + 2], op2_list[op2_i + 3]};
    float op2_l0[4] __attribute__((aligned(64)));
    op2_load_float_1(op2_l0 + 0, (const float *const[4]){op2_d0 + op2_e[0], op2_d0 + op2_e[1], op2_d0 + op2_e[2], op2_d0 + op2_e[3]});
    int op2_l1[4] __attribute__((aligned(64)));
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      op2_l1[0 + op2_l] = op2_x0[op2_e[op2_l]];
    }
    int op2_l3[4] __attribute__((aligned(64)));
    float op2_l4[4] __attribute__((aligned(64)));
    int op2_l5[4] __attribute__((aligned(64)));
    #pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      float op2_a0[1];
      op2_a0[0] = op2_l0[0 * 4 + op2_l];
      int op2_a1[1];
      op2_a1[0] = op2_l1[0 * 4 + op2_l];
      float op2_a2[3];
      int op2_a3[1];
      op2_a3[0] = 0;
      float op2_a4[1];
      op2_a4[0] = *op2_b4;
      int op2_a5[1];
      op2_a5[0] = 0;
      extremes(op2_a0, op2_a1, op2_a2, op2_a3, op2_a4, op2_a5);
      op2_l3[0 * 4 + op2_l] = op2_a3[0];
      op2_l4[0 * 4 + op2_l] = op2_a4[0];
      op2_l5[0 * 4 + op2_l] = op2_a5[0];
    }
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      op2_k3[0 * 4 + op2_l] += op2_l3[0 * 4 + op2_l];
    }
    int op2_any4 = 0;
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      op2_any4 |= !(op2_l4[op2_l] < *op2_g4);
    }
    if (op2_any4) {
      for (int op2_l = 0; op2_l < 4; op2_l++) {
        const long op2_lane = op2_e[op2_l];
        const long op2_e = op2_lane;
        float op2_a4[1];
        op2_a4[0] = op2_l4[0 * 4 + op2_l];
        int op2_a5[1];
        op2_a5[0] = op2_l5[0 * 4 + op2_l];
        const long long op2_i4 = op2_x0[op2_e];
        const int op2_n4 = op2_a4[0] != op2_a4[0], op2_o4 = op2_g4[0] != op2_g4[0];
        const int op2_w4 = op2_a4[0] > op2_g4[0] || (op2_b4[0] != op2_b4[0] ? op2_o4 && !op2_n4 : op2_n4 && !op2_o4), op2_q4 = op2_a4[0] == op2_g4[0] || (op2_n4 && op2_o4);
        if (op2_w4 || (op2_q4 && op2_i4 < op2_g5->element)) {
          op2_g4[0] = op2_a4[0];
          op2_g5->element = op2_i4;
          op2_g5->payload[0] = op2_a5[0];
        }
      }
    }
  }
  for (int op2_l = 0; op2_l < 4; op2_l++) {
    op2_a3[0] += op2_k3[0 * 4 + op2_l];
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    for (long op2_p = op2_i + 32; op2_p < op2_i + 33 && op2_p < op2_end; op2_p++) {
      const long op2_q = op2_list[op2_p];
      __builtin_prefetch(op2_d0 + op2_q * 1);
    }
    const long op2_e = op2_list[op2_i];
    /* shared: extremes: element */
  }
  op2_g3[0] += op2_a3[0];
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  for (long op2_c = 0; op2_c < 1; op2_c++) {
    typedef unsigned int __attribute__((may_alias)) op2_bits;
    const op2_bits op2_new = ((const op2_bits *)op2_frame[9])[op2_c];
    if (((op2_bits *)op2_c0)[op2_c] != op2_new) {
      ((op2_bits *)op2_c0)[op2_c] = op2_new;
    }
  }
  op2_loop(op2_frame[0], op2_frame[8], op2_frame[4], op2_frame[5], op2_frame[14], op2_frame[6], op2_list, op2_begin, op2_end);
}
/* shared: extremes.c */
