#include "exact.h"

#include <math.h>
#include <string.h>

enum { MANTISSA = 52, EXPONENTS = 2047, LIMB = 32, LEAST = 1074 };
enum { ODD_NAN = 1, ODD_PLUS = 2, ODD_MINUS = 4 };

/* ---- one value -----------------------------------------------------------------------------------------*/

static void reach(struct exact *e, int low, int high) {
  e->low = e->high && e->low < low ? e->low : low;
  e->high = e->high > high ? e->high : high;
}

/* m * 2^(shift - 1074) */
static inline void put(struct exact *e, bool below, uint64_t m, int shift) {
  const int at = shift % LIMB;
  int64_t *to = e->limbs + shift / LIMB;
  const int64_t sign = below ? -1 : 1;
  to[0] += sign * (int64_t)(m << at & UINT32_MAX);
  to[1] += sign * (int64_t)(m >> (LIMB - at) & UINT32_MAX);
  to[2] += sign * (int64_t)(at ? m >> (2 * LIMB - at) : 0);
  reach(e, shift / LIMB, shift / LIMB + 3);
}

void exact_add_value(struct exact *e, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const int exponent = (int)(bits >> MANTISSA & EXPONENTS);
  uint64_t m = bits & (((uint64_t)1 << MANTISSA) - 1);
  if (exponent == EXPONENTS) {
    e->odd |= m ? ODD_NAN : bits >> 63 ? ODD_MINUS : ODD_PLUS;
    return;
  }
  if (exponent)
    m |= (uint64_t)1 << MANTISSA;
  put(e, bits >> 63, m, exponent ? exponent - 1 : 0);
}

/* ---- many ----------------------------------------------------------------------------------------------*/

/* Several values at a time, as vectors of the language; how these are passed depends on the processor, so nothing passes them.
 * Two at once: one would wait for its own sum. */
enum { LANES = 8, AT_ONCE = 2 * LANES };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t masks __attribute__((vector_size(LANES * sizeof(int64_t))));
typedef uint64_t counts __attribute__((vector_size(LANES * sizeof(uint64_t)))); /* may wrap round */

/* Sums of a piece with larger values might overflow. */
static const double most_at_once = 0x1p960;

/* A piece has 2^10 values of less than 2^(exponent + 1). Their multiples of 2^(exponent - 42) have a sum of 53
 * bits, and at most half a step of each value is left. */
enum { SPAN = 42, FOLDS = 3 };

#define INLINED static inline __attribute__((always_inline))

INLINED void raise(masks *most, const double *values) {
  masks bits;
  memcpy(&bits, values, sizeof bits);
  bits &= INT64_MAX;
  const masks is = bits > *most;
  *most = (bits & is) | (*most & ~is);
}

/* The largest size among the values, as bits; NaN is larger than all numbers. */
INLINED int64_t largest(const double *values, int n) {
  masks even = {0}, odd = {0};
  for (int i = 0; i < n; i += AT_ONCE) {
    raise(&even, values + i);
    raise(&odd, values + i + LANES);
  }
  int64_t all = 0;
  for (int k = 0; k < LANES; k++) {
    all = even[k] > all ? even[k] : all;
    all = odd[k] > all ? odd[k] : all;
  }
  return all;
}

/* Moves the whole steps of x, rounded, to the sum, whose neighbours are a step away; the rest stays in x. */
INLINED void take(lanes *x, lanes *sum) {
  const lanes more = *sum + *x;
  *x -= more - *sum;
  *sum = more;
}

struct folded {
  lanes first, second, third;
  masks left;
};

INLINED struct folded begin_fold(const double c[FOLDS]) {
  const lanes none = {0};
  return (struct folded){.first = c[0] + none, .second = c[1] + none, .third = c[2] + none};
}

INLINED void fold_lanes(struct folded *to, const double *values, bool three, double *rest) {
  lanes x;
  masks bits;
  memcpy(&x, values, sizeof x);
  take(&x, &to->first);
  take(&x, &to->second);
  if (three)
    take(&x, &to->third);
  memcpy(rest, &x, sizeof x);
  memcpy(&bits, &x, sizeof bits);
  to->left |= bits;
}

INLINED double sum_of(const lanes *even, const lanes *odd, double began) {
  const lanes both = (*even - began) + (*odd - began);
  double sum = 0;
  for (int k = 0; k < LANES; k++)
    sum += both[k];
  return sum;
}

/* Sums up the multiples of each step, in two steps or three: the first in the values, the next in what they
 * leave. `rest` gets what is left at the end. True: something is left. */
