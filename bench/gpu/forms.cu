/* Forms of airfoil's loops and of what they are made of, by which it is decided what the library's kernels look
 * like. REAL: double or float. Blocks have 128 threads. */
#define LANE (threadIdx.x % 32)
#define BLOCK (back ? gridDim.x - 1 - blockIdx.x : blockIdx.x)

struct __align__(2 * sizeof(REAL)) pair {
  REAL x, y;
};
struct __align__(16) piece {
  int a, b, c, d;
};

extern "C" __global__ void __launch_bounds__(128)
    copy(const piece *__restrict__ from, piece *__restrict__ to, long long n) {
  const long long i = blockIdx.x * 128ll + threadIdx.x;
  if (i < n)
    to[i] = from[i];
}

/* ---- the price of operations of the L2: 32 sectors of a part of `mask` + 1, another part each time ---- */
static __device__ unsigned part_of(unsigned i, unsigned mask) {
  unsigned x = (blockIdx.x * 128 + threadIdx.x) / 32 * 977 + i * 131071;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return (x ^ x >> 16) & mask & ~31u;
}

/* `values` neighbours of a sector are added to by one instruction; with `twice` each by two lanes. */
extern "C" __global__ void __launch_bounds__(128)
    price_red(REAL *data, unsigned mask, int values, int twice, int times) {
  const int per = 32 / sizeof(REAL), lane = twice ? LANE / 2 : LANE;
  for (int i = 0; i < times; i++)
    atomicAdd(&data[(long long)(part_of(i, mask) + lane / values) * per + lane % values], (REAL)1);
}

/* `bytes` a lane: 8 of its own sector, 16 of its own sector, or (0) 16 beside its neighbours'. */
extern "C" __global__ void __launch_bounds__(128)
    price_store(char *data, unsigned mask, int bytes, int times) {
  const piece v = {1, 2, 3, 4};
  for (int i = 0; i < times; i++) {
    char *to = data + part_of(i, mask) * 32ll;
    if (bytes == 8)
      *(long long *)(to + LANE * 32) = 1;
    else
      *(piece *)(to + LANE * (bytes ? 32 : 16)) = v;
  }
}

extern "C" __global__ void __launch_bounds__(128) price_load(unsigned *data, unsigned mask, int times) {
  unsigned sum = 0;
#pragma unroll 4
  for (int i = 0; i < times; i++)
    sum += __ldcg(&data[(part_of(i, mask) + LANE) * 8]);
  if (sum == 0x7654321)
    data[0] = sum;
}

/* ---- res_calc ---- */
static __device__ __forceinline__ void flux(const REAL a[4], const REAL b[4], REAL dx, REAL dy, REAL mu,
                                            REAL f[4]) {
  const REAL half = (REAL)0.5, gm1 = (REAL)0.4, over_a = 1 / a[0], over_b = 1 / b[0];
  const REAL pa = gm1 * (a[3] - half * over_a * (a[1] * a[1] + a[2] * a[2]));
  const REAL pb = gm1 * (b[3] - half * over_b * (b[1] * b[1] + b[2] * b[2]));
  const REAL va = over_a * (a[1] * dy - a[2] * dx), vb = over_b * (b[1] * dy - b[2] * dx);
  f[0] = half * (va * a[0] + vb * b[0]) + mu * (a[0] - b[0]);
  f[1] = half * (va * a[1] + pa * dy + vb * b[1] + pb * dy) + mu * (a[1] - b[1]);
  f[2] = half * (va * a[2] - pa * dx + vb * b[2] - pb * dx) + mu * (a[2] - b[2]);
  f[3] = half * (va * (a[3] + pa) + vb * (b[3] + pb)) + mu * (a[3] - b[3]);
}

static __device__ __forceinline__ void get_row(const REAL *p, REAL v[4]) {
  const pair a = ((const pair *)p)[0], b = ((const pair *)p)[1];
  v[0] = a.x, v[1] = a.y, v[2] = b.x, v[3] = b.y;
}

