/* What the files of the search for loops that can be split share. */
#ifndef OP2JIT_FRONT_ROWS_SPLIT_INNER_H
#define OP2JIT_FRONT_ROWS_SPLIT_INNER_H

#include "jit/front/rows/locals.h"
#include "jit/front/rows/split.h"

struct looking {
  const struct kernel *k;
  const struct desc *d;
  const struct tokens *t;
  struct locals locals;
  const char *why; /* of the loop that is looked at */
};

/* What a name means at its place: a local, declared inside of the loop or not, or a parameter; -1: none. */
struct declared {
  const struct local *local;
  bool inside;
  int parameter;
};

/* The kernel's parameter of that name; -1: none. */
int split_parameter(const struct looking *s, size_t name);
/* The loop's argument that a parameter is; -1: the number of targets of a ragged map. */
int split_arg(const struct looking *s, int parameter);
struct declared split_declared(const struct looking *s, const struct split_loop *l, size_t name);
/* Is a single `&` at `at` one that may take an address? Behind another parenthesis than a call's nobody knows. */
bool split_takes_address(const struct tokens *t, size_t at);

/* plain.c: what the text has that tokens do not explain; NULL: nothing. The locals are the kernel's. */
const char *split_text_refusal(const struct looking *s);
/* What a loop must not call: `at` is a name before a parenthesis. */
const char *split_call_refusal(const struct looking *s, size_t at);
/* A function of math.h, and not of the text. */
bool split_is_maths(const struct kernel *k, size_t at);

/* sums.c: the write as a sum of the loop's; false: it is none, and `why` says so. */
bool split_sum(struct looking *s, struct split_loop *l, const struct write *w);
/* In the loop nothing but the sum itself uses it; nowhere does a pointer lead to it. */
bool split_sum_is_apart(struct looking *s, const struct split_loop *l, const struct split_result *r);

#endif
