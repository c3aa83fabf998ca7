/* Sums that do not depend on the order of what is added: all bits are kept until the end and rounded once.
 * Extrema that do not depend on it either, for zeros of both signs and NaN too. */
#ifndef OP2JIT_BASE_EXACT_H
#define OP2JIT_BASE_EXACT_H

#include <stdbool.h>
#include <stdint.h>

/* A sum of doubles: limb i counts 2^(32 i - 1074). All zero: nothing was added. At most 2^30 additions before exact_add takes
 * it, which carries. */
enum { EXACT_LIMBS = 68 };
struct exact {
  int64_t limbs[EXACT_LIMBS];
  int32_t odd;       /* of values that no limbs hold */
  int32_t low, high; /* all limbs before `low`, and from `high` on, are zero; high 0: all are */
  bool far;          /* values of one piece were far apart */
  int16_t cut;       /* a device's sum: the part of each value below this limb is cut off */
  int32_t exponent;  /* of the largest value of a piece, as doubles have it; 0: none yet */
  int32_t misses;    /* pieces that were not like it */
};

/* One value, or as many: at most EXACT_PIECE. */
enum { EXACT_PIECE = 1024 };
void exact_add_value(struct exact *e, double value);
void exact_add_values(struct exact *e, const double *values, int n);
/* A piece of values that generated code adds up along the way (jit/emit/strip.c), by the steps of one before it:
 * for steps that suit it, as exact_add_values does. `done`: so many of its values, from the first on. */
struct exact_along {
  double first, second;           /* where both sums begin; 0: no steps are known */
  unsigned long long whole, rest; /* so many steps they are further in the end */
  long long outside, left;        /* bits that show whether the steps suited */
  long long done;
};
void exact_begin_along(const struct exact *e, struct exact_along *a);
/* How many of its values were added; those behind them are not in the sum yet. */
int exact_end_along(struct exact *e, const struct exact_along *a);
void exact_add(struct exact *to, const struct exact *from);
/* Before sums are added and some are cut: cuts *to where *from is cut, or further up. If this is done first for
 * all sums, and none was carried, a device's sum of all values equals the sum of its sums of any parts. */
void exact_cut(struct exact *to, const struct exact *from);
/* `count` of limb i: of sums that a device made. */
void exact_add_limb(struct exact *e, int i, int64_t count);
/* Rounded to the nearest. A sum of zero is -0.0, which changes nothing that it is added to. */
double exact_value(const struct exact *e);
/* The sum of floats: rounded once, not to a double first. */
float exact_value_of_floats(const struct exact *e);

/* The better of both becomes *best. -0.0 is less than 0. A NaN beats all numbers, unless `start`, the program's
 * value, was a NaN. All NaN have the same bits. */
void exact_extremum(bool most, double start, double *best, double value);
/* The same of many values. */
void exact_extrema(bool most, double start, double *best, const double *values, int n);

#endif
