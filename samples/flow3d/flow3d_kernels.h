/* The kernels of flow3d, which solver.c includes, so that a debugger steps through them, and gives to the library.
 *
 * A state is kept as q: density, momentum in three directions, energy, each in a unit of volume. Fluxes are made of
 * w: temperature T = p/density, velocity, pressure p. In these units the density of the free stream is 1, and so is its
 * speed of sound. */
#include <math.h>

enum { FAR, WALL, SLIP, OUTFLOW, SYMMETRY }; /* kinds of sides: those of mesh.py */

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void between(const double *from, const double *to, double *d) {
  for (int k = 0; k < 3; k++)
    d[k] = to[k] - from[k];
}

static void primitive_of(const double *q, double *w) {
  for (int d = 1; d < 4; d++)
    w[d] = q[d] / q[0];
  w[4] = (gam - 1) * (q[4] - 0.5 * q[0] * dot(w + 1, w + 1));
  w[0] = w[4] / q[0];
}

static void conserved_of(const double *w, double *q) {
  q[0] = w[4] / w[0];
  for (int d = 1; d < 4; d++)
    q[d] = q[0] * w[d];
  q[4] = w[4] / (gam - 1) + 0.5 * q[0] * dot(w + 1, w + 1);
}

/* ---- the mesh ------------------------------------------------------------------------------------------ */

/* Three bumps along x, where a channel's wall is from 1 to 2; the nodes above move with it, less the higher they are, up to
 * a height of 1. Write another deformation here for other shapes. */
static void bend(const double *straight, const double *heights, double *x) {
  for (int d = 0; d < 3; d++)
    x[d] = straight[d];
  for (int k = 0; k < 3; k++) {
    const double place = 4 * (straight[0] - 1) - k, sine = sin(0.5 * M_PI * place);
    if (place > 0 && place < 2)
      x[2] += heights[k] * sine * sine * (1 - straight[2]);
  }
}

/* Triangle k of a face, from its middle to two of its nodes: area as a vector. Of a face with three nodes the last is
 * there twice, and one triangle has no area. */
static void triangle(const double *x[4], const double *middle, int k, double *area) {
  const double *from = x[k], *to = x[(k + 1) % 4];
  double a[3], b[3];
  between(middle, from, a);
  between(middle, to, b);
  for (int d = 0; d < 3; d++)
    area[d] = 0.5 * (a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3]);
}

static void middle_of(const double *x[4], double *middle) {
  for (int d = 0; d < 3; d++)
    middle[d] = 0.25 * (x[0][d] + x[1][d] + x[2][d] + x[3][d]);
}

/* A face's area and centre; adds its part to volume, and volume times centre, of the cell that it bounds: pyramids from
 * the origin to its triangles. */
static void measure_face(const double *x[4], double *area, double *centre, double *moments) {
  double middle[3], part[3];
  middle_of(x, middle);
  for (int d = 0; d < 3; d++)
    area[d] = centre[d] = 0;
  for (int k = 0; k < 4; k++) {
    triangle(x, middle, k, part);
    const double volume = dot(middle, part) / 3;
    moments[3] += volume;
    for (int d = 0; d < 3; d++) {
      area[d] += part[d];
      moments[d] += 0.25 * volume * (x[k][d] + x[(k + 1) % 4][d] + middle[d]);
    }
  }
  for (int k = 0; k < 4; k++) {
    triangle(x, middle, k, part);
    const double share = dot(part, area) / dot(area, area) / 3;
    for (int d = 0; d < 3; d++)
      centre[d] += share * (x[k][d] + x[(k + 1) % 4][d] + middle[d]);
  }
}

static void face_geometry(const double *x[4], double *area, double *centre, double *moments[2]) {
  double both[4] = {0, 0, 0, 0};
  measure_face(x, area, centre, both);
  for (int i = 0; i < 4; i++) {
    moments[0][i] += both[i];
    moments[1][i] -= both[i];
  }
}

static void side_geometry(const double *x[4], double *area, double *centre, double *moments) {
  measure_face(x, area, centre, moments);
}

static void reset(double *moments, double *matrix) {
  for (int i = 0; i < 6; i++)
    matrix[i] = 0;
  for (int i = 0; i < 4; i++)
    moments[i] = 0;
}

