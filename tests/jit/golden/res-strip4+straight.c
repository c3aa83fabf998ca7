/* Made by op2jit (generator 21): loop res, strip4+straight, contract. */
/* shared: prologue */
static const double eps __attribute__((unused)) = 0x1.999999999999ap-5;
/* shared: vectors of double */
/* shared: op2_load_double_2 */
/* shared: op2_turn_double_2 */
/* shared: op2_add_double_2 */
/* shared: op2_put_double_2 */
/* shared: op2_load_double_1 */
static const int *op2_find_range(const int *op2_u, long op2_begin) {
  long op2_low = 0, op2_count = op2_u[0];
  const int *op2_first = op2_u + 1;
  if (op2_count > 0 && op2_begin < op2_first[(op2_count - 1) * 6 + 1]) {
    const int *op2_guess = op2_first + op2_begin * op2_count / op2_first[(op2_count - 1) * 6 + 1] * 6;
    if (op2_guess[0] <= op2_begin && op2_begin < op2_guess[1]) return op2_guess;
  }
  while (op2_count > 0) {
    const long op2_half = (op2_count + 1) / 2;
    const _Bool op2_later = op2_first[(op2_low + op2_half - 1) * 6 + 1] <= op2_begin;
    op2_low += __builtin_unpredictable(op2_later) ? op2_half : 0;
    op2_count -= op2_half;
  }
  return op2_first + op2_low * 6;
}
static inline __attribute__((always_inline, internal_linkage)) void res();
/* shared: before the kernel */
#include "res.c"
/* shared: behind the kernel */
static void op2_loop(const double *restrict op2_d0, const double *restrict op2_d1, long op2_s1, double *restrict op2_d2, const int *restrict op2_t0, const int *restrict op2_t1, const int *restrict op2_u, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  const int *op2_range = op2_find_range(op2_u, op2_begin);
  while (op2_i + 4 <= op2_end) {
    if (op2_range[1] <= op2_i) {
      op2_range += 6;
      continue;
    }
    if (__builtin_expect(op2_range[0] <= op2_i, 1)) {
      const long op2_stop = op2_range[1] < op2_end ? op2_range[1] : op2_end;
      const long op2_o0_0 = op2_range[2];
      const long op2_o0_1 = op2_range[3];
      const long op2_o1_0 = op2_range[4];
      const long op2_o1_1 = op2_range[5];
      for (; op2_i + 4 <= op2_stop; op2_i += 4) {
        double op2_l0[8] __attribute__((aligned(64)));
        op2_load_double_2(op2_l0 + 0, (const double *const[4]){op2_d0 + (op2_i + op2_o0_0 + 0) * 2, op2_d0 + (op2_i + op2_o0_0 + 1) * 2, op2_d0 + (op2_i + op2_o0_0 + 2) * 2, op2_d0 + (op2_i + op2_o0_0 + 3) * 2});
        double op2_l1[8] __attribute__((aligned(64)));
        op2_load_double_2(op2_l1 + 0, (const double *const[4]){op2_d0 + (op2_i + op2_o0_1 + 0) * 2, op2_d0 + (op2_i + op2_o0_1 + 1) * 2, op2_d0 + (op2_i + op2_o0_1 + 2) * 2, op2_d0 + (op2_i + op2_o0_1 + 3) * 2});
        double op2_l2[16] __attribute__((aligned(64)));
        __builtin_memcpy(op2_l2 + 0, op2_d1 + 0 * op2_s1 + (op2_i + op2_o1_0 + 0), sizeof(double) * 4);
        __builtin_memcpy(op2_l2 + 4, op2_d1 + 1 * op2_s1 + (op2_i + op2_o1_0 + 0), sizeof(double) * 4);
        __builtin_memcpy(op2_l2 + 8, op2_d1 + 2 * op2_s1 + (op2_i + op2_o1_0 + 0), sizeof(double) * 4);
        __builtin_memcpy(op2_l2 + 12, op2_d1 + 3 * op2_s1 + (op2_i + op2_o1_0 + 0), sizeof(double) * 4);
        double op2_l3[8] __attribute__((aligned(64)));
        double op2_l4[8] __attribute__((aligned(64)));
        /* shared: res: lanes */
        double op2_r3[8] __attribute__((aligned(64)));
        op2_turn_double_2(op2_r3 + 0, op2_l3 + 0);
        double op2_r4[8] __attribute__((aligned(64)));
        op2_turn_double_2(op2_r4 + 0, op2_l4 + 0);
        op2_add_double_2(op2_d2 + (op2_i + op2_o1_0 + 0) * 2, op2_r3 + 0);
        op2_add_double_2(op2_d2 + (op2_i + op2_o1_1 + 0) * 2, op2_r4 + 0);
        op2_add_double_2(op2_d2 + (op2_i + op2_o1_0 + 1) * 2, op2_r3 + 2);
        op2_add_double_2(op2_d2 + (op2_i + op2_o1_1 + 1) * 2, op2_r4 + 2);
        op2_add_double_2(op2_d2 + (op2_i + op2_o1_0 + 2) * 2, op2_r3 + 4);
        op2_add_double_2(op2_d2 + (op2_i + op2_o1_1 + 2) * 2, op2_r4 + 4);
        op2_add_double_2(op2_d2 + (op2_i + op2_o1_0 + 3) * 2, op2_r3 + 6);
        op2_add_double_2(op2_d2 + (op2_i + op2_o1_1 + 3) * 2, op2_r4 + 6);
      }
      if (__builtin_expect(op2_i + 4 > op2_end || op2_range[1] <= op2_i, 1)) {
        continue;
      }
    }
    /* shared: res: strip by maps */
    op2_i += 4;
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    /* shared: res: element */
  }
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], (long)op2_frame[11], op2_frame[2], op2_frame[3], op2_frame[4], op2_frame[22], op2_list, op2_begin, op2_end);
}
/* shared: res.c */
