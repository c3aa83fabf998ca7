/* When a loop is heavy, and how it is cut then. */
#include "../unit.h"

#include "backend/code.h"

static int noted(const double *seconds, int count) {
  int long_calls = 0;
  for (int i = 0; i < count; i++)
    heavy_note(&long_calls, seconds[i]);
  return long_calls;
}

TEST(counts_long_calls) {
  static const double steady[] = {20e-6, 21e-6, 30e-6, 25e-6, 20e-6, 99e-6, 20e-6, 22e-6, 20e-6, 20e-6},
                      light[] = {90e-6, 1e-6, 1e-6, 5e-3, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 19e-6},
                      slow[] = {1e-3, 3.0};
  int never = HEAVY_NEVER;
  assert_int_equal(noted(steady, 7), 7);
  assert_int_equal(noted(steady, 8), HEAVY_ENOUGH);
  assert_int_equal(noted(steady, 10), HEAVY_ENOUGH);
  assert_int_equal(noted(light, 10), 0);
  assert_int_equal(noted(slow, 1), 4);
  assert_int_equal(noted(slow, 2), HEAVY_ENOUGH);
  heavy_note(&never, 1);
  assert_int_equal(never, HEAVY_NEVER);
}

/* Loops that the usual pieces leave to few threads, or to one. */
TEST(knows_few_elements) {
  assert_true(heavy_is_few(2, 2));
  assert_true(heavy_is_few(2047, 2));
  assert_false(heavy_is_few(2048, 2));
  assert_true(heavy_is_few(4095, 4));
  assert_false(heavy_is_few(4096, 64));
  assert_false(heavy_is_few(1, 8));
  assert_false(heavy_is_few(0, 8));
  assert_false(heavy_is_few(100, 1));
}

/* All threads have work, in whole strips where there are enough. */
TEST(cuts_into_enough_pieces) {
  static const int strips[] = {0, 4, 8, 16};
  for (int threads = 2; threads <= 200; threads += threads / 2)
    for (long elements = 2; elements < 4096; elements += 1 + elements / 7)
      for (size_t s = 0; s < sizeof strips / sizeof *strips; s++) {
        const int strip = strips[s] ? strips[s] : 1, piece = heavy_piece(elements, threads, strips[s]);
        const long pieces = (elements + piece - 1) / piece;
        assert_true(piece >= 1);
        if (2 * elements > (long)strip * threads) {
          assert_int_equal(piece % strip, 0);
          assert_true(piece == strip || pieces >= threads);
        } else {
          assert_int_equal(piece, (elements + threads - 1) / threads);
        }
      }
  assert_int_equal(heavy_piece(300, 2, 8), 8);
  assert_int_equal(heavy_piece(2000, 2, 8), 32);
  assert_int_equal(heavy_piece(2000, 16, 8), 32);
  assert_int_equal(heavy_piece(2000, 64, 8), 8);
  assert_int_equal(heavy_piece(2000, 2, 0), 32);
  assert_int_equal(heavy_piece(20, 16, 8), 2);
}