INLINED bool fold(const double *values, int n, const double c[FOLDS], bool three, double sums[FOLDS],
                  double *rest) {
  struct folded even = begin_fold(c), odd = even;
  for (int i = 0; i < n; i += AT_ONCE) {
    fold_lanes(&even, values + i, three, rest + i);
    fold_lanes(&odd, values + i + LANES, three, rest + i + LANES);
  }
  int64_t any = 0;
  for (int k = 0; k < LANES; k++)
    any |= (even.left[k] | odd.left[k]) & INT64_MAX;
  sums[0] = sum_of(&even.first, &odd.first, c[0]);
  sums[1] = sum_of(&even.second, &odd.second, c[1]);
  sums[2] = three ? sum_of(&even.third, &odd.third, c[2]) : 0;
  return any != 0;
}

/* 1.5 * 2^(52 + step), whose neighbours are 2^step away. */
static double rounding_to(int step) {
  const uint64_t bits = (uint64_t)(step + LEAST + 1) << MANTISSA | (uint64_t)1 << (MANTISSA - 1);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Steps for values of less than 2^(exponent + 1). */
INLINED int first_step(int exponent) {
  return exponent - SPAN < -LEAST ? -LEAST : exponent - SPAN;
}
INLINED void find_steps(int exponent, double c[FOLDS]) {
  for (int f = 0; f < FOLDS; f++) {
    const int step = first_step(exponent);
    c[f] = rounding_to(step);
    exponent = step - 1;
  }
}

/* ---- many, by the steps of those before ------------------------------------------------------------------*/

struct stepped {
  lanes first, second;
  masks outside, left;
};

/* While the first sum stays in its binade nothing is lost: its steps do not change, and no value is larger than
 * it. */
INLINED void fold_by_steps(struct stepped *to, const masks *began, const double *values) {
  lanes x;
  memcpy(&x, values, sizeof x);
  take(&x, &to->first);
  to->outside |= (masks)to->first ^ *began;
  const lanes more = to->second + x;
  to->left |= (masks)(more - to->second) ^ (masks)x;
  to->second = more;
}

/* The number of steps between a sum and where it began; any number if it left its binade. */
INLINED int64_t steps_of(const lanes *even, const lanes *odd, const masks *began) {
  const counts both = ((counts)*even - (counts)*began) + ((counts)*odd - (counts)*began);
  uint64_t sum = 0;
  for (int k = 0; k < LANES; k++)
    sum += both[k];
  return (int64_t)sum;
}

enum { MISSES = 16 };

INLINED bool knows_steps(const struct exact *e) {
  return e->exponent && !e->far && e->misses < MISSES;
}

INLINED void known_steps(const struct exact *e, int *first, int *second) {
  *first = first_step(e->exponent - EXPONENTS / 2);
  *second = first_step(*first - 1);
}

/* Adds what two sums have come to. False: the bits show that the steps did not suit, and nothing is added. */
static bool put_steps(struct exact *e, int64_t outside, int64_t left, int64_t whole, int64_t rest) {
  int first, second;
  known_steps(e, &first, &second);
  if ((outside & ~(((int64_t)1 << MANTISSA) - 1)) || (left & INT64_MAX))
    return false;
  put(e, whole < 0, (uint64_t)(whole < 0 ? -whole : whole), first + LEAST);
  put(e, rest < 0, (uint64_t)(rest < 0 ? -rest : rest), second + LEAST);
  return true;
}

/* Adds by the steps of an earlier piece, without a look at the sizes. False: the steps do not suit, and nothing
 * is added. */
INLINED bool add_by_steps(struct exact *e, const double *values, int n) {
  int first, second;
  known_steps(e, &first, &second);
  const lanes none = {0};
  struct stepped even = {.first = rounding_to(first) + none, .second = rounding_to(second) + none},
                 odd = even;
  const masks began = (masks)even.first, began_second = (masks)even.second;
  for (int i = 0; i < n; i += AT_ONCE) {
    fold_by_steps(&even, &began, values + i);
    fold_by_steps(&odd, &began, values + i + LANES);
  }
  int64_t outside = 0, left = 0;
  for (int k = 0; k < LANES; k++) {
    outside |= even.outside[k] | odd.outside[k];
    left |= even.left[k] | odd.left[k];
  }
  return put_steps(e, outside, left, steps_of(&even.first, &odd.first, &began),
                   steps_of(&even.second, &odd.second, &began_second));
}

/* Values that lie within some 2^33 of each other need two steps, of 2^76 three. So do mostly those that follow. */
INLINED void add_values(struct exact *e, const double *values, int n) {
  double room[EXACT_PIECE], c[FOLDS], sums[FOLDS];
  if (knows_steps(e) && add_by_steps(e, values, n))
    return;
  e->misses += e->exponent != 0;
  int64_t most = largest(values, n);
  double size;
  memcpy(&size, &most, sizeof size);
  if (!(size < most_at_once)) {
    for (int i = 0; i < n; i++)
      exact_add_value(e, values[i]);
    return;
  }
  if (most)
    e->exponent = (int)(most >> MANTISSA) + !(most >> MANTISSA);
  for (const double *now = values; most; now = room) {
    const int exponent = (int)(most >> MANTISSA);
    find_steps((exponent ? exponent : 1) - EXPONENTS / 2, c);
    const bool left = e->far ? fold(now, n, c, true, sums, room) : fold(now, n, c, false, sums, room);
    for (int f = 0; f < (e->far ? FOLDS : FOLDS - 1); f++)
      exact_add_value(e, sums[f]);
    e->far |= left;
    most = left ? largest(room, n) : 0;
  }
}

void exact_begin_along(const struct exact *e, struct exact_along *a) {
  int first, second;
  known_steps(e, &first, &second);
  *a = (struct exact_along){.first = knows_steps(e) ? rounding_to(first) : 0,
                            .second = knows_steps(e) ? rounding_to(second) : 0};
}

int exact_end_along(struct exact *e, const struct exact_along *a) {
  const bool suits = a->first > 0 && put_steps(e, a->outside, a->left, (int64_t)a->whole, (int64_t)a->rest);
  return suits ? (int)a->done : 0;
}

/* ---- extrema -------------------------------------------------------------------------------------------*/

void exact_extremum(bool most, double start, double *best, double value) {
  if (isnan(value) || isnan(*best)) {
    if (isnan(start) ? !isnan(value) : isnan(value))
      *best = isnan(value) ? (double)NAN : value;
    return;
  }
  const bool tie = value == *best, beats = most ? value > *best : value < *best;
  if (beats || (tie && most ? !signbit(value) : tie && signbit(value)))
    *best = value;
}

/* The bits of a double as a whole number that is larger where the double is, with -0.0 below 0 and NaN at the
 * ends; and back. */
#define AS_WHOLE(bits) ((bits) ^ ((bits) >> 63 & INT64_MAX))

/* Infinity as bits: AS_WHOLE of it is larger than all numbers. */
static const int64_t infinite = INT64_C(0x7ff0000000000000);

struct range {
  masks least, most;
};

INLINED void widen(struct range *r, const double *values) {
  masks bits;
  memcpy(&bits, values, sizeof bits);
  bits = AS_WHOLE(bits);
  const masks below = bits<r->least, above = bits> r->most;
  r->least = (bits & below) | (r->least & ~below);
  r->most = (bits & above) | (r->most & ~above);
}

/* The range of whole vectors of values. False: some are NaN. */
INLINED bool find_range(const double *values, int n, double ends[2]) {
  const masks none = {0};
  struct range even = {.least = none + INT64_MAX, .most = none + INT64_MIN}, odd = even;
  for (int i = 0; i < n; i += AT_ONCE) {
    widen(&even, values + i);
    widen(&odd, values + i + LANES);
  }
  int64_t found[2] = {INT64_MAX, INT64_MIN};
  for (int k = 0; k < AT_ONCE; k++) {
    const struct range *r = k < LANES ? &even : &odd;
    found[0] = r->least[k % LANES] < found[0] ? r->least[k % LANES] : found[0];
    found[1] = r->most[k % LANES] > found[1] ? r->most[k % LANES] : found[1];
  }
  const bool numbers = found[0] >= AS_WHOLE(infinite | INT64_MIN) && found[1] <= infinite;
  for (int k = 0; k < 2; k++) {
    found[k] = AS_WHOLE(found[k]);
    memcpy(ends + k, found + k, sizeof *ends);
  }
  return numbers;
}

/* ---- by what a processor has ---------------------------------------------------------------------------*/

struct machine {
  void (*add_values)(struct exact *e, const double *values, int n);
  bool (*find_range)(const double *values, int n, double ends[2]);
};

#define MACHINE(name, features)                                                                              \
  features static void add_values_of_##name(struct exact *e, const double *values, int n) {                  \
    add_values(e, values, n);                                                                                \
  }                                                                                                          \
  features static bool find_range_of_##name(const double *values, int n, double ends[2]) {                   \
    return find_range(values, n, ends);                                                                      \
  }                                                                                                          \
  static const struct machine name = {add_values_of_##name, find_range_of_##name};

MACHINE(any, )
#ifdef __x86_64__
MACHINE(avx2, __attribute__((target("avx2"))))
MACHINE(avx512, __attribute__((target("avx512f"))))
#endif

static const struct machine *machine(void) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return &avx512;
  if (__builtin_cpu_supports("avx2"))
    return &avx2;
#endif
  return &any;
}

