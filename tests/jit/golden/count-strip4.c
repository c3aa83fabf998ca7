/* Made by op2jit (generator 21): loop count, strip4, contract. */
/* shared: prologue */
static inline __attribute__((always_inline, internal_linkage)) void count();
/* shared: before the kernel */
#include "count.c"
/* shared: behind the kernel */
static void op2_loop(const int *restrict op2_t0, const int *restrict op2_x1, int *restrict op2_g2, const int *restrict op2_list, long op2_begin, long op2_end) {
  int op2_a2[1];
  op2_a2[0] = 0;
  long op2_i = op2_begin;
  int op2_k2[4] __attribute__((aligned(64)));
  for (int op2_l = 0; op2_l < 4; op2_l++) {
    op2_k2[0 * 4 + op2_l] = 0;
  }
  for (; op2_i + 4 <= op2_end; op2_i += 4) {
    /* shared: count: strip by maps */
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
  op2_loop(op2_frame[0], op2_frame[5], op2_frame[3], op2_list, op2_begin, op2_end);
}
/* shared: count.c */
