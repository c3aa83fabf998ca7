/* Made by op2jit (generator 21): loop sums, apart/64/rows64, contract. */
#pragma clang force_cuda_host_device begin
#define int64_t op2_int64
#define uint64_t op2_uint64
#define __align__(n) __attribute__((aligned(n)))
#define __shfl_down_sync(mask, v, down) __shfl_down(v, down, OP2_LANES)
#define __shfl_xor_sync(mask, v, with) __shfl_xor(v, with, OP2_LANES)
#define __shfl_sync(mask, v, lane, width) __shfl(v, lane, width)
#define __ldcg(p) __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#include "op2jit_hip.h"
struct __align__(16) op2_slot {
  __align__(16) float g3[1];
};
static __device__ __forceinline__ void op2_merge(op2_slot *to, const op2_slot *from) {
  to->g3[0] = (float)(to->g3[0] + from->g3[0]);
}
static __device__ __forceinline__ void op2_finish(op2_slot &mine, op2_slot *slot, op2_slot *warps) {
  for (int down = (OP2_LANES / 2); down > 0; down /= 2) {
    const op2_slot other = op2_lane(mine, 0xffffffffu, down);
    op2_merge(&mine, &other);
  }
  if (threadIdx.x % OP2_LANES == 0) warps[threadIdx.x / OP2_LANES] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < (int)blockDim.x / OP2_LANES; i++) op2_merge(&mine, &warps[i]);
    *slot = mine;
  }
}
static __device__ __forceinline__ void op2_last(const op2_slot *slots, int count, op2_slot *warps, op2_slot *out) {
  for (int at = threadIdx.x; at < 256; at += (int)blockDim.x) {
    op2_slot mine = slots[(int)at < count ? at : 0];
    if ((int)at >= count) {
      mine.g3[0] = -0.0;
    }
    for (int i = at + 256; i < count; i += 256) {
      const op2_slot other = slots[i];
      op2_merge(&mine, &other);
    }
    for (int down = (OP2_LANES / 2); down > 0; down /= 2) {
      const op2_slot other = op2_lane(mine, 0xffffffffu, down);
      op2_merge(&mine, &other);
    }
    if (at % OP2_LANES == 0) warps[at / OP2_LANES] = mine;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  op2_slot result = warps[0];
  for (int i = 1; i < 256 / OP2_LANES; i++) op2_merge(&result, &warps[i]);
  *out = result;
}
extern "C" __global__ void __launch_bounds__(128) op2_sum0(double *dat, long long stride, const int *__restrict__ first, const int *__restrict__ entries, const double *__restrict__ apart, int ntargets) {
  const int target = blockIdx.x * 128 + threadIdx.x;
  if (target >= ntargets) return;
  for (int c = 0; c < 1; c++) {
    double *to = dat + (long long)target * stride + c;
    const double start = *to;
    double sum = start;
    for (int i = first[target]; i < first[target + 1]; i++) {
      const double value = apart[(long long)entries[i] * 1 + c];
      sum += value;
    }
    *to = sum;
  }
}
#define OP2_ROWS 64
static __device__ __forceinline__ int op2_row_down(int v, int down) { return __shfl_down(v, down, OP2_ROWS); }
static __device__ __forceinline__ int op2_row_first(int v) { return __shfl(v, 0, OP2_ROWS); }
static __device__ __forceinline__ void op2_row_meet() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}
static __device__ __forceinline__ int op2_row_lane() { return (int)(threadIdx.x % OP2_ROWS); }
template <class T> static __device__ __forceinline__ T op2_row_moved(T v, int down) {
  int words[(sizeof(T) + 3) / 4] = {0};
  memcpy(words, &v, sizeof v);
#pragma unroll
  for (int i = 0; i < (int)((sizeof(T) + 3) / 4); i++)
    words[i] = down ? op2_row_down(words[i], down) : op2_row_first(words[i]);
  memcpy(&v, words, sizeof v);
  return v;
}
template <class T> static __device__ __forceinline__ void op2_row_begin(T *v, int n, double nothing) {
#pragma unroll
  for (int i = 0; i < n; i++)
    if (op2_row_lane() != 0) v[i] = (T)nothing;
}
#define OP2_ROW_END(name, both)                                                                 \
  template <class T> static __device__ __forceinline__ void name(T *v, int n) {                 \
    _Pragma("unroll") for (int i = 0; i < n; i++) {                                           \
      T mine = v[i];                                                                            \
      _Pragma("unroll") for (int down = OP2_ROWS / 2; down > 0; down /= 2) {                  \
        const T other = op2_row_moved(mine, down);                                              \
        mine = (T)(both);                                                                       \
      }                                                                                         \
      v[i] = op2_row_moved(mine, 0);                                                            \
    }                                                                                           \
  }
