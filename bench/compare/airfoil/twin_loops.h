/* The hand-written loops for one precision. Included by twin.c with `real`, `REAL_SQRT`, `REAL_ABS` and
 * `NAMED(name)` defined. */

struct NAMED(state) {
  const struct airfoil_mesh *mesh;
  struct airfoil_mesh own; /* that mesh, its tables where the threads are that use them */
  struct colouring edges;
  struct owners owners; /* of cells by threads; only where that form runs */
  real *x, *q, *old, *res, *adt;
  real free_stream[4];
};

struct NAMED(change) {
  double sum;
  real largest;
  int cell;
};

static const real NAMED(gam) = (real)FLOW_GAMMA;
static const real NAMED(gm1) = (real)(FLOW_GAMMA - 1);
static const real NAMED(eps) = (real)FLOW_EPS;
static const real NAMED(cfl) = (real)FLOW_CFL;

static void NAMED(save_range)(const struct NAMED(state) * state, int begin, int end) {
  const real *restrict q = state->q;
  real *restrict old = state->old;
  for (int i = 4 * begin; i < 4 * end; i++)
    old[i] = q[i];
}

static inline real NAMED(side)(real dx, real dy, real u, real v, real c) {
  return REAL_ABS(u * dy - v * dx) + c * REAL_SQRT(dx * dx + dy * dy);
}

/* The corners of STRIP cells, each beside the others'. */
struct NAMED(corners) {
  real x[4][STRIP], y[4][STRIP];
};

static inline void NAMED(strip_steps)(const struct NAMED(corners) *restrict at, const real *restrict q,
                                      real *restrict adt, int count) {
  const real half = (real)0.5, heat = NAMED(gam) * NAMED(gm1), cfl = NAMED(cfl);
#pragma omp simd
  for (int k = 0; k < count; k++) {
    real inverse = 1 / q[4 * k];
    real u = inverse * q[4 * k + 1], v = inverse * q[4 * k + 2];
    real c = REAL_SQRT(heat * (inverse * q[4 * k + 3] - half * (u * u + v * v)));
    real x0 = at->x[0][k], x1 = at->x[1][k], x2 = at->x[2][k], x3 = at->x[3][k];
    real y0 = at->y[0][k], y1 = at->y[1][k], y2 = at->y[2][k], y3 = at->y[3][k];
    adt[k] = (NAMED(side)(x1 - x0, y1 - y0, u, v, c) + NAMED(side)(x2 - x1, y2 - y1, u, v, c) +
              NAMED(side)(x3 - x2, y3 - y2, u, v, c) + NAMED(side)(x0 - x3, y0 - y3, u, v, c)) /
             cfl;
  }
}

/* Area over time step of each cell: the sum of the wave speeds through its sides. */
static void NAMED(time_step_range)(const struct NAMED(state) * state, int begin, int end) {
  const real *restrict x = state->x;
  struct NAMED(corners) at;
  for (int cell = begin; cell < end; cell += STRIP) {
    int count = end - cell < STRIP ? end - cell : STRIP;
    const int *restrict nodes = state->mesh->cell_nodes + 4 * cell;
    for (int k = 0; k < count; k++) {
      for (int corner = 0; corner < 4; corner++) {
        at.x[corner][k] = x[2 * nodes[4 * k + corner]];
        at.y[corner][k] = x[2 * nodes[4 * k + corner] + 1];
      }
    }
    if (count == STRIP)
      NAMED(strip_steps)(&at, state->q + 4 * cell, state->adt + cell, STRIP);
    else
      NAMED(strip_steps)(&at, state->q + 4 * cell, state->adt + cell, count);
  }
}

/* The flux through a face with normal (dy, -dx) between the states a and b: the mean of both, and a
 * smoothing term in proportion to their difference. */
