/* Made by op2jit (generator 21): loop ends, ordered/256/vectors, contract. */
#include "op2jit_cuda.h"
extern "C" __global__ void __launch_bounds__(128) op2_sum0(float *dat, long long stride, const int *__restrict__ first, const int *__restrict__ entries, const float *__restrict__ apart, int ntargets) {
  const long long at = (long long)blockIdx.x * 128 + threadIdx.x;
  if (at >= (long long)ntargets * 2) return;
  const int i = (int)(at / 2), c = (int)(at % 2), target = entries[i];
  float *to = dat + (long long)target * stride + c;
  float sum = *to;
  for (int place = first[i]; place < first[i + 1]; place++)
    sum += apart[(long long)place * 2 + c];
  *to = sum;
}
extern "C" __global__ void __launch_bounds__(128) op2_sum1(float *dat, long long stride, const int *__restrict__ first, const int *__restrict__ entries, const float *__restrict__ apart, int ntargets) {
  const long long at = (long long)blockIdx.x * 128 + threadIdx.x;
  if (at >= (long long)ntargets * 1) return;
  const int i = (int)(at / 1), c = (int)(at % 1), target = entries[i];
  float *to = dat + (long long)target * stride + c;
  float sum = *to;
  for (int place = first[i]; place < first[i + 1]; place++)
    sum += apart[(long long)place * 1 + c];
  *to = sum;
}
namespace op2_user {
#include "ends.c"
}
#define OP2_WIDTH 256
#if 2 * OP2_WIDTH <= 256
typedef unsigned char op2_entry0;
#else
typedef unsigned short op2_entry0;
#endif
#if 1 * OP2_WIDTH <= 256
typedef unsigned char op2_entry1;
#else
typedef unsigned short op2_entry1;
#endif
extern "C" __global__ void __launch_bounds__(256) op2_loop_ends(float *__restrict__ op2_d0,
    const float *__restrict__ op2_d1,
    float *__restrict__ op2_d2,
    const int *__restrict__ op2_t0,
    const int *__restrict__ op2_list,
    int op2_begin,
    int op2_end,
    int op2_back,
    const long long *__restrict__ op2_f0,
    const int *__restrict__ op2_q0,
    const op2_entry0 *__restrict__ op2_last0,
    const op2_entry0 *__restrict__ op2_slots0,
    const long long *__restrict__ op2_f1,
    const int *__restrict__ op2_q1,
    const op2_entry1 *__restrict__ op2_last1,
    const op2_entry1 *__restrict__ op2_slots1,
    float *__restrict__ op2_p0,
    float *__restrict__ op2_p1) {
  const int op2_nth = (int)(op2_back ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
  op2_list -= op2_begin;
  enum { op2_width = OP2_WIDTH, op2_until0 = 0 };
  enum { op2_size0 = 2 * op2_width + 1, op2_until1 = op2_until0 + (2 * op2_size0 * 4 + 15) / 16 * 16 };
  enum { op2_size1 = 1 * op2_width + 1, op2_until2 = op2_until1 + (1 * op2_size1 * 4 + 15) / 16 * 16 };
  const int op2_in = (int)(threadIdx.x % op2_width);
  const int op2_i = op2_begin + op2_nth * 256 + (int)threadIdx.x;
  const bool op2_on = op2_i < op2_end, op2_some = op2_i - op2_in < op2_end;
  const int op2_e = op2_on ? op2_begin + op2_list[op2_i] : 0;
  const int op2_group = (op2_nth * 256 + (int)threadIdx.x) / op2_width;
  extern __shared__ __align__(16) unsigned char op2_shared[];
  float *const op2_h0 = (float *)(op2_shared + ((int)threadIdx.x / op2_width * op2_until2 + op2_until0));
  const long long op2_u0 = op2_some ? op2_f0[op2_group] : 0;
  const int op2_n0 = op2_some ? (int)(op2_f0[op2_group + 1] - op2_u0) : 0;
  float *const op2_h1 = (float *)(op2_shared + ((int)threadIdx.x / op2_width * op2_until2 + op2_until1));
  const long long op2_u1 = op2_some ? op2_f1[op2_group] : 0;
  const int op2_n1 = op2_some ? (int)(op2_f1[op2_group + 1] - op2_u1) : 0;
  if (op2_on) {
    float op2_a1[2];
    op2_a1[0] = -0.0;
    op2_a1[1] = -0.0;
    float op2_a2[2];
    op2_a2[0] = -0.0;
    op2_a2[1] = -0.0;
    float op2_a3[1];
    op2_a3[0] = -0.0;
    const int op2_m0_0 = op2_t0[(long long)op2_e * 2 + 0];
    const int op2_m0_1 = op2_t0[(long long)op2_e * 2 + 1];
    float op2_a0[1];
    op2_load<int, 1>(op2_a0 + 0, op2_d1 + op2_e * 1);
    op2_user::ends((op2_a0 + 0), (op2_a1 + 0), (op2_a2 + 0), (op2_a3 + 0));
    op2_h0[(0) * op2_size0 + 0 * op2_width + op2_in] = op2_a1[0 + 0];
    op2_h0[(1) * op2_size0 + 0 * op2_width + op2_in] = op2_a1[0 + 1];
    op2_h0[(0) * op2_size0 + 1 * op2_width + op2_in] = op2_a2[0 + 0];
    op2_h0[(1) * op2_size0 + 1 * op2_width + op2_in] = op2_a2[0 + 1];
    op2_h1[(0) * op2_size1 + 0 * op2_width + op2_in] = op2_a3[0 + 0];
  }
  __syncthreads();
  {
    const op2_entry0 *op2_own = op2_slots0 + (long long)op2_group * (2 * op2_width);
    for (int op2_c = op2_in; op2_c < op2_n0 * 2; op2_c += op2_width) {
      const int op2_row = op2_c / 2, op2_part = op2_c % 2;
      int op2_s = op2_row ? op2_last0[op2_u0 + op2_row - 1] + 1 : 0;
      const int op2_stop = op2_last0[op2_u0 + op2_row];
      const int op2_target = op2_q0[op2_u0 + op2_row];
      float *const op2_to =
          op2_target < 0 ? op2_p0 + (long long)~op2_target * 2 + op2_part
                         : op2_d0 + (long long)op2_target * 2 + op2_part;
      float op2_sum = -0.0;
      if (op2_target >= 0) op2_sum = *op2_to;
      for (; op2_s <= op2_stop; op2_s++) {
        op2_sum += op2_h0[(op2_part) * op2_size0 + (int)op2_own[op2_s]];
      }
      *op2_to = op2_sum;
    }
  }
  {
    const op2_entry1 *op2_own = op2_slots1 + (long long)op2_group * (1 * op2_width);
    for (int op2_c = op2_in; op2_c < op2_n1 * 1; op2_c += op2_width) {
      const int op2_row = op2_c / 1, op2_part = op2_c % 1;
      int op2_s = op2_row ? op2_last1[op2_u1 + op2_row - 1] + 1 : 0;
      const int op2_stop = op2_last1[op2_u1 + op2_row];
      const int op2_target = op2_q1[op2_u1 + op2_row];
      float *const op2_to =
          op2_target < 0 ? op2_p1 + (long long)~op2_target * 1 + op2_part
                         : op2_d2 + (long long)op2_target * 1 + op2_part;
      float op2_sum = -0.0;
      if (op2_target >= 0) op2_sum = *op2_to;
      for (; op2_s <= op2_stop; op2_s++) {
        op2_sum += op2_h1[(op2_part) * op2_size1 + (int)op2_own[op2_s]];
      }
      *op2_to = op2_sum;
    }
  }
}
/* ends.c */
void ends(const float *w, float *a, float *b, float *n) {
  a[0] += w[0];
  b[1] -= w[0];
  *n += 1;
}

