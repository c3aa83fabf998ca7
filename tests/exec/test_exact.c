/* Exact sums: the same bits in any order and in any pieces, rounded once; and extrema. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit.h"
#include "base/exact.h"

enum { COUNT = 5000 };

static uint64_t state = 88172645463325252u;
static int below(int n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int)(state % (uint64_t)n);
}

static double any(int least, int most) {
  return ldexp((double)(below(1 << 30) - (1 << 29)) * 0x1p30 + below(1 << 30),
               least + below(most - least + 1));
}

static void shuffle(double *values, int n) {
  for (int i = n - 1; i > 0; i--) {
    const int k = below(i + 1);
    const double kept = values[i];
    values[i] = values[k];
    values[k] = kept;
  }
}

/* In pieces of any length, each in a sum of its own or in one. */
static double sum_of(const double *values, int n, bool apart) {
  struct exact all = {0}, own = {0};
  for (int i = 0, piece; i < n; i += piece) {
    double room[EXACT_PIECE];
    piece = 1 + below(n - i < EXACT_PIECE ? n - i : EXACT_PIECE);
    memcpy(room, values + i, (size_t)piece * sizeof *room);
    exact_add_values(&own, room, piece);
    if (!apart)
      continue;
    exact_add(&all, &own);
    own = (struct exact){0};
  }
  exact_add(&all, &own);
  return exact_value(&all);
}

static void same(double a, double b) {
  assert_memory_equal(&a, &b, sizeof a);
}

TEST(any_order_has_the_same_bits) {
  static const int ranges[][2] = {{0, 0}, {-3, 3}, {-60, 60}, {-700, 700}, {-1074, -1060}, {-1074, 900}};
  static double values[COUNT];
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
    struct exact one_by_one = {0};
    for (int i = 0; i < COUNT; i++) {
      values[i] = any(ranges[r][0], ranges[r][1]);
      exact_add_value(&one_by_one, values[i]);
    }
    for (int turn = 0; turn < 6; turn++) {
      same(sum_of(values, COUNT, turn % 2), exact_value(&one_by_one));
      shuffle(values, COUNT);
    }
  }
}

/* One that leaves the piece's range and what takes it back, smaller and larger ones, and what is no number: each behind a
 * piece whose steps would be taken. */
TEST(pieces_need_not_be_like_those_before) {
  enum { PIECE = 256, PIECES = 40 };
  static const double odd[] = {0x1p30, 0x1p57, 0x1p300, 0x1p1000, 0x1p-70, 0x1p-1074, INFINITY, NAN, -0.0};
  double values[PIECE];
  for (size_t o = 0; o < sizeof odd / sizeof *odd; o++) {
    struct exact sum = {0}, one_by_one = {0};
    for (int p = 0; p < PIECES; p++) {
      const int scale = p % 8 == 7 ? below(200) - 100 : 0, at = below(PIECE / 2);
      for (int i = 0; i < PIECE; i++)
        values[i] = any(scale - 2, scale + 2);
      if (p % 4 == 1) {
        values[at] = p > PIECES / 2 ? odd[o] : -odd[o];
        values[at + 8] = p % 8 == 1 ? values[at] : 0; /* in the same lane of the other sum */
        values[at + 16] = -values[at];                /* in the same lane of the same sum */
      }
      for (int i = 0; i < PIECE; i++)
        exact_add_value(&one_by_one, values[i]);
      exact_add_values(&sum, values, PIECE);
    }
    for (int bits = 0; bits < 40; bits++) { /* of the sum, then of what is left of it */
      const double expected = exact_value(&one_by_one);
      same(exact_value(&sum), expected);
      exact_add_value(&sum, -expected);
      exact_add_value(&one_by_one, -expected);
    }
  }
}

/* Whole numbers of few bits have a sum that is known. */
TEST(sums_are_right) {
  static double values[COUNT];
  for (int scale = -1074; scale < 900; scale += 97) {
    int64_t sum = 0;
    for (int i = 0; i < COUNT; i++) {
      const int64_t n = (int64_t)below(1 << 30) - (1 << 29);
      sum += n;
      values[i] = ldexp((double)n, scale);
    }
    same(sum_of(values, COUNT, true), ldexp((double)sum, scale));
  }
}