/* A cell of the next level is made of some of this one. */
static void lump(const double *moments, double *coarse) {
  for (int i = 0; i < 4; i++)
    coarse[i] += moments[i];
}

static void cell_geometry(const double *moments, double *volume, double *middle) {
  *volume = moments[3];
  for (int d = 0; d < 3; d++)
    middle[d] = moments[d] / moments[3];
}

/* ---- gradients by least squares over the cells and sides around a cell, weighed by 1/distance^2 ----------- */

/* Adds the products of d's components, over its square, to the six different entries of a symmetric matrix. */
static void add_products(const double *from, const double *to, double *matrix) {
  double d[3];
  between(from, to, d);
  const double weight = 1 / dot(d, d);
  for (int k = 0; k < 3; k++) {
    matrix[k] += weight * d[k] * d[k];
    matrix[3 + k] += weight * d[(k + 1) % 3] * d[(k + 2) % 3];
  }
}

static void face_weights(const double *middle[2], double *matrix[2]) {
  add_products(middle[0], middle[1], matrix[0]);
  add_products(middle[0], middle[1], matrix[1]);
}

static void side_weights(const double *middle, const double *centre, double *matrix) {
  add_products(middle, centre, matrix);
}

static void invert(double *m) {
  double a[6];
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    a[k] = m[i] * m[j] - m[3 + k] * m[3 + k];
    a[3 + k] = m[3 + i] * m[3 + j] - m[k] * m[3 + k];
  }
  const double determinant = m[0] * a[0] + m[5] * a[5] + m[4] * a[4];
  for (int k = 0; k < 6; k++)
    m[k] = a[k] / determinant;
}

/* The state on a side of the boundary, where w is that of the cell. `given` is the free stream. */
static void outside(int kind, const double *w, const double *given, const double *area, double *out) {
  const double through = dot(w + 1, area) / dot(area, area);
  for (int v = 0; v < 5; v++)
    out[v] = kind == FAR ? given[v] : w[v];
  if (kind == OUTFLOW)
    out[4] = given[4];
  for (int d = 0; d < 3; d++) {
    if (kind == WALL)
      out[1 + d] = 0;
    if (kind == SLIP || kind == SYMMETRY)
      out[1 + d] -= through * area[d];
  }
}

static void clear(double *gradient, double *low, double *high, double *limit, const double *w) {
  for (int i = 0; i < 15; i++)
    gradient[i] = 0;
  for (int v = 0; v < 5; v++) {
    low[v] = high[v] = w[v];
    limit[v] = 1;
  }
}

/* Adds the products of a difference of states, in the direction d, and d over its square. */
static void add_slopes(const double *from, const double *to, const double *d, double *sums) {
  const double weight = 1 / dot(d, d);
  for (int i = 0; i < 15; i++)
    sums[i] += weight * (to[i / 3] - from[i / 3]) * d[i % 3];
}

static void gather(const double *w[2], const double *middle[2], double *sums[2]) {
  double d[3];
  between(middle[0], middle[1], d);
  add_slopes(w[0], w[1], d, sums[0]);
  add_slopes(w[0], w[1], d, sums[1]);
}

static void gather_side(const int *kind, const double *given, const double *area, const double *centre,
                        const double *w, const double *middle, double *sums) {
  double out[5], d[3];
  between(middle, centre, d);
  outside(*kind, w, given, area, out);
  add_slopes(w, out, d, sums);
}

static void solve(const double *m, double *gradient) {
  for (int v = 0; v < 5; v++) {
    double *g = gradient + 3 * v;
    const double a = g[0], b = g[1], c = g[2];
    g[0] = m[0] * a + m[5] * b + m[4] * c;
    g[1] = m[5] * a + m[1] * b + m[3] * c;
    g[2] = m[4] * a + m[3] * b + m[2] * c;
  }
}

/* ---- Venkatakrishnan's limiter --------------------------------------------------------------------------- */

static void extremes(const double *w[2], double *low[2], double *high[2]) {
  for (int side = 0; side < 2; side++)
    for (int v = 0; v < 5; v++) {
      low[side][v] = fmin(low[side][v], w[1 - side][v]);
      high[side][v] = fmax(high[side][v], w[1 - side][v]);
    }
}

