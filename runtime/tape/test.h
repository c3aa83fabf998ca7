/* The dot-product test: <y, J x> by tangents, along a random x, and <J^T y, x> by the adjoint, from a random y. The program's
 * own bars and dots are put aside for it. */
#ifndef OP2JIT_TAPE_TEST_H
#define OP2JIT_TAPE_TEST_H

#include "tape/tape.h"

/* What a thing has, while it holds something else. */
struct aside {
  struct thing *companion;
  struct dat *dat;
  unsigned char *value;
};

struct test {
  struct op_context *ctx;
  struct tape *tape;
  unsigned seed;
  struct thing **things; /* that are real and used */
  struct aside *asides;  /* two of each: dots and bars */
  int n;
};

/* Of the things of a list, or of a loop's arguments. What it opened, test_close ends, after a failure too; that passes `code`
 * on, or else an error of its own. */
int test_open(struct test *t, void *const *all, int count, struct error *err);
int test_close(struct test *t, int code, struct error *err);

/* Random numbers of a thing, in the program's order. `which` tells x from y. */
struct noise {
  unsigned seed;
  int which;
};
/* The companion, whose thing has this number, holds noise. */
int test_put_noise(struct op_context *ctx, const struct thing *companion, struct noise noise, int number,
                   struct error *err);
/* sums[0] += a . b on this rank; and the squares of both. */
int test_add_product(struct op_context *ctx, struct thing *a, struct thing *b, double sums[3],
                     struct error *err);
/* Of both, the products on all ranks, and the sum of the products of norms. */
int test_sum(struct op_context *ctx, const double of_y[3], const double of_x[3], double products[2],
             double *norms, struct error *err);

#endif
