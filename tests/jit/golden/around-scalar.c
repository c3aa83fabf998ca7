/* Made by op2jit (generator 21): loop around, scalar, contract. */
/* shared: prologue */
static inline __attribute__((always_inline, internal_linkage)) void around();
/* shared: before the kernel */
#include "around.c"
/* shared: behind the kernel */
static void op2_loop(const op2_longlong *restrict op2_d0, double *restrict op2_d1, long op2_s1, const int *restrict op2_t0, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    const int op2_m0_0 = op2_t0[op2_e * 3 + 0];
    const int op2_m0_1 = op2_t0[op2_e * 3 + 1];
    const int op2_m0_2 = op2_t0[op2_e * 3 + 2];
    const op2_longlong *op2_v0[3] = {op2_d0 + op2_m0_0, op2_d0 + op2_m0_1, op2_d0 + op2_m0_2};
    double op2_a1[60];
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_a1[0 + op2_c] = -0.0;
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_a1[20 + op2_c] = -0.0;
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_a1[40 + op2_c] = -0.0;
    }
    double *op2_v1[3] = {op2_a1 + 0, op2_a1 + 20, op2_a1 + 40};
    around(op2_v0, op2_v1);
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_d1[op2_c * op2_s1 + (long)op2_m0_0] += op2_a1[0 + op2_c];
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_d1[op2_c * op2_s1 + (long)op2_m0_1] += op2_a1[20 + op2_c];
    }
    for (int op2_c = 0; op2_c < 20; op2_c++) {
      op2_d1[op2_c * op2_s1 + (long)op2_m0_2] += op2_a1[40 + op2_c];
    }
  }
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], (long)op2_frame[6], op2_frame[2], op2_list, op2_begin, op2_end);
}
/* around.c */
void around(const long long *x[3], double **y) {
  for (int i = 0; i < 3; i++)
    y[i][0] += (double)x[i][0];
}