static inline void NAMED(flux)(const real *restrict a, const real *restrict b, real dx, real dy, real mu,
                               real *restrict f) {
  const real half = (real)0.5;
  real inverse_a = 1 / a[0], inverse_b = 1 / b[0];
  real pa = NAMED(gm1) * (a[3] - half * inverse_a * (a[1] * a[1] + a[2] * a[2]));
  real pb = NAMED(gm1) * (b[3] - half * inverse_b * (b[1] * b[1] + b[2] * b[2]));
  real va = inverse_a * (a[1] * dy - a[2] * dx);
  real vb = inverse_b * (b[1] * dy - b[2] * dx);
  f[0] = half * (va * a[0] + vb * b[0]) + mu * (a[0] - b[0]);
  f[1] = half * (va * a[1] + pa * dy + vb * b[1] + pb * dy) + mu * (a[1] - b[1]);
  f[2] = half * (va * a[2] - pa * dx + vb * b[2] - pb * dx) + mu * (a[2] - b[2]);
  f[3] = half * (va * (a[3] + pa) + vb * (b[3] + pb)) + mu * (a[3] - b[3]);
}

static inline void NAMED(add_flux)(real *restrict res, int a, int b, const real f[4]) {
  for (int n = 0; n < 4; n++)
    res[4 * a + n] += f[n];
  for (int n = 0; n < 4; n++)
    res[4 * b + n] -= f[n];
}

static inline void NAMED(edge_flux)(const struct NAMED(state) * state, int edge, real f[4]) {
  const int *cells = state->mesh->edge_cells + 2 * edge, *nodes = state->mesh->edge_nodes + 2 * edge;
  const real *from = state->x + 2 * nodes[0], *to = state->x + 2 * nodes[1];
  real mu = (real)0.5 * (state->adt[cells[0]] + state->adt[cells[1]]) * NAMED(eps);
  NAMED(flux)(state->q + 4 * cells[0], state->q + 4 * cells[1], from[0] - to[0], from[1] - to[1], mu, f);
}

static inline void NAMED(one_edge)(const struct NAMED(state) * state, int edge) {
  const int *cells = state->mesh->edge_cells + 2 * edge;
  real f[4];
  NAMED(edge_flux)(state, edge, f);
  NAMED(add_flux)(state->res, cells[0], cells[1], f);
}

static inline void NAMED(atomic_edge)(const struct NAMED(state) * state, int edge) {
  const int *cells = state->mesh->edge_cells + 2 * edge;
  real f[4];
  NAMED(edge_flux)(state, edge, f);
  for (int n = 0; n < 4; n++) {
#pragma omp atomic
    state->res[4 * cells[0] + n] += f[n];
#pragma omp atomic
    state->res[4 * cells[1] + n] -= f[n];
  }
}

/* Adds to the cells of thread t alone. */
static inline void NAMED(border_edge)(const struct NAMED(state) * state, int t, int edge) {
  const int *cells = state->mesh->edge_cells + 2 * edge;
  real f[4];
  NAMED(edge_flux)(state, edge, f);
  for (int side = 0; side < 2; side++)
    for (int n = 0; n < 4 && owners_has(&state->owners, t, cells[side]); n++)
      state->res[4 * cells[side] + n] += side ? -f[n] : f[n];
}

/* From four rows of four to their columns. */
static inline void NAMED(transpose)(NAMED(row) r[4]) {
  NAMED(row) even01 = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6);
  NAMED(row) odd01 = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
  NAMED(row) even23 = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
  NAMED(row) odd23 = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  r[0] = __builtin_shufflevector(even01, even23, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5);
  r[2] = __builtin_shufflevector(even01, even23, 2, 3, 6, 7);
  r[3] = __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
}

/* Four edges side by side: each state is read as the row that it is, since processors are slow at reading from
 * many places, and the rows are turned into columns. Edges add to cells one by one, since they may meet. */
