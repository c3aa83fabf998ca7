/* With AVX-512: strips of eight, and rows of an edge. */
#include "by_hand.h"

#ifdef __AVX512F__
#include <immintrin.h>
#include <string.h>

typedef __m512d eight;
typedef __m256d four;

#define OF(number) _mm512_set1_pd(number)

static inline four row4(const double *p, int i) {
  return _mm256_loadu_pd(p + 4l * (unsigned)i);
}

static inline __m128d row2(const double *p, int i) {
  return _mm_loadu_pd(p + 2l * (unsigned)i);
}

static inline eight join(four low, four high) {
  return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}

static inline four join2(__m128d low, __m128d high) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}

/* Registers that hold rows l and l + 4 each become those of components, and back. */
static inline void turn(eight z[4]) {
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
                high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  const eight a = _mm512_unpacklo_pd(z[0], z[1]), b = _mm512_unpackhi_pd(z[0], z[1]);
  const eight c = _mm512_unpacklo_pd(z[2], z[3]), d = _mm512_unpackhi_pd(z[2], z[3]);
  z[0] = _mm512_permutex2var_pd(a, low, c), z[2] = _mm512_permutex2var_pd(a, high, c);
  z[1] = _mm512_permutex2var_pd(b, low, d), z[3] = _mm512_permutex2var_pd(b, high, d);
}

/* Rows of two, of the lanes with even and with odd numbers. */
static inline void pairs_of(const double *x, const int *table, int arity, int column, eight out[2]) {
  const int *t = table + column;
  for (int odd = 0; odd < 2; odd++, t += arity)
    out[odd] = join(join2(row2(x, t[0]), row2(x, t[2 * arity])),
                    join2(row2(x, t[4 * arity]), row2(x, t[6 * arity])));
}

/* ---- airfoil ---------------------------------------------------------------------------------------*/

/* The estimate is good to 14 bits; two steps make it a root to the last bit or the one before. */
static inline eight root(eight a) {
  const eight estimate = _mm512_rsqrt14_pd(a);
  eight r = a * estimate, half = estimate * OF(0.5);
  for (int step = 0; step < 2; step++) {
    const eight error = OF(0.5) - r * half;
    r += r * error, half += half * error;
  }
  return r + (a - r * r) * half;
}

/* Of the five roots two are refined, so that the divider has less to do; one division is by a constant. */
void by_hand_adt_calc(const struct by_hand *given) {
  const double *x = given->values[0], *q = given->values[1];
  for (int e = 0; e + 8 <= given->n; e += 8) {
    const int *corners = given->map + 4 * e;
    eight z[4], px[4], py[4], sum = OF(0);
    for (int l = 0; l < 4; l++)
      z[l] = join(row4(q, e + l), row4(q, e + l + 4));
    turn(z);
    const eight inverse = OF(1) / z[0], u = inverse * z[1], v = inverse * z[2];
    const eight c = _mm512_sqrt_pd(OF(1.4 * 0.4) * (inverse * z[3] - OF(0.5) * (u * u + v * v)));
    for (int side = 0; side < 4; side++) {
      eight d[2];
      pairs_of(x, corners, 4, side, d);
      px[side] = _mm512_unpacklo_pd(d[0], d[1]), py[side] = _mm512_unpackhi_pd(d[0], d[1]);
    }
    for (int side = 0; side < 4; side++) {
      const eight dx = px[(side + 1) % 4] - px[side], dy = py[(side + 1) % 4] - py[side],
                  length2 = dx * dx + dy * dy;
      sum += _mm512_abs_pd(u * dy - v * dx) + c * (side < 2 ? root(length2) : _mm512_sqrt_pd(length2));
    }
    const eight quotient = sum * OF(1 / 0.9);
    _mm512_storeu_pd(given->values[2] + e, quotient + (sum - quotient * OF(0.9)) * OF(1 / 0.9));
  }
}

/* ---- a large flow solver -----------------------------------------------------------------------------*/