void exact_add_values(struct exact *e, const double *values, int n) {
  double whole[EXACT_PIECE];
  const int tail = n % AT_ONCE, padded = tail ? n + AT_ONCE - tail : n;
  if (tail)
    memcpy(whole, values, (size_t)n * sizeof *whole);
  for (int i = n; i < padded; i++)
    whole[i] = 0;
  machine()->add_values(e, tail ? whole : values, padded);
}

void exact_extrema(bool most, double start, double *best, const double *values, int n) {
  double ends[2];
  int done = n - n % AT_ONCE;
  if (done && machine()->find_range(values, done, ends))
    exact_extremum(most, start, best, ends[most]);
  else
    done = 0;
  for (int i = done; i < n; i++)
    exact_extremum(most, start, best, values[i]);
}

/* ---- sums of sums --------------------------------------------------------------------------------------*/

/* Carries, so that all limbs but the last are from -least to 2^32 - 1 - least. */
static void carry(struct exact *e, int64_t least) {
  int64_t up = 0;
  int i = e->low;
  for (; i < EXACT_LIMBS - 1 && (i < e->high || up); i++) {
    const int64_t now = e->limbs[i] + up, low = ((now + least) & UINT32_MAX) - least;
    up = (now - low) / ((int64_t)1 << LIMB);
    e->limbs[i] = low;
  }
  if (up)
    e->limbs[i++] += up;
  e->high = e->high > i ? e->high : i;
}