static inline void NAMED(four_edges)(const struct NAMED(state) * state, int edge) {
  const real half = (real)0.5, gm1 = NAMED(gm1);
  const int *restrict cells = state->mesh->edge_cells + 2 * edge;
  const int *restrict nodes = state->mesh->edge_nodes + 2 * edge;
  const real *restrict x = state->x, *restrict q = state->q, *restrict adt = state->adt;
  NAMED(row) a[4], b[4], f[4], dx = {0}, dy = {0}, mu = {0};
  for (int k = 0; k < 4; k++) {
    const real *from = x + 2 * nodes[2 * k], *to = x + 2 * nodes[2 * k + 1];
    memcpy(&a[k], q + 4 * cells[2 * k], sizeof a[k]);
    memcpy(&b[k], q + 4 * cells[2 * k + 1], sizeof b[k]);
    dx[k] = from[0] - to[0];
    dy[k] = from[1] - to[1];
    mu[k] = adt[cells[2 * k]] + adt[cells[2 * k + 1]];
  }
  NAMED(transpose)(a);
  NAMED(transpose)(b);
  mu *= half * NAMED(eps);
  NAMED(row) inverse_a = 1 / a[0], inverse_b = 1 / b[0];
  NAMED(row) pa = gm1 * (a[3] - half * inverse_a * (a[1] * a[1] + a[2] * a[2]));
  NAMED(row) pb = gm1 * (b[3] - half * inverse_b * (b[1] * b[1] + b[2] * b[2]));
  NAMED(row) va = inverse_a * (a[1] * dy - a[2] * dx), vb = inverse_b * (b[1] * dy - b[2] * dx);
  f[0] = half * (va * a[0] + vb * b[0]) + mu * (a[0] - b[0]);
  f[1] = half * (va * a[1] + pa * dy + vb * b[1] + pb * dy) + mu * (a[1] - b[1]);
  f[2] = half * (va * a[2] - pa * dx + vb * b[2] - pb * dx) + mu * (a[2] - b[2]);
  f[3] = half * (va * (a[3] + pa) + vb * (b[3] + pb)) + mu * (a[3] - b[3]);
  NAMED(transpose)(f);
  for (int k = 0; k < 4; k++) {
    real *one = state->res + 4 * cells[2 * k], *other = state->res + 4 * cells[2 * k + 1];
    NAMED(row) sum;
    memcpy(&sum, one, sizeof sum);
    sum += f[k];
    memcpy(one, &sum, sizeof sum);
    memcpy(&sum, other, sizeof sum);
    sum -= f[k];
    memcpy(other, &sum, sizeof sum);
  }
}

static void NAMED(edge_range)(const struct NAMED(state) * state, int begin, int end) {
  int edge = begin;
  for (; edge + 4 <= end; edge += 4)
    NAMED(four_edges)(state, edge);
  for (; edge < end; edge++)
    NAMED(one_edge)(state, edge);
}

/* Few: one thread does them. */
static void NAMED(boundary)(const struct NAMED(state) * state) {
  const struct airfoil_mesh *mesh = state->mesh;
  for (int b = 0; b < mesh->boundary_edges; b++) {
    const real *x1 = state->x + 2 * mesh->boundary_nodes[2 * b];
    const real *x2 = state->x + 2 * mesh->boundary_nodes[2 * b + 1];
    const real *s = state->q + 4 * mesh->boundary_cell[b];
    real *res = state->res + 4 * mesh->boundary_cell[b];
    real dx = x1[0] - x2[0], dy = x1[1] - x2[1];
    if (mesh->boundary_kind[b] == WALL) {
      real p = NAMED(gm1) * (s[3] - (real)0.5 / s[0] * (s[1] * s[1] + s[2] * s[2]));
      res[1] += p * dy;
      res[2] -= p * dx;
    } else {
      real f[4];
      NAMED(flux)(s, state->free_stream, dx, dy, state->adt[mesh->boundary_cell[b]] * NAMED(eps), f);
      for (int n = 0; n < 4; n++)
        res[n] += f[n];
    }
  }
}

