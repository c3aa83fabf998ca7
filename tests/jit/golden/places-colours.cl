/* Made by op2jit (generator 21): loop places, colours/128, contract. */
#include "op2jit_opencl.h"

#define first op2_u_first
#define places op2_u_places
#define op2_rows0(x, k) ((x) + (long)(k) * 2)
#define op2_rows1(x, k) ((x) + (long)op2_to1[k] * 1)
#define op2_rows2(x, k) ((x) + (long)(k) * 1)
#include "places.c"

__kernel void op2_bounds(128) op2_loop_places(const double __global *restrict op2_d0,
    double __global *restrict op2_d1,
    long __global *restrict op2_d2,
    const double __global *restrict op2_d3,
    const int __global *restrict op2_t0,
    const long __global *restrict op2_z0,
    const int __global *restrict op2_list,
    int op2_begin,
    int op2_end,
    int op2_back) {
  const int op2_nth = (int)(op2_back ? get_num_groups(0) - 1 - get_group_id(0) : get_group_id(0));
  for (unsigned op2_i = op2_begin + op2_nth * 128 + get_local_id(0); op2_i < (unsigned)op2_end; op2_i += get_num_groups(0) * 128) {
    const int op2_e = op2_list[op2_i];
    const long op2_first0 = op2_z0[op2_e];
    const int op2_count0 = (int)(op2_z0[op2_e + 1] - op2_first0);
    double op2_a3[8];
    for (int op2_row = 0; op2_row < op2_count0; op2_row++) {
      const long op2_at = op2_t0[op2_first0 + op2_row];
      op2_a3[op2_row * 1 + 0] = op2_d3[op2_at * 1 + 0];
    }
    const double *op2_v3[4] = {op2_a3, (double *)0, (double *)1, (double *)(size_t)op2_count0};
    places((op2_count0), (op2_d0 + op2_first0 * 2), (op2_d1), (op2_t0 + op2_first0), (op2_d2 + op2_first0 * 1), (op2_v3));
  }
}
/* places.c */
double first(const double *row) { return row[0]; }
void places(int n, __global const double *a, __global double *x, __global const int *op2_to1,
            __global long *count, const double **q) {
  for (int k = 0; k < n; k++) {
    __global const double *r = op2_rows0(a, k);
    *op2_rows1(x, k) += r[0] * first(OP_ROW(q, k)) - r[1];
    op2_rows2(count, k)[0]++;
  }
}