/* Limbs of both signs, so that a sum below zero is carried no further than another one. */
static const int64_t half = (int64_t)1 << (LIMB - 1);

void exact_add(struct exact *to, const struct exact *from) {
  to->odd |= from->odd;
  const int low = from->low > to->cut ? from->low : to->cut;
  if (from->high <= low)
    return;
  for (int i = low; i < from->high; i++)
    to->limbs[i] += from->limbs[i];
  reach(to, low, from->high);
  carry(to, half);
}

void exact_cut(struct exact *to, const struct exact *from) {
  if (from->cut > to->cut)
    to->cut = from->cut;
}

void exact_add_limb(struct exact *e, int i, int64_t count) {
  e->limbs[i] += count;
  reach(e, i, i + 1);
}

static uint64_t limb_at(const struct exact *e, int i) {
  return i >= 0 ? (uint64_t)e->limbs[i] : 0;
}

/* The value of limbs that are not negative: 64 bits from the first set one on; the last bit stands for all
 * behind it. */
static double rounded(const struct exact *e, int top, bool narrow) {
  uint64_t m = limb_at(e, top) << LIMB | limb_at(e, top - 1);
  const uint64_t next = limb_at(e, top - 2);
  const int zeros = __builtin_clzll(m);
  bool more = (next << zeros & UINT32_MAX) != 0;
  m = m << zeros | (zeros ? next >> (LIMB - zeros) : 0);
  for (int i = e->low; i < top - 2; i++)
    more |= e->limbs[i] != 0;
  const double bits = narrow ? (double)(float)(m | more) : (double)(m | more);
  return ldexp(bits, LIMB * (top - 1) - LEAST - zeros);
}

static int top_of(const struct exact *e) {
  int top = e->high - 1;
  while (top >= 0 && !e->limbs[top])
    top--;
  return top;
}

static double value_of(const struct exact *e, bool narrow) {
  struct exact sum = *e;
  if (e->odd)
    return e->odd == ODD_PLUS ? (double)INFINITY : e->odd == ODD_MINUS ? (double)-INFINITY : (double)NAN;
  carry(&sum, half);
  const int top = top_of(&sum);
  if (top < 0)
    return -0.0;
  const bool below = sum.limbs[top] < 0;
  for (int i = sum.low; below && i < sum.high; i++)
    sum.limbs[i] = -sum.limbs[i];
  carry(&sum, 0);
  const double value = rounded(&sum, top_of(&sum), narrow);
  return below ? -value : value;
}

double exact_value(const struct exact *e) {
  return value_of(e, false);
}

/* No sum of floats has a bit below a float's least one. */
float exact_value_of_floats(const struct exact *e) {
  return (float)value_of(e, true);
}
