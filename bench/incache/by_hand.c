#include "by_hand.h"

/* In vectors that GCC and clang have on every processor. */
typedef double four __attribute__((vector_size(32)));
typedef double loose __attribute__((vector_size(32), aligned(8)));
typedef double pair __attribute__((vector_size(16), aligned(8)));

#define ROW(p, i, dim) (*(const loose *)((p) + (long)(i) * (dim)))
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

static inline void turn(four z[4]) {
  const four a = PICK(z[0], z[1], 0, 4, 2, 6), b = PICK(z[0], z[1], 1, 5, 3, 7);
  const four c = PICK(z[2], z[3], 0, 4, 2, 6), d = PICK(z[2], z[3], 1, 5, 3, 7);
  z[0] = PICK(a, c, 0, 1, 4, 5), z[2] = PICK(a, c, 2, 3, 6, 7);
  z[1] = PICK(b, d, 0, 1, 4, 5), z[3] = PICK(b, d, 2, 3, 6, 7);
}

static inline void nodes_of(const double *x, const int *nodes, int column, four *px, four *py) {
  const pair *r[4];
  for (int l = 0; l < 4; l++)
    r[l] = (const pair *)(x + 2l * (unsigned)nodes[2 * l + column]);
  const four a = PICK(*r[0], *r[2], 0, 1, 2, 3), b = PICK(*r[1], *r[3], 0, 1, 2, 3);
  *px = PICK(a, b, 0, 4, 2, 6), *py = PICK(a, b, 1, 5, 3, 7);
}

static inline void cells_of(const double *q, const int *cells, int column, four out[4]) {
  for (int l = 0; l < 4; l++)
    out[l] = ROW(q, (unsigned)cells[2 * l + column], 4);
  turn(out);
}

static inline four ones_of(const double *p, const int *cells, int column) {
  return (four){p[cells[column]], p[cells[2 + column]], p[cells[4 + column]], p[cells[6 + column]]};
}

static inline void add_rows(double *res, const int *cells, const four f[4]) {
  for (int l = 0; l < 4; l++) {
    *(loose *)(res + 4l * (unsigned)cells[2 * l]) += f[l];
    *(loose *)(res + 4l * (unsigned)cells[2 * l + 1]) -= f[l];
  }
}

/* The fluxes of four edges, in rows. */
static inline void fluxes_of(const struct by_hand *given, int e, four f[4]) {
  const double *x = given->values[0], *q = given->values[1], *adt = given->values[2];
  const int *cells = given->map + 2 * e, *nodes = given->nodes + 2 * e;
  four x1, y1, x2, y2, a[4], b[4];
  nodes_of(x, nodes, 0, &x1, &y1);
  nodes_of(x, nodes, 1, &x2, &y2);
  cells_of(q, cells, 0, a);
  cells_of(q, cells, 1, b);
  const four dx = x1 - x2, dy = y1 - y2, ia = 1 / a[0], ib = 1 / b[0];
  const four pa = 0.4 * (a[3] - 0.5 * ia * (a[1] * a[1] + a[2] * a[2]));
  const four pb = 0.4 * (b[3] - 0.5 * ib * (b[1] * b[1] + b[2] * b[2]));
  const four ua = ia * (a[1] * dy - a[2] * dx), ub = ib * (b[1] * dy - b[2] * dx);
  const four mu = 0.5 * 0.05 * (ones_of(adt, cells, 0) + ones_of(adt, cells, 1)), p = pa + pb;
  f[0] = 0.5 * (ua * a[0] + ub * b[0]) + mu * (a[0] - b[0]);
  f[1] = 0.5 * (ua * a[1] + ub * b[1] + p * dy) + mu * (a[1] - b[1]);
  f[2] = 0.5 * (ua * a[2] + ub * b[2] - p * dx) + mu * (a[2] - b[2]);
  f[3] = 0.5 * (ua * (a[3] + pa) + ub * (b[3] + pb)) + mu * (a[3] - b[3]);
  turn(f);
}

/* The edges are whole strips. What a strip adds waits until the next one is computed: neither waits for the other. */
void by_hand_res_calc(const struct by_hand *given) {
  double *res = given->values[3];
  four before[4], f[4];
  fluxes_of(given, 0, before);
  for (int e = 4; e + 4 <= given->n; e += 4) {
    fluxes_of(given, e, f);
    add_rows(res, given->map + 2 * (e - 4), before);
    for (int l = 0; l < 4; l++)
      before[l] = f[l];
  }
  add_rows(res, given->map + 2 * (given->n - 4), before);
}

void by_hand_save_soln(const struct by_hand *given) {
  const double *restrict q = given->values[0];
  double *restrict old = given->values[1];
  for (long i = 0; i < 4l * given->n; i++)
    old[i] = q[i];
}

void by_hand_spread(const struct by_hand *given) {
  const double *a = given->values[0], *u = given->values[1];
  double *r = given->values[2];
  for (int e = 0; e < given->n; e++) {
    const int left = given->map[2 * e], right = given->map[2 * e + 1];
    r[left] += a[e] * u[right];
    r[right] += a[e] * u[left];
  }
}

void by_hand_jac(const struct by_hand *given) {
  const double *a = given->values[0], *u = given->values[1];
  double *du = given->values[2];
  for (int e = 0; e < given->n; e++)
    du[given->map[2 * e]] += a[e] * u[given->map[2 * e + 1]];
}

void by_hand_multiply(const struct by_hand *given) {
  const double *k = given->values[0], *p = given->values[1];
  double *v = given->values[2];
  for (int e = 0; e < given->n; e++, k += 16) {
    const int *c = given->map + 4 * e;
    four z[4] = {ROW(k, 0, 0), ROW(k, 4, 1), ROW(k, 8, 1), ROW(k, 12, 1)};
    turn(z);
    const four sum = z[0] * p[c[0]] + z[1] * p[c[1]] + z[2] * p[c[2]] + z[3] * p[c[3]];
    for (int i = 0; i < 4; i++)
      v[c[i]] += sum[i];
  }
}
