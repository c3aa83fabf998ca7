/* One pass over the elements of a checked loop. */
#ifndef OP2JIT_CHECK_PASS_H
#define OP2JIT_CHECK_PASS_H

#include <stdint.h>

#include "check/copies.h"
#include "check/rows.h"

struct twin;

struct check_state {
  struct cell *cell;
  struct twin *twin; /* NULL: the kernel's C function and its text have no reason to differ */
  long calls;        /* before this one, of those that found nothing */
  bool warned, noted;
};

/* One pass over the elements. */
struct pass {
  struct op_context *ctx;
  struct launch *launch;
  struct loop *loop;
  struct check_state *state;
  bool watched;                /* compare each element with its promises, else just run it */
  long stride;                 /* each so manieth element thoroughly */
  int *owners[OP_MAX_ARGS];    /* per written dat behind a map, by the first argument that writes it */
  uint64_t added[OP_MAX_ARGS]; /* at a loop's first call: a sum over elements of what they add, hashed */
};

/* Does the loop write the argument's dat, so that elements must not meet there? Which argument is the first that
 * does? */
bool pass_owns(const struct loop_arg *arg);
int pass_first_writer(const struct loop *loop, int i);
static inline bool arg_is_extreme(const struct loop_arg *arg) {
  return arg->access == OP_MIN || arg->access == OP_MAX;
}

/* One element; all of them. OP_ERR_VIOLATION. */
int pass_element(struct pass *p, long element, struct error *err);
int pass_forwards(struct pass *p, struct error *err);
/* order.c: the loop backwards and shuffled, from the state of `before`, with what the pass left: OP_ERR_VIOLATION if they
 * differ. */
int pass_order(struct pass *p, const struct copies *before, struct error *err);

#endif