static struct NAMED(change) NAMED(update_range)(const struct NAMED(state) * state, int begin, int end) {
  const real *restrict old = state->old, *restrict adt = state->adt;
  real *restrict q = state->q, *restrict res = state->res;
  struct NAMED(change) change = {0, 0, -1};
  double sum[4] = {0};
  for (int cell = begin; cell < end; cell++) {
    real inverse = 1 / adt[cell], square[4];
#pragma omp simd
    for (int n = 0; n < 4; n++) {
      real step = inverse * res[4 * cell + n];
      q[4 * cell + n] = old[4 * cell + n] - step;
      res[4 * cell + n] = 0;
      square[n] = step * step;
      sum[n] += (double)square[n];
    }
    real one = square[0] > square[1] ? square[0] : square[1];
    real other = square[2] > square[3] ? square[2] : square[3];
    real largest = one > other ? one : other;
    if (largest > change.largest) {
      change.largest = largest;
      change.cell = cell;
    }
  }
  change.sum = sum[0] + sum[1] + sum[2] + sum[3];
  return change;
}

static void NAMED(merge)(struct NAMED(change) * into, struct NAMED(change) from) {
  into->sum += from.sum;
  if (from.largest > into->largest ||
      (from.largest == into->largest && from.cell >= 0 && from.cell < into->cell)) {
    into->largest = from.largest;
    into->cell = from.cell;
  }
}

static struct flow_step NAMED(step)(const struct NAMED(state) * state, struct NAMED(change) change) {
  return (struct flow_step){sqrt(change.sum / state->mesh->cells), (double)change.largest, change.cell};
}

static struct flow_step NAMED(iterate_serial)(void *run) {
  const struct NAMED(state) *state = run;
  int cells = state->mesh->cells;
  struct NAMED(change) change = {0, 0, -1};
  NAMED(save_range)(state, 0, cells);
  for (int stage = 0; stage < 2; stage++) {
    NAMED(time_step_range)(state, 0, cells);
    NAMED(edge_range)(state, 0, state->mesh->edges);
    NAMED(boundary)(state);
    change = NAMED(update_range)(state, 0, cells);
  }
  return NAMED(step)(state, change);
}

/* Thread `t` of `team` has these cells, in every loop over cells. */
static int NAMED(share)(int cells, int t, int team) {
  return (int)((long long)cells * t / team);
}

/* The fluxes of all edges, by a team. Behind them all threads have all of their cells' but what the boundary adds. */
static void NAMED(edges_by_colours)(const struct NAMED(state) * state) {
  const struct colouring *edges = &state->edges;
  for (int colour = 0; colour < edges->colours; colour++) {
#pragma omp for schedule(static)
    for (int i = edges->first[colour]; i < edges->first[colour + 1]; i++)
      NAMED(edge_range)
    (state, colouring_begin(edges, edges->order[i]), colouring_end(edges, edges->order[i]));
  }
}

static void NAMED(edges_by_owners)(const struct NAMED(state) * state) {
  const struct owners *o = &state->owners;
  const int t = thread_number();
  for (int i = o->first_run[t]; i < o->first_run[t + 1]; i++)
    NAMED(edge_range)(state, o->run[2 * i], o->run[2 * i + 1]);
  for (int i = o->first_border[t]; i < o->first_border[t + 1]; i++)
    NAMED(border_edge)(state, t, o->border[i]);
#pragma omp barrier
}

static void NAMED(edges_by_atomics)(const struct NAMED(state) * state) {
#pragma omp for schedule(static)
  for (int edge = 0; edge < state->mesh->edges; edge++)
    NAMED(atomic_edge)(state, edge);
}

static struct flow_step NAMED(iterate_by)(const struct NAMED(state) * state,
                                          void (*all_edges)(const struct NAMED(state) *)) {
  int cells = state->mesh->cells;
  struct NAMED(change) change = {0, 0, -1};
#pragma omp parallel
  {
    int begin = NAMED(share)(cells, thread_number(), thread_count());
    int end = NAMED(share)(cells, thread_number() + 1, thread_count());
    NAMED(save_range)(state, begin, end);
    for (int stage = 0; stage < 2; stage++) {
      NAMED(time_step_range)(state, begin, end);
#pragma omp barrier
      all_edges(state);
#pragma omp single
      NAMED(boundary)(state);
      struct NAMED(change) mine = NAMED(update_range)(state, begin, end);
      if (stage == 1) {
#pragma omp critical
        NAMED(merge)(&change, mine);
      }
    }
  }
  return NAMED(step)(state, change);
}