TEST(what_cancels_leaves_the_rest) {
  double values[] = {1e308, 1e-308, -1e308, 3, 0x1p-1074, -3, 1e300, -1e300};
  double nothing[] = {1e200, -5, 5, -1e200, 0, -0.0};
  same(sum_of(values, 8, false), 1e-308 + 0x1p-1074);
  same(sum_of(nothing, 6, true), -0.0);
}

TEST(it_is_rounded_once) {
  const double half[] = {1, 0x1p-53}, more[] = {1, 0x1p-53, 0x1p-1074}, odd[] = {1 + 0x1p-52, 0x1p-53},
               below_half[] = {-1, -0x1p-53, 0x1p-300}, carries[] = {0x1.fffffffffffffp0, 0x1p-53};
  same(sum_of(half, 2, false), 1);
  same(sum_of(more, 3, false), 1 + 0x1p-52);
  same(sum_of(odd, 2, false), 1 + 0x1p-51);
  same(sum_of(below_half, 3, false), -1);
  same(sum_of(carries, 2, false), 2);
}

/* Not to a double first, where the last value is lost. */
TEST(floats_are_rounded_once) {
  static const double values[][3] = {{1, 0x1p-24, 0x1p-60},   {-1, -0x1p-24, -0x1p-100},
                                     {1, 0x1p-24, -0x1p-60},  {1, 0x1p-24, 0},
                                     {0x1p-149, 0x1p-140, 0}, {0x1.fffffep127, 0x1p127, 0}};
  static const float expected[] = {1 + 0x1p-23F, -1 - 0x1p-23F, 1, 1, 0x1p-149F + 0x1p-140F, INFINITY};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    struct exact sum = {0};
    exact_add_values(&sum, values[i], 3);
    const float found = exact_value_of_floats(&sum);
    assert_memory_equal(&found, &expected[i], sizeof found);
  }
}

TEST(what_is_no_number_shows) {
  const double plus[] = {1, INFINITY, 2}, both[] = {INFINITY, -INFINITY}, lost[] = {1, NAN},
               over[] = {0x1p1023, 0x1p1023}, back[] = {0x1p1023, 0x1p1023, -0x1p1023};
  same(sum_of(plus, 3, false), INFINITY);
  assert_true(isnan(sum_of(both, 2, false)));
  assert_true(isnan(sum_of(lost, 2, true)));
  same(sum_of(over, 2, false), INFINITY);
  same(sum_of(back, 3, true), 0x1p1023);
}

static double extremum_of(bool most, double start, const double *values, int n, int first) {
  double best = start;
  for (int i = 0; i < n; i++)
    exact_extremum(most, start, &best, values[(first + i) % n]);
  return best;
}

TEST(extrema_know_no_order) {
  static const double zeros[] = {0.0, -0.0, 0.0}, lost[] = {3, NAN, -3};
  for (int first = 0; first < 3; first++) {
    same(extremum_of(false, 1, zeros, 3, first), -0.0);
    same(extremum_of(true, -1, zeros, 3, first), 0.0);
    assert_true(isnan(extremum_of(true, 1, lost, 3, first)));
    same(extremum_of(true, NAN, lost, 3, first), 3);
    same(extremum_of(false, NAN, lost, 3, first), -3);
  }
}

/* Many values at a time have the sum of one by one, whatever is among them. */
TEST(many_have_the_extremum_of_one_by_one) {
  static const double odd[] = {3, 0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 0x1p-1074, -0x1p-1074, 0x1p1023};
  enum { ODD = sizeof odd / sizeof *odd };
  static double values[COUNT];
  for (int turn = 0; turn < 400; turn++) {
    const int n = below(turn < 200 ? 70 : EXACT_PIECE) + 1, kind = turn % 4;
    const double start = turn % 5 ? odd[below(ODD)] : any(-60, 60), least = below(2) ? 1 : -1;
    for (int i = 0; i < n; i++)
      values[i] = kind == 0   ? odd[below(ODD)]
                  : kind == 1 ? odd[below(5)]
                  : kind == 2 ? any(-60, 60)
                              : least * fabs(any(0, 9));
    if (kind == 3 && n > 40)
      values[below(n)] = odd[below(ODD)];
    for (int most = 0; most < 2; most++) {
      double best = start;
      exact_extrema(most, start, &best, values, n);
      same(best, extremum_of(most, start, values, n, 0));
    }
  }
}