/* How much of a gradient is kept, so that its value at a face's centre is not far beyond those of all cells around. */
static double share_of(double rise, double low, double high, double volume) {
  const double room = rise > 0 ? high : low, slack = limiter * limiter * limiter * volume;
  const double most = room * room + slack;
  return (most + 2 * rise * room) / (most + rise * (2 * rise + room));
}

static double rise_at(const double *gradient, const double *middle, const double *centre) {
  double d[3];
  between(middle, centre, d);
  return dot(gradient, d);
}

static void restrain(const double *centre, const double *w[2], const double *gradient[2],
                     const double *low[2], const double *high[2], const double *middle[2],
                     const double *volume[2], double *limit[2]) {
  for (int side = 0; side < 2; side++)
    for (int v = 0; v < 5; v++) {
      const double rise = rise_at(gradient[side] + 3 * v, middle[side], centre), at = w[side][v];
      limit[side][v] =
          fmin(limit[side][v], share_of(rise, low[side][v] - at, high[side][v] - at, *volume[side]));
    }
}

/* ---- fluxes ---------------------------------------------------------------------------------------------- */

/* What w's cell says of the state at a face's centre: itself, where that would have no temperature or pressure. */
static void reconstruct(const double *w, const double *gradient, const double *limit, const double *middle,
                        const double *centre, double *at) {
  for (int v = 0; v < 5; v++)
    at[v] = w[v] + limit[v] * rise_at(gradient + 3 * v, middle, centre);
  if (!(at[0] > 0 && at[4] > 0))
    for (int v = 0; v < 5; v++)
      at[v] = w[v];
}

/* A wave's speed, which is not let come near zero: else sonic points stand still (Harten). */
static double smooth_speed(double speed, double sound) {
  const double least = 0.1 * sound, size = fabs(speed);
  return size < least ? 0.5 * (size * size / least + least) : size;
}

/* Adds `share` of the flux of w through an area, and returns the enthalpy of a unit of mass. */
static double add_flux(const double *w, const double *area, double share, double *flux) {
  const double enthalpy = gam / (gam - 1) * w[0] + 0.5 * dot(w + 1, w + 1);
  const double mass = share * dot(w + 1, area) * w[4] / w[0];
  flux[0] += mass;
  for (int d = 0; d < 3; d++)
    flux[1 + d] += mass * w[1 + d] + share * w[4] * area[d];
  flux[4] += mass * enthalpy;
  return enthalpy;
}

/* Roe's flux from state l to state r: the mean of both, less what the waves between them take along. */
static void roe(const double *l, const double *r, const double *area, double *flux) {
  const double size = sqrt(dot(area, area)), n[3] = {area[0] / size, area[1] / size, area[2] / size};
  for (int v = 0; v < 5; v++)
    flux[v] = 0;
  const double hl = add_flux(l, area, 0.5, flux), hr = add_flux(r, area, 0.5, flux);
  const double rhol = l[4] / l[0], rhor = r[4] / r[0], ratio = sqrt(rhor / rhol), part = ratio / (1 + ratio);
  const double u[3] = {l[1] + part * (r[1] - l[1]), l[2] + part * (r[2] - l[2]), l[3] + part * (r[3] - l[3])};
  const double du[3] = {r[1] - l[1], r[2] - l[2], r[3] - l[3]};
  const double rho = ratio * rhol, h = hl + part * (hr - hl), uu = dot(u, u), un = dot(u, n),
               dun = dot(du, n);
  const double cc = (gam - 1) * (h - 0.5 * uu), c = sqrt(cc), dp = r[4] - l[4];
  const double slow = smooth_speed(un - c, c) * (dp - rho * c * dun) / (2 * cc);
  const double fast = smooth_speed(un + c, c) * (dp + rho * c * dun) / (2 * cc);
  const double middle = fabs(un) * (rhor - rhol - dp / cc), shear = fabs(un) * rho;
  const double sum = slow + fast + middle, difference = c * (fast - slow);
  flux[0] -= 0.5 * size * sum;
  for (int d = 0; d < 3; d++)
    flux[1 + d] -= 0.5 * size * (sum * u[d] + difference * n[d] + shear * (du[d] - dun * n[d]));
  flux[4] -= 0.5 * size *
             ((slow + fast) * h + difference * un + middle * 0.5 * uu + shear * (dot(u, du) - un * dun));
}

