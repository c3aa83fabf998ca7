/* Reductions of all sizes side by side: partial results lie close together, each type on its own boundary,
 * whatever the size of the set and the number of threads. All values are whole numbers, so that sums are exact. */
#include "support.h"

#include <stdbool.h>
#include <stdlib.h>

static const int sizes[] = {1, 255, 257, 2047, 2048, 16385, 70001, 600001};
enum { nsizes = sizeof sizes / sizeof *sizes, most = 600001, wide = 100 };

static int values[most];
static int nwanted = nsizes; /* fewer where each element takes long */

static int value_of(int element) {
  return (int)(element * 7919LL % 101) - 50;
}

/* One of a byte: the smallest slot there is. */
OP_KERNEL_DEF(
    byte, void byte(const int *x, char *low) {
      const char value = (char)*x; /* it may have no sign */
      if (value < *low)
        *low = value;
    })

/* Three of a byte, and one of eight behind them. */
OP_KERNEL_DEF(
    seen, void seen(const int *x, bool *which, double *sum) {
      const bool is[3] = {*x<-49, *x> 1000, *x == 3};
      for (int c = 0; c < 3; c++)
        if (is[c] > which[c])
          which[c] = is[c];
      *sum += *x;
    })

/* Five, two, eight and four bytes, so many that a slot is more than a line. */
OP_KERNEL_DEF(
    mixed, void mixed(const int *x, char *low, short *high, long long *sum, float *count, int *odd) {
      for (int c = 0; c < 5; c++) {
        const char value = (char)(*x + c);
        if (value < low[c])
          low[c] = value;
      }
      if (*x > *high)
        *high = (short)*x;
      *sum += *x;
      *count += *x == 7;
      *odd += *x & 1;
    })

/* More than any number of whole lines. */
OP_KERNEL_DEF(
    histogram, void histogram(const int *x, double *count, float *last) {
      for (int c = 0; c < 100; c++)
        count[c] += *x + 50 == c;
      last[0] += *x == 50;
      last[1] += *x == 49;
      last[2] += 1;
    })

/* The values of the winner: 4 + 3 bytes behind the element's number. */
OP_KERNEL_DEF(
    farthest, void farthest(const int *x, const int *number, int *high, char *digits, double *sum) {
      *sum += 2 * *x;
      if (*x > *high) {
        *high = *x;
        digits[0] = (char)(*number % 100);
        digits[1] = (char)(*number / 100 % 100);
        digits[2] = (char)(*number / 10000);
      }
    })

struct expected {
  long long sum;
  int high, first_high, odd, counts[101];
  char low[5]; /* of chars that are so much more */
};

static struct expected by_hand(int size) {
  struct expected x = {.low = {100, 100, 100, 100, 100}, .high = -100};
  for (int e = 0; e < size; e++) {
    const int value = values[e];
    x.sum += value;
    for (int c = 0; c < 5; c++)
      x.low[c] = (char)(value + c) < x.low[c] ? (char)(value + c) : x.low[c];
    if (value > x.high) {
      x.high = value;
      x.first_high = e;
    }
    x.odd += value & 1;
    x.counts[value + 50]++;
  }
  return x;
}

static void check_small(op_dat x, op_set set, const struct expected *want) {
  char low = 100;
  works(op_par_loop(OP_KERNEL_OF(byte), "byte", set, direct(x, 1, "int", OP_READ),
                    op_arg_gbl(&low, 1, "char", OP_MIN)));
  assert_int_equal(low, want->low[0]);
  bool which[3] = {false, false, false};
  double sum = 1000;
  works(op_par_loop(OP_KERNEL_OF(seen), "seen", set, direct(x, 1, "int", OP_READ),
                    op_arg_gbl(which, 3, "bool", OP_MAX), op_arg_gbl(&sum, 1, "double", OP_INC)));
  assert_int_equal(which[0], want->counts[0] > 0);
  assert_int_equal(which[1], 0);
  assert_int_equal(which[2], want->counts[53] > 0);
  assert_true(sum == 1000 + (double)want->sum);
}

static void check_mixed(op_dat x, op_set set, const struct expected *want) {
  char low[5] = {100, 100, 100, 100, 100};
  short high = -100;
  long long sum = -5;
  float count = 2;
  int odd = 10;
  works(op_par_loop(OP_KERNEL_OF(mixed), "mixed", set, direct(x, 1, "int", OP_READ),
                    op_arg_gbl(low, 5, "char", OP_MIN), op_arg_gbl(&high, 1, "short", OP_MAX),
                    op_arg_gbl(&sum, 1, "ll", OP_INC), op_arg_gbl(&count, 1, "float", OP_INC),
                    op_arg_gbl(&odd, 1, "int", OP_INC)));
  for (int c = 0; c < 5; c++)
    assert_int_equal(low[c], want->low[c]);
  assert_int_equal(high, want->high);
  assert_true(sum == want->sum - 5);
  assert_true(count == (float)want->counts[57] + 2);
  assert_int_equal(odd, want->odd + 10);
}

static void check_wide(op_dat x, op_set set, int size, const struct expected *want) {
  double count[wide] = {0};
  float last[3] = {0};
  works(op_par_loop(OP_KERNEL_OF(histogram), "histogram", set, direct(x, 1, "int", OP_READ),
                    op_arg_gbl(count, wide, "double", OP_INC), op_arg_gbl(last, 3, "float", OP_INC)));
  for (int c = 0; c < wide; c++)
    assert_true(count[c] == want->counts[c]);
  assert_true(last[0] == (float)want->counts[100] && last[1] == (float)want->counts[99]);
  assert_true(last[2] == (float)size);
}

static void check_payload(op_dat x, op_set set, const struct expected *want) {
  int high = -100;
  char digits[3] = {0};
  double sum = 0;
  works(op_par_loop(OP_KERNEL_OF(farthest), "farthest", set, direct(x, 1, "int", OP_READ),
                    op_arg_idx(-1, OP_ID), op_arg_gbl(&high, 1, "int", OP_MAX),
                    op_arg_info(digits, 3, "char", 3), op_arg_gbl(&sum, 1, "double", OP_INC)));
  assert_int_equal(high, want->high);
  assert_int_equal(digits[0] + 100 * digits[1] + 10000 * digits[2], want->first_high);
  assert_true(sum == 2 * (double)want->sum);
}

/* Twice: the second time slots are there, with what the first left in them. */
LIBRARY_TEST(all_sizes) {
  for (int e = 0; e < most; e++)
    values[e] = value_of(e);
  for (int s = 0; s < nwanted; s++) {
    op_set set = op_decl_set(sizes[s], "elements");
    op_dat x = op_decl_dat(set, 1, "int", values, "x");
    const struct expected want = by_hand(sizes[s]);
    for (int repeat = 0; repeat < 2; repeat++) {
      check_small(x, set, &want);
      check_mixed(x, set, &want);
      check_wide(x, set, sizes[s], &want);
      check_payload(x, set, &want);
    }
  }
}

/* test_reductions [SIZES]: so many of the sizes. */
int main(int argc, char **argv) {
  if (argc > 1)
    nwanted = atoi(argv[1]);
  return run_these(NULL, NULL);
}
