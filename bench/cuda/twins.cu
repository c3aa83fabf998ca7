/* airfoil, jac and a stream by hand, as a good engineer writes them. REAL: double or float. SOA: dats and tables with their components
 * apart. COLOURS: edges of one colour in one launch, added without atomic operations; the tables are in the order of the colours. */
#define AT(dat, n, e, dim, c) dat[SOA ? (long long)(c) * (n) + (e) : (long long)(e) * (dim) + (c)]
#if COLOURS
#define ADD(at, value) ((at) += (value))
#else
#define ADD(at, value) atomicAdd(&(at), (value))
#endif
#define THING (blockIdx.x * (long long)blockDim.x + threadIdx.x)

__device__ static const REAL gam = (REAL)1.4f, gm1 = (REAL)(1.4f - 1.0), cfl = (REAL)0.9f, eps = (REAL)0.05f;

extern "C" __global__ void __launch_bounds__(128)
    copy(const double2 *__restrict__ from, double2 *__restrict__ to, long long n) {
  const long long i = THING;
  if (i < n)
    to[i] = from[i];
}

/* ---- results: one per block, then one ---- */

__device__ static void sum_block(double mine, double *partial) {
  __shared__ double warps[4];
  for (int distance = 16; distance > 0; distance /= 2)
    mine += __shfl_down_sync(0xffffffffu, mine, distance);
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0)
    partial[blockIdx.x] = warps[0] + warps[1] + warps[2] + warps[3];
}

extern "C" __global__ void __launch_bounds__(128)
    sum(const double *__restrict__ partial, int count, double *result) {
  double mine = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    mine += partial[i];
  sum_block(mine, result);
}

/* ---- airfoil ---- */

extern "C" __global__ void __launch_bounds__(128)
    save_soln(int cells, const REAL *__restrict__ q, REAL *__restrict__ old) {
  const int cell = (int)THING;
  if (cell < cells)
    for (int n = 0; n < 4; n++)
      AT(old, cells, cell, 4, n) = AT(q, cells, cell, 4, n);
}

extern "C" __global__ void __launch_bounds__(128)
    adt_calc(int cells, int nodes, const int *__restrict__ corners, const REAL *__restrict__ x,
             const REAL *__restrict__ q, REAL *__restrict__ adt) {
  const int cell = (int)THING;
  if (cell >= cells)
    return;
  REAL at[4][2], sum = 0;
  for (int k = 0; k < 4; k++) {
    const int node = AT(corners, cells, cell, 4, k);
    at[k][0] = AT(x, nodes, node, 2, 0);
    at[k][1] = AT(x, nodes, node, 2, 1);
  }
  const REAL inverse = 1 / AT(q, cells, cell, 4, 0);
  const REAL u = inverse * AT(q, cells, cell, 4, 1), v = inverse * AT(q, cells, cell, 4, 2);
  const REAL c = sqrt(gam * gm1 * (inverse * AT(q, cells, cell, 4, 3) - (REAL)0.5 * (u * u + v * v)));
  for (int k = 0; k < 4; k++) {
    const REAL dx = at[(k + 1) % 4][0] - at[k][0], dy = at[(k + 1) % 4][1] - at[k][1];
    sum += fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
  }
  adt[cell] = sum / cfl;
}

__device__ static void flux(const REAL a[4], const REAL b[4], REAL dx, REAL dy, REAL mu, REAL f[4]) {
  const REAL half = (REAL)0.5, inverse_a = 1 / a[0], inverse_b = 1 / b[0];
  const REAL pa = gm1 * (a[3] - half * inverse_a * (a[1] * a[1] + a[2] * a[2]));
  const REAL pb = gm1 * (b[3] - half * inverse_b * (b[1] * b[1] + b[2] * b[2]));
  const REAL va = inverse_a * (a[1] * dy - a[2] * dx), vb = inverse_b * (b[1] * dy - b[2] * dx);
  f[0] = half * (va * a[0] + vb * b[0]) + mu * (a[0] - b[0]);
  f[1] = half * (va * a[1] + pa * dy + vb * b[1] + pb * dy) + mu * (a[1] - b[1]);
  f[2] = half * (va * a[2] - pa * dx + vb * b[2] - pb * dx) + mu * (a[2] - b[2]);
  f[3] = half * (va * (a[3] + pa) + vb * (b[3] + pb)) + mu * (a[3] - b[3]);
}