/* Takes friction and heat from a flux. g has the gradients of temperature and velocity. */
static void add_viscous(const double *w, const double *g, const double *area, double *flux) {
  const double third = 2.0 / 3 * (g[3] + g[7] + g[11]);
  double work = gam / ((gam - 1) * prandtl) * dot(g, area);
  for (int d = 0; d < 3; d++) {
    double force = dot(g + 3 + 3 * d, area) - third * area[d];
    for (int e = 0; e < 3; e++)
      force += g[3 + 3 * e + d] * area[e];
    flux[1 + d] -= mu * force;
    work += w[1 + d] * force;
  }
  flux[4] -= mu * work;
}

/* How far it is along d in the direction of an area: at least half of d, where cells that were put together do not lie
 * on both sides of their face. */
static double along(const double *d, const double *area) {
  return fmax(dot(d, area) / sqrt(dot(area, area)), 0.5 * sqrt(dot(d, d)));
}

/* A gradient that agrees with the difference along the line d between two places; it is changed across the face. */
static void correct_along(const double *mean, const double *d, const double *area, double difference,
                          double *g) {
  const double more = (difference - dot(mean, d)) / (along(d, area) * sqrt(dot(area, area)));
  for (int k = 0; k < 3; k++)
    g[k] = mean[k] + more * area[k];
}

static void flux(const double *area, const double *centre, const double *w[2], const double *gradient[2],
                 const double *limit[2], const double *middle[2], double *res[2]) {
  double l[5], r[5], f[5], g[12], mean[5], d[3];
  reconstruct(w[0], gradient[0], limit[0], middle[0], centre, l);
  reconstruct(w[1], gradient[1], limit[1], middle[1], centre, r);
  roe(l, r, area, f);
  if (mu > 0) {
    between(middle[0], middle[1], d);
    for (int v = 0; v < 4; v++) {
      double both[3];
      for (int k = 0; k < 3; k++)
        both[k] = 0.5 * (gradient[0][3 * v + k] + gradient[1][3 * v + k]);
      correct_along(both, d, area, w[1][v] - w[0][v], g + 3 * v);
      mean[v] = 0.5 * (l[v] + r[v]);
    }
    add_viscous(mean, g, area, f);
  }
  for (int v = 0; v < 5; v++) {
    res[0][v] += f[v];
    res[1][v] -= f[v];
  }
}

/* The flux out of a side, and the state there. No heat goes through a wall. On coarse levels a wall mirrors the flow: the
 * waves that this makes damp what flows into it, without which corrections grow from cycle to cycle on flat cells. */
static void side_flux(int kind, int mirrors, const double *given, const double *area, const double *centre,
                      const double *w, const double *gradient, const double *limit, const double *middle,
                      double *out, double *f) {
  double in[5], left[5], right[5], g[12], d[3];
  reconstruct(w, gradient, limit, middle, centre, in);
  outside(kind, in, given, area, out);
  for (int v = 0; v < 5; v++) {
    const double off = mirrors && kind != FAR && v > 0 && v < 4 ? in[v] - out[v] : 0;
    left[v] = (kind == FAR ? in[v] : out[v]) + off;
    right[v] = out[v] - off;
  }
  roe(left, right, area, f);
  if (mu > 0 && (kind == FAR || kind == WALL)) {
    between(middle, centre, d);
    for (int v = 0; v < 4; v++)
      correct_along(gradient + 3 * v, d, area, out[v] - w[v], g + 3 * v);
    for (int k = 0; k < 3; k++)
      g[k] = kind == WALL ? 0 : g[k];
    add_viscous(out, g, area, f);
  }
}

static void boundary(const int *mirrors, const int *kind, const double *given, const double *area,
                     const double *centre, const double *w, const double *gradient, const double *limit,
                     const double *middle, double *res) {
  double out[5], f[5];
  side_flux(*kind, *mirrors, given, area, centre, w, gradient, limit, middle, out, f);
  for (int v = 0; v < 5; v++)
    res[v] += f[v];
}

/* What walls feel: the force of the pressure, less the free stream's, and that of friction. Between two places also: the
 * friction, and that which Blasius says of a plate that begins at x = 0; by how much the wall is warmer than the stream,
 * and by how much it would be if all speed became heat. */