static __device__ __forceinline__ void put_row(REAL *p, const REAL v[4]) {
  const pair a = {v[0], v[1]}, b = {v[2], v[3]};
  ((pair *)p)[0] = a, ((pair *)p)[1] = b;
}

#define RES                                                                                                  \
  int n, int back, const int2 *__restrict__ nodes, const int2 *__restrict__ cells,                           \
      const REAL *__restrict__ x, const REAL *__restrict__ q, const REAL *__restrict__ adt, REAL *res
struct Edge {
  int a, b;
  REAL f[4];
};

static __device__ __forceinline__ Edge edge_of(int e, const int2 *__restrict__ nodes,
                                               const int2 *__restrict__ cells, const REAL *__restrict__ x,
                                               const REAL *__restrict__ q, const REAL *__restrict__ adt) {
  Edge r;
  const int2 c = cells[e], m = nodes[e];
  const pair from = ((const pair *)x)[m.x], to = ((const pair *)x)[m.y];
  REAL a[4], b[4];
  r.a = c.x, r.b = c.y;
  get_row(q + 4ll * c.x, a);
  get_row(q + 4ll * c.y, b);
  flux(a, b, from.x - to.x, from.y - to.y, (REAL)0.025 * (adt[c.x] + adt[c.y]), r.f);
  return r;
}

extern "C" __global__ void __launch_bounds__(128) res_rows(RES) {
  const int e = BLOCK * 128 + threadIdx.x;
  if (e >= n)
    return;
  const Edge r = edge_of(e, nodes, cells, x, q, adt);
  for (int c = 0; c < 4; c++) {
    atomicAdd(&res[4ll * r.a + c], r.f[c]);
    atomicAdd(&res[4ll * r.b + c], -r.f[c]);
  }
}

extern "C" __global__ void __launch_bounds__(128) res_apart(RES, int ncells, int nnodes) {
  const int e = BLOCK * 128 + threadIdx.x;
  if (e >= n)
    return;
  const int2 c = cells[e], m = nodes[e];
  REAL a[4], b[4], f[4];
  for (int k = 0; k < 4; k++)
    a[k] = q[(long long)k * ncells + c.x], b[k] = q[(long long)k * ncells + c.y];
  flux(a, b, x[m.x] - x[m.y], x[nnodes + m.x] - x[nnodes + m.y], (REAL)0.025 * (adt[c.x] + adt[c.y]), f);
  for (int k = 0; k < 4; k++) {
    atomicAdd(&res[(long long)k * ncells + c.x], f[k]);
    atomicAdd(&res[(long long)k * ncells + c.y], -f[k]);
  }
}

/* Four lanes add to one row: of what four neighbours have, lane k gets component k of each. */
extern "C" __global__ void __launch_bounds__(128) res_lanes(RES) {
  const int e = BLOCK * 128 + threadIdx.x;
  Edge r = {-1, -1, {0, 0, 0, 0}};
  if (e < n)
    r = edge_of(e, nodes, cells, x, q, adt);
#pragma unroll
  for (int bit = 1; bit < 4; bit *= 2)
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (!(k & bit)) {
        const REAL given = LANE & bit ? r.f[k] : r.f[k | bit], got = __shfl_xor_sync(~0u, given, bit);
        if (LANE & bit)
          r.f[k] = got;
        else
          r.f[k | bit] = got;
      }
  for (int k = 0; k < 4; k++) {
    const int from = LANE / 4 * 4 + k, a = __shfl_sync(~0u, r.a, from), b = __shfl_sync(~0u, r.b, from);
    if (a >= 0) {
      atomicAdd(&res[4ll * a + LANE % 4], r.f[k]);
      atomicAdd(&res[4ll * b + LANE % 4], -r.f[k]);
    }
  }
}

/* Sums of a warp's or a block's edges in shared memory, then one addition for each target and component. The plan:
 * where a group's targets begin, their cells, where the summands of each end, and the summands' places (twice the
 * edge, and one for its second cell). */
