/* Made by op2jit (generator 21): loop multiply, scalar+rows, contract. */
/* shared: prologue */
static inline __attribute__((always_inline, internal_linkage)) void multiply();
#undef OP_ANY_ORDER
#define OP_ANY_ORDER _Pragma("clang loop vectorize(enable)")
/* shared: before the kernel */
#include "multiply.c"
/* shared: behind the kernel */
static void op2_loop(const double *restrict op2_d0, const double *restrict op2_d1, double *restrict op2_d2, const int *restrict op2_t0, const op2_longlong *restrict op2_z0, const int *restrict op2_list, long op2_begin, long op2_end) {
  long op2_i = op2_begin;
  #pragma clang loop unroll(disable)
  for (; op2_i < op2_end; op2_i++) {
    const long op2_e = op2_i;
    const op2_longlong op2_first0 = op2_z0[op2_e];
    const int op2_count0 = (int)(op2_z0[op2_e + 1] - op2_first0);
    const double *op2_v0[4] = {op2_d0 + op2_first0 * 1, (const double *)0, (const double *)(long)-1, (const double *)(long)op2_count0};
    const double *op2_v1[4] = {op2_d1, (const double *)(op2_t0 + op2_first0), (const double *)(long)1, (const double *)(long)op2_count0};
    multiply(op2_count0, op2_v0, op2_v1, op2_d2 + op2_e);
  }
}
void op2jit_range(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end) {
  op2_loop(op2_frame[0], op2_frame[1], op2_frame[2], op2_frame[3], op2_frame[17], op2_list, op2_begin, op2_end);
}
/* multiply.c */
void multiply(int n, const double **a, const double **x, double *y) {
  double sum = 0;
  OP_ANY_ORDER
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(a, k) * *OP_ROW(x, k);
  *y = sum;
}

