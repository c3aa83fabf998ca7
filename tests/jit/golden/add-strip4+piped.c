/* Made by op2jit (generator 21): loop add, strip4+piped, contract. */
/* shared: prologue */
/* shared: vectors of double */
/* shared: op2_load_double_3 */
/* shared: op2_turn_double_3 */
/* shared: op2_add_double_3 */
/* shared: op2_put_double_3 */
static inline __attribute__((always_inline, internal_linkage)) void add();
/* shared: before the kernel */
#include "add.c"
/* shared: behind the kernel */
static void op2_loop(double *restrict op2_d0, const double *restrict op2_d1, const int *restrict op2_t0, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  if (op2_i + 4 <= op2_end) {
    const long op2_start = op2_i, op2_last = op2_i + (op2_end - op2_i) / 4 * 4 - 4;
    double op2_r1[16] __attribute__((aligned(64)));
    double op2_r2[16] __attribute__((aligned(64)));
    double op2_l0[12] __attribute__((aligned(64)));
    {
      const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 0], __ATOMIC_RELAXED)};
      op2_load_double_3(op2_l0 + 0, (const double *const[4]){op2_d1 + op2_m0_0[0] * 3, op2_d1 + op2_m0_0[1] * 3, op2_d1 + op2_m0_0[2] * 3, op2_d1 + op2_m0_0[3] * 3});
    }
    for (; op2_i + 4 <= op2_end; op2_i += 4) {
      double op2_l1[12] __attribute__((aligned(64)));
      double op2_l2[12] __attribute__((aligned(64)));
      /* shared: add: lanes */
      if (op2_i > op2_start) {
        const long op2_before = op2_i - 4;
        {
          const long op2_i = op2_before;
          const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 0], __ATOMIC_RELAXED)};
          const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 1], __ATOMIC_RELAXED)};
          /* shared: add: strip to targets */
        }
      }
      {
        const long op2_next = op2_i < op2_last ? op2_i + 4 : op2_i;
        const long op2_i = op2_next;
        const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 0], __ATOMIC_RELAXED)};
        op2_load_double_3(op2_l0 + 0, (const double *const[4]){op2_d1 + op2_m0_0[0] * 3, op2_d1 + op2_m0_0[1] * 3, op2_d1 + op2_m0_0[2] * 3, op2_d1 + op2_m0_0[3] * 3});
      }
      op2_turn_double_3(op2_r1 + 0, op2_l1 + 0);
      op2_turn_double_3(op2_r2 + 0, op2_l2 + 0);
    }
    if (op2_i > op2_start) {
      const long op2_before = op2_i - 4;
      {
        const long op2_i = op2_before;
        const long op2_m0_0[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 0], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 0], __ATOMIC_RELAXED)};
        const long op2_m0_1[4] = {(unsigned)__atomic_load_n(&op2_t0[(op2_i + 0) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 1) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 2) * 2 + 1], __ATOMIC_RELAXED), (unsigned)__atomic_load_n(&op2_t0[(op2_i + 3) * 2 + 1], __ATOMIC_RELAXED)};
        /* shared: add: strip to targets */
      }
    }
  }
  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    const int op2_m0_0 = op2_t0[op2_e * 2 + 0];
    const int op2_m0_1 = op2_t0[op2_e * 2 + 1];
    add(op2_d1 + op2_m0_0 * 3, op2_d0 + op2_m0_0 * 3, op2_d0 + op2_m0_1 * 3);
  }
}
__attribute__((force_align_arg_pointer)) void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_list, op2_begin, op2_end);
}
/* shared: add.c */