template <int GROUP>
static __device__ __forceinline__ void
sums(REAL sum[][8][GROUP + 1], RES, const int *__restrict__ first, const int *__restrict__ targets,
     const unsigned short *__restrict__ ends, const unsigned short *__restrict__ places) {
  const int w = threadIdx.x / GROUP, me = threadIdx.x % GROUP, group = BLOCK * (128 / GROUP) + w,
            e = group * GROUP + me;
  if (GROUP == 32 && group * GROUP >= n)
    return;
  if (e < n) {
    const Edge r = edge_of(e, nodes, cells, x, q, adt);
    for (int c = 0; c < 4; c++)
      sum[w][c][me] = r.f[c], sum[w][4 + c][me] = -r.f[c];
  }
  if (GROUP == 32)
    __syncwarp();
  else
    __syncthreads();
  const int begin = first[group], count = first[group + 1] - begin;
  for (int i = me; i < 4 * count; i += GROUP) {
    const int t = begin + i / 4, c = i % 4;
    REAL all = 0;
    for (int k = i / 4 ? ends[t - 1] : 0; k < ends[t]; k++) {
      const int place = places[2ll * GROUP * group + k];
      all += sum[w][place % 2 * 4 + c][place / 2];
    }
    atomicAdd(&res[4ll * targets[t] + c], all);
  }
}
#define PLAN                                                                                                 \
  const int *__restrict__ first, const int *__restrict__ targets, const unsigned short *__restrict__ ends,   \
      const unsigned short *__restrict__ places
extern "C" __global__ void __launch_bounds__(128) res_warp(RES, PLAN) {
  __shared__ REAL sum[4][8][33];
  sums<32>(sum, n, back, nodes, cells, x, q, adt, res, first, targets, ends, places);
}
extern "C" __global__ void __launch_bounds__(128) res_block(RES, PLAN) {
  __shared__ REAL sum[1][8][129];
  sums<128>(sum, n, back, nodes, cells, x, q, adt, res, first, targets, ends, places);
}

/* A row of four floats, by one addition. The host's stand-in has no PTX. */
static __device__ __forceinline__ void add_four(REAL *to, const REAL v[4], REAL by) {
#ifdef STANDIN_RAW
  for (int c = 0; c < 4; c++)
    atomicAdd(&to[c], by * v[c]);
#else
  asm volatile("red.global.add.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to), "f"((float)(by * v[0])),
               "f"((float)(by * v[1])), "f"((float)(by * v[2])), "f"((float)(by * v[3]))
               : "memory");
#endif
}
extern "C" __global__ void __launch_bounds__(128) res_wide(RES) {
  const int e = BLOCK * 128 + threadIdx.x;
  if (e >= n || sizeof(REAL) != 4)
    return;
  const Edge r = edge_of(e, nodes, cells, x, q, adt);
  add_four(res + 4ll * r.a, r.f, 1);
  add_four(res + 4ll * r.b, r.f, -1);
}

/* ---- direct loops: a row by its own thread, or halves of rows that two neighbours exchange, so that each
 * instruction moves whole sectors. Elements are a multiple of 32. ---- */
static __device__ __forceinline__ pair across(pair v) {
  const pair r = {__shfl_xor_sync(~0u, v.x, 1), __shfl_xor_sync(~0u, v.y, 1)};
  return r;
}
template <bool WHOLE> static __device__ __forceinline__ void take(const REAL *p, long long i, REAL v[4]) {
  if (!WHOLE) {
    get_row(p + 4 * i, v);
    return;
  }
  const pair *rows = (const pair *)p + 2 * (i & ~1ll);
  const int odd = LANE & 1;
  const pair first = rows[odd], second = rows[2 + odd], other = across(odd ? first : second),
             own = odd ? second : first;
  v[0] = odd ? other.x : own.x, v[1] = odd ? other.y : own.y, v[2] = odd ? own.x : other.x,
  v[3] = odd ? own.y : other.y;
}
template <bool WHOLE> static __device__ __forceinline__ void leave(REAL *p, long long i, const REAL v[4]) {
  if (!WHOLE) {
    put_row(p + 4 * i, v);
    return;
  }
  pair *rows = (pair *)p + 2 * (i & ~1ll);
  const int odd = LANE & 1;
  const pair low = {v[0], v[1]}, high = {v[2], v[3]}, other = across(odd ? low : high),
             own = odd ? high : low;
  rows[odd] = odd ? other : own;
  rows[2 + odd] = odd ? own : other;
}