/* Both factors of values 8 j .. 8 j + 7 of an edge's twenty-one: a mean, and a component of the normal. */
static inline eight product(eight mean, eight normal, int j) {
  const __m512i means[] = {_mm512_setr_epi64(0, 0, 0, 1, 1, 1, 2, 2),
                           _mm512_setr_epi64(2, 3, 3, 3, 4, 4, 4, 5),
                           _mm512_setr_epi64(5, 5, 6, 6, 6, 0, 0, 0)};
  const __m512i normals[] = {_mm512_setr_epi64(0, 1, 2, 0, 1, 2, 0, 1),
                             _mm512_setr_epi64(2, 0, 1, 2, 0, 1, 2, 0),
                             _mm512_setr_epi64(1, 2, 0, 1, 2, 0, 0, 0)};
  return _mm512_permutexvar_pd(means[j], mean) * _mm512_permutexvar_pd(normals[j], normal);
}

void by_hand_gradient(const struct by_hand *given) {
  const double *normals = given->values[0], *q = given->values[1];
  for (int e = 0; e < given->n; e++) {
    const int left = given->map[2 * e], right = given->map[2 * e + 1];
    const eight normal = _mm512_maskz_loadu_pd(0x07, normals + 3l * e);
    const eight mean =
        OF(0.5) * (_mm512_maskz_loadu_pd(0x7f, q + 7l * left) + _mm512_maskz_loadu_pd(0x7f, q + 7l * right));
    double *g1 = given->values[2] + 21l * left, *g2 = given->values[2] + 21l * right;
    eight value[3];
    for (int j = 0; j < 3; j++)
      value[j] = product(mean, normal, j);
    for (int j = 0; j < 2; j++) {
      _mm512_storeu_pd(g1 + 8 * j, _mm512_loadu_pd(g1 + 8 * j) + value[j]);
      _mm512_storeu_pd(g2 + 8 * j, _mm512_loadu_pd(g2 + 8 * j) - value[j]);
    }
    /* No store through a mask: the next edge would have to wait for it. */
    const four rest = _mm512_castpd512_pd256(value[2]);
    const double last = _mm256_cvtsd_f64(_mm512_extractf64x4_pd(value[2], 1));
    _mm256_storeu_pd(g1 + 16, _mm256_loadu_pd(g1 + 16) + rest), g1[20] += last;
    _mm256_storeu_pd(g2 + 16, _mm256_loadu_pd(g2 + 16) - rest), g2[20] -= last;
  }
}

/* The flux, in strips of four. Of a gradient only its products with two directions are needed. */
enum { VALUES = 7 };

