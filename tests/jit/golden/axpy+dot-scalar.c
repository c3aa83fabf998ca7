/* Made by op2jit (generator 21): loop axpy+dot, scalar, contract. */
/* shared: prologue */
static inline __attribute__((always_inline, internal_linkage)) void axpy();
static inline __attribute__((always_inline, internal_linkage)) void dot();
/* shared: before the kernel */
#include "axpy+dot.c"
/* shared: behind the kernel */
static void op2_loop(const double *restrict op2_d0, double *restrict op2_d1, double *restrict op2_d2, const double *restrict op2_g0, double *restrict op2_g4, const int *restrict op2_list, long op2_begin, long op2_end) {
  double op2_a4[1];
  op2_a4[0] = -0.0;
  long op2_i = op2_begin;
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    /* shared: axpy+dot: element */
  }
  op2_g4[0] += op2_a4[0];
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_frame[3], op2_frame[7], op2_list, op2_begin, op2_end);
}
/* shared: axpy+dot.c */
