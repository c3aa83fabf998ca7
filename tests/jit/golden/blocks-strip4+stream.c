/* Made by op2jit (generator 21): loop blocks, strip4, contract. */
#pragma op2jit rolled
/* shared: prologue */
/* shared: vectors of double */
/* shared: op2_load_double_9 */
/* shared: op2_turn_double_9 */
/* shared: op2_add_double_9 */
/* shared: op2_put_double_9 */
/* shared: op2_load_double_3 */
/* shared: op2_turn_double_3 */
/* shared: op2_add_double_3 */
/* shared: op2_put_double_3 */
/* shared: op2_load_double_18 */
/* shared: op2_turn_double_18 */
/* shared: op2_add_double_18 */
/* shared: op2_put_double_18 */
static inline __attribute__((always_inline, internal_linkage)) void blocks();
/* shared: before the kernel */
#include "blocks.c"
/* shared: behind the kernel */
static void op2_loop(const double *restrict op2_d0, const double *restrict op2_d1, double *restrict op2_d2, const int *restrict op2_t0, const op2_longlong *restrict op2_z0, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  while (op2_i < op2_end) {
    const long op2_stop = op2_end - op2_i < 4 ? op2_end : op2_i + 4;
    if (op2_stop - op2_i == 4) {
      const op2_longlong op2_f0 = op2_z0[op2_i];
      op2_longlong op2_n = op2_z0[op2_i + 1] - op2_f0, op2_differ = 0;
      for (int op2_l = 2; op2_l <= 4; op2_l++) {
        op2_differ |= op2_z0[op2_i + op2_l] - op2_f0 - op2_l * op2_n;
      }
      op2_n = op2_differ ? 0 : op2_n;
      if (op2_n == 1) {
        const int op2_count0 = 1;
        double op2_l0[36] __attribute__((aligned(64)));
        op2_load_double_9(op2_l0 + 0, (const double *const[4]){op2_d0 + (op2_f0 + 0 * 1) * 9, op2_d0 + (op2_f0 + 1 * 1) * 9, op2_d0 + (op2_f0 + 2 * 1) * 9, op2_d0 + (op2_f0 + 3 * 1) * 9});
        double op2_l1[12] __attribute__((aligned(64)));
        const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 0 * 1) + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 1 * 1) + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 2 * 1) + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 3 * 1) + 0], __ATOMIC_RELAXED)};
        op2_load_double_3(op2_l1 + 0, (const double *const[4]){op2_d1 + op2_m0_0[0] * 3, op2_d1 + op2_m0_0[1] * 3, op2_d1 + op2_m0_0[2] * 3, op2_d1 + op2_m0_0[3] * 3});
        double op2_l2[12] __attribute__((aligned(64)));
        /* shared: blocks: lanes of rows of one */
        double op2_r2[16] __attribute__((aligned(64)));
        op2_turn_double_3(op2_r2 + 0, op2_l2 + 0);
        op2_put_double_3(op2_d2 + (op2_i + 0) * 3, op2_r2 + 0);
        op2_put_double_3(op2_d2 + (op2_i + 1) * 3, op2_r2 + 4);
        op2_put_double_3(op2_d2 + (op2_i + 2) * 3, op2_r2 + 8);
        op2_put_double_3(op2_d2 + (op2_i + 3) * 3, op2_r2 + 12);
        op2_i += 4;
        continue;
      }
      if (op2_n == 2) {
        const int op2_count0 = 2;
        double op2_l0[72] __attribute__((aligned(64)));
        op2_load_double_18(op2_l0 + 0, (const double *const[4]){op2_d0 + (op2_f0 + 0 * 2) * 9, op2_d0 + (op2_f0 + 1 * 2) * 9, op2_d0 + (op2_f0 + 2 * 2) * 9, op2_d0 + (op2_f0 + 3 * 2) * 9});
        double op2_l1[24] __attribute__((aligned(64)));
        const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 0 * 2) + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 1 * 2) + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 2 * 2) + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 3 * 2) + 0], __ATOMIC_RELAXED)};
        op2_load_double_3(op2_l1 + 0, (const double *const[4]){op2_d1 + op2_m0_0[0] * 3, op2_d1 + op2_m0_0[1] * 3, op2_d1 + op2_m0_0[2] * 3, op2_d1 + op2_m0_0[3] * 3});
        const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 0 * 2) + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 1 * 2) + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 2 * 2) + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_f0 + 3 * 2) + 1], __ATOMIC_RELAXED)};
        op2_load_double_3(op2_l1 + 12, (const double *const[4]){op2_d1 + op2_m0_1[0] * 3, op2_d1 + op2_m0_1[1] * 3, op2_d1 + op2_m0_1[2] * 3, op2_d1 + op2_m0_1[3] * 3});
        double op2_l2[12] __attribute__((aligned(64)));
        /* shared: blocks: lanes of rows of two */
        double op2_r2[16] __attribute__((aligned(64)));
        op2_turn_double_3(op2_r2 + 0, op2_l2 + 0);
        op2_put_double_3(op2_d2 + (op2_i + 0) * 3, op2_r2 + 0);
        op2_put_double_3(op2_d2 + (op2_i + 1) * 3, op2_r2 + 4);
        op2_put_double_3(op2_d2 + (op2_i + 2) * 3, op2_r2 + 8);
        op2_put_double_3(op2_d2 + (op2_i + 3) * 3, op2_r2 + 12);
        op2_i += 4;
        continue;
      }
    }
    #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
    for (; op2_i < op2_stop; op2_i++) {
      const long op2_e = op2_i;
      /* shared: blocks: element */
    }
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    /* shared: blocks: element */
  }
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_frame[3], op2_frame[17], op2_list, op2_begin, op2_end);
}
/* shared: blocks.c */