static void on_walls(const int *kind, const double *given, const double *area, const double *centre,
                     const double *w, const double *gradient, const double *limit, const double *middle,
                     double *sums) {
  const double size = sqrt(dot(area, area)), density = given[4] / given[0];
  const double speed = couette > 0 ? couette : given[1], heat = 0.5 * (gam - 1) / gam * speed * speed;
  double out[5], f[5];
  if (*kind != WALL && *kind != SLIP)
    return;
  side_flux(*kind, 0, given, area, centre, w, gradient, limit, middle, out, f);
  for (int d = 0; d < 3; d++) {
    sums[d] += (out[4] - given[4]) * area[d];
    sums[3 + d] += f[1 + d] - out[4] * area[d];
  }
  if (*kind == SLIP || !(mu > 0) || centre[0] < 0.3 || centre[0] > 0.8)
    return;
  sums[6] += f[1];
  sums[7] += size * 0.332 * density * speed * speed / sqrt(density * speed * centre[0] / mu);
  sums[8] += size * (out[0] - 1 / gam);
  sums[9] += size * heat;
}

/* ---- steps ----------------------------------------------------------------------------------------------- */

static void primitive(const double *q, const double *forcing, double *w, double *res) {
  primitive_of(q, w);
  for (int v = 0; v < 5; v++)
    res[v] = forcing[v];
}

/* How much volume waves, and friction, take through an area in a unit of time. */
static double speed_through(const double *w, const double *area, const double *from, const double *to) {
  const double size = dot(area, area);
  double d[3];
  between(from, to, d);
  return 0.5 * (fabs(dot(w + 1, area)) + sqrt(gam * w[0] * size)) +
         gam / prandtl * mu * w[0] / w[4] * sqrt(size) / along(d, area);
}

static void begin(const double *q, double *old, double *rate) {
  for (int v = 0; v < 5; v++)
    old[v] = q[v];
  *rate = 0;
}

static void face_speeds(const double *area, const double *w[2], const double *middle[2], double *rate[2]) {
  const double speed =
      fmax(speed_through(w[0], area, middle[0], middle[1]), speed_through(w[1], area, middle[0], middle[1]));
  *rate[0] += speed;
  *rate[1] += speed;
}

static void side_speeds(const double *area, const double *centre, const double *w, const double *middle,
                        double *rate) {
  *rate += speed_through(w, area, middle, centre);
}

static void advance(const double *old, const double *rate, const double *res, const double *share,
                    double *q) {
  for (int v = 0; v < 5; v++)
    q[v] = old[v] - *share / *rate * res[v];
}

static void measure(const double *res, const double *volume, double *squares) {
  for (int v = 0; v < 5; v++)
    squares[v] += res[v] * res[v] / (*volume * *volume);
}

/* ---- multigrid ------------------------------------------------------------------------------------------- */

static void empty(double *q, double *rest, double *forcing) {
  for (int v = 0; v < 5; v++)
    q[v] = rest[v] = forcing[v] = 0;
}

static void descend(const double *volume, const double *q, const double *res, double *coarse_q,
                    double *coarse_rest) {
  for (int v = 0; v < 5; v++) {
    coarse_q[v] += *volume * q[v];
    coarse_rest[v] += res[v];
  }
}

static void arrive(const double *volume, double *q, double *first) {
  for (int v = 0; v < 5; v++)
    first[v] = q[v] = q[v] / *volume;
}

/* The coarse level is to have the residual that came from the fine one. */
static void force(const double *rest, const double *res, double *forcing) {
  for (int v = 0; v < 5; v++)
    forcing[v] = rest[v] - res[v];
}

/* What a coarse cell has changed goes to its fine ones; half of it again and again, until density and pressure stay
 * above half of what they were. */
static void ascend(const double *coarse, const double *first, double *q) {
  double next[5], now[5], w[5];
  primitive_of(q, now);
  for (int halves = 0; halves < 4; halves++) {
    const double share = 1.0 / (1 << halves);
    for (int v = 0; v < 5; v++)
      next[v] = q[v] + share * (coarse[v] - first[v]);
    primitive_of(next, w);
    if (next[0] > 0.5 * q[0] && w[4] > 0.5 * now[4]) {
      for (int v = 0; v < 5; v++)
        q[v] = next[v];
      return;
    }
  }
}

