/* Made by op2jit (generator 21): loop extremes, scalar, contract. */
/* shared: prologue */
static float late;
static void *const op2_c0 = (void *)&late;
struct op2_info5 { op2_longlong element; int payload[1]; };
static inline __attribute__((always_inline, internal_linkage)) void extremes();
/* shared: before the kernel */
#include "extremes.c"
/* shared: behind the kernel */
static void op2_loop(const float *restrict op2_d0, const int *restrict op2_x0, int *restrict op2_g3, float *restrict op2_g4, const float *restrict op2_b4, struct op2_info5 *restrict op2_g5, const int *restrict op2_list, long op2_begin, long op2_end) {
  int op2_a3[1];
  op2_a3[0] = 0;
  long op2_i = op2_begin;
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    /* shared: extremes: element */
  }
  op2_g3[0] += op2_a3[0];
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  for (long op2_c = 0; op2_c < 1; op2_c++) {
    typedef unsigned int __attribute__((may_alias)) op2_bits;
    const op2_bits op2_new = ((const op2_bits *)op2_frame[9])[op2_c];
    if (((op2_bits *)op2_c0)[op2_c] != op2_new) {
      ((op2_bits *)op2_c0)[op2_c] = op2_new;
    }
  }
  op2_loop(op2_frame[0], op2_frame[8], op2_frame[4], op2_frame[5], op2_frame[14], op2_frame[6], op2_list, op2_begin, op2_end);
}
/* shared: extremes.c */