static inline void turn4(four z[4]) {
  const four a = _mm256_unpacklo_pd(z[0], z[1]), b = _mm256_unpackhi_pd(z[0], z[1]);
  const four c = _mm256_unpacklo_pd(z[2], z[3]), d = _mm256_unpackhi_pd(z[2], z[3]);
  z[0] = _mm256_permute2f128_pd(a, c, 0x20), z[2] = _mm256_permute2f128_pd(a, c, 0x31);
  z[1] = _mm256_permute2f128_pd(b, d, 0x20), z[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

static inline four all(double number) {
  return _mm256_set1_pd(number);
}

static inline four size_of(four a) {
  return _mm256_andnot_pd(all(-0.0), a);
}

/* Four components of the rows of four cells. */
static inline void part_of(const double *rows, long dim, const int *cells, four z[4]) {
  for (int l = 0; l < 4; l++)
    z[l] = _mm256_loadu_pd(rows + dim * (unsigned)cells[2 * l]);
  turn4(z);
}

static inline four ones_of(const double *p, long dim, const int *cells) {
  const double *a = p + dim * (unsigned)cells[0], *b = p + dim * (unsigned)cells[2],
               *c = p + dim * (unsigned)cells[4], *d = p + dim * (unsigned)cells[6];
  return join2(_mm_loadh_pd(_mm_load_sd(a), b), _mm_loadh_pd(_mm_load_sd(c), d));
}

static inline four dot(const four a[3], const four b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

struct side {
  four q[VALUES], along[VALUES],
      through[VALUES]; /* the gradients' products with the distance and with the normal */
};

static inline void side_of(struct side *s, const struct by_hand *given, const int *cells, const four dx[3],
                           const four normal[3]) {
  const double *q = given->values[3], *g = given->values[4];
  four z[24], low[4], high[4];
  part_of(q, 7, cells, low);
  part_of(q + 3, 7, cells, high);
  for (int v = 0; v < VALUES; v++)
    s->q[v] = v < 4 ? low[v] : high[v - 3];
  for (int first = 0; first < 20; first += 4)
    part_of(g + first, 21, cells, z + first);
  part_of(g + 17, 21, cells, low);
  z[20] = low[3];
  for (int v = 0; v < VALUES; v++)
    s->along[v] = dot(z + 3 * v, dx), s->through[v] = dot(z + 3 * v, normal);
}

struct state {
  four q[VALUES], speed, pressure, sound;
};

static inline void state_of(struct state *s, const struct side *side, four share, const four normal[3]) {
  for (int v = 0; v < VALUES; v++)
    s->q[v] = side->q[v] + share * side->along[v];
  const four *q = s->q, inverse = all(1) / q[0];
  s->speed = inverse * dot(q + 1, normal);
  s->pressure = all(1.4 - 1) * (q[4] - all(0.5) * inverse * dot(q + 1, q + 1));
  s->sound = _mm256_sqrt_pd(all(1.4) * s->pressure * inverse);
}

static inline void normals_of(const double *from, four n[3]) {
  const four a = _mm256_loadu_pd(from), b = _mm256_loadu_pd(from + 4), c = _mm256_loadu_pd(from + 8);
  const four ab = _mm256_permute2f128_pd(a, b, 0x30), ac = _mm256_permute2f128_pd(a, c, 0x21),
             bc = _mm256_permute2f128_pd(b, c, 0x30);
  n[0] = _mm256_shuffle_pd(ab, ac, 0xa), n[1] = _mm256_shuffle_pd(ab, bc, 0x5),
  n[2] = _mm256_shuffle_pd(ac, bc, 0xa);
}

/* Rows of four edges: their first four values, and behind those the others. */
static inline void fluxes_of(const struct by_hand *given, int e, four rows[8]) {
  const double *x = given->values[0], *volume = given->values[2];
  const int *left = given->map + 2 * e, *right = left + 1;
  four dx[3], n[3];
  normals_of(given->values[1] + 3l * e, n);
  for (int d = 0; d < 3; d++)
    dx[d] = ones_of(x + d, 3, right) - ones_of(x + d, 3, left);
  struct side l, r;
  side_of(&l, given, left, dx, n);
  side_of(&r, given, right, dx, n);
  struct state a, b;
  state_of(&a, &l, all(0.5), n);
  state_of(&b, &r, all(-0.5), n);
  const four wave =
      all(0.5) * (size_of(a.speed) + size_of(b.speed) + _mm256_sqrt_pd(dot(n, n)) * (a.sound + b.sound));
  const four v1 = ones_of(volume, 1, left), v2 = ones_of(volume, 1, right), share1 = v2 / (v1 + v2),
             share2 = all(1) - share1;
  const four mu = all(1e-3) * (all(1) + l.q[5] + r.q[5]), down = dot(dx, n) / dot(dx, dx);
  four f[8];
  for (int v = 0; v < VALUES; v++) {
    f[v] = all(0.5) * (a.q[v] * a.speed + b.q[v] * b.speed - wave * (b.q[v] - a.q[v]));
    if (v >= 1 && v <= 3)
      f[v] += all(0.5) * (a.pressure + b.pressure) * n[v - 1];
    if (v == 4)
      f[v] += all(0.5) * (a.pressure * a.speed + b.pressure * b.speed);
    const four along = r.q[v] - l.q[v] - (share1 * l.along[v] + share2 * r.along[v]);
    if (v > 0)
      f[v] -= mu * (share1 * l.through[v] + share2 * r.through[v] + along * down);
  }
  f[7] = f[6];
  turn4(f), turn4(f + 4);
  memcpy(rows, f, sizeof f);
}

static inline void add_fluxes(const struct by_hand *given, int e, const four rows[8]) {
  double *res = given->values[5];
  for (int l = 0; l < 4; l++) {
    double *a = res + 7l * given->map[2 * (e + l)], *b = res + 7l * given->map[2 * (e + l) + 1];
    const __m128d two = _mm256_castpd256_pd128(rows[4 + l]);
    const double last = _mm_cvtsd_f64(_mm256_extractf128_pd(rows[4 + l], 1));
    _mm256_storeu_pd(a, _mm256_loadu_pd(a) + rows[l]), _mm256_storeu_pd(b, _mm256_loadu_pd(b) - rows[l]);
    _mm_storeu_pd(a + 4, _mm_loadu_pd(a + 4) + two), _mm_storeu_pd(b + 4, _mm_loadu_pd(b + 4) - two);
    a[6] += last, b[6] -= last;
  }
}

void by_hand_flux(const struct by_hand *given) {
  four rows[8];
  for (int e = 0; e + 4 <= given->n; e += 4) {
    fluxes_of(given, e, rows);
    add_fluxes(given, e, rows);
  }
}

/* ---- five values and a normal ------------------------------------------------------------------------*/

struct flow {
  eight q[5], inverse, pressure, speed;
};

static inline void flow_of(struct flow *s, const double *q, const int *cells, int column, const eight n[3]) {
  eight z[4];
  __m128d two[4];
  for (int l = 0; l < 4; l++) {
    z[l] = join(_mm256_loadu_pd(q + 5l * cells[2 * l + column]),
                _mm256_loadu_pd(q + 5l * cells[2 * l + 8 + column]));
    two[l] =
        _mm_loadh_pd(_mm_load_sd(q + 5l * cells[4 * l + column] + 4), q + 5l * cells[4 * l + 2 + column] + 4);
  }
  turn(z);
  for (int c = 0; c < 4; c++)
    s->q[c] = z[c];
  s->q[4] = join(join2(two[0], two[1]), join2(two[2], two[3]));
  s->inverse = OF(1) / z[0];
  s->pressure = OF(0.4) * (s->q[4] - OF(0.5) * s->inverse * (z[1] * z[1] + z[2] * z[2] + z[3] * z[3]));
  s->speed = s->inverse * (z[1] * n[0] + z[2] * n[1] + z[3] * n[2]);
}

static inline eight waves(const struct flow *s) {
  return _mm512_sqrt_pd(OF(1.4) * s->pressure * s->inverse) + _mm512_abs_pd(s->inverse * s->speed);
}

void by_hand_euler(const struct by_hand *given) {
  const double *normals = given->values[0], *q = given->values[1];
  const __m512i every = _mm512_setr_epi64(0, 3, 6, 9, 12, 15, 18, 21);
  for (int e = 0; e + 8 <= given->n; e += 8) {
    const int *cells = given->map + 2 * e;
    struct flow a, b;
    eight n[3], f[5];
    for (int c = 0; c < 3; c++)
      n[c] = _mm512_i64gather_pd(every, normals + 3l * e + c, 8);
    flow_of(&a, q, cells, 0, n);
    flow_of(&b, q, cells, 1, n);
    const eight wave =
        OF(0.1) * _mm512_sqrt_pd(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) * (waves(&a) + waves(&b));
    for (int v = 0; v < 5; v++)
      f[v] = OF(0.5) * (a.speed * a.q[v] + b.speed * b.q[v]) - wave * (b.q[v] - a.q[v]);
    for (int d = 0; d < 3; d++)
      f[1 + d] += OF(0.5) * (a.pressure + b.pressure) * n[d];
    f[4] += OF(0.5) * (a.pressure * a.speed + b.pressure * b.speed);
    double last[8];
    _mm512_storeu_pd(last, f[4]);
    turn(f);
    for (int l = 0; l < 8; l++) {
      const four row = l < 4 ? _mm512_castpd512_pd256(f[l]) : _mm512_extractf64x4_pd(f[l - 4], 1);
      double *left = given->values[2] + 5l * cells[2 * l], *right = given->values[2] + 5l * cells[2 * l + 1];
      _mm256_storeu_pd(left, _mm256_sub_pd(_mm256_loadu_pd(left), row)), left[4] -= last[l];
      _mm256_storeu_pd(right, _mm256_add_pd(_mm256_loadu_pd(right), row)), right[4] += last[l];
    }
  }
}
#endif
