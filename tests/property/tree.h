/* Growing random trees under bounds. */
#ifndef OP2JIT_TESTS_TREE_H
#define OP2JIT_TESTS_TREE_H

#include "kernel.h"

struct grower {
  struct kernel *kernel;
  struct random *random;
  bool leaves;  /* parameters, locals and constants may be used */
  bool formals; /* inside a helper */
  bool floating_formals;
  bool loop_i, loop_j; /* the loop variables exist */
  bool equal;          /* all elements that have one target get the same value */
  int beside;          /* EQUAL: the argument that has the same targets, -1: none */
};

int grow(struct grower *g, bool floating, int depth);
/* A value to store in a variable of this type; `read_again`: inside what loops may read. */
int grow_value(struct grower *g, enum vtype type, bool read_again);
/* A small value to add to one, so that a sum over a whole mesh stays exact. */
int grow_step(struct grower *g, enum vtype type);
int grow_one(struct grower *g, enum vtype type);
int grow_condition(struct grower *g);
/* The component that a statement changes, combined with a value. */
int grow_bits(struct grower *g, const struct statement *s, enum op op);
/* `exact` plus a function that rounds. */
int grow_inexact(struct grower *g, int exact);

#endif