/* ---- what the answer is compared with -------------------------------------------------------------------- */

static void fill(const double *state, double *q) {
  conserved_of(state, q);
}

static void fill_side(const double *state, double *given) {
  for (int v = 0; v < 5; v++)
    given[v] = state[v];
}

/* Couette's flow between a wall at z = 0 that takes no heat and a plane at z = 1 that has the speed `couette`. */
static void between_planes(double z, double *w, double *gradient) {
  const double rise = 0.5 * prandtl * (gam - 1) / gam * couette * couette;
  for (int i = 0; i < 15; i++)
    gradient[i] = 0;
  w[0] = 1 / gam + rise * (1 - z * z);
  w[1] = couette * z;
  w[2] = w[3] = 0;
  w[4] = 1 / gam;
  gradient[2] = -2 * rise * z;
  gradient[5] = couette;
}

/* That, or a smooth flow that is made up, and its gradients. The sources that it needs are added to each cell. */
static void exact(const double *at, double *w, double *gradient) {
  static const double mean[] = {0.75, 0.4, 0.3, 0.25, 0.7}, size[] = {0.06, 0.1, -0.08, 0.09, 0.07};
  static const double k[5][3] = {
      {1.5, 1, 1.2}, {1, 1.4, 0.8}, {1.2, 0.7, 1.5}, {0.8, 1.3, 1}, {1.3, 1.1, 0.9}};
  if (couette > 0) {
    between_planes(at[2], w, gradient);
    return;
  }
  for (int v = 0; v < 5; v++) {
    const double angle = 0.4 * v + dot(k[v], at);
    w[v] = mean[v] + size[v] * sin(angle);
    for (int d = 0; d < 3; d++)
      gradient[3 * v + d] = size[v] * k[v][d] * cos(angle);
  }
}

/* Its flux through a face: each triangle by the middles of its three edges, which is exact to third order. */
static void exact_flux(const double *x[4], double *f) {
  double middle[3], part[3], at[3], w[5], gradient[15];
  middle_of(x, middle);
  for (int v = 0; v < 5; v++)
    f[v] = 0;
  for (int k = 0; k < 4; k++) {
    const double *corners[3] = {x[k], x[(k + 1) % 4], middle};
    triangle(x, middle, k, part);
    for (int edge = 0; edge < 3; edge++) {
      const double *a = corners[edge], *b = corners[(edge + 1) % 3];
      double third[3];
      for (int d = 0; d < 3; d++) {
        at[d] = 0.5 * (a[d] + b[d]);
        third[d] = part[d] / 3;
      }
      exact(at, w, gradient);
      add_flux(w, third, 1, f);
      add_viscous(w, gradient, third, f);
    }
  }
}

static void source(const double *x[4], double *forcing[2]) {
  double f[5];
  exact_flux(x, f);
  for (int v = 0; v < 5; v++) {
    forcing[0][v] -= f[v];
    forcing[1][v] += f[v];
  }
}

static void source_side(const double *x[4], const double *centre, double *given, double *forcing) {
  double f[5], gradient[15];
  exact_flux(x, f);
  exact(centre, given, gradient);
  for (int v = 0; v < 5; v++)
    forcing[v] -= f[v];
}

static void fill_exact(const double *middle, double *q) {
  double w[5], gradient[15];
  exact(middle, w, gradient);
  conserved_of(w, q);
}

static void deviate(const double *middle, const double *volume, const double *q, double *squares) {
  double w[5], is[5], gradient[15];
  primitive_of(q, w);
  exact(middle, is, gradient);
  for (int v = 0; v < 5; v++)
    squares[v] += *volume * (w[v] - is[v]) * (w[v] - is[v]);
}

/* What ParaView shows. */
static void show(const double *q, double *density, double *velocity, double *pressure, double *mach) {
  double w[5];
  primitive_of(q, w);
  *density = q[0];
  *pressure = w[4];
  *mach = sqrt(dot(w + 1, w + 1) / (gam * w[0]));
  for (int d = 0; d < 3; d++)
    velocity[d] = w[1 + d];
}
