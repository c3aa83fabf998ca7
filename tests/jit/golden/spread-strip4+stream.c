/* Made by op2jit (generator 21): loop spread, strip4+stream, contract. */
/* shared: prologue */
/* shared: vectors of float */
/* shared: op2_load_float_1 */
/* shared: op2_load_float_2 */
/* shared: op2_turn_float_2 */
/* shared: op2_add_float_2 */
/* shared: op2_put_float_2 */
static inline __attribute__((always_inline)) void op2_load_float_3(float *lanes, const float *const *rows) {
  {
    op2_float4 z0 = *(const op2_float4u *)(rows[0] + 0);
    op2_float4 z1 = *(const op2_float4u *)(rows[1] + 0);
    op2_float4 z2 = *(const op2_float4u *)(rows[2] + 0);
    op2_float4 z3 = *(const op2_float4u *)(rows[3] + 0);
    op2_float4 t;
    t = __builtin_shufflevector(z0, z1, 0, 4, 2, 6);
    z1 = __builtin_shufflevector(z0, z1, 1, 5, 3, 7);
    z0 = t;
    t = __builtin_shufflevector(z2, z3, 0, 4, 2, 6);
    z3 = __builtin_shufflevector(z2, z3, 1, 5, 3, 7);
    z2 = t;
    t = __builtin_shufflevector(z0, z2, 0, 1, 4, 5);
    z2 = __builtin_shufflevector(z0, z2, 2, 3, 6, 7);
    z0 = t;
    t = __builtin_shufflevector(z1, z3, 0, 1, 4, 5);
    z3 = __builtin_shufflevector(z1, z3, 2, 3, 6, 7);
    z1 = t;
    *(op2_float4 *)(lanes + 0) = z0;
    *(op2_float4 *)(lanes + 4) = z1;
    *(op2_float4 *)(lanes + 8) = z2;
  }
}
static inline __attribute__((always_inline)) void op2_turn_float_3(float *rows, const float *lanes) {
  {
    op2_float4 z0 = *(const op2_float4 *)(lanes + 0);
    op2_float4 z1 = *(const op2_float4 *)(lanes + 4);
    op2_float4 z2 = *(const op2_float4 *)(lanes + 8);
    op2_float4 z3 = z0;
    op2_float4 t;
    t = __builtin_shufflevector(z0, z1, 0, 4, 2, 6);
    z1 = __builtin_shufflevector(z0, z1, 1, 5, 3, 7);
    z0 = t;
    t = __builtin_shufflevector(z2, z3, 0, 4, 2, 6);
    z3 = __builtin_shufflevector(z2, z3, 1, 5, 3, 7);
    z2 = t;
    t = __builtin_shufflevector(z0, z2, 0, 1, 4, 5);
    z2 = __builtin_shufflevector(z0, z2, 2, 3, 6, 7);
    z0 = t;
    t = __builtin_shufflevector(z1, z3, 0, 1, 4, 5);
    z3 = __builtin_shufflevector(z1, z3, 2, 3, 6, 7);
    z1 = t;
    *(op2_float4u *)(rows + 0) = __builtin_shufflevector(z0, z0, 0, 1, 2, 3);
    *(op2_float4u *)(rows + 4) = __builtin_shufflevector(z1, z1, 0, 1, 2, 3);
    *(op2_float4u *)(rows + 8) = __builtin_shufflevector(z2, z2, 0, 1, 2, 3);
    *(op2_float4u *)(rows + 12) = __builtin_shufflevector(z3, z3, 0, 1, 2, 3);
  }
}
static inline __attribute__((always_inline)) void op2_add_float_3(float *row, const float *values) {
  *(op2_float2u *)(row + 0) += *(const op2_float2u *)(values + 0);
  row[2] += values[2];
}
static inline __attribute__((always_inline)) void op2_put_float_3(float *row, const float *values) {
  *(op2_float2u *)(row + 0) = *(const op2_float2u *)(values + 0);
  row[2] = values[2];
}
static inline __attribute__((always_inline, internal_linkage)) void spread();
/* shared: before the kernel */
#include "spread.c"
/* shared: behind the kernel */
static void op2_loop(const float *restrict op2_d0, float *restrict op2_d1, float *restrict op2_d2, long op2_s2, float *restrict op2_d3, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  unsigned long op2_place = 0;
  op2_place |= (unsigned long)(op2_d1 + op2_begin * 2) & 15;
  op2_place |= ((unsigned long)(op2_d2 + op2_begin) | (unsigned long)op2_s2 * sizeof(float)) & 15;
  volatile const int op2_aligned = !op2_place;
  for (; op2_i + 4 <= op2_end; op2_i += 4) {
    float op2_l0[4] __attribute__((aligned(64)));
    __builtin_memcpy(op2_l0 + 0, op2_d0 + (op2_i + 0), sizeof(float) * 4);
    float op2_l1[8] __attribute__((aligned(64)));
    float op2_l2[8] __attribute__((aligned(64)));
    float op2_l3[12] __attribute__((aligned(64)));
    #pragma clang loop vectorize(enable) vectorize_width(4) interleave_count(1) unroll(disable)
    for (int op2_l = 0; op2_l < 4; op2_l++) {
      float op2_a0[1];
      op2_a0[0] = op2_l0[0 * 4 + op2_l];
      float op2_a1[2];
      float op2_a2[2];
      float op2_a3[3];
      spread(op2_a0, op2_a1, op2_a2, op2_a3);
      op2_l1[0 * 4 + op2_l] = op2_a1[0];
      op2_l1[1 * 4 + op2_l] = op2_a1[1];
      op2_l2[0 * 4 + op2_l] = op2_a2[0];
      op2_l2[1 * 4 + op2_l] = op2_a2[1];
      op2_l3[0 * 4 + op2_l] = op2_a3[0];
      op2_l3[1 * 4 + op2_l] = op2_a3[1];
      op2_l3[2 * 4 + op2_l] = op2_a3[2];
    }
    float op2_r1[8] __attribute__((aligned(64)));
    op2_turn_float_2(op2_r1 + 0, op2_l1 + 0);
    float op2_r3[16] __attribute__((aligned(64)));
    op2_turn_float_3(op2_r3 + 0, op2_l3 + 0);
    if (op2_aligned) {
      __builtin_nontemporal_store(*(const op2_float4 *)(op2_r1 + 0), (op2_float4 *)(op2_d1 + op2_i * 2 + 0));
      __builtin_nontemporal_store(*(const op2_float4 *)(op2_r1 + 4), (op2_float4 *)(op2_d1 + op2_i * 2 + 4));
    }
    else {
      op2_put_float_2(op2_d1 + (op2_i + 0) * 2, op2_r1 + 0);
      op2_put_float_2(op2_d1 + (op2_i + 1) * 2, op2_r1 + 2);
      op2_put_float_2(op2_d1 + (op2_i + 2) * 2, op2_r1 + 4);
      op2_put_float_2(op2_d1 + (op2_i + 3) * 2, op2_r1 + 6);
    }
    if (op2_aligned) {
      __builtin_nontemporal_store(*(const op2_float4 *)(op2_l2 + 0), (op2_float4 *)(op2_d2 + 0 * op2_s2 + op2_i + 0));
      __builtin_nontemporal_store(*(const op2_float4 *)(op2_l2 + 4), (op2_float4 *)(op2_d2 + 1 * op2_s2 + op2_i + 0));
    }
    else {
      __builtin_memcpy(op2_d2 + 0 * op2_s2 + (op2_i + 0), op2_l2 + 0, sizeof(float) * 4);
      __builtin_memcpy(op2_d2 + 1 * op2_s2 + (op2_i + 0), op2_l2 + 4, sizeof(float) * 4);
    }
    op2_put_float_3(op2_d3 + (op2_i + 0) * 3, op2_r3 + 0);
    op2_put_float_3(op2_d3 + (op2_i + 1) * 3, op2_r3 + 4);
    op2_put_float_3(op2_d3 + (op2_i + 2) * 3, op2_r3 + 8);
    op2_put_float_3(op2_d3 + (op2_i + 3) * 3, op2_r3 + 12);
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    float op2_a2[2];
    spread(op2_d0 + op2_e, op2_d1 + op2_e * 2, op2_a2, op2_d3 + op2_e * 3);
    op2_d2[0 * op2_s2 + op2_e] = op2_a2[0 + 0];
    op2_d2[1 * op2_s2 + op2_e] = op2_a2[0 + 1];
  }
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], (long)op2_frame[10], op2_frame[3], op2_list, op2_begin, op2_end);
}
/* spread.c */
void spread(const float *x, float *rows, float *apart, float *three) { for (int n = 0; n < 2; n++) rows[n] = apart[n] = three[n] = *x; three[2] = 0; }
