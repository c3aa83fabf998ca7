/* The mistakes that people make with access descriptors, planted one at a time in the loops of airfoil and jac. Each is to be
 * found, before or during the first iteration, with a message that names it, and its corrected twin is to stay silent and give
 * the right answer. */
#ifndef OP2JIT_TESTS_MISTAKES_H
#define OP2JIT_TESTS_MISTAKES_H

#include <stdbool.h>

#include "op2jit.h"

enum { MOST_ARGUMENTS = 10 };

/* One op_par_loop that a mistake may change. */
struct call {
  const char *kernel, *name;
  op_set set;
  op_arg args[MOST_ARGUMENTS];
  int nargs;
};

static inline void call_make(const struct call *c) {
  op_par_loop_array(c->kernel, c->name, c->set, c->nargs, c->args, __FILE__, __LINE__);
}

/* Kernels of a mistake and of its twin, in the place of a loop's own. */
static inline void call_replace(struct call *c, bool wrong, const char *wrong_kernel, const char *wrong_name,
                                const char *right_kernel, const char *right_name) {
  c->kernel = wrong ? wrong_kernel : right_kernel;
  c->name = wrong ? wrong_name : right_name;
}
#define REPLACE(call, wrong_one, right_one)                                                                  \
  call_replace(&(call), wrong, OP_KERNEL_OF(wrong_one), #wrong_one, OP_KERNEL_OF(right_one), #right_one)

enum {
  NEEDS_CHECK = 1,  /* nobody finds it without OP2_CHECK */
  NATIVE_ONLY = 2,  /* its message is of the C compiler's making elsewhere */
  OTHER_ANSWER = 4, /* the twin computes something else than the sample */
};

struct mistake {
  int number; /* of the list in the documentation */
  const char *what;
  unsigned flags;
  /* Run the program with the mistake, or with its twin. Returns a number that tells the answer. */
  double (*run)(const struct mistake *m, bool wrong);
  /* Change tables before they are declared, or loops before they run. */
  void (*tables)(void *program, bool wrong);
  void (*loops)(void *program, bool wrong);
};

extern const struct mistake airfoil_mistakes[], jac_mistakes[];

#endif