static struct flow_step NAMED(iterate_openmp)(void *run) {
  return NAMED(iterate_by)(run, NAMED(edges_by_colours));
}
static struct flow_step NAMED(iterate_owners)(void *run) {
  return NAMED(iterate_by)(run, NAMED(edges_by_owners));
}
static struct flow_step NAMED(iterate_atomics)(void *run) {
  return NAMED(iterate_by)(run, NAMED(edges_by_atomics));
}

/* Each page is first touched by the thread that uses it. */
static void NAMED(fill)(const struct NAMED(state) * state) {
  const struct airfoil_mesh *mesh = state->mesh;
#pragma omp parallel
  {
    int begin = NAMED(share)(mesh->cells, thread_number(), thread_count());
    int end = NAMED(share)(mesh->cells, thread_number() + 1, thread_count());
    for (int cell = begin; cell < end; cell++) {
      state->adt[cell] = 0;
      for (int n = 0; n < 4; n++) {
        state->q[4 * cell + n] = state->free_stream[n];
        state->old[4 * cell + n] = 0;
        state->res[4 * cell + n] = 0;
      }
    }
#pragma omp for schedule(static)
    for (int i = 0; i < 2 * mesh->nodes; i++)
      state->x[i] = (real)mesh->x[i];
  }
}

static void *NAMED(start)(const struct airfoil_mesh *mesh, int block) {
  struct NAMED(state) *state = room(1, sizeof *state);
  int cells = mesh->cells;
  *state = (struct NAMED(state)){
      .own = *mesh,
      .edges = colouring_make(mesh->edges, 2, mesh->edge_cells, cells, block),
      .x = touched_zeros(2LL * mesh->nodes, sizeof(real), 1),
      .q = touched_zeros(4LL * cells, sizeof(real), 1),
      .old = touched_zeros(4LL * cells, sizeof(real), 1),
      .res = touched_zeros(4LL * cells, sizeof(real), 1),
      .adt = touched_zeros(cells, sizeof(real), 1),
  };
  state->mesh = &state->own;
  state->own.cell_nodes = touched_copy(mesh->cell_nodes, cells, 4 * sizeof(int), 1);
  state->own.edge_nodes = touched_copy(mesh->edge_nodes, mesh->edges, 2 * sizeof(int), 1);
  state->own.edge_cells = touched_copy(mesh->edge_cells, mesh->edges, 2 * sizeof(int), 1);
  double stream[4];
  flow_free_stream(stream);
  for (int n = 0; n < 4; n++)
    state->free_stream[n] = (real)stream[n];
  NAMED(fill)(state);
  return state;
}

static void *NAMED(start_owners)(const struct airfoil_mesh *mesh, int block) {
  struct NAMED(state) *state = NAMED(start)(mesh, block);
  state->owners = owners_make(mesh->edges, 2, 2, mesh->edge_cells, mesh->cells);
  return state;
}

static void NAMED(finish)(void *run, double *q) {
  struct NAMED(state) *state = run;
  for (int i = 0; q && i < 4 * state->mesh->cells; i++)
    q[i] = (double)state->q[i];
  colouring_free(&state->edges);
  owners_free(&state->owners);
  touched_free(state->own.cell_nodes);
  touched_free(state->own.edge_nodes);
  touched_free(state->own.edge_cells);
  touched_free(state->x);
  touched_free(state->q);
  touched_free(state->old);
  touched_free(state->res);
  touched_free(state->adt);
  free(state);
}

const struct flow_code NAMED(twin_serial) = {"hand-written, serial", NAMED(start), NAMED(iterate_serial),
                                             NAMED(finish)};
const struct flow_code NAMED(twin_openmp) = {"hand-written, OpenMP", NAMED(start), NAMED(iterate_openmp),
                                             NAMED(finish)};
const struct flow_code NAMED(twin_owners) = {"hand-written, owners", NAMED(start_owners),
                                             NAMED(iterate_owners), NAMED(finish)};
const struct flow_code NAMED(twin_atomics) = {"hand-written, atomics", NAMED(start), NAMED(iterate_atomics),
                                              NAMED(finish)};
