/* Made by op2jit (generator 21): loop copy, strip8+straight+stream, contract. */
/* shared: prologue */
/* shared: vectors of double */
static inline __attribute__((always_inline)) void op2_load_double_1(double *lanes, const double *const *rows) {
  {
    op2_double8 z0 = {rows[0][0], rows[1][0], rows[2][0], rows[3][0], rows[4][0], rows[5][0], rows[6][0], rows[7][0]};
    *(op2_double8 *)(lanes + 0) = z0;
  }
}
static const int *op2_find_range(const int *op2_u, long op2_begin) {
  long op2_low = 0, op2_count = op2_u[0];
  const int *op2_first = op2_u + 1;
  if (op2_count > 0 && op2_begin < op2_first[(op2_count - 1) * 3 + 1]) {
    const int *op2_guess = op2_first + op2_begin * op2_count / op2_first[(op2_count - 1) * 3 + 1] * 3;
    if (op2_guess[0] <= op2_begin && op2_begin < op2_guess[1]) return op2_guess;
  }
  while (op2_count > 0) {
    const long op2_half = (op2_count + 1) / 2;
    const _Bool op2_later = op2_first[(op2_low + op2_half - 1) * 3 + 1] <= op2_begin;
    op2_low += __builtin_unpredictable(op2_later) ? op2_half : 0;
    op2_count -= op2_half;
  }
  return op2_first + op2_low * 3;
}
static inline __attribute__((always_inline, internal_linkage)) void copy();
/* shared: before the kernel */
#include "copy.c"
/* shared: behind the kernel */
static void op2_loop(const double *restrict op2_d0, double *restrict op2_d1, const int *restrict op2_t0, const int *restrict op2_u, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  unsigned long op2_place = 0;
  op2_place |= (unsigned long)(op2_d1 + op2_begin * 1) & 63;
  volatile const int op2_aligned = !op2_place;
  const int *op2_range = op2_find_range(op2_u, op2_begin);
  while (op2_i + 8 <= op2_end) {
    if (op2_range[1] <= op2_i) {
      op2_range += 3;
      continue;
    }
    if (__builtin_expect(op2_range[0] <= op2_i, 1)) {
      const long op2_stop = op2_range[1] < op2_end ? op2_range[1] : op2_end;
      const long op2_o0_0 = op2_range[2];
      for (; op2_i + 8 <= op2_stop; op2_i += 8) {
        double op2_l0[8] __attribute__((aligned(64)));
        __builtin_memcpy(op2_l0 + 0, op2_d0 + (op2_i + op2_o0_0 + 0), sizeof(double) * 8);
        double op2_l1[8] __attribute__((aligned(64)));
        #pragma clang loop vectorize(enable) vectorize_width(8) interleave_count(1) unroll(disable)
        for (int op2_l = 0; op2_l < 8; op2_l++) {
          double op2_a0[1];
          op2_a0[0] = op2_l0[0 * 8 + op2_l];
          double op2_a1[1];
          copy(op2_a0, op2_a1);
          op2_l1[0 * 8 + op2_l] = op2_a1[0];
        }
        if (op2_aligned) {
          __builtin_nontemporal_store(*(const op2_double8 *)(op2_l1 + 0), (op2_double8 *)(op2_d1 + op2_i * 1 + 0));
        }
        else {
          __builtin_memcpy(op2_d1 + (op2_i + 0), op2_l1 + 0, sizeof(double) * 8);
        }
      }
      if (__builtin_expect(op2_i + 8 > op2_end || op2_range[1] <= op2_i, 1)) {
        continue;
      }
    }
    double op2_l0[8] __attribute__((aligned(64)));
    const long op2_m0_0[8] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 1 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 1 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 1 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 1 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 4) * 1 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 5) * 1 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 6) * 1 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 7) * 1 + 0], __ATOMIC_RELAXED)};
    op2_load_double_1(op2_l0 + 0, (const double *const[8]){op2_d0 + op2_m0_0[0], op2_d0 + op2_m0_0[1], op2_d0 + op2_m0_0[2], op2_d0 + op2_m0_0[3], op2_d0 + op2_m0_0[4], op2_d0 + op2_m0_0[5], op2_d0 + op2_m0_0[6], op2_d0 + op2_m0_0[7]});
    double op2_l1[8] __attribute__((aligned(64)));
    #pragma clang loop vectorize(enable) vectorize_width(8) interleave_count(1) unroll(disable)
    for (int op2_l = 0; op2_l < 8; op2_l++) {
      double op2_a0[1];
      op2_a0[0] = op2_l0[0 * 8 + op2_l];
      double op2_a1[1];
      copy(op2_a0, op2_a1);
      op2_l1[0 * 8 + op2_l] = op2_a1[0];
    }
    if (op2_aligned) {
      __builtin_nontemporal_store(*(const op2_double8 *)(op2_l1 + 0), (op2_double8 *)(op2_d1 + op2_i * 1 + 0));
    }
    else {
      __builtin_memcpy(op2_d1 + (op2_i + 0), op2_l1 + 0, sizeof(double) * 8);
    }
    op2_i += 8;
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    const int op2_m0_0 = op2_t0[op2_e * 1 + 0];
    copy(op2_d0 + op2_m0_0, op2_d1 + op2_e);
  }
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_frame[11], op2_list, op2_begin, op2_end);
}
/* copy.c */
void copy(const double *x, double *y) { *y = *x; }