extern "C" __global__ void __launch_bounds__(128)
    res_calc(int begin, int end, int edges, int cells, int nodes, const int *__restrict__ edge_nodes,
             const int *__restrict__ edge_cells, const REAL *__restrict__ x, const REAL *__restrict__ q,
             const REAL *__restrict__ adt, REAL *__restrict__ res) {
  const int edge = begin + (int)THING;
  if (edge >= end)
    return;
  const int a = AT(edge_cells, edges, edge, 2, 0), b = AT(edge_cells, edges, edge, 2, 1);
  const int from = AT(edge_nodes, edges, edge, 2, 0), to = AT(edge_nodes, edges, edge, 2, 1);
  REAL qa[4], qb[4], f[4];
  for (int n = 0; n < 4; n++) {
    qa[n] = AT(q, cells, a, 4, n);
    qb[n] = AT(q, cells, b, 4, n);
  }
  const REAL dx = AT(x, nodes, from, 2, 0) - AT(x, nodes, to, 2, 0);
  const REAL dy = AT(x, nodes, from, 2, 1) - AT(x, nodes, to, 2, 1);
  flux(qa, qb, dx, dy, (REAL)0.5 * (adt[a] + adt[b]) * eps, f);
  for (int n = 0; n < 4; n++) {
    ADD(AT(res, cells, a, 4, n), f[n]);
    ADD(AT(res, cells, b, 4, n), -f[n]);
  }
}

/* Few, and two may share a cell: always atomic. */
extern "C" __global__ void __launch_bounds__(128)
    bres_calc(int count, int cells, int nodes, const int *__restrict__ boundary_nodes,
              const int *__restrict__ boundary_cell, const int *__restrict__ kind, const REAL *__restrict__ x,
              const REAL *__restrict__ q, const REAL *__restrict__ adt, const REAL *__restrict__ stream,
              REAL *__restrict__ res) {
  const int edge = (int)THING;
  if (edge >= count)
    return;
  const int cell = boundary_cell[edge], from = boundary_nodes[2 * edge], to = boundary_nodes[2 * edge + 1];
  const REAL dx = AT(x, nodes, from, 2, 0) - AT(x, nodes, to, 2, 0);
  const REAL dy = AT(x, nodes, from, 2, 1) - AT(x, nodes, to, 2, 1);
  REAL s[4], f[4] = {0, 0, 0, 0};
  for (int n = 0; n < 4; n++)
    s[n] = AT(q, cells, cell, 4, n);
  if (kind[edge] == 1) {
    const REAL p = gm1 * (s[3] - (REAL)0.5 / s[0] * (s[1] * s[1] + s[2] * s[2]));
    f[1] = p * dy;
    f[2] = -p * dx;
  } else {
    flux(s, stream, dx, dy, adt[cell] * eps, f);
  }
  for (int n = 0; n < 4; n++)
    if (f[n] != 0)
      atomicAdd(&AT(res, cells, cell, 4, n), f[n]);
}

extern "C" __global__ void __launch_bounds__(128)
    update(int cells, const REAL *__restrict__ old, REAL *__restrict__ q, REAL *__restrict__ res,
           const REAL *__restrict__ adt, double *__restrict__ partial) {
  const int cell = (int)THING;
  double mine = 0;
  if (cell < cells) {
    const REAL inverse = 1 / adt[cell];
    for (int n = 0; n < 4; n++) {
      const REAL step = inverse * AT(res, cells, cell, 4, n);
      AT(q, cells, cell, 4, n) = AT(old, cells, cell, 4, n) - step;
      AT(res, cells, cell, 4, n) = 0;
      mine += step * step;
    }
  }
  sum_block(mine, partial);
}

/* ---- jac ---- */

extern "C" __global__ void __launch_bounds__(128)
    jac_gather(int begin, int end, int edges, const int *__restrict__ ends, const REAL *__restrict__ a,
               const REAL *__restrict__ u, REAL *__restrict__ du) {
  const int edge = begin + (int)THING;
  if (edge < end)
    ADD(du[AT(ends, edges, edge, 2, 0)], a[edge] * u[AT(ends, edges, edge, 2, 1)]);
}

extern "C" __global__ void __launch_bounds__(128)
    jac_update(int nodes, const REAL *__restrict__ r, REAL *__restrict__ du, REAL *__restrict__ u,
               double *__restrict__ partial) {
  const int node = (int)THING;
  double mine = 0;
  if (node < nodes) {
    const REAL next = du[node] + r[node], step = next - u[node];
    mine = step * step;
    u[node] = next;
    du[node] = 0;
  }
  sum_block(mine, partial);
}

/* ---- streaming: y += w x, four components ---- */

extern "C" __global__ void __launch_bounds__(128)
    stream(int n, const REAL *__restrict__ x, const REAL *__restrict__ w, REAL *__restrict__ y) {
  const int i = (int)THING;
  if (i < n)
    for (int c = 0; c < 4; c++)
      AT(y, n, i, 4, c) += w[i] * AT(x, n, i, 4, c);
}
