/* Made by op2jit (generator 21): loop res, scalar+list, contract. */
/* shared: prologue */
static const double eps __attribute__((unused)) = 0x1.999999999999ap-5;
static inline __attribute__((always_inline, internal_linkage)) void res();
/* shared: before the kernel */
#include "res.c"
/* shared: behind the kernel */
static void op2_loop(const double *restrict op2_d0, const double *restrict op2_d1, long op2_s1, double *restrict op2_d2, const int *restrict op2_t0, const int *restrict op2_t1, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  for (; op2_i < op2_end; op2_i++) {
    for (long op2_p = op2_i + 32; op2_p < op2_i + 33 && op2_p < op2_end; op2_p++) {
      const long op2_q = op2_list[op2_p];
      __builtin_prefetch(op2_t0 + op2_q * 2);
      __builtin_prefetch(op2_t1 + op2_q * 2);
    }
    const long op2_e = op2_list[op2_i];
    /* shared: res: element */
  }
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], (long)op2_frame[11], op2_frame[2], op2_frame[3], op2_frame[4], op2_list, op2_begin, op2_end);
}
/* shared: res.c */
