/* Made by op2jit (generator 21): loop limits, strip4, contract. */
/* shared: prologue */
static inline __attribute__((always_inline)) void op2_better1(float *to, float start, float value) {
  const int beats = value < *to;
  if (start != start ? value == value && (*to != *to || beats) : value != value || beats) *to = value;
}
/* shared: vectors of float */
/* shared: op2_load_float_2 */
/* shared: op2_turn_float_2 */
/* shared: op2_add_float_2 */
/* shared: op2_put_float_2 */
static inline __attribute__((always_inline, internal_linkage)) void limits();
/* shared: before the kernel */
#include "limits.c"
/* shared: behind the kernel */
static void op2_loop(const float *restrict op2_d0, float *restrict op2_d1, const int *restrict op2_t0, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  for (; op2_i + 4 <= op2_end; op2_i += 4) {
    float op2_l0[8] __attribute__((aligned(64)));
    op2_load_float_2(op2_l0 + 0, (const float *const[4]){op2_d0 + (op2_i + 0) * 2, op2_d0 + (op2_i + 1) * 2, op2_d0 + (op2_i + 2) * 2, op2_d0 + (op2_i + 3) * 2});
    float op2_l1[16] __attribute__((aligned(64)));
    const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 0], __ATOMIC_RELAXED)};
    op2_load_float_2(op2_l1 + 0, (const float *const[4]){op2_d1 + op2_m0_0[0] * 2, op2_d1 + op2_m0_0[1] * 2, op2_d1 + op2_m0_0[2] * 2, op2_d1 + op2_m0_0[3] * 2});
    const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 1], __ATOMIC_RELAXED)};
    op2_load_float_2(op2_l1 + 8, (const float *const[4]){op2_d1 + op2_m0_1[0] * 2, op2_d1 + op2_m0_1[1] * 2, op2_d1 + op2_m0_1[2] * 2, op2_d1 + op2_m0_1[3] * 2});
    float op2_b1[16] __attribute__((aligned(64)));
    __builtin_memcpy(op2_b1, op2_l1, sizeof op2_l1);
    #pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      float op2_a0[2];
      op2_a0[0] = op2_l0[0 * 4 + op2_l];
      op2_a0[1] = op2_l0[1 * 4 + op2_l];
      float op2_a1[4];
      op2_a1[0] = op2_l1[0 * 4 + op2_l];
      op2_a1[1] = op2_l1[1 * 4 + op2_l];
      op2_a1[2] = op2_l1[2 * 4 + op2_l];
      op2_a1[3] = op2_l1[3 * 4 + op2_l];
      float *op2_v1[2] = {op2_a1 + 0, op2_a1 + 2};
      limits(op2_a0, op2_v1);
      op2_l1[0 * 4 + op2_l] = op2_a1[0];
      op2_l1[1 * 4 + op2_l] = op2_a1[1];
      op2_l1[2 * 4 + op2_l] = op2_a1[2];
      op2_l1[3 * 4 + op2_l] = op2_a1[3];
    }
    #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      op2_better1(op2_d1 + op2_m0_0[op2_l] * 2 + 0, op2_b1[0 + op2_l], op2_l1[0 + op2_l]);
      op2_better1(op2_d1 + op2_m0_0[op2_l] * 2 + 1, op2_b1[4 + op2_l], op2_l1[4 + op2_l]);
      op2_better1(op2_d1 + op2_m0_1[op2_l] * 2 + 0, op2_b1[8 + op2_l], op2_l1[8 + op2_l]);
      op2_better1(op2_d1 + op2_m0_1[op2_l] * 2 + 1, op2_b1[12 + op2_l], op2_l1[12 + op2_l]);
    }
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    const int op2_m0_0 = op2_t0[op2_e * 2 + 0];
    const int op2_m0_1 = op2_t0[op2_e * 2 + 1];
    float *op2_v1[2] = {op2_d1 + op2_m0_0 * 2, op2_d1 + op2_m0_1 * 2};
    limits(op2_d0 + op2_e * 2, op2_v1);
  }
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_list, op2_begin, op2_end);
}
/* limits.c */
void limits(const float *x, float *low[2]) { for (int e = 0; e < 2; e++) for (int n = 0; n < 2; n++) if (x[n] < low[e][n]) low[e][n] = x[n]; }
