/* Made by op2jit (generator 21): loop count, strip4+straight, contract. */
/* shared: prologue */
/* shared: op2_find_range */
static inline __attribute__((always_inline, internal_linkage)) void count();
/* shared: before the kernel */
#include "count.c"
/* shared: behind the kernel */
static void op2_loop(const int *restrict op2_t0, const int *restrict op2_x1, int *restrict op2_g2, const int *restrict op2_u, const int *restrict op2_list, long op2_begin, long op2_end) {
  int op2_a2[1];
  op2_a2[0] = 0;
  long op2_i = op2_begin;
  int op2_k2[4] __attribute__((aligned(64)));
  for (int op2_l = 0; op2_l < 4; op2_l++) {
    op2_k2[0 * 4 + op2_l] = 0;
  }
  const int *op2_range = op2_find_range(op2_u, op2_begin);
  while (op2_i + 4 <= op2_end) {
    if (op2_range[1] <= op2_i) {
      op2_range += 4;
      continue;
    }
    if (__builtin_expect(op2_range[0] <= op2_i, 1)) {
      const long op2_stop = op2_range[1] < op2_end ? op2_range[1] : op2_end;
      const long op2_o0_0 = op2_range[2];
      const long op2_o0_1 = op2_range[3];
      for (; op2_i + 4 <= op2_stop; op2_i += 4) {
        int op2_l2[4] __attribute__((aligned(64)));
        #pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
        for (int op2_l = 0; op2_l < 4; op2_l++) {
          int op2_a0[1];
          op2_a0[0] = (int)(op2_i + 0) + op2_l;
          int op2_a1[2];
          op2_a1[0] = op2_x1[(op2_i + op2_o0_0 + op2_l)];
          op2_a1[1] = op2_x1[(op2_i + op2_o0_1 + op2_l)];
          int op2_a2[1];
          op2_a2[0] = 0;
          count(op2_a0, op2_a1, op2_a2);
          op2_l2[0 * 4 + op2_l] = op2_a2[0];
        }
        for (int op2_l = 0; op2_l < 4; op2_l++) {
          op2_k2[0 * 4 + op2_l] += op2_l2[0 * 4 + op2_l];
        }
      }
      if (__builtin_expect(op2_i + 4 > op2_end || op2_range[1] <= op2_i, 1)) {
        continue;
      }
    }
    /* shared: count: strip by maps */
    op2_i += 4;
  }
  for (int op2_l = 0; op2_l < 4; op2_l++) {
    op2_a2[0] += op2_k2[0 * 4 + op2_l];
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    /* shared: count: element */
  }
  op2_g2[0] += op2_a2[0];
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[5], op2_frame[3], op2_frame[9], op2_list, op2_begin, op2_end);
}
/* shared: count.c */