template <bool WHOLE> static __device__ __forceinline__ void save(int n, int back, const REAL *q, REAL *old) {
  const int i = BLOCK * 128 + threadIdx.x;
  REAL v[4];
  if (i >= n)
    return;
  take<WHOLE>(q, i, v);
  leave<WHOLE>(old, i, v);
}
extern "C" __global__ void __launch_bounds__(128) save_half(int n, int back, const REAL *q, REAL *old) {
  save<false>(n, back, q, old);
}
extern "C" __global__ void __launch_bounds__(128) save_whole(int n, int back, const REAL *q, REAL *old) {
  save<true>(n, back, q, old);
}

/* ---- results: a slot for each block; with a ticket the last block adds them up and stores into memory of the
 * host ---- */
static __device__ double over_block(double mine) {
  __shared__ double warps[4];
  for (int down = 16; down > 0; down /= 2)
    mine += __shfl_down_sync(~0u, mine, down);
  __syncthreads();
  if (LANE == 0)
    warps[threadIdx.x / 32] = mine;
  __syncthreads();
  return warps[0] + warps[1] + warps[2] + warps[3];
}
static __device__ void add_up(const double *slots, int count, double *result) {
  double sum = 0;
  for (int i = threadIdx.x; i < count; i += 128)
    sum += slots[i];
  sum = over_block(sum);
  if (threadIdx.x == 0)
    *result = sum;
}
static __device__ void finish(double mine, int block, double *slots, unsigned *ticket, double *result) {
  bool last = false;
  mine = over_block(mine);
  if (threadIdx.x == 0) {
    slots[block] = mine;
    if (ticket) {
      __threadfence();
      last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
      if (last)
        __threadfence();
    }
  }
  if (__syncthreads_or(last))
    add_up(slots, gridDim.x, result);
}
extern "C" __global__ void __launch_bounds__(128) combine(const double *slots, int count, double *result) {
  add_up(slots, count, result);
}

#define UPDATE                                                                                               \
  int n, int back, const REAL *old, REAL *q, REAL *res, const REAL *adt, double *slots, unsigned *ticket,    \
      double *result
template <bool WHOLE> static __device__ __forceinline__ void update(UPDATE) {
  const int i = BLOCK * 128 + threadIdx.x;
  double mine = 0;
  if (i < n) {
    REAL o[4], r[4], v[4];
    take<WHOLE>(old, i, o);
    take<WHOLE>(res, i, r);
    const REAL by = (REAL)1e-6 / adt[i]; /* so that a thousand steps change little */
    for (int c = 0; c < 4; c++) {
      const REAL s = by * r[c];
      v[c] = o[c] - s, r[c] = 0, mine += (double)(s * s);
    }
    leave<WHOLE>(q, i, v);
    leave<WHOLE>(res, i, r);
  }
  finish(mine, BLOCK, slots, ticket, result);
}
extern "C" __global__ void __launch_bounds__(128) update_half(UPDATE) {
  update<false>(n, back, old, q, res, adt, slots, ticket, result);
}
extern "C" __global__ void __launch_bounds__(128) update_whole(UPDATE) {
  update<true>(n, back, old, q, res, adt, slots, ticket, result);
}

/* ---- how much of what was read last the L2 still has ---- */
extern "C" __global__ void __launch_bounds__(128) sweep(const piece *data, int n, int back, int *out) {
  const long long i = BLOCK * 128ll + threadIdx.x;
  const int v = i < n ? data[i].a : 0;
  if (v == 0x7654321)
    *out = v;
}
