/* The dot-product test: <y, J x> by tangents, along a random x, and <J^T y, x> by the adjoint, from a random y. The program's
 * own bars and dots are put aside for it. */
#ifndef OP2JIT_TAPE_TEST_H
#define OP2JIT_TAPE_TEST_H

#include "tape/tape.h"

/* A thing's value, while the thing holds something else. */
struct aside {
  struct thing *companion;
  struct dat *dat;
  unsigned char *value;
};

struct test {
  struct op_context *ctx;
  struct tape *tape;       /* or */
  const struct site *site; /* one loop */
  unsigned seed;
  struct thing **things; /* that are real and used */
  struct aside *asides;  /* two of each: dots and bars */
  int n;
};

/* `all` are the things of a list, or of a loop's arguments. test_close ends the test, after a failure too; it returns `code`,
 * or else an error of its own. */
int test_open(struct test *t, void *const *all, int count, struct error *err);
int test_close(struct test *t, int code, struct error *err);

/* Dots (or bars) that the test begins with hold noise, all others are zero. */
int test_put_all(const struct test *t, bool dots, struct error *err);
/* sums[0] += dots . bars on this rank, of all things; and the squares of both: the norms are those of what comes of it in
 * this test. */
int test_add_all(const struct test *t, double sums[3], struct error *err);
/* Both products, of all ranks, and the sum of the products of norms. */
struct products {
  double of_y, of_x, norms;
};
int test_sum(const struct test *t, const double of_y[3], const double of_x[3], struct products *out,
             struct error *err);

#endif