OP2_ROW_END(op2_row_sum, mine + other)
OP2_ROW_END(op2_row_product, mine * other)
OP2_ROW_END(op2_row_least, mine != mine || other < mine ? other : mine)
OP2_ROW_END(op2_row_most, mine != mine || other > mine ? other : mine)
namespace op2_user {
#include "sums.c"
}
extern "C" __global__ void __launch_bounds__(64) op2_loop_sums(const double *__restrict__ op2_d0,
    double *__restrict__ op2_d1,
    double *__restrict__ op2_d2,
    const int *__restrict__ op2_t0,
    const long long *__restrict__ op2_z0,
    const int *__restrict__ op2_t1,
    op2_slot *op2_slots,
    op2_slot *op2_warps,
    int op2_slot0,
    unsigned *op2_ticket,
    int op2_count,
    op2_slot *op2_result,
    int op2_begin,
    int op2_end,
    int op2_back,
    double *__restrict__ op2_p0) {
  const int op2_nth = (int)(op2_back ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
  op2_p0 -= (long long)op2_begin * 1;
  const int op2_lane = op2_row_lane();
  op2_slot op2_r;
  op2_r.g3[0] = -0.0;
  for (unsigned op2_i = op2_begin + op2_nth * 1 + threadIdx.x / 64; op2_i < (unsigned)op2_end; op2_i += gridDim.x * 1) {
    const int op2_e = (int)op2_i;
    double op2_a2[1];
    op2_a2[0] = -0.0;
    const long long op2_first0 = op2_z0[op2_e];
    const int op2_count0 = (int)(op2_z0[op2_e + 1] - op2_first0);
    const int op2_m1_1 = op2_t1[(long long)op2_e * 2 + 1];
    const double *op2_v0[4] = {op2_d0, (const double *)(op2_t0 + op2_first0), (const double *)(long long)2, (const double *)(long long)op2_count0};
    double op2_a1[2];
    op2_load<int4, 1>(op2_a1 + 0, op2_d1 + op2_e * 2);
    op2_user::sums((op2_count0), (op2_v0), (op2_a1 + 0), (op2_a2 + 0), (op2_r.g3));
    op2_row_meet();
    if (op2_lane == 0) {
      op2_store<int4, 1>(op2_d1 + op2_e * 2, op2_a1 + 0);
    }
    if (op2_lane == 0) {
      op2_p0[((long long)op2_e * 1 + 0) * 1 + 0] = op2_a2[0 + 0];
    }
  }
  if (op2_lane != 0) {
    op2_r.g3[0] = -0.0;
  }
  op2_slot *op2_own = op2_slots + op2_slot0 + op2_nth;
  op2_finish(op2_r, op2_own, op2_warps + (256 + (op2_slot0 + op2_nth) * 64) / OP2_LANES);
  if (op2_slot0 + op2_nth < op2_count && op2_is_last(op2_ticket, op2_count))
    op2_last(op2_slots, op2_count, op2_warps, op2_result);
}
/* sums.c */
void sums(int n, const double **a, double *y, double *to, float *all) {
  float part = 1;
  { op2_row_begin(y, 2, -0.0); OP_ANY_ORDER
  for (int k = op2_row_lane(); k < n; k += OP2_ROWS) {
    y[0] += OP_ROW(a, k)[0];
    part = fmaxf(part, (float)OP_ROW(a, k)[1]);
  } op2_row_sum(y, 2); op2_row_most(&part, 1); }
  *to += y[0];
  *all += part;
}

